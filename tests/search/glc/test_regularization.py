import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.model import Network, Structure
from latentforest.search.glc.regularization import (
    adjust_star,
    find_irregularity,
    integrate_tie,
    is_regular,
    list_equivalents,
    regularize,
    remove_island,
    replace_shape,
)
from latentforest.search.glc.shapes import Fork, Idle, Island, Star, Tie, find_shapes, find_star
from reference.generalized import manifest_table, random_generalized
from reference.random_networks import fill_randomly

SEEDS = range(150)


def assert_dominated(network, smaller):
    """The smaller network has the same manifest distribution and no more parameters."""
    checked = Network(smaller.structure, smaller.parameters)  # distributions, without a cycle
    assert checked.structure.order is not None
    assert smaller.dimension <= network.dimension
    np.testing.assert_allclose(
        manifest_table(smaller, network.observed),
        manifest_table(network, network.observed),
        rtol=0,
        atol=1e-10,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_every_shape_is_replaced_by_something_that_dominates_it(seed):
    network = random_generalized(seed, max_latent_states=9)
    for rooted in list_equivalents(network.structure):
        for shape in find_shapes(rooted):
            there = fill_randomly(rooted, seed)
            smaller = replace_shape(there, shape)
            assert_dominated(there, smaller)
            gone = 1 if not isinstance(shape, Island) else len(shape.names)
            if not isinstance(shape, Star):
                assert len(smaller.latents) == len(there.latents) - gone


def test_the_random_networks_have_all_shapes():
    kinds = {
        type(shape)
        for seed in SEEDS
        for rooted in list_equivalents(random_generalized(seed, max_latent_states=9).structure)
        for shape in find_shapes(rooted)
    }
    assert kinds == {Island, Idle, Tie, Fork, Star}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_regular_network_dominates_every_network(seed):
    network = random_generalized(seed)
    regular = regularize(network)
    assert is_regular(regular.structure)
    assert_dominated(network, regular)
    assert regularize(network.structure) == regular.structure
    assert regularize(regular) is regular


@pytest.mark.parametrize("seed", range(400))
def test_theorem_3_6(seed):
    structure = regularize(random_generalized(seed, max_latent_states=6).structure)
    n = len(structure.observed)
    k = max(sum(p in structure.latents for p in structure.parents(y)) for y in structure.observed)
    assert len(structure.latents) < 3 * k * n if k else not structure.latents


def test_without_regularization_there_is_no_bound():
    chain = [Variable.hidden(f"X{i}", 2) for i in range(50)]
    columns = [Variable(name, ("0", "1")) for name in "ABCDE"]
    parents = {f"X{i}": f"X{i - 1}" for i in range(1, 50)}
    parents |= {"A": "X0", "B": "X0", "C": "X49", "D": "X49", "E": ["X25", "X0"]}
    regular = regularize(Structure([*chain, *columns], parents))
    assert len(regular.latents) == 3


@pytest.mark.parametrize("seed", range(30))
def test_moving_the_root_keeps_the_distribution(seed):
    network = random_generalized(seed)
    expected = manifest_table(network, network.observed)
    for rooted in list_equivalents(network.structure):
        moved = network
        for root in rooted.roots:
            moved = moved.rooted_at(root)
        parents = {name: rooted.parents(name) for name in rooted.names}
        assert {name: moved.structure.parents(name) for name in rooted.names} == parents
        found = manifest_table(moved, network.observed)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def make(latents, parents, seed=0):
    columns = sorted(
        {*parents} - {*latents} | {p for ps in parents.values() for p in ps} - {*latents}
    )
    variables = [Variable.hidden(name, card) for name, card in latents.items()]
    variables += [Variable(name, ("no", "yes")) for name in columns]
    return fill_randomly(Structure(variables, parents), seed, share_of_zeros=0.1)


def test_the_special_case_of_a_tie():
    network = make({"X": 3, "Y": 2}, {"Y": ["X"], "A": ["X", "Y", "B"], "C": ["X"]})
    smaller = integrate_tie(network, Tie("Y", "X", "A"))
    expected = np.einsum("xy,xyba->xba", network.cpd("Y"), network.cpd("A"))
    np.testing.assert_allclose(smaller.cpd("A"), expected, atol=1e-15)
    assert_dominated(network, smaller)


def test_an_island_leaves_the_tables_of_the_others_alone():
    network = make({"X": 2, "Y": 3, "Z": 2}, {"Y": ["X"], "Z": ["Y"], "A": ["X"], "B": ["X"]})
    smaller = remove_island(network, Island(("Y", "Z")))
    for name in smaller.names:
        assert np.array_equal(smaller.cpd(name), network.cpd(name))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("n_states", "parents", "fewer"),
    [
        (6, {"A": ["X"], "B": ["X"], "C": ["X"]}, 4),
        (5, {"A": ["X"], "B": ["A", "X"], "C": ["B", "X"]}, 4),
        (5, {"A": ["D", "X", "E"], "B": ["X"], "C": ["X"]}, 4),
        (9, {"A": ["X", "D"], "B": ["X"], "C": ["A", "X"]}, 8),
        (9, {"A": ["X", "D"], "B": ["A", "X"], "C": ["X"], "D": ["C"]}, 8),
        (17, {"A": ["X", "D"], "B": ["X", "A"], "C": ["X", "E", "F"]}, 16),
        (3, {"A": ["X", "C", "D"], "B": ["X"], "D": ["B"]}, 2),
    ],
)
def test_stars_whose_children_have_other_parents(seed, n_states, parents, fewer):
    network = make({"X": n_states}, parents, seed)
    star = find_star(network.structure, "X")
    smaller = adjust_star(network, star)
    assert smaller.structure.shape("X") == (fewer,)
    assert_dominated(network, smaller)
    assert smaller.dimension < network.dimension


def test_a_star_of_children_that_are_latent():
    network = make(
        {"X": 6, "Y": 2, "Z": 2},
        {"Y": ["X"], "Z": ["X"], "A": ["X"], "B": ["Y"], "C": ["Y"], "D": ["Z"], "E": ["Z", "A"]},
    )
    star = find_star(network.structure, "X")
    assert star.n_states == 4
    assert_dominated(network, adjust_star(network, star))


def test_a_latent_variable_with_two_latent_parents():
    parents = {"Z": ["X", "Y"], "A": ["X"], "B": ["Y"], "C": ["Z"], "D": ["Z"], "E": ["X", "Y"]}
    network = make({"X": 2, "Y": 2, "Z": 9}, parents)
    smaller = regularize(network)
    assert_dominated(network, smaller)
    assert is_regular(smaller.structure)


def test_where_to_move_the_root_is_said():
    structure = make(
        {"X": 2, "Y": 2}, {"Y": ["X"], "A": ["X"], "B": ["Y"], "C": ["Y"], "D": ["Y"]}
    ).structure
    assert find_irregularity(structure) == ("Y", Tie("X", "Y", "A"))
