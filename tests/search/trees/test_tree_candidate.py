"""What holds of the candidates of all operators on latent trees."""

import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.model import Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.tree import LatentTree, Rules
from reference.operators import TREE_SEEDS, card, draw_tree, neighbours, propose_in
from reference.restricted import draw_tables


@pytest.mark.parametrize("seed", TREE_SEEDS)
def test_the_change_is_the_difference_of_the_dimensions(seed):
    network = draw_tree(seed)
    for candidate in propose_in(network):
        edited = candidate.edit(network)
        assert candidate.change == edited.dimension - network.dimension, candidate


@pytest.mark.parametrize("seed", TREE_SEEDS)
def test_regular_trees_stay_regular(seed):
    network = draw_tree(seed)
    assert not find_irregular(network.structure)
    for candidate in propose_in(network):
        assert not find_irregular(candidate.edit(network).structure), candidate


@pytest.mark.parametrize("seed", TREE_SEEDS[::4])
def test_candidates_are_rooted_where_they_say_and_their_region_exists(seed):
    network = draw_tree(seed)
    for candidate in propose_in(network):
        edited = candidate.edit(network)
        assert edited.structure.parents(candidate.root) == ()
        assert set(candidate.region) <= set(edited.names)
        assert set(edited.observed) == set(network.observed)
        assert len(edited.structure.roots) == 1


@pytest.mark.parametrize("seed", TREE_SEEDS[::4])
def test_no_two_candidates_are_the_same_model(seed):
    network = draw_tree(seed)
    candidates = propose_in(network)
    assert len(set(candidates)) == len(candidates)
    assert len({(each.operator, str(each), each.change) for each in candidates}) == len(candidates)


@pytest.mark.parametrize("seed", TREE_SEEDS[::4])
def test_candidates_do_not_depend_on_the_root(seed):
    network = draw_tree(seed)

    def describe(each):
        return {
            (c.operator, c.change, frozenset(map(frozenset, edges_of(c.edit(each)))))
            for c in propose_in(each)
        }

    for root in network.latents[:3]:
        assert describe(network.rooted_at(root)) == describe(network)


def edges_of(network):
    structure = network.structure
    return [(name, above) for name in network.names for above in structure.parents(name)]


@pytest.mark.parametrize("seed", TREE_SEEDS[::3])
def test_fixed_variables_keep_their_neighbours_and_states(seed):
    network = draw_tree(seed)
    rng = np.random.default_rng(seed)
    fixed = frozenset(rng.choice(network.names, 1 + seed % 3, replace=False).tolist())
    for candidate in propose_in(network, Rules(fixed=fixed, any_mediator=True)):
        edited = candidate.edit(network)
        for name in fixed:
            assert neighbours(edited, name) == neighbours(network, name), candidate
            assert card(edited, name) == card(network, name)


def test_nothing_is_proposed_if_all_latent_variables_are_fixed():
    network = draw_tree(3)
    assert propose_in(network, Rules(fixed=frozenset(network.latents))) == []


@pytest.mark.parametrize("seed", TREE_SEEDS[::4])
def test_fixing_a_leaf_forbids_only_what_would_move_it(seed):
    network = draw_tree(seed)
    leaf = network.observed[0]
    hub = network.structure.parents(leaf)[0]
    every = set(propose_in(network))
    allowed = set(propose_in(network, Rules(fixed=frozenset([leaf]), any_mediator=True)))
    assert allowed <= every
    for candidate in every - allowed:
        assert neighbours(candidate.edit(network), leaf) != {hub}, candidate


@pytest.mark.parametrize("most", [2, 3, 4])
def test_new_states_and_variables_respect_the_limit(most):
    for seed in range(12):
        network = draw_tree(seed)
        for candidate in propose_in(network, Rules(max_states=most, any_mediator=True)):
            if candidate.operator in ("SI", "NI"):
                assert candidate.card <= most


def test_trees_of_a_forest_are_not_mixed():
    first, second = draw_tree(9), draw_tree(13)
    second = second.renamed({name: f"{name}'" for name in second.names})
    variables = [*first.variables, *second.variables, Variable("alone", ("0", "1"))]
    parents = {
        name: each.structure.parents(name) for each in (first, second) for name in each.names
    }
    forest = draw_tables(Structure(variables, parents), np.random.default_rng(0))
    names = [set(first.names), set(second.names)]
    candidates = propose_in(forest)
    alone = [len(propose_in(each)) for each in (first, second)]
    assert len(candidates) == sum(alone)
    for candidate in candidates:
        edited = candidate.edit(forest)
        assert edited.dimension - forest.dimension == candidate.change
        assert neighbours(edited, "alone") == set()
        for edge in edges_of(edited):
            assert any(each.isdisjoint(edge) for each in names)


@pytest.mark.parametrize("seed", TREE_SEEDS[::8])
def test_candidates_are_offered_again_where_nothing_changed(seed):
    network = draw_tree(seed)
    again = LatentTree(network.rooted_at(network.latents[-1]).structure)
    for candidate in propose_in(network, Rules()):
        if candidate.operator == "NI":  # which depends on the root
            continue
        renewed = candidate.renew(again, Rules())
        assert (str(renewed), renewed.change) == (str(candidate), candidate.change)
        assert renewed.subject in network.names


@pytest.mark.parametrize("seed", TREE_SEEDS[3::8])
def test_candidates_whose_variable_is_gone_are_not_offered_again(seed):
    network = draw_tree(seed)
    for deletion in propose_in(network, Rules(), [NodeDeletion]):
        after = LatentTree(deletion.edit(network).structure)
        for candidate in propose_in(network, Rules(), [NodeRelocation, StateIntroduction]):
            if deletion.node in (candidate.root, getattr(candidate, "origin", "")):
                assert candidate.renew(after, Rules()) is None
