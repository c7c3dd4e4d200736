import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData
from latentforest.kernels.layout import N_FIELDS, PRODUCT
from latentforest.model import Network
from reference.log_domain import propagate_logs

BINARY = ("0", "1")


def assert_equals_logs(network, dataset, rtol=1e-7):
    structure, theta = network.structure, network.parameters
    values, expected = propagate_logs(structure, theta, dataset)
    forest, counts = Forest(structure, PatternedData(dataset)), np.empty(structure.n_values)
    log_likelihood, impossible = forest.expected_counts(theta, counts)
    assert impossible == 0.0
    assert log_likelihood == pytest.approx(dataset.weights @ values.sum(axis=1), rel=1e-12)
    np.testing.assert_allclose(forest.row_log_likelihoods(theta), values.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(counts, expected, rtol=rtol, atol=1e-9)
    return forest


def make_classes(agreement, n_columns):
    """A latent class model whose columns agree with class 0 by ``agreement[column]``."""
    names = [f"X{j}" for j in range(n_columns)]
    variables = [Variable.hidden("Y", 2), *(Variable(name, BINARY) for name in names)]
    tables = {"Y": [0.4, 0.6]}
    for name, a in zip(names, agreement, strict=True):
        tables[name] = [[a, 1 - a], [1 - a, a]]
    return Network.from_tables(variables, dict.fromkeys(names, "Y"), tables)


def make_chain(length, switch, says):
    """A hidden Markov chain; ``says[i]`` is P(X_i = 0 | state 0) and P(X_i = 1 | state 1)."""
    latents = [Variable.hidden(f"Y{i}", 2) for i in range(length)]
    observed = [Variable(f"X{i}", BINARY) for i in range(length)]
    parents = {f"Y{i}": f"Y{i - 1}" for i in range(1, length)}
    parents |= {f"X{i}": f"Y{i}" for i in range(length)}
    tables = {f"Y{i}": [[1 - switch, switch], [switch, 1 - switch]] for i in range(1, length)}
    tables |= {f"X{i}": [[a, 1 - a], [1 - a, a]] for i, a in enumerate(says)}
    return Network.from_tables([*latents, *observed], parents, tables | {"Y0": [0.5, 0.5]})


def rows_of(network, rows):
    variables = [network.structure.variable(name) for name in network.observed]
    return Dataset(variables, list(np.array(rows).T))


def test_three_thousand_columns_that_contradict_each_other():
    n = 3000
    network = make_classes(np.r_[np.full(n // 2, 0.95), np.full(n // 2, 0.05)], n)
    first = np.zeros(n, int)
    second = np.r_[np.ones(n // 2 + 1, int), np.zeros(n // 2 - 1, int)]
    assert_equals_logs(network, rows_of(network, [first, second]), rtol=1e-6)


def test_three_thousand_columns_that_agree():
    network = make_classes(np.full(3000, 0.9), 3000)
    assert_equals_logs(network, rows_of(network, [np.zeros(3000, int), np.ones(3000, int)]))


def test_groups_of_columns_are_scaled():
    rng = np.random.default_rng(0)
    network = make_classes(rng.uniform(0.05, 0.95, 310), 310)
    copies = np.repeat(rng.integers(-1, 2, (80, 1)), 300, axis=1)
    rows = np.hstack([copies, rng.integers(0, 2, (80, 10))])
    forest = assert_equals_logs(network, rows_of(network, rows))
    is_shifted = forest.take_workspace(0).is_shifted[::N_FIELDS]
    assert any(node.kind == PRODUCT and is_shifted[u] for u, node in enumerate(forest.nodes))


@pytest.mark.parametrize("switch", [0.2, 1e-6])
def test_deep_chains(switch):
    rng = np.random.default_rng(0)
    network = make_chain(2000, switch, rng.uniform(0.05, 0.95, 2000))
    assert_equals_logs(network, rows_of(network, rng.integers(0, 2, (3, 2000))))


def test_deep_chains_with_missing_values():
    rng = np.random.default_rng(0)
    network = make_chain(600, 0.1, rng.uniform(0.01, 0.99, 600))
    assert_equals_logs(network, rows_of(network, rng.integers(-1, 2, (5, 600))))


@pytest.mark.parametrize("switch", [0.0, 1e-300])
def test_a_chain_whose_halves_contradict_each_other(switch):
    network = make_chain(1000, switch, [0.1] * 500 + [0.9] * 500)
    assert_equals_logs(network, rows_of(network, [np.zeros(1000, int)]))


def test_a_state_that_is_excluded_at_the_end_of_a_chain():
    network = make_chain(300, 0.0, [0.01] * 299 + [1.0])
    assert_equals_logs(network, rows_of(network, [np.zeros(300, int)]))


def test_patterns_that_vanish_below_the_root_leave_their_neighbours_alone():
    latents = [Variable.hidden("R", 2), Variable.hidden("Y", 2)]
    leaves = [Variable(name, BINARY) for name in "AB"]
    tables = {"R": [0.5, 0.5], "Y": [[0.8, 0.2], [0.3, 0.7]]}
    tables |= {"A": [[1.0, 1e-250], [1e-250, 1.0]], "B": [[1.0, 1e-250], [1e-250, 1.0]]}
    parents = {"Y": "R", "A": "Y", "B": "Y"}
    network = Network.from_tables([*latents, *leaves], parents, tables)
    assert_equals_logs(network, rows_of(network, [[0, 0], [0, 1], [1, 1], [1, 0]]))


def test_an_inner_observed_variable_with_many_children():
    names = [f"X{j}" for j in range(800)]
    variables = [Variable("A", BINARY), *(Variable(name, BINARY) for name in names)]
    rng = np.random.default_rng(0)
    tables = {"A": [0.5, 0.5]} | {name: rng.dirichlet([1, 1], 2) for name in names}
    network = Network.from_tables(variables, dict.fromkeys(names, "A"), tables)
    rows = rng.integers(0, 2, (4, 801))
    rows[:2, 0] = -1
    assert_equals_logs(network, rows_of(network, rows))


def test_probabilities_near_the_smallest_number():
    network = make_classes([1e-300] * 4, 4)
    assert_equals_logs(network, rows_of(network, [[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]]))


def test_rows_in_the_log_domain_are_not_counted_in_frozen_tables():
    network = make_classes([1e-300] * 4, 4)
    data = PatternedData(rows_of(network, [[0, 0, 1, 1]]))
    counts = np.empty(network.structure.n_values)
    Forest(network.structure, data, free=["X0"]).expected_counts(network.parameters, counts)
    assert counts.sum() == pytest.approx(1.0)


@pytest.fixture
def sent(monkeypatch):
    """Lists the entries that are sent to the log domain."""
    entries, original = [], forest_module.add_row

    def add_row(plan, work, theta, counts, entry):
        entries.append(entry)
        return original(plan, work, theta, counts, entry)

    monkeypatch.setattr(forest_module, "add_row", add_row)
    return entries


def test_sound_rows_of_wide_tables_are_not_sent_to_the_log_domain(sent):
    rng = np.random.default_rng(0)
    chain = make_chain(600, 0.2, rng.uniform(0.05, 0.95, 600))
    assert_equals_logs(chain, rows_of(chain, rng.integers(-1, 2, (20, 600))))
    assert sent == []


@pytest.mark.parametrize("switch", [0.0, 1e-300])
def test_only_rows_in_doubt_are_sent_to_the_log_domain(sent, switch):
    network = make_chain(1000, switch, [0.1] * 500 + [0.9] * 500)
    rows = np.zeros((3, 1000), int)
    rows[0, :500] = 1  # the halves agree on state 0
    rows[2, 500:] = 1  # and here on state 1
    forest = Forest(network.structure, PatternedData(rows_of(network, rows)))
    values = forest.row_log_likelihoods(network.parameters)
    expected, _ = propagate_logs(network.structure, network.parameters, rows_of(network, rows))
    np.testing.assert_allclose(values, expected.sum(axis=1), rtol=1e-12)
    assert sent == [1]


def make_duel(emissions):
    """A chain that stays in its state; ``emissions[i]`` is P(X_i = 0) in each of the two."""
    network = make_chain(len(emissions), 0.0, [0.5] * len(emissions))
    theta = np.array(network.parameters)
    for i, (a, b) in enumerate(emissions):
        network.structure.table_view(theta, f"X{i}")[...] = [[a, 1 - a], [b, 1 - b]]
    return Network(network.structure, theta)


@pytest.mark.parametrize("exponent", [-250, -270, -310, -320])
def test_a_state_that_was_lost_decides(exponent):
    """State 1 is nearly excluded at the end of the chain, and state 0 on the way to its root."""
    network = make_duel([(1e-80, 1.0)] * 5 + [(1.0, 10.0**exponent)])
    forest = assert_equals_logs(network, rows_of(network, [[0] * 6]))
    counts = np.empty(forest.n_values)
    forest.expected_counts(network.parameters, counts)
    root = network.structure.table_view(counts, "Y0")
    np.testing.assert_allclose(root, [0.0, 1.0], atol=1e-9)


@pytest.mark.parametrize(("exponent", "weight"), [(-285, 1e6), (-292, 1.0), (-298, 1.0)])
def test_a_state_that_was_nearly_lost_decides(exponent, weight):
    network = make_duel([(1e-80, 1.0)] * 5 + [(1.0, 10.0**exponent)])
    assert_equals_logs(network, rows_of(network, [[0] * 6]).with_weights([weight]))


def test_rows_in_doubt_of_weight_zero_have_values_and_no_counts():
    network = make_chain(1000, 0.0, [0.1] * 500 + [0.9] * 500)
    rows = np.zeros((2, 1000), int)
    rows[1, :500] = 1
    dataset = rows_of(network, rows).with_weights([0.0, 1.0])
    assert_equals_logs(network, dataset)


def test_impossible_rows_of_a_wide_table():
    network = make_duel([(0.0, 0.5), (0.5, 0.0)] + [(0.1, 0.1)] * 300)
    rows = np.zeros((2, 302), int)
    rows[1, 0] = 1
    forest = Forest(network.structure, PatternedData(rows_of(network, rows).with_weights([3, 2])))
    counts = np.empty(forest.n_values)
    value, impossible = forest.expected_counts(network.parameters, counts)
    assert impossible == 3.0
    expected = 2 * (2 * np.log(0.5) + 300 * np.log(0.1))
    assert value == pytest.approx(expected, rel=1e-12)
    assert np.all(np.isfinite(counts))
    np.testing.assert_allclose(network.structure.table_view(counts, "Y0"), [2.0, 0.0], atol=1e-9)
