"""Restricted likelihood of every candidate of every operator, against EM on the whole network."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings
from latentforest.estimation.starts import random_starts
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.messages import Messages
from latentforest.kernels.regions.mediator_starts import start_mediators
from latentforest.model import Network, Structure
from latentforest.search.tables import soften
from latentforest.search.trees import restricted as restricted_module
from latentforest.search.trees.candidate import LocalEffort, Proposal
from latentforest.search.trees.model import Model, fit_fully
from latentforest.search.trees.operators import (
    NodeDeletion,
    NodeIntroduction,
    NodeRelocation,
    StateDeletion,
    StateIntroduction,
)
from latentforest.search.trees.operators.node_introduction import introduce
from latentforest.search.trees.operators.state_deletion import merge_all
from latentforest.search.trees.operators.state_introduction import split_all
from latentforest.search.trees.restricted import evaluate_restricted, fit_slowly
from latentforest.search.trees.states import Around
from latentforest.search.trees.tree import Rules
from reference.restricted import (
    climb_restricted,
    climb_restricted_pyramid,
    draw_latent_tree,
    draw_rows,
    draw_tables,
    enumerate_latents,
    list_starts,
    measure,
    put_tables,
)

OPERATORS = [NodeIntroduction, StateIntroduction, NodeRelocation, StateDeletion, NodeDeletion]
SEEDS = range(15)


def make_model(network, dataset):
    data = PatternedData(dataset)
    return Model(network, measure(network, dataset), data)


def draw_model(seed, n_rows=30, **settings):
    """Two to five latent variables; values are missing; weights are below and above one."""
    states = (2, 3, 5) if seed % 2 else (2, 3, 4)
    network = draw_latent_tree(seed, 2 + seed % 4, states, n_more=seed % 3)
    return make_model(network, draw_rows(network, n_rows, seed, **settings))


def propose(model, operators=OPERATORS, any_mediator=True):
    rules = Rules(any_mediator=any_mediator)
    return [candidate for each in operators for candidate in each.propose(model.tree, rules)]


def evaluate(model, candidates, mu=3, nu=5, seed=0):
    return evaluate_restricted(model, candidates, LocalEffort(mu, nu, seed), lambda proposals: None)


def assert_exact(model, proposals, rtol=1e-9):
    """The restricted log-likelihood is that of the network with the tables found."""
    for proposal in proposals:
        realised = proposal.realise(model.network)
        exact = measure(realised, model.data.dataset)
        assert proposal.log_likelihood == pytest.approx(exact, rel=rtol), proposal.candidate


@pytest.mark.parametrize("seed", SEEDS)
def test_the_likelihood_is_that_of_the_tables_found(seed):
    model = draw_model(seed)
    candidates = propose(model)
    proposals = evaluate(model, candidates)
    assert sorted(map(str, candidates)) == sorted(str(each.candidate) for each in proposals)
    assert_exact(model, proposals)


def test_the_random_trees_have_candidates_of_every_kind():
    candidates = [each for seed in SEEDS for each in propose(draw_model(seed, n_rows=1))]
    assert {each.operator for each in candidates} == {"NI", "SI", "NR", "SD", "ND"}
    assert {each.is_upper for each in candidates if each.operator == "NI"} == {False, True}
    dissolved = [each.dissolved for each in candidates if each.operator == "NR"]
    assert {each is None for each in dissolved} == {False, True}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_not_in_the_region_stays_as_it_is(seed):
    model = draw_model(seed)
    for proposal in evaluate(model, propose(model), mu=1, nu=2):
        candidate = proposal.candidate
        before = model.network.rooted_at(candidate.root)
        after = proposal.realise(model.network).rooted_at(candidate.root)
        tied = getattr(candidate, "dissolved", None) or ()
        for name in set(before.names) & set(after.names) - {*candidate.region, *tied}:
            assert after.structure.parents(name) == before.structure.parents(name)
            np.testing.assert_allclose(after.cpd(name), before.cpd(name), rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_dissolving_a_variable_changes_no_probability(seed):
    model = draw_model(seed)
    dataset = model.data.dataset
    for candidate in propose(model, [NodeRelocation]):
        if candidate.dissolved is not None:
            kept = NodeRelocation(0, candidate.moved, candidate.origin, candidate.target, None)
            np.testing.assert_allclose(
                enumerate_latents(candidate.edit(model.network), dataset),
                enumerate_latents(kept.edit(model.network), dataset),
                rtol=1e-12,
            )


def start_of(candidate, network):
    """The edited network with the tables from which local EM with one start begins."""
    edited = candidate.edit(network)
    if candidate.operator == "NI":
        tables = start_of_mediator(candidate, network)
    elif candidate.operator == "NR":
        table = edited.cpd(candidate.moved)
        tables = {candidate.moved: 0.99 * table + 0.01 / table.shape[1]}
    else:
        tables = {name: soften(edited.cpd(name)) for name in candidate.region}
    return put_tables(edited, tables)


def start_of_mediator(candidate, network):
    """A softened copy of the hub; of the neighbours' tables the rows of the states that it has."""
    rooted, card = network.rooted_at(candidate.hub), candidate.card
    hub_card = network.structure.shape(candidate.hub)[-1]
    copy = np.eye(hub_card)
    tables = {candidate.right: soften(rooted.cpd(candidate.right)[:card])}
    if candidate.is_upper:
        above = network.rooted_at(candidate.left).cpd(candidate.hub)
        tables[candidate.name] = soften(above @ copy)[:, :card]
        tables[candidate.hub] = soften(copy)[:card]
    else:
        tables[candidate.name] = soften(copy)[:, :card]
        tables[candidate.left] = soften(rooted.cpd(candidate.left)[:card])
    new = tables[candidate.name]
    return tables | {candidate.name: new / new.sum(axis=1, keepdims=True)}


