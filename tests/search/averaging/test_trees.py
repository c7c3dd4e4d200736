"""Averages over all trees of the columns, against trees one by one."""

import numpy as np
import pytest
from scipy.special import logsumexp

from latentforest.data import Dataset, Variable
from latentforest.errors import DataError, ParameterError
from latentforest.search.averaging.trees import TreeAverage
from reference.dags import log_marginal_likelihood, random_table
from reference.spanning_sums import all_trees


def direct(tree, n):
    """The parents of each vertex of a tree with root 0."""
    parents, reached = [()] * n, {0}
    while len(reached) < n:
        for i, j in [*tree, *((j, i) for i, j in tree)]:
            if i in reached and j not in reached:
                parents[j] = (i,)
                reached.add(j)
    return parents


def append(data, row):
    columns = [np.append(column, state) for column, state in zip(data.columns, row, strict=True)]
    return Dataset(data.variables, columns)


@pytest.mark.parametrize("size", [1.0, 5.0])
def test_equals_all_125_trees(size):
    data = random_table(3, (2, 3, 2, 2, 3), 40)
    trees = all_trees(5)
    values = [log_marginal_likelihood(data, direct(tree, 5), size) for tree in trees]
    average = TreeAverage(data, size)
    assert average.log_evidence == pytest.approx(logsumexp(values) - np.log(125), abs=1e-10)
    for i, j in ((0, 1), (2, 4), (1, 3)):
        inside = [v for v, tree in zip(values, trees, strict=True) if (i, j) in tree]
        expected = np.exp(logsumexp(inside) - logsumexp(values))
        assert average.probabilities[i, j] == pytest.approx(expected, abs=1e-10)


def test_the_next_row_is_a_ratio_of_evidences():
    data = random_table(1, (2, 3, 2, 2), 30)
    average = TreeAverage(data)
    rows = [(0, 0, 0, 0), (1, 2, 0, 1), (1, 2, 0, 1)]
    new = Dataset(data.variables, np.array(rows).T)
    expected = [TreeAverage(append(data, row)).log_evidence for row in rows]
    found = average.score_samples(new)
    np.testing.assert_allclose(found, np.array(expected) - average.log_evidence, atol=1e-10)


def test_edges_are_sorted():
    edges = TreeAverage(random_table(2, (2, 2, 2, 2), 50)).edges
    assert edges.columns == ("left", "right", "probability")
    assert edges["probability"] == sorted(edges["probability"], reverse=True)
    assert sum(edges["probability"]) == pytest.approx(3)


def test_bad_input():
    data = random_table(0, (2, 2), 10)
    with pytest.raises(ParameterError, match="equivalent_sample_size must be positive, got 0"):
        TreeAverage(data, 0)
    with pytest.raises(DataError, match="two columns or more, got 1"):
        TreeAverage(data.select(["x0"]))
    with pytest.raises(DataError, match="columns and states of the one"):
        TreeAverage(data).score_samples(data.select(["x1", "x0"]))
    missing = Dataset([Variable("x0", ("0", "1")), Variable("x1", ("0", "1"))], [[0], [-1]])
    with pytest.raises(DataError, match="missing values"):
        TreeAverage(data).score_samples(missing)
