import gc
import weakref

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import (
    generate,
    random_latent_class,
    random_latent_forest,
    random_latent_tree,
)
from latentforest.errors import DataError, ModelError, ParameterError
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.threads import count_threads, map_threads
from latentforest.model import Network, Structure
from reference.enumeration import enumerate_rows
from reference.log_domain import propagate_logs
from reference.random_networks import fill_randomly, networks, tables_for

A, B = Variable("A", ("0", "1")), Variable("B", ("0", "1"))


def expect(structure, theta, dataset, **options):
    """Expected counts, log-likelihood and impossible weight of the engine."""
    forest = Forest(structure, PatternedData(dataset), **options)
    counts = np.full(structure.n_values, np.nan)
    return counts, *forest.expected_counts(theta, counts)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_forests_equal_enumeration(data):
    network = data.draw(networks(max_variables=7, max_states=4, share_of_zeros=0.0))
    dataset = data.draw(tables_for(network))
    structure, theta = network.structure, network.parameters
    values, counts = enumerate_rows(structure, theta, dataset)
    found, log_likelihood, impossible = expect(structure, theta, dataset)
    np.testing.assert_allclose(found, counts, rtol=1e-10, atol=1e-10)
    assert log_likelihood == pytest.approx(dataset.weights @ values.sum(axis=1), abs=1e-10)
    assert impossible == 0.0
    forest = Forest(structure, PatternedData(dataset))
    np.testing.assert_allclose(forest.row_log_likelihoods(theta), values.sum(axis=1), atol=1e-10)
    assert forest.log_likelihood(theta) == (log_likelihood, impossible)


def grow_into_one_tree(network, seed):
    """Hang all trees but one below the first variable of the order."""
    structure = network.structure
    roots = structure.roots
    joined = structure.with_parents(dict.fromkeys(roots[1:], roots[0]))
    return fill_randomly(joined, seed, share_of_zeros=0.4)


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_trees_with_zeros_equal_enumeration(data):
    network = data.draw(networks(max_variables=6, max_states=4))
    network = grow_into_one_tree(network, data.draw(st.integers(0, 1000)))
    dataset = data.draw(tables_for(network))
    structure, theta = network.structure, network.parameters
    values, counts = enumerate_rows(structure, theta, dataset)
    possible = np.isfinite(values[:, 0])
    found, log_likelihood, impossible = expect(structure, theta, dataset)
    np.testing.assert_allclose(found, counts, rtol=1e-10, atol=1e-10)
    expected = dataset.weights[possible] @ values[possible, 0]
    assert log_likelihood == pytest.approx(expected, abs=1e-10)
    assert impossible == pytest.approx(dataset.weights[~possible].sum(), abs=1e-12)
    rows = Forest(structure, PatternedData(dataset)).row_log_likelihoods(theta)
    assert np.array_equal(np.isneginf(rows), ~possible)
    np.testing.assert_allclose(rows[possible], values[possible, 0], atol=1e-10)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_large_cardinalities_equal_enumeration(data):
    network = data.draw(networks(max_variables=4, max_states=6))
    dataset = data.draw(tables_for(network))
    counts, _, _ = expect(network.structure, network.parameters, dataset)
    _, expected = enumerate_rows(network.structure, network.parameters, dataset)
    np.testing.assert_allclose(counts, expected, rtol=1e-10, atol=1e-10)


