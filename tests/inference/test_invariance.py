import multiprocessing
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import generate, random_latent_class, random_latent_forest
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.patterns import Grouping
from latentforest.kernels.layout import PRODUCT
from latentforest.model import Network, Structure
from reference.random_networks import networks, tables_for


def expect(network, data):
    forest, counts = Forest(network.structure, data), np.empty(network.structure.n_values)
    return counts, forest.expected_counts(network.parameters, counts)


def assert_same(found, expected, rtol=1e-12):
    np.testing.assert_allclose(found[0], expected[0], rtol=rtol, atol=1e-11)
    np.testing.assert_allclose(found[1], expected[1], rtol=rtol, atol=1e-12)


def log_likelihoods(network, dataset):
    return Forest(network.structure, PatternedData(dataset)).row_log_likelihoods(network.parameters)


@pytest.fixture
def network():
    return random_latent_forest(2, 16, n_states=(2, 3), n_latent_states=3, random_state=0)


@pytest.fixture
def dataset(network):
    rng = np.random.default_rng(3)
    return generate(network, 250, 0.05, random_state=1).with_weights(rng.integers(0, 4, 250))


def test_order_of_the_rows(network, dataset):
    order = np.random.default_rng(0).permutation(dataset.n_rows)
    expected = expect(network, PatternedData(dataset))
    assert_same(expect(network, PatternedData(dataset.take(order))), expected)
    rows = log_likelihoods(network, dataset)
    np.testing.assert_allclose(log_likelihoods(network, dataset.take(order)), rows[order])


def test_order_of_the_columns(network, dataset):
    turned = dataset.select(dataset.names[::-1])
    assert_same(expect(network, PatternedData(turned)), expect(network, PatternedData(dataset)))


def test_order_of_the_variables(network, dataset):
    structure = network.structure
    parents = {name: structure.parents(name) for name in structure.names}
    turned = Structure(structure.variables[::-1], parents)
    tables = {name: network.cpd(name) for name in structure.names}
    other = Network.from_tables(turned.variables, parents, tables)
    expected, values = expect(network, PatternedData(dataset))
    counts, found = expect(other, PatternedData(dataset))
    np.testing.assert_allclose(found, values, rtol=1e-12)
    for name in structure.names:
        a, b = turned.table_view(counts, name), structure.table_view(expected, name)
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_rooting_anywhere(data):
    network = data.draw(networks(max_variables=7))
    dataset = data.draw(tables_for(network))
    rooted = network.rooted_at(data.draw(st.sampled_from(network.names)))
    expected = log_likelihoods(network, dataset)
    np.testing.assert_allclose(log_likelihoods(rooted, dataset), expected, atol=1e-10)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_relabelling_latent_states(data):
    network = data.draw(networks())
    if not network.latents:
        return
    dataset, name = data.draw(tables_for(network)), data.draw(st.sampled_from(network.latents))
    n_states = network.structure.shape(name)[-1]
    order = data.draw(st.permutations(range(n_states)))
    relabelled = network.relabelled(name, order)
    assert_same(
        (np.zeros(1), log_likelihoods(relabelled, dataset)),
        (np.zeros(1), log_likelihoods(network, dataset)),
        rtol=1e-11,
    )


def test_repeating_rows_is_weighing_them(network, dataset):
    rows = np.repeat(np.arange(dataset.n_rows), dataset.weights.astype(int))
    repeated = dataset.take(rows).with_weights(None)
    expected = expect(network, PatternedData(dataset))
    assert_same(expect(network, PatternedData(repeated)), expected, rtol=1e-11)


