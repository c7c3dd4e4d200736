import numpy as np
import pytest

import latentforest as lf
from latentforest.data.variable import Variable
from latentforest.model import Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.operators.node_deletion import NodeDeletion
from latentforest.search.trees.operators.node_introduction import NodeIntroduction
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.operators.state_introduction import StateIntroduction
from latentforest.search.trees.tree import LatentTree, Rules
from reference.operators import OPERATORS
from reference.restricted import draw_latent_tree, draw_tables

ANY_MEDIATOR = Rules(any_mediator=True)


def draw_tree(seed):
    """Trees of all sorts: one to seven latent variables, few or many leaves, few or many states."""
    latent_states = [(2, 3), (2, 3, 4), (2, 5, 7), (3, 6)][seed % 4]
    return draw_latent_tree(seed, 1 + seed % 7, latent_states, (2, 3, 5), n_more=seed % 3)


def propose(network, rules=ANY_MEDIATOR, operators=OPERATORS):
    tree = LatentTree(network.structure)
    return [candidate for each in operators for candidate in each.propose(tree, rules)]


def card(network, name):
    return network.structure.shape(name)[-1]


def cards(network):
    """States of the latent variables, whatever their names."""
    return sorted(card(network, name) for name in network.latents)


def neighbours(network, name):
    return set(network.structure.neighbours(name))


def same_shape(first, second):
    return lf.tree_distance(first, second) == 0 and cards(first) == cards(second)


SEEDS = range(56)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_change_is_the_difference_of_the_dimensions(seed):
    network = draw_tree(seed)
    for candidate in propose(network):
        edited = candidate.edit(network)
        assert candidate.change == edited.dimension - network.dimension, candidate


@pytest.mark.parametrize("seed", SEEDS)
def test_regular_trees_stay_regular(seed):
    network = draw_tree(seed)
    assert not find_irregular(network.structure)
    for candidate in propose(network):
        assert not find_irregular(candidate.edit(network).structure), candidate


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_candidates_are_rooted_where_they_say_and_their_region_exists(seed):
    network = draw_tree(seed)
    for candidate in propose(network):
        edited = candidate.edit(network)
        assert edited.structure.parents(candidate.root) == ()
        assert set(candidate.region) <= set(edited.names)
        assert set(edited.observed) == set(network.observed)
        assert len(edited.structure.roots) == 1


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_no_two_candidates_are_the_same_model(seed):
    network = draw_tree(seed)
    candidates = propose(network)
    assert len(set(candidates)) == len(candidates)
    assert len({(each.operator, str(each), each.change) for each in candidates}) == len(candidates)


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_candidates_do_not_depend_on_the_root(seed):
    network = draw_tree(seed)

    def describe(each):
        return {
            (c.operator, c.change, frozenset(map(frozenset, edges_of(c.edit(each)))))
            for c in propose(each)
        }

    for root in network.latents[:3]:
        assert describe(network.rooted_at(root)) == describe(network)


def edges_of(network):
    structure = network.structure
    return [(name, above) for name in network.names for above in structure.parents(name)]


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_all_regular_state_changes_and_relocations_are_proposed(seed):
    """SI, SD and plain NR, against trying everything."""
    network = draw_tree(seed)
    tree = LatentTree(network.structure)
    proposed = {(c.hub, c.card) for c in propose(network, operators=[StateIntroduction])}
    proposed |= {(c.hub, c.card) for c in propose(network, operators=[StateDeletion])}
    for hub in network.latents:
        for wanted in (card(network, hub) - 1, card(network, hub) + 1):
            variables = [
                Variable.hidden(hub, wanted) if v.name == hub else v for v in network.variables
            ]
            parents = {name: network.structure.parents(name) for name in network.names}
            is_regular = wanted > 1 and not find_irregular(Structure(variables, parents))
            assert ((hub, wanted) in proposed) == is_regular
    plain = {
        (c.moved, c.origin, c.target)
        for c in propose(network, operators=[NodeRelocation])
        if c.dissolved is None
    }
    for origin in network.latents:
        for moved in tree.neighbours[origin]:
            for target in tree.side_of(origin, moved) - {origin}:
                rooted = network.rooted_at(target).structure
                if rooted.parents(moved) == (origin,):
                    edited = rooted.with_parents({moved: target})
                    is_regular = not find_irregular(edited)
                    assert ((moved, origin, target) in plain) == is_regular


