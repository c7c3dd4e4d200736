"""Forests that grow from their leaves, against belief propagation."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.two_way import TwoWayClasses
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.search.greedy.growing import BottomUpForest


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    columns = [rng.integers(-1, 2, 20), rng.integers(-1, 3, 20), rng.normal(size=20)]
    columns[2][::5] = np.nan
    variables = [Variable("a", ("0", "1")), Variable("b", ("0", "1", "2")), Variable("x")]
    return Dataset(variables, columns, rng.choice([0.5, 1.0, 2.0], 20))


def draw_classes(seed, left, right):
    rng = np.random.default_rng(seed)

    def draw(size):
        if size is None:
            return np.stack([rng.normal(size=2), rng.uniform(0.5, 2.0, 2)], axis=1)
        return rng.dirichlet(np.ones(size), 2)

    return TwoWayClasses(rng.dirichlet(np.ones(2)), draw(left), draw(right), 0.0, 0.0)


def test_posteriors_of_roots_are_those_of_their_trees(data):
    forest = BottomUpForest(data)
    first = forest.join("a", "b", draw_classes(1, 2, 3))
    assert forest.roots == ["x", first]
    second = forest.join("x", first, draw_classes(2, None, 2))
    assert forest.roots == [second]
    (expected,) = Rows(forest.network(), PatternedData(data)).posteriors([second])
    np.testing.assert_allclose(forest.shares(second), expected, rtol=1e-9)


def test_tables_are_those_of_the_pairs(data):
    forest = BottomUpForest(data)
    classes = draw_classes(1, 2, 3)
    name = forest.join("a", "b", classes)
    network = forest.network()
    assert np.array_equal(network.cpd("a"), classes.left)
    assert np.array_equal(network.cpd(name), classes.weights)
    assert set(network.structure.roots) == {name, "x"}


def test_counts_of_columns_are_frequencies_where_both_are_there(data):
    forest = BottomUpForest(data)
    expected = np.zeros((2, 3))
    for i, j, w in zip(data.column("a"), data.column("b"), data.weights, strict=True):
        if i >= 0 and j >= 0:
            expected[i, j] += w
    np.testing.assert_allclose(forest.joint_counts("a", "b"), expected)