def fit_largest_mediators(model, nu):
    """NI from one start; a hub's starts are made for its largest mediator."""
    candidates = [
        each
        for each in propose(model, [NodeIntroduction])
        if each.card == model.network.structure.shape(each.hub)[-1]
    ]
    return evaluate(model, candidates, mu=1, nu=nu)


@pytest.mark.parametrize("nu", [1, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_local_em_is_em_that_updates_the_region_only(seed, nu):
    model = draw_model(seed)
    dataset = model.data.dataset
    proposals = evaluate(model, propose(model, [NodeRelocation, NodeDeletion]), mu=1, nu=nu)
    for proposal in [*proposals, *fit_largest_mediators(model, nu)]:
        start = start_of(proposal.candidate, model.network)
        expected = climb_restricted(start, dataset, proposal.candidate.region, nu)
        found = proposal.realise(model.network).rooted_at(proposal.candidate.root)
        assert proposal.log_likelihood == pytest.approx(measure(expected, dataset), rel=1e-9)
        np.testing.assert_allclose(found.parameters, expected.parameters, rtol=1e-6, atol=1e-9)
        assert proposal.log_likelihood >= measure(start, dataset) - 1e-9


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


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_mediators_start_as_copies_of_the_hub_then_drawn(seed):
    model, n_random = draw_model(seed), 2
    messages, structure = model.messages, model.network.structure
    rng = np.random.default_rng(seed)
    for hub in model.network.latents:
        names, width = messages.neighbours(hub), messages.card(hub)
        above = structure.parents(hub)
        for card in range(2, width + 1):
            copy = introduce(width, card)
            shapes = [copy.shape, (card, sum(map(messages.card, names)))]
            shapes += [(messages.card(z), card) for z in above] + [(card, width) for _ in above]
            noise = [rng.exponential(size=(n_random, *shape)) for shape in shapes]
            flat = np.concatenate([each.ravel() for each in noise])
            found, places = start_mediators(
                messages.arms, messages.values, messages.number[hub], card, n_random, flat, flat[:0]
            )
            expected = [[soften(copy), *normalised(noise[0])]]
            for z, drawn in zip(above, noise[2:3], strict=True):
                expected.append([soften(messages.table(z, hub) @ copy), *normalised(drawn)])
                shared = copy.T / copy.sum(axis=0)[:, None]
                expected.append([soften(shared), *normalised(noise[3])])
            taken = 0
            for z in names:
                drawn = normalised(noise[1][:, :, taken : taken + messages.card(z)])
                taken += messages.card(z)
                base = messages.table(hub) @ messages.table(hub, z)
                if z in model.network.latents:
                    base = np.full(messages.card(z), 1 / messages.card(z))
                expected.append([soften(messages.table(hub, z)[:card]), *(0.5 * (base + drawn))])
            parts = [np.array(tables).ravel() for tables in expected]
            np.testing.assert_allclose(found, np.concatenate(parts), rtol=1e-12)
            sizes = [0, *np.cumsum([part.size for part in parts])[:-1]]
            if not above:
                sizes[1:1] = [sizes[1], sizes[1]]
            assert places.tolist() == sizes


def normalised(tables):
    return tables / tables.sum(axis=-1, keepdims=True)


def test_few_fits_at_a_time_give_the_same_proposals(monkeypatch):
    model = draw_model(3)
    candidates = propose(model)
    expected = evaluate(model, candidates)
    monkeypatch.setattr("latentforest.search.trees.local_fits.BATCH_BYTES", 1)
    found = evaluate(model, candidates)
    assert [each.candidate for each in found] == [each.candidate for each in expected]
    assert [each.log_likelihood for each in found] == [each.log_likelihood for each in expected]


def test_what_is_told_is_what_is_found_also_of_several_trees():
    one = draw_latent_tree(1, 3)
    other = draw_latent_tree(4, 2)
    other = other.renamed({name: f"{name}b" for name in other.names})
    tables = {n: net.cpd(n) for net in (one, other) for n in net.names}
    parents = {n: net.structure.parents(n) for net in (one, other) for n in net.names}
    network = Network.from_tables([*one.variables, *other.variables], parents, tables)
    model, told = make_model(network, draw_rows(network, 40, 0)), []
    found = evaluate_restricted(model, propose(model), LocalEffort(2, 5, 0), told.append)
    values = {each.candidate: each.log_likelihood for fits in told for each in fits}
    assert values == {each.candidate: each.log_likelihood for each in found}
    assert_exact(model, found)


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_more_iterations_never_lower_the_likelihood(seed):
    model = draw_model(seed)
    candidates = propose(model)
    last = dict.fromkeys(candidates, -np.inf)
    for nu in (1, 2, 5, 20):
        for proposal in evaluate(model, candidates, mu=1, nu=nu):
            assert proposal.log_likelihood >= last[proposal.candidate] - 1e-9, proposal.candidate
            last[proposal.candidate] = proposal.log_likelihood


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_full_em_ends_above_the_restricted_likelihood(seed):
    model = draw_model(seed)
    for proposal in evaluate(model, propose(model)):
        fitted = fit_fully(proposal.realise(model.network), model.data, EMSettings(50, 1e-6))
        assert fitted.log_likelihood >= proposal.log_likelihood - 1e-9


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_a_copy_of_the_hub_changes_no_probability(seed):
    """NI with P(new | hub) the identity is the model that it was applied to."""
    model = draw_model(seed)
    network = model.network
    forest = Forest(network.structure, model.data).row_log_likelihoods(network.parameters)
    for candidate in propose(model, [NodeIntroduction]):
        hub_card = network.structure.shape(candidate.hub)[-1]
        if candidate.card == hub_card:
            edited, rooted = candidate.edit(network), network.rooted_at(candidate.root)
            below = candidate.hub if candidate.is_upper else candidate.left
            tables = {
                z: network.rooted_at(candidate.hub).cpd(z)
                for z in candidate.region[1:]
                if z != candidate.hub
            }
            tables[candidate.name] = np.eye(hub_card)
            if candidate.is_upper:
                tables[candidate.name] = rooted.cpd(below)
                tables[below] = np.eye(hub_card)
            copied = put_tables(edited, tables)
            rows = Forest(copied.structure, model.data).row_log_likelihoods(copied.parameters)
            np.testing.assert_allclose(rows, forest, rtol=1e-12)


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


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_from_the_current_model_expansions_only_gain(seed):
    """At a maximum, NI and SI that start at its equivalent never end below it."""
    model = draw_model(seed, n_rows=60)
    fitted = fit_fully(model.network, model.data, EMSettings(3000, 1e-10))
    candidates = propose(fitted, [NodeIntroduction, StateIntroduction], any_mediator=False)
    for proposal in evaluate(fitted, candidates, mu=8, nu=100):
        assert proposal.log_likelihood >= fitted.log_likelihood - 0.05


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_the_slow_way_gives_exact_likelihoods_too(seed):
    model = draw_model(seed)
    proposals = [fit_slowly(model, each, LocalEffort(3, 5, 0)) for each in propose(model)]
    assert_exact(model, proposals)


@pytest.mark.parametrize("seed", range(4))
def test_proposals_do_not_depend_on_their_company(seed):
    model = draw_model(seed)
    candidates = propose(model, any_mediator=False)
    together = {each.candidate: each for each in evaluate(model, candidates)}
    for candidate in candidates:
        (alone,) = evaluate(model, [candidate])
        assert alone.log_likelihood == pytest.approx(
            together[candidate].log_likelihood, rel=1e-12
        ), candidate


@pytest.mark.parametrize("seed", range(3))
def test_proposals_do_not_depend_on_threads(seed):
    model = draw_model(seed)
    threads = Model(
        model.network, model.log_likelihood, PatternedData(model.data.dataset, n_jobs=2)
    )
    candidates = propose(model)
    for one, two in zip(evaluate(model, candidates), evaluate(threads, candidates), strict=True):
        assert one.candidate == two.candidate
        assert one.log_likelihood == two.log_likelihood
        assert np.array_equal(
            one.realise(model.network).parameters, two.realise(model.network).parameters
        )


def join_networks(first, second):
    """A forest of two trees, a column that is alone, and one with a single state."""
    second = second.renamed({name: f"{name}'" for name in second.names})
    variables = [*first.variables, *second.variables]
    variables += [Variable("alone", ("a", "b", "c")), Variable("constant", ("a",))]
    parents, tables = {}, {"alone": [0.2, 0.3, 0.5], "constant": [1.0]}
    for network in (first, second):
        parents |= {name: network.structure.parents(name) for name in network.names}
        tables |= {name: network.cpd(name) for name in network.names}
    return Network.from_tables(variables, parents, tables)


@pytest.mark.parametrize("seed", range(3))
def test_other_trees_and_columns_count(seed):
    network = join_networks(draw_latent_tree(seed, 3), draw_latent_tree(seed + 9, 2))
    model = make_model(network, draw_rows(network, 30, seed))
    assert_exact(model, evaluate(model, propose(model)))


def with_zeros(network, seed, share=0.4):
    """Make probabilities zero, but never all of a row."""
    rng, tables = np.random.default_rng(seed), {}
    for name in network.names:
        table = np.where(rng.random(network.cpd(name).shape) < share, 0.0, network.cpd(name))
        table[..., 0] += table.sum(axis=-1) == 0
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    return put_tables(network, tables)


@pytest.mark.parametrize("seed", range(8))
def test_tables_with_zeros(seed):
    network = with_zeros(draw_latent_tree(seed, 2 + seed % 3), seed)
    model = make_model(network, draw_rows(network, 30, seed))
    assert_exact(model, evaluate(model, propose(model)))


@pytest.mark.parametrize("seed", range(8))
def test_rows_without_weight_that_the_model_excludes(seed):
    """They make fast arithmetic give up, and must not count."""
    network = with_zeros(draw_latent_tree(seed, 2 + seed % 3), seed)
    possible = draw_rows(network, 25, seed, weights=(1.0, 2.0))
    rng = np.random.default_rng(seed)
    columns = [
        np.concatenate([column, rng.integers(0, variable.n_states, 5)])
        for variable, column in zip(possible.variables, possible.columns, strict=True)
    ]
    weights = np.concatenate([possible.weights, np.zeros(5)])
    model = make_model(network, Dataset(possible.variables, columns, weights))
    assert_exact(model, evaluate(model, propose(model)))


@pytest.mark.parametrize(
    "weights", [(1e14, 1e15), (1e-9, 1e-5), (0.0, 1e-9, 1e12), (0.0, 1.0)], ids=str
)
def test_weights_of_any_size(weights):
    model = draw_model(2, weights=weights)
    assert_exact(model, evaluate(model, propose(model)))


@pytest.mark.parametrize("missing", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
def test_tables_of_few_rows(n_rows, missing):
    model = draw_model(3, n_rows=n_rows, missing=missing)
    for proposal in evaluate(model, propose(model)):
        exact = measure(proposal.realise(model.network), model.data.dataset)
        assert proposal.log_likelihood == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("latent_states", [(5,), (7, 9), (8,), (12,)], ids=str)
def test_many_states(latent_states):
    network = draw_latent_tree(1, 3, latent_states, (3, 5, 8))
    model = make_model(network, draw_rows(network, 40, 1))
    assert_exact(model, evaluate(model, propose(model)))


def add_leaves(network, hub, n_leaves, concentration):
    """Give a latent variable more leaves, and all variables new tables."""
    names = [f"L{i}" for i in range(n_leaves)]
    structure = network.structure.add(
        [Variable(name, ("a", "b", "c")) for name in names], dict.fromkeys(names, hub)
    )
    return draw_tables(structure, np.random.default_rng(0), concentration)


@pytest.mark.parametrize(
    ("n_leaves", "concentration"), [(9, 0.7), (40, 0.05), (120, 0.05), (120, 20.0), (350, 20.0)]
)
def test_hubs_with_many_leaves(n_leaves, concentration):
    """Products of so many messages must be scaled."""
    network = add_leaves(draw_latent_tree(2, 3, n_more=2), "Y1", n_leaves, concentration)
    model = make_model(network, draw_rows(network, 12, 0))
    candidates = propose(model, [StateIntroduction, StateDeletion, NodeDeletion])
    for operator in (NodeIntroduction, NodeRelocation):
        some = propose(model, [operator])
        candidates += some[:: max(1, len(some) // 8)] + some[-2:]
    assert_exact(model, evaluate(model, candidates, mu=2, nu=3))


def draw_contradiction(low, n_leaves):
    """Half the leaves of a row speak for one state of Y, then as many for the other."""
    names, others = [f"X{j}" for j in range(n_leaves)], ["A", "B", "C"]
    leaves = [Variable(name, ("0", "1")) for name in (*names, *others)]
    tables = {"Y": [0.5, 0.5], "Z": [[0.7, 0.3], [0.3, 0.7]]}
    tables |= {x: [[1 - low, low], [low, 1 - low]] for x in names}
    tables |= {x: [[0.8, 0.2], [0.1, 0.9]] for x in others}
    parents = dict.fromkeys(names, "Y") | dict.fromkeys(others, "Z") | {"Z": "Y"}
    network = Network.from_tables(
        [Variable.hidden("Y", 2), Variable.hidden("Z", 2), *leaves], parents, tables
    )
    columns = [[int(2 * j >= n_leaves), 0, 1] for j in range(n_leaves)] + [[0, 0, 1]] * 3
    return network, Dataset(leaves, columns)


@pytest.mark.parametrize(("low", "n_leaves"), [(1e-20, 40), (1e-12, 60), (1e-3, 110)])
def test_states_that_underflow_removes_change_little(low, n_leaves):
    network, dataset = draw_contradiction(low, n_leaves)
    data = PatternedData(dataset)
    log_likelihood, _ = Forest(network.structure, data).log_likelihood(network.parameters)
    model = Model(network, log_likelihood, data)
    candidates = propose(model)
    for proposal in evaluate(model, candidates[:: max(1, len(candidates) // 30)], mu=2, nu=3):
        realised = proposal.realise(network)
        exact, _ = Forest(realised.structure, data).log_likelihood(realised.parameters)
        assert proposal.log_likelihood == pytest.approx(exact, rel=0.01), proposal.candidate


def test_a_state_that_no_row_has_is_no_reason_to_be_slow(monkeypatch):
    """Y has a latent neighbour and one leaf, whose last state is never seen."""
    variables = [Variable.hidden("Y", 2), Variable.hidden("Z", 4), Variable("X", tuple("abcd"))]
    variables += [Variable(name, ("0", "1", "2")) for name in "ABC"]
    structure = Structure(variables, {"Z": "Y", "X": "Y", **dict.fromkeys("ABC", "Z")})
    network = draw_tables(structure, np.random.default_rng(0))
    drawn = draw_rows(network, 40, 0)
    columns = [np.minimum(column, 2) for column in drawn.columns]
    model = make_model(network, Dataset(drawn.variables, columns, drawn.weights))
    slow = []
    monkeypatch.setattr(
        restricted_module, "fit_slowly", lambda *task: slow.append(task) or fit_slowly(*task)
    )
    assert_exact(model, evaluate(model, propose(model, [StateIntroduction])))
    assert not slow


def test_more_rows_than_fit_in_a_block(monkeypatch):
    network = draw_latent_tree(5, 3)
    dataset = draw_rows(network, 200, 5)
    one = make_model(network, dataset)
    candidates = propose(one)
    expected = evaluate(one, candidates)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 30)
    monkeypatch.setattr(forest_module, "SAMPLE_ROWS", 20)
    several = make_model(network, dataset)
    assert len(several.data.chunks) == 4
    for single, split in zip(expected, evaluate(several, candidates), strict=True):
        assert split.log_likelihood == pytest.approx(single.log_likelihood, rel=1e-12)


def test_seventy_thousand_distinct_rows():
    network = add_leaves(draw_latent_tree(4, 2), "Y1", 9, 1.0)
    variables, rng = network.sample(1).variables, np.random.default_rng(0)
    columns = [rng.integers(-1, each.n_states, 70_000) for each in variables]
    data = PatternedData(Dataset(variables, columns))
    assert data.n_rows > forest_module.CHUNK_ROWS
    forest = Forest(network.structure, data)
    model = Model(network, forest.log_likelihood(network.parameters)[0], data)
    candidates = [propose(model, [operator])[-1] for operator in OPERATORS[1:]]
    candidates += [propose(model, [NodeIntroduction])[i] for i in (0, -1)]
    for proposal in evaluate(model, candidates, mu=1, nu=1):
        realised = proposal.realise(network)
        exact = Forest(realised.structure, data).log_likelihood(realised.parameters)[0]
        assert proposal.log_likelihood == pytest.approx(exact, rel=1e-10)


def test_a_proposal_puts_its_tables_in_the_order_of_the_region():
    model = draw_model(2)
    (candidate, *_) = propose(model, [NodeIntroduction])
    edited = candidate.edit(model.network)
    sizes = [edited.cpd(name).size for name in candidate.region]
    tables = [soften(edited.cpd(name)) for name in candidate.region]
    flat = np.concatenate([*(table.ravel() for table in tables), np.full(7, np.nan)])
    realised = Proposal(candidate, 0.0, flat).realise(model.network)
    assert sum(sizes) + 7 == len(flat)
    for name, table in zip(candidate.region, tables, strict=True):
        np.testing.assert_array_equal(realised.cpd(name), table)


def test_messages_are_computed_once_for_all_candidates():
    model = draw_model(0)
    assert isinstance(model.messages, Messages)
    assert model.messages is model.messages


def test_every_candidate_has_its_own_random_starts_in_the_slow_way(monkeypatch):
    model = make_model(*draw_contradiction(1e-3, 6))
    seeds = {}

    def note(structure, dataset, n_starts, seed):
        seeds.setdefault(str(current), []).append(seed)
        return random_starts(structure, dataset, n_starts, seed)

    monkeypatch.setattr(restricted_module, "random_starts", note)
    candidates = [each for each in propose(model) if each.operator == "NR"]
    for current in (*candidates, *reversed(candidates)):
        fit_slowly(model, current, LocalEffort(2, 1, 5))
    assert len(candidates) > 5
    assert all(first == second for first, second in seeds.values())
    assert len({first for first, _ in seeds.values()}) == len(candidates)