@pytest.mark.parametrize("seed", SEEDS[::2])
def test_all_regular_mediators_are_proposed(seed):
    """NI with every number of states up to the hub's, against trying everything."""
    network = draw_tree(seed)
    tree = LatentTree(network.structure)
    proposed = {
        (c.hub, frozenset((c.left, c.right)), c.card)
        for c in propose(network, operators=[NodeIntroduction])
    }
    for hub in network.latents:
        rooted = network.rooted_at(hub).structure
        for i, left in enumerate(tree.neighbours[hub]):
            for right in tree.neighbours[hub][:i]:
                for n_states in range(2, card(network, hub) + 1):
                    edited = rooted.add(
                        [Variable.hidden("new", n_states)],
                        {"new": hub, left: "new", right: "new"},
                    )
                    is_regular = not find_irregular(edited) and len(tree.neighbours[hub]) > 3
                    key = (hub, frozenset((left, right)), n_states)
                    assert (key in proposed) == is_regular


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_deleting_a_new_variable_gives_the_old_tree(seed):
    network = draw_tree(seed)
    for candidate in propose(network, operators=[NodeIntroduction]):
        edited = candidate.edit(network)
        back = [
            each
            for each in NodeDeletion.propose(LatentTree(edited.structure), Rules())
            if (each.node, each.into) == (candidate.name, candidate.hub)
        ]
        assert len(back) == 1
        assert back[0].change == -candidate.change
        assert same_shape(back[0].edit(edited), network)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_deleting_a_new_state_gives_the_old_tree(seed):
    network = draw_tree(seed)
    for there, back in [(StateIntroduction, StateDeletion), (StateDeletion, StateIntroduction)]:
        for candidate in propose(network, operators=[there]):
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
def test_relocating_back_gives_the_old_tree(seed):
    network = draw_tree(seed)
    for candidate in propose(network, operators=[NodeRelocation]):
        if candidate.dissolved is not None:
            continue
        edited = candidate.edit(network)
        tree, target = LatentTree(edited.structure), candidate.origin
        moved, origin = candidate.moved, candidate.target
        back = list(NodeRelocation.between(tree, Rules(), moved, origin, {target}))
        plain = [each for each in back if each.dissolved is None]
        assert len(plain) == len(back) == 1
        assert plain[0].change == -candidate.change
        assert same_shape(plain[0].edit(edited), network)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_a_dissolved_variable_ties_its_two_neighbours(seed):
    network = draw_tree(seed)
    for candidate in propose(network, operators=[NodeRelocation]):
        if candidate.dissolved is not None:
            first, second = candidate.dissolved
            edited = candidate.edit(network)
            assert candidate.origin not in edited.names
            assert second in neighbours(edited, first)
            assert candidate.moved in neighbours(edited, candidate.target)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_fixed_variables_keep_their_neighbours_and_states(seed):
    network = draw_tree(seed)
    rng = np.random.default_rng(seed)
    fixed = frozenset(rng.choice(network.names, 1 + seed % 3, replace=False).tolist())
    for candidate in propose(network, Rules(fixed=fixed, any_mediator=True)):
        edited = candidate.edit(network)
        for name in fixed:
            assert neighbours(edited, name) == neighbours(network, name), candidate
            assert card(edited, name) == card(network, name)


