"""Sums over spanning trees, against all of them one by one."""

import numpy as np
import pytest

from latentforest.errors import ParameterError
from latentforest.inference.structures.tree_sums import MOST_VERTICES, add_up_tilted, add_up_trees
from reference import spanning_sums


def random_weights(seed, n, scale):
    weights = np.random.default_rng(seed).normal(size=(n, n)) * scale
    return weights + weights.T


def test_number_of_trees():
    assert len(set(map(frozenset, spanning_sums.all_trees(5)))) == 125
    for n in (2, 5, 100):
        expected = (n - 2) * np.log(n)
        assert add_up_trees(np.zeros((n, n))).log_total == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("scale", [1.0, 30.0, 3000.0])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_equals_all_trees(n, scale):
    for seed in range(5):
        weights = random_weights(seed, n, scale)
        total, shares = spanning_sums.sum_trees(weights)
        found = add_up_trees(weights)
        assert found.log_total == pytest.approx(total, abs=1e-10)
        np.testing.assert_allclose(found.probabilities, shares, rtol=0, atol=1e-10)


def test_two_clusters_far_apart():
    """Light edges between the clusters share one place, whatever lies e^3000 above them."""
    weights = np.full((6, 6), -3000.0)
    weights[:3, :3] = weights[3:, 3:] = 3000.0
    weights[0, 3] = weights[3, 0] = -3000.0 + np.log(2)
    found = add_up_trees(weights).probabilities
    inside, across = np.full((3, 3), 2 / 3), np.full((3, 3), 0.1)
    across[0, 0] = 0.2
    np.fill_diagonal(inside, 0.0)
    np.testing.assert_allclose(found, np.block([[inside, across], [across.T, inside]]), atol=1e-11)


def test_missing_edges():
    weights = random_weights(0, 5, 1.0)
    weights[0, 1:4] = weights[1:4, 0] = -np.inf
    found = add_up_trees(weights)
    assert found.probabilities[0, 4] == pytest.approx(1.0, abs=1e-12)
    assert not found.probabilities[0, 1:4].any()
    assert found.log_total == pytest.approx(spanning_sums.sum_trees(weights)[0], abs=1e-12)


def test_many_vertices_in_any_order():
    weights, order = random_weights(1, 60, 1000.0), np.random.default_rng(2).permutation(60)
    found, again = add_up_trees(weights), add_up_trees(weights[np.ix_(order, order)])
    assert found.probabilities.sum() / 2 == pytest.approx(59, abs=1e-9)
    np.testing.assert_allclose(
        again.probabilities, found.probabilities[np.ix_(order, order)], rtol=0, atol=1e-10
    )


def test_weights_that_change_from_row_to_row():
    weights, factors = random_weights(3, 4, 1.0), random_weights(4, 8, 1.0)
    states = np.array([[0, 2, 4, 6], [1, 3, 4, 7]])
    expected = [spanning_sums.sum_trees(weights + factors[np.ix_(s, s)])[0] for s in states]
    np.testing.assert_allclose(add_up_tilted(weights, factors, states), expected, atol=1e-12)


def test_one_vertex():
    found = add_up_trees(np.zeros((1, 1)))
    assert (found.log_total, found.probabilities.tolist()) == (0.0, [[0.0]])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros((2, 3)), r"square matrix, got shape \(2, 3\)"),
        (np.full((2, 2), np.nan), "got nan"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "must be symmetric"),
        (np.full((3, 3), -np.inf), "not connected"),
        (np.zeros((MOST_VERTICES + 1,) * 2), "up to 500 vertices, got 501"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ParameterError, match=message):
        add_up_trees(weights)
