"""Rows that every class holds all but impossible: EM leaves cells of 1e-100 and less behind."""

import numpy as np
import pytest

from latentforest import Dataset, Network, Variable
from latentforest.inference.forest import Forest, PatternedData
from reference.log_domain import log_sum, propagate_logs


def two_classes(n_columns, seed):
    """Two classes over binary columns, half of whose cells are tiny, and 200 rows."""
    rng = np.random.default_rng([n_columns, seed])
    columns = [Variable(f"X{i}", ("0", "1")) for i in range(n_columns)]
    tables = {"Y": [0.5, 0.5]}
    for column in columns:
        p = np.where(rng.random(2) < 0.5, 10.0 ** -rng.uniform(100, 180, 2), 0.5)
        tables[column.name] = np.stack([p, 1 - p], axis=1)
    parents = {column.name: "Y" for column in columns}
    network = Network.from_tables([Variable.hidden("Y", 2), *columns], parents, tables)
    return network, Dataset(columns, list(rng.integers(0, 2, (n_columns, 200))))


def log_joint(network, table):
    """Logarithm of P(class, row)."""
    return np.log(network.cpd("Y")) + sum(
        np.log(network.cpd(name))[:, table.column(name)].T for name in network.observed
    )


@pytest.mark.parametrize(("n_columns", "seed"), [(5, 73), (8, 121)])
def test_log_likelihoods(n_columns, seed):
    network, table = two_classes(n_columns, seed)
    found = Forest(network.structure, PatternedData(table)).row_log_likelihoods(network.parameters)
    np.testing.assert_allclose(found, log_sum(log_joint(network, table), 1), rtol=0, atol=1e-8)


@pytest.mark.parametrize(("n_columns", "seed"), [(5, 73), (6, 4), (8, 121)])
def test_expected_counts(n_columns, seed):
    network, table = two_classes(n_columns, seed)
    counts = np.empty(network.structure.n_values)
    Forest(network.structure, PatternedData(table)).expected_counts(network.parameters, counts)
    _, expected = propagate_logs(network.structure, network.parameters, table)
    np.testing.assert_allclose(counts, expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_posteriors_of_few_columns(seed):
    network, table = two_classes(4, seed)
    check_posteriors(network, table)


@pytest.mark.parametrize(("n_columns", "seed"), [(6, 70), (8, 12)])
def test_posteriors(n_columns, seed):
    check_posteriors(*two_classes(n_columns, seed))


def check_posteriors(network, table):
    forest = Forest(network.structure, PatternedData(table))
    (found,) = forest.posteriors(network.parameters, ["Y"])
    logs = log_joint(network, table)
    expected = np.exp(logs - log_sum(logs, 1)[:, None])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", ["Y", "Y1", "Y2"])
def test_posteriors_of_variables_that_copy_one_another(name):
    """The columns of Y1 are against state 2, those of Y2 against state 1, all against state 3."""
    latents = [Variable.hidden(each, 3) for each in ("Y", "Y1", "Y2")]
    columns = [Variable(f"X{i}", ("0", "1")) for i in range(4)]
    tables = {"Y": [0.2, 0.3, 0.5], "Y1": np.eye(3), "Y2": np.eye(3)}
    parents = {"Y1": "Y", "Y2": "Y", "X0": "Y1", "X1": "Y1", "X2": "Y2", "X3": "Y2"}
    for column in columns:
        p = [0.5, 1e-200, 1e-100] if parents[column.name] == "Y1" else [1e-200, 0.5, 1e-100]
        tables[column.name] = np.stack([p, 1 - np.array(p)], axis=1)
    network = Network.from_tables([*latents, *columns], parents, tables)
    table = Dataset(columns, [[0]] * 4)
    (found,) = Forest(network.structure, PatternedData(table)).posteriors(
        network.parameters, [name]
    )
    np.testing.assert_allclose(found, [[0.08, 0.12, 0.8]], atol=1e-8)