@pytest.mark.parametrize("chunk_rows", [1, 16, 100])
def test_blocks_of_rows(network, dataset, monkeypatch, chunk_rows):
    expected, rows = expect(network, PatternedData(dataset)), log_likelihoods(network, dataset)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", chunk_rows)
    data = PatternedData(dataset)
    assert len(data.chunks) == -(-data.n_rows // chunk_rows)
    assert_same(expect(network, data), expected)
    np.testing.assert_allclose(log_likelihoods(network, dataset), rows, rtol=1e-12)


def test_blocks_hold_different_patterns(monkeypatch):
    network = random_latent_class(6, 2, random_state=0)
    dataset = generate(network, 90, 0.3, random_state=1)
    order = np.lexsort(dataset.columns)
    complete = expect(network, PatternedData(dataset))
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 10)
    assert_same(expect(network, PatternedData(dataset.take(order))), complete)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_give_the_same_bits(network, dataset, monkeypatch, n_jobs):
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 20)
    one, many = PatternedData(dataset, n_jobs=1), PatternedData(dataset, n_jobs=n_jobs)
    (counts, values), (other_counts, other_values) = expect(network, one), expect(network, many)
    assert np.array_equal(counts, other_counts)
    assert values == other_values
    starts = random_starts(network.structure, dataset, 3, 0)
    results = [
        fit(Forest(network.structure, data), starts, settings=EMSettings(15))
        for data in (one, many)
    ]
    assert np.array_equal(results[0].parameters, results[1].parameters)
    assert results[0].objective == results[1].objective


def test_starts_side_by_side_give_the_same_bits(network, dataset, monkeypatch):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 0.0)
    starts = random_starts(network.structure, dataset, 6, 0)
    results = [
        fit(
            Forest(network.structure, PatternedData(dataset, n_jobs=n_jobs)),
            starts,
            settings=EMSettings(25),
        )
        for n_jobs in (1, 3)
    ]
    assert np.array_equal(results[0].parameters, results[1].parameters)
    assert np.array_equal(results[0].monitor.trajectory, results[1].monitor.trajectory)


def test_grouping_the_children(monkeypatch):
    network = random_latent_class(14, 3, random_state=0)
    dataset = generate(network, 500, 0.02, random_state=1)
    forest = Forest(network.structure, PatternedData(dataset))
    assert any(node.kind == PRODUCT for node in forest.nodes)
    expected = expect(network, PatternedData(dataset))
    monkeypatch.setattr(PatternedData, "group", lambda self, masks: Grouping(masks, ()))
    forest = Forest(network.structure, PatternedData(dataset))
    assert not any(node.kind == PRODUCT for node in forest.nodes)
    assert_same(expect(network, PatternedData(dataset)), expected, rtol=1e-11)


def test_deciding_the_groups_on_a_sample(monkeypatch):
    network = random_latent_class(14, 3, random_state=0)
    dataset = generate(network, 500, random_state=1)
    expected = expect(network, PatternedData(dataset))
    monkeypatch.setattr(forest_module, "SAMPLE_ROWS", 32)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 128)
    assert_same(expect(network, PatternedData(dataset)), expected, rtol=1e-11)


def test_forgetting_pattern_columns(network, dataset, monkeypatch):
    expected = expect(network, PatternedData(dataset))
    monkeypatch.setattr(forest_module, "COLUMN_BYTES", 1)
    monkeypatch.setattr(forest_module, "KEPT_BYTES", 1)
    found = expect(network, PatternedData(dataset))
    assert np.array_equal(found[0], expected[0])
    assert found[1] == expected[1]


def test_columns_that_the_network_does_not_use(network, dataset):
    other = generate(random_latent_class(3, 2, random_state=5), dataset.n_rows, random_state=6)
    renamed = [Variable(f"other {variable.name}", variable.states) for variable in other.variables]
    columns = [*other.columns, *dataset.columns]
    wide = Dataset([*renamed, *dataset.variables], columns, dataset.weights)
    assert_same(expect(network, PatternedData(wide)), expect(network, PatternedData(dataset)))


def fit_in_a_child(queue):
    queue.put(count_with_threads())


def count_with_threads():
    network = random_latent_class(4, 2, random_state=0)
    data = PatternedData(network.sample(400, random_state=0), n_jobs=2)
    counts = np.empty(network.structure.n_values)
    Forest(network.structure, data).expected_counts(network.parameters, counts)
    return counts.tolist()


def test_threads_work_in_a_forked_process(monkeypatch):
    """A child has none of its parent's threads and must start its own."""
    monkeypatch.setattr("latentforest.inference.forest.CHUNK_ROWS", 4)
    expected = count_with_threads()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of threads and forks
        child = context.Process(target=fit_in_a_child, args=(queue,), daemon=True)
        child.start()
    assert queue.get(timeout=60) == expected
    child.join(60)
