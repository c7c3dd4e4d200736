"""The best network: published tables, and nothing that order, weights or names could change."""

import numpy as np
import pytest

from latentforest import log_score
from latentforest.data import Dataset, Variable
from latentforest.datasets import load
from latentforest.errors import DataError
from latentforest.inference.counts import CountingTable
from latentforest.search.dags.best import best_network
from latentforest.search.dags.canonical import order_columns
from reference.dags import as_dag, equivalence_class, permute_columns, random_table

BOTH = pytest.mark.parametrize("exact_columns", [0, 16])


@pytest.mark.parametrize(
    ("name", "bic"),
    [("hiv-tests", -653.657), ("coleman-panel", -8535.001), ("house-building", -2940.982)],
)
def test_published_tables(name, bic):
    """Found by scoring all 543 networks over the four columns."""
    found = best_network(load(name))
    assert found.is_optimal
    assert found.bic == pytest.approx(bic, abs=6e-4)


def test_parameters_are_of_maximum_likelihood():
    data = random_table(0, (2, 3, 2, 2), 200, "whole")
    found = best_network(data)
    by_rows = sum(
        weight * found.network.log_probability(dict(zip(data.names, map(int, row), strict=True)))
        for row, weight in zip(zip(*data.columns, strict=True), data.weights, strict=True)
        if weight
    )
    assert found.log_likelihood == pytest.approx(by_rows)
    penalty = 0.5 * found.network.dimension * np.log(data.total_weight)
    assert found.bic == pytest.approx(by_rows - penalty)


@BOTH
@pytest.mark.parametrize("weights", ["ones", "broken"])
@pytest.mark.parametrize("seed", range(5))
def test_order_of_columns_and_rows(seed, weights, exact_columns):
    data = random_table(seed, (2, 2, 2, 3, 2, 2), 120, weights)
    first = as_dag(best_network(data, exact_columns=exact_columns).network, data.names)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        moved = permute_columns(data, rng.permutation(6)).take(rng.permutation(120))
        found = best_network(moved, exact_columns=exact_columns)
        assert as_dag(found.network, data.names) == first


@BOTH
def test_names_decide_nothing_else(exact_columns):
    data = random_table(3, (2, 2, 2, 3, 2, 2), 120)
    first = best_network(data, exact_columns=exact_columns)
    renamed = Dataset(
        [Variable(name, v.states) for name, v in zip("fbdaec", data.variables, strict=True)],
        data.columns,
    )
    found = best_network(renamed, exact_columns=exact_columns)
    assert as_dag(found.network, list("fbdaec")) == as_dag(first.network, data.names)


@BOTH
def test_weights_are_repeated_rows(exact_columns):
    data = random_table(4, (2, 3, 2, 2, 3), 100, "whole")
    repeated = data.take(np.repeat(np.arange(100), data.weights.astype(int))).with_weights(None)
    one, two = (best_network(each, exact_columns=exact_columns) for each in (data, repeated))
    assert one.network.structure == two.network.structure
    np.testing.assert_allclose(one.network.parameters, two.network.parameters)
    assert one.bic == pytest.approx(two.bic)


@BOTH
def test_columns_that_cannot_be_told_apart(exact_columns):
    """Copies of one column: their names decide, not their places."""
    column = np.random.default_rng(0).integers(0, 2, 50)
    data = Dataset([Variable(name, ("0", "1")) for name in "cab"], [column] * 3)
    found = best_network(data, exact_columns=exact_columns).network
    moved = best_network(permute_columns(data, [2, 0, 1]), exact_columns=exact_columns).network
    assert as_dag(found, "abc") == as_dag(moved, "abc")
    assert len(equivalence_class(as_dag(found, "abc"))[0]) == 2  # a tree


def test_columns_with_equal_counts_are_told_apart_by_the_others():
    """Columns a and b have the same counts, but only b says much of c."""
    a = [0, 0, 1, 1, 0, 0, 1, 1]
    b = [0, 1, 0, 1, 0, 1, 0, 1]
    c = [1, 0, 1, 0, 1, 0, 1, 1]
    table = Dataset([Variable(name, ("0", "1")) for name in "abc"], [a, b, c])
    swapped = Dataset([Variable(name, ("0", "1")) for name in "bac"], [a, b, c])
    orders = [
        [each.columns[j].tolist() for j in order_columns(CountingTable(each))]
        for each in (table, swapped)
    ]
    assert orders[0] == orders[1]


@BOTH
def test_a_single_column(exact_columns):
    data = Dataset([Variable("a", ("x", "y", "z"))], [[0, 1, 1]])
    found = best_network(data, exact_columns=exact_columns)
    assert found.network.cpd("a").tolist() == pytest.approx([1 / 3, 2 / 3, 0.0])


@BOTH
def test_constant_columns_stay_alone(exact_columns):
    data = random_table(1, (2, 1, 2), 50)
    structure = best_network(data, exact_columns=exact_columns).network.structure
    assert structure.neighbours("x1") == ()


def test_forests_are_scored_by_the_engine():
    data = random_table(2, (2, 3, 2, 2), 200)
    found = best_network(data, max_parents=1)
    assert found.network.structure.is_forest
    assert log_score(found.network, data) == pytest.approx(found.log_likelihood)


def test_incomplete_tables_are_refused():
    data = Dataset([Variable(n, ("x", "y")) for n in "ab"], [[0, 1, 1], [0, -1, 1]])
    with pytest.raises(DataError, match="column 'b' has 1 missing values; expected a complete"):
        best_network(data)
