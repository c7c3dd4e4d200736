"""SI and SD: which numbers of states are proposed, their inverses, their starts."""

import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.inference.forest import Forest
from latentforest.model import Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.states import Around, merge_all, split_all
from latentforest.search.tables import soften
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.tree import LatentTree, Rules
from reference.candidates import SEEDS, draw_model, propose
from reference.operators import TREE_SEEDS, card, draw_tree, propose_in, same_shape
from reference.restricted import (
    climb_restricted_pyramid,
    list_starts,
    measure,
    put_tables,
)


@pytest.mark.parametrize("seed", TREE_SEEDS[::2])
def test_all_regular_numbers_of_states_are_proposed(seed):
    network = draw_tree(seed)
    proposed = {(c.hub, c.card) for c in propose_in(network, operators=[StateIntroduction])}
    proposed |= {(c.hub, c.card) for c in propose_in(network, operators=[StateDeletion])}
    for hub in network.latents:
        for wanted in (card(network, hub) - 1, card(network, hub) + 1):
            variables = [
                Variable.hidden(hub, wanted) if v.name == hub else v for v in network.variables
            ]
            parents = {name: network.structure.parents(name) for name in network.names}
            is_regular = wanted > 1 and not find_irregular(Structure(variables, parents))
            assert ((hub, wanted) in proposed) == is_regular


@pytest.mark.parametrize("seed", TREE_SEEDS[::3])
def test_deleting_a_new_state_gives_the_old_tree(seed):
    network = draw_tree(seed)
    for there, back in [(StateIntroduction, StateDeletion), (StateDeletion, StateIntroduction)]:
        for candidate in propose_in(network, operators=[there]):
            edited = candidate.edit(network)
            assert abs(card(edited, candidate.hub) - card(network, candidate.hub)) == 1
            (again,) = (
                each
                for each in back.propose(LatentTree(edited.structure), Rules())
                if each.hub == candidate.hub
            )
            assert again.change == -candidate.change
            assert same_shape(again.edit(edited), network)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_the_pyramid_of_states_is_that_of_em_on_the_whole_network(seed):
    """SI and SD begin with guesses, then random tables; half of them are left at each level."""
    model = draw_model(seed)
    dataset, effort = model.data.dataset, LocalEffort(2, 12, 0)
    for operator in (StateIntroduction, StateDeletion):
        for fit in operator.plan_fits(model.messages, propose(model, [operator]), effort):
            fit.run()
            (proposal,) = fit
            edited = proposal.candidate.edit(model.network)
            networks = [put_tables(edited, tables) for tables in list_starts(fit)]
            expected = climb_restricted_pyramid(networks, dataset, proposal.candidate.region, 12)
            assert proposal.log_likelihood == pytest.approx(measure(expected, dataset), rel=1e-9)


@pytest.mark.parametrize("guess", [split_all, merge_all])
@pytest.mark.parametrize("seed", SEEDS[::3])
def test_states_are_split_and_merged_first_then_drawn(seed, guess):
    model, mu = draw_model(seed), 3
    messages, network = model.messages, model.network
    operator = StateIntroduction if guess is split_all else StateDeletion
    for fit in operator.plan_fits(messages, propose(model, [operator]), LocalEffort(mu, 12, 0)):
        (candidate,), starts = fit.candidates, list_starts(fit)
        hub, card, names = candidate.hub, candidate.card, candidate.neighbours
        around = Around(messages.table(hub), {z: messages.table(hub, z) for z in names}, ())
        guesses = guess(around)
        assert len(starts) == len(guesses) + mu
        for start, guessed in zip(starts, guesses, strict=False):
            expected = {hub: guessed.prior, **guessed.tables}
            for name in (hub, *names):
                np.testing.assert_allclose(start[name], soften(expected[name]), rtol=1e-12)
        noise, n_columns = fit.tasks.common.drafts, sum(map(messages.card, names))
        first = noise[: mu * card * n_columns].reshape(mu, card, n_columns)
        last = noise[first.size :].reshape(mu, card)
        for s, start in enumerate(starts[len(guesses) :]):
            np.testing.assert_allclose(start[hub], 0.5 / card + 0.5 * last[s] / last[s].sum())
            taken = 0
            for z in names:
                part = first[s, :, taken : taken + messages.card(z)]
                taken += messages.card(z)
                base = around.prior @ around.tables[z]
                if z in network.latents:
                    base = np.full(messages.card(z), 1 / messages.card(z))
                drawn = 0.5 * (base + part / part.sum(axis=1, keepdims=True))
                np.testing.assert_allclose(start[z], drawn)


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_a_state_in_two_equal_halves_changes_no_probability(seed):
    model = draw_model(seed)
    network = model.network
    forest = Forest(network.structure, model.data).row_log_likelihoods(network.parameters)
    for candidate in propose(model, [StateIntroduction]):
        edited, rooted = candidate.edit(network), network.rooted_at(candidate.hub)
        source = [*range(candidate.card - 1), 0]
        tables = {z: rooted.cpd(z)[source] for z in candidate.region}
        tables[candidate.hub][[0, -1]] *= 0.5
        split = put_tables(edited, tables)
        rows = Forest(split.structure, model.data).row_log_likelihoods(split.parameters)
        np.testing.assert_allclose(rows, forest, rtol=1e-12)
