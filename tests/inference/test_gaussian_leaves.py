"""Gaussian leaves in forests: likelihoods, sums, posteriors, extremes."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.errors import DataError, ModelError
from latentforest.estimation.region import find_top, fit_region, make_region
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData, require_categorical
from latentforest.inference.plan import place_sums
from latentforest.inference.rooting import reroot
from latentforest.model import Network, Structure
from reference.cases import by_code
from reference.mixed_em import enumerate_mixed, sum_moments
from reference.mixed_networks import LINEAR, STRUCTURES, A, U, V, Y, Z, draw_mixed

FORESTS = {name: each for name, each in STRUCTURES.items() if each.is_forest} | {
    "alone": Structure([U, V], {}),
    "alone beside a class": Structure([U, Y, A, V], {"A": "Y"}),
    "many columns": Structure(
        [Y, *(Variable(f"c{i}") for i in range(12)), A],
        {**{f"c{i}": "Y" for i in range(12)}, "A": "Y"},
    ),
    "observed inner": Structure([Y, A, U, V, Z], {"A": "Y", "u": "A", "v": "A", "Z": "A"}),
}


def make_data(network, n_rows=60, missing=0.2, seed=0):
    rng = np.random.default_rng(seed)
    data = with_missing(network.sample(n_rows, random_state=seed), missing, random_state=seed)
    # Some equal rows, some without weight.
    rows = np.r_[np.arange(n_rows), rng.integers(0, n_rows, n_rows // 4)]
    return data.take(rows).with_weights(rng.choice([0.0, 0.5, 1.0, 3.0], len(rows)))


@pytest.fixture(params=sorted(FORESTS))
def network(request):
    return draw_mixed(FORESTS[request.param], seed=len(request.param))


@pytest.fixture
def data(network):
    return make_data(network)


def read_sums(forest, theta, name):
    """Weight, mean and variance of a Gaussian from the sums of the kernel."""
    counts = np.empty(forest.n_counts)
    forest.expected_counts(theta, counts)
    table = forest.structure.table_view(np.array(theta), name)
    place, rows = place_sums(forest.structure)[0][name], table.shape[:-1]
    n = int(np.prod(rows, dtype=int))
    s0, s1, s2 = counts[place : place + 3 * n].reshape(*rows, 3).transpose(-1, *range(len(rows)))
    unit = np.sqrt(2.0 * table[..., 1])
    first, second = unit * s1 / s0, unit**2 * s2 / s0
    return s0, table[..., 0] + first, second - first**2


# Against enumeration


def test_rows_equal_enumeration(network, data):
    forest = Forest(network.structure, PatternedData(data))
    expected, _ = enumerate_mixed(network, data)
    found = forest.row_log_likelihoods(network.parameters)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    value, impossible = forest.log_likelihood(network.parameters)
    assert value == pytest.approx(data.weights @ expected, rel=1e-12)
    assert impossible == 0.0


def test_sums_equal_enumeration(network, data):
    forest = Forest(network.structure, PatternedData(data))
    for name in network.structure.continuous:
        found = read_sums(forest, network.parameters, name)
        expected = sum_moments(network, data, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_counts_of_tables_equal_enumeration(network, data):
    forest = Forest(network.structure, PatternedData(data))
    counts = np.empty(forest.n_counts)
    forest.expected_counts(network.parameters, counts)
    _, families = enumerate_mixed(network, data)
    for name in network.latents:
        expected = np.tensordot(data.weights, families[name], 1)
        table = network.structure.table_view(counts, name)
        np.testing.assert_allclose(table, expected, rtol=1e-10, atol=1e-10)


def test_posteriors_equal_enumeration(network, data):
    forest = Forest(network.structure, PatternedData(data))
    _, families = enumerate_mixed(network, data)
    for name in network.latents:
        (found,) = forest.posteriors(network.parameters, [name])
        expected = families[name]
        if expected.ndim > 2:
            (pairs,) = forest.family_posteriors(network.parameters, [name])
            np.testing.assert_allclose(pairs, expected, atol=1e-10)
            expected = expected.sum(axis=1)
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_log_probability_of_a_row_agrees(network, data):
    found = Forest(network.structure, PatternedData(data)).row_log_likelihoods(network.parameters)
    for row in range(5):
        values = {n: data.column(n)[row].item() for n in network.observed}
        seen = {
            n: x
            for n, x in values.items()
            if (x == x if n in network.structure.continuous else x >= 0)
        }
        assert found[row] == pytest.approx(
            network.log_probability(by_code(network, seen)), abs=1e-10
        )


# What must not matter


def test_blocks_and_threads_do_not_matter(network, data, monkeypatch):
    whole = Forest(network.structure, PatternedData(data))
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 16)
    results = []
    for n_jobs in (1, 2):
        split = Forest(network.structure, PatternedData(data, n_jobs))
        assert len(split.plans) > 2
        counts = np.empty(split.n_counts)
        results.append((split.expected_counts(network.parameters, counts), counts))
    assert results[0][0] == results[1][0]
    assert np.array_equal(results[0][1], results[1][1])
    counts = np.empty(whole.n_counts)
    assert results[0][0][0] == pytest.approx(
        whole.expected_counts(network.parameters, counts)[0], rel=1e-12
    )
    np.testing.assert_allclose(results[0][1], counts, rtol=1e-9, atol=1e-9)


def test_the_root_does_not_matter():
    network = draw_mixed(STRUCTURES["two latent"], seed=2)
    patterned = PatternedData(make_data(network))
    expected = Forest(network.structure, patterned).row_log_likelihoods(network.parameters)
    for other in (network.rooted_at("Z"), network.rooted_at("A"), reroot(network, patterned)):
        found = Forest(other.structure, patterned).row_log_likelihoods(other.parameters)
        np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.parametrize("factor", [1e-3, 1e3, 1e-90, 1e90])
def test_units_shift_log_likelihoods_by_the_jacobian(factor):
    network = draw_mixed(FORESTS["many columns"], seed=4)
    data = make_data(network)
    theta = np.array(network.parameters)
    for name in network.structure.continuous:
        network.structure.table_view(theta, name)[...] *= [factor, factor**2]
    columns = [
        factor * data.column(v.name) if not v.is_categorical else data.column(v.name)
        for v in data.variables
    ]
    scaled = Dataset(data.variables, columns, data.weights)
    plain = Forest(network.structure, PatternedData(data)).row_log_likelihoods(network.parameters)
    found = Forest(network.structure, PatternedData(scaled)).row_log_likelihoods(theta)
    n_seen = sum(~np.isnan(data.column(name)) for name in network.structure.continuous)
    np.testing.assert_allclose(found, plain - n_seen * np.log(factor), rtol=1e-11)


# Extremes


def make_profile(means, deviation, n_columns=1):
    variables = [Variable.hidden("Y", len(means)), *(Variable(f"c{i}") for i in range(n_columns))]
    tables = {"Y": np.full(len(means), 1 / len(means))}
    for i in range(n_columns):
        tables[f"c{i}"] = [[mean, deviation**2] for mean in means]
    return Network.from_tables(variables, {f"c{i}": "Y" for i in range(n_columns)}, tables)


def log_density(x, mean, deviation):
    return -0.5 * ((x - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2 * np.pi)


@pytest.mark.parametrize("x", [0.0, 50.0, 1e6, -1e8, 1e100])
def test_values_far_from_all_means(x):
    network = make_profile([-1.0, 1.0], 0.01)
    data = PatternedData(Dataset([network.variables[1]], [[x]]))
    (found,) = Forest(network.structure, data).row_log_likelihoods(network.parameters)
    logs = [log_density(x, mean, 0.01) for mean in (-1.0, 1.0)]
    assert found == pytest.approx(np.logaddexp(*logs) + np.log(0.5), rel=1e-12)


def test_a_far_value_does_not_spoil_the_others():
    network = make_profile([-1.0, 1.0], 0.1)
    rows = [0.9, -1.1, 1e25]
    data = PatternedData(Dataset([network.variables[1]], [rows]))
    found = Forest(network.structure, data).row_log_likelihoods(network.parameters)
    expected = [network.log_probability({"c0": x}) for x in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def conflict(n_leaves=3):
    """A row whose columns speak for different states, each with overwhelming force."""
    latents = [Variable.hidden("Y", 2), *(Variable.hidden(f"Z{i}", 2) for i in range(n_leaves))]
    leaves = [Variable(f"c{i}") for i in range(n_leaves)]
    parents = {f"Z{i}": "Y" for i in range(n_leaves)} | {f"c{i}": f"Z{i}" for i in range(n_leaves)}
    tables = {"Y": [0.5, 0.5]}
    for i in range(n_leaves):
        tables[f"Z{i}"] = [[1.0, 0.0], [0.0, 1.0]]
        tables[f"c{i}"] = [[-1.0, 0.01**2], [1.0, 0.01**2]]
    network = Network.from_tables([*latents, *leaves], parents, tables)
    columns = [[1.0, -1.0, 0.9], [-1.0, -1.0, 1.1], [0.99, -1.0, 1.0]]
    return network, Dataset(leaves, columns, [1.0, 2.0, 3.0])


def test_contradictions_are_computed_in_the_log_domain():
    network, data = conflict()
    forest = Forest(network.structure, PatternedData(data))
    found = forest.row_log_likelihoods(network.parameters)
    rows = np.stack(data.columns, axis=1)
    logs = [log_density(rows, mean, 0.01).sum(axis=1) for mean in (-1.0, 1.0)]
    np.testing.assert_allclose(found, np.logaddexp(*logs) + np.log(0.5), rtol=1e-12)
    posterior = forest.posteriors(network.parameters, ["Y"])[0]
    np.testing.assert_allclose(posterior[:, 1], [1.0, 0.0, 1.0], atol=1e-12)
    for name in network.structure.continuous:
        weight, mean, _ = read_sums(forest, network.parameters, name)
        x = data.column(name)
        np.testing.assert_allclose(weight, [2.0, 4.0])
        np.testing.assert_allclose(mean, [x[1], (x[0] + 3 * x[2]) / 4], atol=1e-9)


def test_impossible_rows_are_reported_and_left_out():
    tables = {"A": [1.0, 0.0], "u": [[0.0, 1.0], [5.0, 1.0]]}
    network = Network.from_tables([A, U], {"u": "A"}, tables)
    data = Dataset([A, U], [[0, 1, -1], [0.5, 0.5, 0.5]], [1.0, 4.0, 1.0])
    forest = Forest(network.structure, PatternedData(data))
    value, impossible = forest.log_likelihood(network.parameters)
    assert impossible == 4.0
    assert value == pytest.approx(2 * log_density(0.5, 0.0, 1.0))
    rows = forest.row_log_likelihoods(network.parameters)
    assert rows[1] == -np.inf
    assert rows[[0, 2]].sum() == pytest.approx(value)


def test_wide_tables_do_not_underflow():
    network = make_profile([-1.0, 0.0, 1.0], 0.05, n_columns=300)
    data = network.sample(30, random_state=0)
    found = Forest(network.structure, PatternedData(data)).row_log_likelihoods(network.parameters)
    rows = np.stack(data.columns, axis=1)
    logs = [log_density(rows, mean, 0.05).sum(axis=1) for mean in (-1.0, 0.0, 1.0)]
    expected = np.logaddexp.reduce(logs, axis=0) - np.log(3)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_many_mixed_columns_agree_with_the_log_domain():
    """So many categorical columns that messages are scaled."""
    rng = np.random.default_rng(0)
    names = [f"X{i}" for i in range(150)]
    items = [Variable(name, ("0", "1")) for name in names]
    variables = [Variable.hidden("Y", 2), *items, U]
    tables = {"Y": [0.5, 0.5], "u": [[-30.0, 1.0], [30.0, 1.0]]}
    tables |= {name: [[0.999, 0.001], [0.001, 0.999]] for name in names}
    network = Network.from_tables(variables, dict.fromkeys([*names, "u"], "Y"), tables)
    codes = rng.integers(0, 2, (150, 40))
    data = Dataset([*items, U], [*codes, rng.choice([-30.0, 0.0, 30.0], 40)])
    found = Forest(network.structure, PatternedData(data)).row_log_likelihoods(network.parameters)
    ones, x = codes.sum(axis=0), data.column("u")
    logs = [
        (150 - ones) * np.log(0.999) + ones * np.log(0.001) + log_density(x, -30.0, 1.0),
        ones * np.log(0.999) + (150 - ones) * np.log(0.001) + log_density(x, 30.0, 1.0),
    ]
    np.testing.assert_allclose(found, np.logaddexp(*logs) - np.log(2), rtol=1e-12)


def test_columns_that_are_all_missing_add_nothing():
    network = draw_mixed(STRUCTURES["mixed leaves"], seed=0)
    data = network.sample(20, random_state=0)
    columns = [np.full(20, np.nan) if n == "v" else data.column(n) for n in data.names]
    found = Forest(
        network.structure, PatternedData(Dataset(data.variables, columns))
    ).row_log_likelihoods(network.parameters)
    smaller = Network(
        network.structure.remove(["v"]),
        np.concatenate([network.cpd(n).ravel() for n in network.names if n != "v"]),
    )
    patterned = PatternedData(data.select(smaller.observed))
    expected = Forest(smaller.structure, patterned).row_log_likelihoods(smaller.parameters)
    np.testing.assert_allclose(found, expected, atol=1e-12)


# Regions


def test_a_region_with_gaussian_leaves():
    network = draw_mixed(STRUCTURES["two latent"], seed=6)
    patterned = PatternedData(make_data(network, 200))
    whole = Forest(network.structure, patterned).log_likelihood(network.parameters)[0]
    for free in (["v", "Z"], ["u"], ["Y", "u", "Z"], ["A"]):
        region = make_region(network, patterned, free)
        assert find_top(region.network.structure, free) == region.network.structure.roots[0]
        at = region.forest.log_likelihood(region.network.parameters)[0] + region.constant
        assert at == pytest.approx(whole, rel=1e-12)
        result = fit_region(region, region.network.parameters)
        assert result.log_likelihood >= whole - 1e-9
        fitted = region.network.with_parameters(result.parameters)
        value = Forest(fitted.structure, patterned).log_likelihood(fitted.parameters)[0]
        assert value == pytest.approx(result.log_likelihood, rel=1e-10)
        for name in set(network.names) - set(free):
            assert np.array_equal(fitted.cpd(name), region.network.cpd(name))


# Refusals


def test_what_the_engine_does_not_take_is_refused():
    network = draw_mixed(LINEAR["own class"], seed=0)
    with pytest.raises(ModelError, match="at most one categorical variable may be above them"):
        Forest(network.structure, PatternedData(network.sample(5, random_state=0)))


def test_kinds_must_agree():
    with pytest.raises(DataError, match="column 'u' has states"):
        Forest(
            Structure([Variable("u", ("0", "1"))], {}), PatternedData(Dataset([U], [[0.0, 1.0]]))
        )


def test_continuous_columns_are_named_where_they_are_refused():
    dataset = Dataset([A, Variable("size")], [[0], [1.5]])
    with pytest.raises(DataError, match=r"column 'size' is continuous.*kinds={'size'"):
        require_categorical(dataset)
