"""Recursive grouping: exact distances give the exact forest; short edges; bad input."""

import numpy as np
import pytest

from latentforest.search.distances.forest import grow_forest
from latentforest.search.distances.grouping import ComparisonRules, compare
from reference.distance_trees import draw_tree, measure


def test_a_late_search_ends_in_one_family():
    edges, n = draw_tree(np.random.default_rng(0), 5, 4, False)
    values = measure(edges, np.ones(len(edges)), n)
    found = grow_forest(values, leaves_only=True, grouping=ComparisonRules(is_late=lambda: True))
    assert found.n_nodes == n + 1


def test_large_errors_give_a_star():
    edges, n = draw_tree(np.random.default_rng(0), 5, 4, False)
    values = measure(edges, np.ones(len(edges)), n)
    errors = np.full((n, n), 0.9)
    found = grow_forest(values, errors, leaves_only=True, grouping=ComparisonRules(10.0))
    assert found.n_nodes == n + 1


@pytest.mark.parametrize(("reach", "are_siblings"), [(np.inf, False), (4.0, True)])
def test_far_nodes_are_not_compared_beyond_the_reach(reach, are_siblings):
    edges = [(0, 6), (1, 6), (6, 7), (2, 7), (7, 8), (3, 8), (8, 9), (4, 9), (5, 9)]
    values = measure(edges, np.ones(9), 6)
    values[0, 5] = values[5, 0] = 4.5  # not 5
    comparison = compare(values, np.full((6, 6), 0.05), ComparisonRules(1.0, reach))
    assert (comparison.difference[0, 1] <= 1) is np.bool_(are_siblings)