def test_nothing_is_proposed_if_all_latent_variables_are_fixed():
    network = draw_tree(3)
    assert propose(network, Rules(fixed=frozenset(network.latents))) == []


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_fixing_a_leaf_forbids_only_what_would_move_it(seed):
    network = draw_tree(seed)
    leaf = network.observed[0]
    hub = network.structure.parents(leaf)[0]
    every = set(propose(network))
    allowed = set(propose(network, Rules(fixed=frozenset([leaf]), any_mediator=True)))
    assert allowed <= every
    for candidate in every - allowed:
        assert neighbours(candidate.edit(network), leaf) != {hub}, candidate


@pytest.mark.parametrize("most", [2, 3, 4])
def test_new_states_and_variables_respect_the_limit(most):
    for seed in range(12):
        network = draw_tree(seed)
        for candidate in propose(network, Rules(max_states=most, any_mediator=True)):
            if candidate.operator in ("SI", "NI"):
                assert candidate.card <= most


def test_a_new_variable_has_as_many_states_as_its_hub_unless_fewer_are_regular():
    leaves = [Variable(f"X{i}", ("0", "1")) for i in range(5)]
    parents = {leaf.name: "Y" for leaf in leaves}
    network = draw_tables(
        Structure([Variable.hidden("Y", 7), *leaves], parents), np.random.default_rng(0)
    )
    assert {each.card for each in propose(network, Rules(), [NodeIntroduction])} == {4}
    assert {each.card for each in propose(network, ANY_MEDIATOR, [NodeIntroduction])} == {2, 3, 4}
    smaller = draw_tables(
        Structure([Variable.hidden("Y", 4), *leaves], parents), np.random.default_rng(0)
    )
    assert {each.card for each in propose(smaller, Rules(), [NodeIntroduction])} == {4}
    assert {each.card for each in propose(smaller, ANY_MEDIATOR, [NodeIntroduction])} == {2, 3, 4}


def test_a_hub_of_three_gets_no_mediator():
    leaves = [Variable(name, ("0", "1")) for name in "ABC"]
    structure = Structure([Variable.hidden("Y", 2), *leaves], dict.fromkeys("ABC", "Y"))
    assert list(NodeIntroduction.propose(LatentTree(structure), ANY_MEDIATOR)) == []


def test_a_mediator_may_not_make_a_latent_neighbour_irregular():
    """Y has four states, so that its neighbour Z may have three between Y and five-state X."""
    variables = [Variable.hidden("Y", 4), Variable.hidden("Z", 3), Variable("X", tuple("abcde"))]
    variables += [Variable(name, ("0", "1")) for name in "ABCD"]
    structure = Structure(variables, {"Z": "Y", "X": "Z", **dict.fromkeys("ABCD", "Y")})
    assert not find_irregular(structure)
    found = [
        each.card
        for each in NodeIntroduction.propose(LatentTree(structure), ANY_MEDIATOR)
        if "Z" in (each.left, each.right)
    ]
    assert set(found) == {4}


def test_new_names_avoid_columns():
    leaves = [Variable(name, ("0", "1")) for name in ("Y1", "Y2", "Y4", "A")]
    parents = {leaf.name: "Y" for leaf in leaves}
    tree = LatentTree(Structure([Variable.hidden("Y", 2), *leaves], parents))
    assert {each.name for each in NodeIntroduction.propose(tree, Rules())} == {"Y3"}


def test_trees_of_a_forest_are_not_mixed():
    first, second = draw_tree(9), draw_tree(13)
    second = second.renamed({name: f"{name}'" for name in second.names})
    variables = [*first.variables, *second.variables, Variable("alone", ("0", "1"))]
    parents = {
        name: each.structure.parents(name) for each in (first, second) for name in each.names
    }
    forest = draw_tables(Structure(variables, parents), np.random.default_rng(0))
    names = [set(first.names), set(second.names)]
    candidates = propose(forest)
    alone = [len(propose(each)) for each in (first, second)]
    assert len(candidates) == sum(alone)
    for candidate in candidates:
        edited = candidate.edit(forest)
        assert edited.dimension - forest.dimension == candidate.change
        assert neighbours(edited, "alone") == set()
        for edge in edges_of(edited):
            assert any(each.isdisjoint(edge) for each in names)
