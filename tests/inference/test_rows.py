"""Rows of a table under a network, with and without a posterior of its parameters."""

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.errors import DataError
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.predictive import Predictive
from latentforest.inference.rows import Rows
from reference.posterior_networks import make_network

NETWORK = make_network()


@pytest.fixture(scope="module")
def table():
    """Rows with gaps, every one twice, some of weight zero."""
    rows = NETWORK.sample(20, random_state=0)
    generator = np.random.default_rng(0)
    columns = []
    for variable in rows.variables:
        column, gap = np.array(rows.column(variable.name)), generator.random(20) < 0.2
        column[gap] = -1 if variable.is_categorical else np.nan
        columns.append(np.tile(column, 2))
    return Dataset(rows.variables, columns, weights=np.arange(40) % 3)


def test_parameters_are_integrated_out_if_there_is_a_posterior(table):
    rows, oracle = Rows(NETWORK, PatternedData(table)), Predictive(NETWORK)
    assert rows.data.n_rows == 20  # equal rows are judged once
    expected = oracle.log_densities(table)
    np.testing.assert_array_equal(rows.log_likelihoods(), expected)
    np.testing.assert_allclose(rows.log_likelihood(), table.weights @ expected)
    shares = oracle.shares(table, ["y", "a"])
    for found, share in zip(rows.posteriors(["y", "a"]), shares, strict=True):
        np.testing.assert_array_equal(found, share)


def test_parameters_are_taken_as_they_are_if_there_is_none(table):
    plain, data = NETWORK.with_parameters(NETWORK.parameters), PatternedData(table)
    rows, oracle = Rows(plain, data), Forest(plain.structure, data)
    expected = oracle.row_log_likelihoods(plain.parameters)
    np.testing.assert_array_equal(rows.log_likelihoods(), expected)
    np.testing.assert_allclose(rows.log_likelihood(), table.weights @ expected)
    np.testing.assert_array_equal(
        rows.posteriors(["y"])[0], oracle.posteriors(plain.parameters, ["y"])[0]
    )
    assert np.abs(expected - Rows(NETWORK, data).log_likelihoods()).max() > 0.1


def test_tables_that_do_not_fit_are_refused(table):
    with pytest.raises(DataError, match="the table has no column 'w'"):
        Rows(NETWORK, PatternedData(table.select(["a", "b", "u", "v", "p", "q"])))
    columns = [table.column(name) for name in table.names]
    other = Dataset([Variable("a", ("0", "1")), *table.variables[1:]], columns)
    with pytest.raises(DataError, match="column 'a' has states"):
        Rows(NETWORK, PatternedData(other))
