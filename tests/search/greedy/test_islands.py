"""Islands of columns."""

from itertools import combinations

import numpy as np
import pytest

from latentforest.datasets.generate import generate, random_latent_class, random_latent_tree
from latentforest.estimation.small import count_patterns
from latentforest.inference.association.information import mutual_information
from latentforest.inference.forest import PatternedData
from latentforest.search.greedy.islands import ClosestPairs, IslandBuilder, IslandSettings


def always(n_done, n_islands):
    return True


def make_builder(table, **settings):
    data = PatternedData(table)
    return IslandBuilder(data, mutual_information(data.dataset), IslandSettings(**settings), 0)


@pytest.fixture(scope="module")
def truth():
    return random_latent_tree(20, depth=2, width=4, strength=0.8, random_state=2)


@pytest.fixture(scope="module")
def table(truth):
    return generate(truth, 2000, random_state=2)


@pytest.mark.parametrize("n_anchors", [2, 4, None])
def test_true_groups_are_found(truth, table, n_anchors):
    islands = make_builder(table, n_anchors=n_anchors).build(range(20), always)
    expected = {frozenset(truth.structure.children(f"Y{i}")) for i in range(2, 6)}
    found = {frozenset(table.names[j] for j in island) for island in islands}
    assert found == expected


def test_the_test_of_one_dimension(table):
    builder = make_builder(table)
    assert builder.is_unidimensional([0, 1, 2], 0, 3)  # all below one latent variable
    assert not builder.is_unidimensional([0, 1, 5], 5, 6)  # two below another


def test_a_high_threshold_joins_everything(table):
    (island,) = make_builder(table, threshold=1e9).build(range(20), always)
    assert sorted(island) == list(range(20))


def test_islands_are_not_larger_than_allowed(table):
    islands = make_builder(table, threshold=1e9, max_size=7).build(range(20), always)
    assert max(map(len, islands)) == 7
    assert sorted(j for island in islands for j in island) == list(range(20))


def test_when_time_is_up_columns_go_to_the_closest_island(table):
    islands = make_builder(table).build(range(20), lambda *_: False)
    assert len(islands) == 1
    assert sorted(islands[0]) == list(range(20))


def test_some_columns_only(table):
    islands = make_builder(table).build([0, 1, 2, 7, 8], always)
    assert sorted(j for island in islands for j in island) == [0, 1, 2, 7, 8]


def test_number_of_states_by_bic():
    network = random_latent_class(6, 3, n_states=4, strength=0.9, random_state=1)
    table = generate(network, 2000, random_state=1)
    builder = make_builder(table)
    assert builder.fit_one(count_patterns(builder.data, range(6))).n_near == 3
    limited = make_builder(table, max_states=2)
    assert limited.fit_one(count_patterns(builder.data, range(6))).n_near == 2


def test_closest_pairs_against_all_pairs():
    rng = np.random.default_rng(0)
    information = rng.random((12, 12))
    information += information.T
    pairs, left = ClosestPairs(information), set(range(1, 12))
    pairs.keep(sorted(left))
    while len(left) > 2:
        a, b = pairs.closest()
        expected = max(combinations(sorted(left), 2), key=lambda pair: information[pair])
        assert {a, b} == set(expected)
        closest = pairs.closest_to(information[a], [a])
        assert closest == max(left - {a}, key=lambda j: information[a, j])
        gone = {a, int(rng.choice(sorted(left - {a})))}
        pairs.remove(sorted(gone))
        left -= gone
        assert pairs.left() == sorted(left)
