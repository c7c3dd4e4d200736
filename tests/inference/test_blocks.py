"""Blocks of continuous variables: likelihoods, missing values, messages, sums, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.errors import ModelError
from latentforest.inference import forest as forest_module
from latentforest.inference.blocks import correlate, find_blocks
from latentforest.inference.columns import summarize
from latentforest.inference.forest import Forest, PatternedData
from latentforest.model import Network, Structure
from reference.block_em import cell_log_density, list_cells, row_log_likelihoods
from reference.mixed_networks import LINEAR, POUCHES, A, U, V, W, Y, Z, draw_mixed, joint_density

STRUCTURES = {name: each for name, each in {**LINEAR, **POUCHES}.items() if name != "own class"} | {
    "no parent": Structure([U, V, W, A], {"v": "u"}, [("u", "w")]),
    "two latent": Structure(
        [Y, Z, U, V, W, A],
        {"Z": "Y", "u": "Y", "v": "Y", "w": "Z", "A": "Z"},
        [("u", "v")],
    ),
    "observed parent": Structure([A, Y, U, V], {"A": "Y", "u": "A", "v": ("A", "u")}),
}


def make_data(network, n_rows=40, missing=0.2, seed=0):
    data = with_missing(network.sample(n_rows, random_state=seed), missing, random_state=seed)
    return data.with_weights(np.random.default_rng(seed).choice([0.5, 1.0, 2.0], n_rows))


@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("kind", sorted(STRUCTURES))
def test_rows_equal_enumeration(kind, missing):
    network = draw_mixed(STRUCTURES[kind], seed=4)
    data = make_data(network, missing=missing)
    forest = Forest(network.structure, PatternedData(data))
    expected = row_log_likelihoods(network, data)
    found = forest.row_log_likelihoods(network.parameters)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    value, impossible = forest.log_likelihood(network.parameters)
    assert value == pytest.approx(data.weights @ expected, rel=1e-12, abs=1e-9)
    assert impossible == 0.0


@pytest.mark.parametrize("kind", ["chain", "pouch and leaf", "line from a pouch"])
def test_missing_values_equal_numerical_integration(kind):
    network = draw_mixed(STRUCTURES[kind], seed=1)
    grid = np.linspace(-60.0, 60.0, 6001)
    names = network.structure.continuous
    values = network.sample(1, random_state=0)
    for gone in names:
        row = {n: values.column(n)[0] for n in names if n != gone}
        columns = [
            np.array([row.get(v.name, np.nan)]) if not v.is_categorical else [-1]
            for v in values.variables
        ]
        data = Dataset(values.variables, columns)
        _, joint = joint_density(network, row, grid)
        (found,) = Forest(network.structure, PatternedData(data)).row_log_likelihoods(
            network.parameters
        )
        assert found == pytest.approx(np.log(joint.sum()), abs=1e-6)


@pytest.mark.parametrize("kind", sorted(STRUCTURES))
def test_posteriors_equal_enumeration(kind):
    network = draw_mixed(STRUCTURES[kind], seed=2)
    data = make_data(network)
    forest = Forest(network.structure, PatternedData(data))
    cells = list_cells(network)
    logs = np.array([[cell_log_density(network, data, r, c) for c in cells] for r in range(40)])
    posterior = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    for name in network.latents:
        (found,) = forest.posteriors(network.parameters, [name])
        for k in range(found.shape[1]):
            expected = posterior[:, [c[name] == k for c in cells]].sum(axis=1)
            np.testing.assert_allclose(found[:, k], expected, atol=1e-9)


def test_sums_of_one_block_of_rows_and_of_several_agree(monkeypatch):
    network = draw_mixed(STRUCTURES["line from a pouch"], seed=5)
    data = make_data(network, 200)
    whole, parts = np.empty(0), np.empty(0)
    forest = Forest(network.structure, PatternedData(data))
    whole = np.empty(forest.n_counts)
    forest.expected_counts(network.parameters, whole)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 32)
    results = []
    for n_jobs in (1, 2):
        forest = Forest(network.structure, PatternedData(data, n_jobs))
        parts = np.empty(forest.n_counts)
        forest.expected_counts(network.parameters, parts)
        results.append(parts)
    np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-9)
    assert np.array_equal(*results)


def test_rows_that_vanish_are_counted_in_the_log_domain():
    structure = Structure([Y, Z, U, V, W], {"Z": "Y", "u": "Y", "v": "Y", "w": "Z"}, [("u", "v")])
    network = draw_mixed(structure, seed=3)
    theta = np.array(network.parameters)
    structure.table_view(theta, "Z")[...] = [[1.0, 1e-300], [1.0, 1e-300], [1.0, 1e-300]]
    structure.table_view(theta, "w")[...] = [[0.0, 1e-3], [50.0, 1e-3]]
    network = Network(structure, theta)
    data = Dataset([U, V, W], [[0.5, 0.1], [1.0, np.nan], [49.0, 49.5]])
    forest = Forest(structure, PatternedData(data))
    expected = row_log_likelihoods(network, data)
    found = forest.row_log_likelihoods(network.parameters)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    counts = np.empty(forest.n_counts)
    forest.expected_counts(np.array(network.parameters), counts)
    sums = counts[structure.n_values :][: 3 * 7].reshape(3, 7)
    assert sums[:, 0].sum() == pytest.approx(2.0)
    np.testing.assert_allclose(sums[:, 0], structure.table_view(counts, "Y"), rtol=1e-9)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_the_order_of_rows_and_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    network = draw_mixed(STRUCTURES["pouch of three"], seed)
    data = make_data(network, 30, 0.3, seed)
    value = Forest(network.structure, PatternedData(data)).log_likelihood(network.parameters)[0]
    columns, rows = rng.permutation(3), rng.permutation(30)
    turned = Dataset(
        [data.variables[j] for j in columns], [data.columns[j] for j in columns], data.weights
    ).take(rows)
    again = Forest(network.structure, PatternedData(turned)).log_likelihood(network.parameters)[0]
    assert again == pytest.approx(value, rel=1e-12)


def test_blocks_are_found():
    structure = STRUCTURES["line from a pouch"]
    (block,) = find_blocks(structure)
    assert block.parent == "Y"
    assert block.names == ("u", "v", "w")
    assert block.families == (("u", "v"), ("w",))
    assert find_blocks(Structure([Y, U, V], {"u": "Y", "v": "Y"})) == ()


def test_two_categorical_variables_above_a_block_are_refused():
    structure = Structure([Y, Z, U, V], {"u": "Y", "v": ("Z", "u")})
    data = PatternedData(Dataset([U, V], [[0.0, 1.0], [1.0, 2.0]]))
    with pytest.raises(ModelError, match="'u', 'v' depend on each other and on 'Y', 'Z'"):
        Forest(structure, data)


def test_correlations_are_those_of_numpy_and_always_positive_definite():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 50)) @ np.eye(50)
    x[2] = x[0]
    weights = rng.uniform(0.5, 2.0, 50)
    about = [summarize("x", row, weights) for row in x]
    found = correlate(list(x), about, weights)
    np.testing.assert_allclose(
        found[0, 1],
        np.cov(x[:2], aweights=weights, bias=True)[0, 1]
        / np.sqrt(about[0].variance * about[1].variance),
        rtol=1e-5,
    )
    assert np.linalg.eigvalsh(found).min() > 1e-7
    assert found[0, 2] > 0.999


def test_constant_and_empty_columns_have_no_correlations():
    columns = [np.full(5, 3.0), np.full(5, np.nan), np.arange(5.0)]
    about = [summarize("x", column, np.ones(5)) for column in columns]
    assert np.array_equal(correlate(columns, about, np.ones(5)), np.eye(3))


def test_an_extra_variable_changes_no_other_block():
    structure = Structure([Y, Variable("q"), U, V], {"q": "Y", "u": "Y", "v": "Y"}, [("u", "v")])
    network = draw_mixed(structure, seed=0)
    data = make_data(network, missing=0.0)
    forest = Forest(structure, PatternedData(data))
    np.testing.assert_allclose(
        forest.row_log_likelihoods(network.parameters), row_log_likelihoods(network, data)
    )