def test_150_states_equal_enumeration():
    states = tuple(map(str, range(150)))
    variables = [Variable.hidden("Y", 150), Variable("A", states), Variable("B", ("0", "1", "2"))]
    network = fill_randomly(Structure(variables, {"A": "Y", "B": "A"}), 0, share_of_zeros=0.05)
    rng = np.random.default_rng(1)
    columns = [np.r_[149, -1, rng.integers(0, 150, 30)], np.r_[-1, -1, rng.integers(-1, 3, 30)]]
    dataset = Dataset(variables[1:], columns)
    values, expected = enumerate_rows(network.structure, network.parameters, dataset)
    counts, log_likelihood, _ = expect(network.structure, network.parameters, dataset)
    np.testing.assert_allclose(counts, expected, rtol=1e-10, atol=1e-10)
    assert log_likelihood == pytest.approx(values[np.isfinite(values)].sum(), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_larger_forests_equal_message_passing_in_logs(seed):
    network = random_latent_forest(
        2, 40, depth=2, n_states=(2, 3, 5), n_latent_states=(2, 3, 4), random_state=seed
    )
    dataset = generate(network, 300, missing_rate=0.05, random_state=seed)
    values, expected = propagate_logs(network.structure, network.parameters, dataset)
    counts, log_likelihood, _ = expect(network.structure, network.parameters, dataset)
    np.testing.assert_allclose(counts, expected, rtol=1e-10, atol=1e-10)
    assert log_likelihood == pytest.approx(values.sum(), rel=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_both_oracles_agree(data):
    network = data.draw(networks(max_states=4))
    dataset = data.draw(tables_for(network))
    arguments = network.structure, network.parameters, dataset
    for found, expected in zip(propagate_logs(*arguments), enumerate_rows(*arguments), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_a_leaf_without_a_value_adds_nothing_but_an_inner_variable_does():
    network = Network.from_tables(
        [A, B], {"B": "A"}, {"A": [0.25, 0.75], "B": [[0.5, 0.5], [0.2, 0.8]]}
    )
    dataset = Dataset([A, B], [[-1, 0], [-1, -1]])
    counts, _, _ = expect(network.structure, network.parameters, dataset)
    np.testing.assert_allclose(counts, [1.25, 0.75, 0.0, 0.0, 0.0, 0.0])


def test_a_row_without_values_has_probability_one():
    network = random_latent_class(5, 3, random_state=0)
    variables = [network.structure.variable(name) for name in network.observed]
    dataset = Dataset(variables, [[-1, 0]] * 5)
    rows = Forest(network.structure, PatternedData(dataset)).row_log_likelihoods(network.parameters)
    assert rows[0] == pytest.approx(0.0, abs=1e-14)
    assert rows[1] < -1.0


def test_impossible_rows_are_reported():
    network = Network.from_tables(
        [A, B], {"B": "A"}, {"A": [1.0, 0.0], "B": [[0.5, 0.5], [0.2, 0.8]]}
    )
    dataset = Dataset([A, B], [[0, 1, 1], [0, 0, 1]], [1.0, 2.0, 4.0])
    counts, log_likelihood, impossible = expect(network.structure, network.parameters, dataset)
    assert log_likelihood == pytest.approx(np.log(0.5))
    assert impossible == 6.0
    assert counts.tolist() == [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    forest = Forest(network.structure, PatternedData(dataset))
    assert forest.row_log_likelihoods(network.parameters).tolist() == [
        pytest.approx(np.log(0.5)),
        -np.inf,
        -np.inf,
    ]


def test_an_impossible_row_counts_once_in_a_forest():
    structure, theta = Structure([A, B], {}), np.array([1.0, 0.0, 1.0, 0.0])
    dataset = Dataset([A, B], [[0, 1], [0, 1]], [1.0, 2.0])
    assert Forest(structure, PatternedData(dataset)).log_likelihood(theta) == (0.0, 2.0)


def test_the_log_likelihood_leaves_impossible_rows_out():
    structure, theta = Structure([A, B], {}), np.array([1.0, 0.0, 0.5, 0.5])
    dataset = Dataset([A, B], [[0, 1], [0, 1]])
    value, impossible = Forest(structure, PatternedData(dataset)).log_likelihood(theta)
    assert impossible == 1.0
    assert value == pytest.approx(np.log(0.5))


def test_repeated_rows_are_merged_and_their_values_spread():
    network = random_latent_class(4, 2, random_state=0)
    dataset = generate(network, 200, random_state=1)
    data = PatternedData(dataset)
    assert data.n_rows < 20
    assert data.total_weight == 200.0
    rows = Forest(network.structure, data).row_log_likelihoods(network.parameters)
    values, _ = enumerate_rows(network.structure, network.parameters, dataset)
    np.testing.assert_allclose(rows, values[:, 0], atol=1e-12)


def test_row_values_are_independent_of_the_weights():
    network = random_latent_class(4, 2, random_state=0)
    dataset = generate(network, 12, random_state=1)
    weighted = dataset.with_weights(np.arange(12.0))
    rows = [
        Forest(network.structure, PatternedData(each)).row_log_likelihoods(network.parameters)
        for each in (dataset, weighted)
    ]
    assert np.array_equal(*rows)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_only_free_tables_are_counted(data):
    network = data.draw(networks(max_states=4))
    dataset = data.draw(tables_for(network))
    free = data.draw(st.sets(st.sampled_from(network.names)))
    structure, theta = network.structure, network.parameters
    everything, log_likelihood, impossible = expect(structure, theta, dataset)
    counts, *values = expect(structure, theta, dataset, free=free)
    assert values == [log_likelihood, impossible]
    for name in structure.names:
        found = structure.table_view(counts, name)
        expected = structure.table_view(everything, name) if name in free else 0.0
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def has_arcs(network):
    return any(map(network.structure.parents, network.names))


@st.composite
def cut_networks(draw):
    """Draw a network, its data, and one or two variables that messages are to replace."""
    network = draw(networks(max_variables=7, max_states=4).filter(has_arcs))
    structure = network.structure
    below = [name for name in structure.names if structure.parents(name)]
    dense = draw(st.lists(st.sampled_from(below), min_size=1, max_size=2, unique=True))
    return network, draw(tables_for(network)), dense


def make_cut_network_with_an_impossible_pattern():
    """The second row cannot be, and has no weight; the first one has a message with a zero."""
    y, c = Variable.hidden("Y", 2), Variable("C", ("0", "1"))
    tables = {"Y": [0.25, 0.75], "B": [[0.0, 1.0], [0.5, 0.5]], "C": [[0.75, 0.25], [1.0, 0.0]]}
    network = Network.from_tables([y, B, c], {"B": "Y", "C": "B"}, tables)
    return network, Dataset([B, c], [[0, 1], [0, 1]], [1.0, 0.0]), ["B"]


@settings(deadline=None, max_examples=60)
@given(cut_networks())
@example(make_cut_network_with_an_impossible_pattern())
def test_dense_messages_stand_for_their_subtrees(cut_network):
    network, dataset, dense = cut_network
    structure, theta = network.structure, network.parameters
    whole = Forest(structure, PatternedData(dataset))
    messages = whole.messages(theta, dense)
    part = Forest(structure, whole.data, dense=messages)
    assert part.log_likelihood(theta) == pytest.approx(whole.log_likelihood(theta), abs=1e-10)
    everything, counts = np.empty(structure.n_values), np.empty(structure.n_values)
    whole.expected_counts(theta, everything)
    part.expected_counts(theta, counts)
    for name in part.free:
        if name not in dense:
            found, expected = (
                structure.table_view(counts, name),
                structure.table_view(everything, name),
            )
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_scaled_dense_messages_only_change_the_constant():
    network = random_latent_tree(8, depth=2, width=2, random_state=0)
    dataset = generate(network, 50, 0.1, random_state=1)
    structure, theta = network.structure, network.parameters
    whole = Forest(structure, PatternedData(dataset))
    messages = whole.messages(theta, ["Y2"])
    scaled = {"Y2": [rows * 1e-6 for rows in messages["Y2"]]}
    counts = [np.empty(structure.n_values) for _ in range(2)]
    values = [
        Forest(structure, whole.data, dense=dense).expected_counts(theta, each)[0]
        for dense, each in zip((messages, scaled), counts, strict=True)
    ]
    np.testing.assert_allclose(counts[1], counts[0], rtol=1e-11, atol=1e-13)
    assert values[1] == pytest.approx(values[0] + 50 * np.log(1e-6), rel=1e-12)


def test_a_network_that_is_no_forest_is_refused():
    c = Variable("C", ("0", "1"))
    structure = Structure([A, B, c], {"C": ["A", "B"]})
    data = PatternedData(Dataset([A, B, c], [[0]] * 3))
    with pytest.raises(ModelError, match=r"variable 'C' has parents \('A', 'B'\)"):
        Forest(structure, data)


def test_a_missing_column_is_refused():
    with pytest.raises(DataError, match="the table has no column 'B', which the network needs"):
        Forest(Structure([A, B], {}), PatternedData(Dataset([A], [[0]])))


def test_other_states_are_refused():
    other = Variable("A", ("1", "0"))
    message = r"column 'A' has states \('1', '0'\), but the network has \('0', '1'\)"
    with pytest.raises(DataError, match=message):
        Forest(Structure([A], {}), PatternedData(Dataset([other], [[0]])))


def test_numbers_of_threads():
    assert count_threads(None) == 1
    assert count_threads(3) == 3
    assert count_threads(-1) >= 1
    assert count_threads(-1000) == 1


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2"])
def test_bad_numbers_of_threads_are_refused(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be a non-zero whole number or None"):
        count_threads(n_jobs)


def test_threads_inside_threads_do_not_wait_for_each_other():
    def add_up(i):
        return sum(map_threads(lambda j: i * j, range(5), 2))

    assert list(map_threads(add_up, range(5), 2)) == [0, 10, 20, 30, 40]


def test_each_tree_is_counted_by_itself():
    structure, theta = Structure([A, B], {}), np.array([1.0, 0.0, 0.25, 0.75])
    dataset = Dataset([A, B], [[0, 1], [0, 1]], [1.0, 2.0])
    counts, log_likelihood, impossible = expect(structure, theta, dataset)
    assert counts.tolist() == [1.0, 0.0, 1.0, 2.0]
    assert log_likelihood == pytest.approx(np.log(0.25) + 2 * np.log(0.75))
    assert impossible == 2.0


def test_a_latent_leaf_among_many_children():
    rng, names, cards = np.random.default_rng(0), "ABCD", [3, 2, 9, 9]
    observed = [Variable(n, tuple(map(str, range(k)))) for n, k in zip(names, cards, strict=True)]
    variables = [Variable.hidden("Y", 2), Variable.hidden("Z", 2), *observed]
    structure = Structure(variables, {"Z": "Y"} | dict.fromkeys(names, "Y"))
    network = fill_randomly(structure, 0, share_of_zeros=0.0)
    dataset = Dataset(observed, [rng.integers(0, card, 200) for card in cards])
    values, expected = enumerate_rows(structure, network.parameters, dataset)
    counts, log_likelihood, _ = expect(structure, network.parameters, dataset)
    assert log_likelihood == pytest.approx(values.sum(), rel=1e-12)
    np.testing.assert_allclose(counts, expected, rtol=1e-10, atol=1e-10)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_forests_over_one_table_share_nodes_and_agree(data):
    """What nodes remember of one structure is right for the next."""
    network = data.draw(networks(max_variables=8, max_states=3))
    dataset = data.draw(tables_for(network))
    shared = PatternedData(dataset)
    for root in network.structure.names:
        turned = network.rooted_at(root)
        values = [
            Forest(turned.structure, each).row_log_likelihoods(turned.parameters)
            for each in (shared, shared, PatternedData(dataset))
        ]
        np.testing.assert_array_equal(values[0], values[2])
        np.testing.assert_array_equal(values[1], values[2])


def test_subtrees_in_common_are_the_same_nodes():
    network = random_latent_tree(9, depth=2, random_state=0)
    data = PatternedData(generate(network, 50, random_state=0))
    first, second = (Forest(network.structure, data) for _ in range(2))
    assert first.nodes == second.nodes
    other = Forest(network.structure, PatternedData(data.dataset))
    assert first.nodes != other.nodes


@pytest.mark.parametrize("most", [0, 3])
@given(data=st.data())
def test_plans_do_not_depend_on_what_nodes_remember(most, data):
    network = data.draw(networks(max_variables=8, max_states=3))
    dataset = data.draw(tables_for(network))
    expected = Forest(network.structure, PatternedData(dataset)).plans[0]
    shared = PatternedData(dataset)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latentforest.inference.plan.MOST_BELOW", most)
        for _ in range(2):
            found = Forest(network.structure, shared).plans[0]
            for array, same in zip(found, expected, strict=True):
                np.testing.assert_array_equal(array, same)


def test_tables_are_freed_with_the_last_forest():
    network = random_latent_tree(9, depth=2, random_state=0)
    data = PatternedData(generate(network, 50, random_state=0))
    forest, store = Forest(network.structure, data), weakref.ref(data.chunks[0].store)
    gc.disable()
    try:
        del data, forest
        assert store() is None
    finally:
        gc.enable()


def test_known_nodes_are_forgotten_when_there_are_many(monkeypatch):
    network = random_latent_tree(9, depth=2, random_state=0)
    data = PatternedData(generate(network, 50, random_state=0))
    before = Forest(network.structure, data).nodes
    monkeypatch.setattr("latentforest.inference.forest.LEAST_NODES", 3)
    monkeypatch.setattr("latentforest.inference.forest.NODE_BYTES", 0)
    after = Forest(network.structure, data).nodes
    assert before[0] is not after[0]


def test_small_tables_get_one_thread(monkeypatch):
    table = generate(random_latent_tree(9, depth=2, random_state=0), 50, random_state=0)
    assert PatternedData(table, n_jobs=2).n_jobs == 2
    monkeypatch.setattr("latentforest.inference.forest.SMALL_CELLS", 9 * 50)
    assert PatternedData(table, n_jobs=2).n_jobs == 1
