"""Information distances: determinants, additivity, errors, missing values, groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Network, Variable
from latentforest.datasets.generate import generate, random_latent_tree, with_missing
from latentforest.inference.association import distances
from latentforest.inference.association.distances import (
    compute_distances,
    count_pairs,
    cut_numbers,
    measure_tables,
)


def draw_network(parents, cards, seed):
    """A network with random tables of full rank: names that begin with Y are latent."""
    rng = np.random.default_rng(seed)
    variables, tables = [], {}
    for name, parent in parents.items():
        states = tuple(map(str, range(cards[name])))
        variables.append(Variable(name, states, latent=name.startswith("Y")))
        shape = (cards[parent], cards[name]) if parent else (cards[name],)
        table = rng.dirichlet(np.ones(cards[name]), shape[:-1]) + 0.1
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    arcs = {name: parent for name, parent in parents.items() if parent}
    return Network.from_tables(variables, arcs, tables)


def measure_exactly(network, a, b, rank):
    return measure_tables(network.query([a, b])[None], rank)[0][0]


def by_determinants(joint):
    """The formula of the paper."""
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    return -np.log(np.abs(np.linalg.det(joint)) / np.sqrt(p.prod() * q.prod()))


@given(st.integers(2, 5), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_equal_numbers_of_states_give_the_determinants(n_states, seed):
    joint = np.random.default_rng(seed).random((n_states, n_states)) + 0.05
    joint /= joint.sum()
    found = measure_tables(1000 * joint[None], n_states)[0][0]
    assert found == pytest.approx(by_determinants(joint), rel=1e-8, abs=1e-10)


CHAIN = {"Y1": None, "Y2": "Y1", "A": "Y1", "B": "Y1", "C": "Y2", "D": "Y2"}


@given(st.integers(2, 3), st.integers(0, 1000), st.data())
@settings(max_examples=40, deadline=None)
def test_distances_add_up_along_paths(rank, seed, data):
    """Leaves of any size from the rank up, latent variables of exactly that size."""
    cards = {name: data.draw(st.integers(rank, rank + 2)) for name in "ABCD"}
    network = draw_network(CHAIN, {**cards, "Y1": rank, "Y2": rank}, seed)

    def distance(a, b):
        return measure_exactly(network, a, b, rank)

    along = distance("A", "Y1") + distance("Y1", "Y2") + distance("Y2", "C")
    assert distance("A", "C") == pytest.approx(along, rel=1e-7)
    assert distance("A", "B") == pytest.approx(distance("A", "Y1") + distance("Y1", "B"), rel=1e-7)
    four_points = [distance("A", "C") + distance("B", "D"), distance("A", "D") + distance("B", "C")]
    assert four_points[0] == pytest.approx(four_points[1], rel=1e-7)


def test_an_observed_inner_node_of_more_states_breaks_additivity():
    """What the documentation says: the inner node must have exactly as many states."""
    parents = {"Y1": None, "A": "Y1", "B": "A"}
    network = draw_network(parents, {"Y1": 2, "A": 3, "B": 3}, 0)
    through = measure_exactly(network, "Y1", "A", 2) + measure_exactly(network, "A", "B", 2)
    assert abs(measure_exactly(network, "Y1", "B", 2) - through) > 1e-3
    network = draw_network(parents, {"Y1": 2, "A": 2, "B": 3}, 0)
    through = measure_exactly(network, "Y1", "A", 2) + measure_exactly(network, "A", "B", 2)
    assert measure_exactly(network, "Y1", "B", 2) == pytest.approx(through)


@pytest.mark.parametrize(("n_states", "rank"), [((2,), 2), ((3, 4), 3)])
def test_errors_are_the_spread_over_samples(n_states, rank):
    network = random_latent_tree(
        4, depth=1, n_states=n_states, n_latent_states=rank, strength=0.8, random_state=3
    )
    found = [compute_distances(generate(network, 2000, random_state=s), rank) for s in range(150)]
    spread = np.std([each.values for each in found], axis=0)
    predicted = np.mean([each.errors for each in found], axis=0)
    np.testing.assert_allclose(predicted, spread, rtol=0.25, atol=1e-12)


@pytest.fixture(scope="module")
def table():
    network = random_latent_tree(6, width=2, n_states=(2, 3), random_state=1)
    return generate(network, 400, missing_rate=0.2, random_state=1)


def count_slowly(data, a, b):
    table = np.zeros((data.variable(a).n_states, data.variable(b).n_states))
    for x, y, weight in zip(data.column(a), data.column(b), data.weights, strict=True):
        if x >= 0 and y >= 0:
            table[x, y] += weight
    return table


def test_counts_of_pairs(table, monkeypatch):
    monkeypatch.setattr(distances, "CHUNK_CELLS", 1000)  # several blocks
    table = table.with_weights(np.random.default_rng(0).random(400))
    counts, start = count_pairs(table), {}
    position = 0
    for variable in table.variables:
        start[variable.name] = slice(position, position + variable.n_states)
        position += variable.n_states
    for a in table.names:
        for b in set(table.names) - {a}:
            here = counts[start[a], start[b]]
            np.testing.assert_allclose(here, count_slowly(table, a, b), rtol=1e-12)


def test_each_pair_uses_its_complete_rows(table):
    found = compute_distances(table)
    for i, a in enumerate(table.names):
        for j, b in enumerate(table.names[:i]):
            value, error, _ = measure_tables(count_slowly(table, a, b)[None], 2)
            assert found.values[i, j] == found.values[j, i] == pytest.approx(value[0])
            assert found.errors[i, j] == pytest.approx(error[0])


def test_weights_are_repeated_rows(table):
    weights = np.random.default_rng(0).integers(0, 4, 400)
    repeated = table.take(np.repeat(np.arange(400), weights))
    weighted = compute_distances(table.with_weights(weights))
    np.testing.assert_allclose(weighted.values, compute_distances(repeated).values)
    np.testing.assert_allclose(weighted.errors, compute_distances(repeated).errors)


def test_states_that_do_not_occur_do_not_matter(table):
    wider = [Variable(variable.name, (*variable.states, "never")) for variable in table.variables]
    found = compute_distances(Dataset(wider, table.columns))
    np.testing.assert_allclose(found.values, compute_distances(table).values)


def test_the_rank_is_found():
    for n_states in (2, 3):
        network = random_latent_tree(
            9, n_states=4, n_latent_states=n_states, strength=0.9, random_state=0
        )
        assert compute_distances(generate(network, 5000, random_state=0)).rank == n_states


def test_the_smallest_column_bounds_the_rank():
    network = random_latent_tree(9, n_states=(2, 4), n_latent_states=4, random_state=0)
    assert compute_distances(generate(network, 500, random_state=0), rank=4).rank == 2


def test_independent_columns_are_infinitely_far():
    rng = np.random.default_rng(0)
    variables = [Variable(name, ("0", "1")) for name in "abcd"]
    x, y = rng.integers(0, 2, (2, 1000))
    noise = rng.random((2, 1000)) < 0.1
    found = compute_distances(Dataset(variables, [x, x ^ noise[0], y, y ^ noise[1]]))
    is_finite = np.isfinite(found.values)
    assert is_finite.tolist() == np.kron(np.eye(2), np.ones((2, 2))).astype(bool).tolist()


def test_a_copy_has_distance_zero():
    variables = [Variable(name, ("0", "1", "2")) for name in "ab"]
    x = np.random.default_rng(0).integers(0, 3, 100)
    found = compute_distances(Dataset(variables, [x, 2 - x]))
    assert found.values[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert 0 < found.errors[0, 1] < 0.02


def test_columns_that_are_never_seen_together_are_bounded_by_a_path():
    x = np.random.default_rng(0).integers(0, 2, 600)
    noise = np.random.default_rng(1).random((3, 600)) < 0.1
    columns = [x ^ each for each in noise]
    columns[0] = np.where(np.arange(600) < 300, columns[0], -1)
    columns[1] = np.where(np.arange(600) >= 300, columns[1], -1)
    found = compute_distances(Dataset([Variable(n, ("0", "1")) for n in "abc"], columns))
    assert found.values[0, 1] == pytest.approx(found.values[0, 2] + found.values[2, 1])
    assert np.isinf(found.errors[0, 1])


def test_columns_without_values_are_alone(table):
    empty = with_missing(table.select(table.names[:1]), 1.0)
    columns = [empty.columns[0], *table.columns[1:]]
    found = compute_distances(Dataset(table.variables, columns))
    assert np.isinf(found.values[0, 1:]).all()
    assert np.isfinite(found.values[1:, 1:]).any()


def test_continuous_columns_are_cut_at_their_quantiles():
    values = np.array([3.0, 1.0, np.nan, 2.0, 5.0, 4.0])
    data = Dataset([Variable("x"), Variable("a", ("u", "v"))], [values, [0, 1, 0, 1, 0, 1]])
    cut = cut_numbers(data)
    assert cut.column("x").tolist() == [2, 0, -1, 1, 4, 3]
    assert np.array_equal(cut.column("a"), data.column("a"))
    weights = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    assert cut_numbers(data.with_weights(weights)).variable("x").n_states == 4
    ties = Dataset([Variable("x")], [np.array([1.0] * 8 + [2.0] * 2)])
    assert cut_numbers(ties).column("x").tolist() == [0] * 8 + [1] * 2
    same = Dataset([Variable("x"), Variable("y")], [np.ones(4), np.full(4, np.nan)])
    assert [v.n_states for v in cut_numbers(same).variables] == [1, 1]


def test_distances_of_continuous_columns_add_up():
    """x and y below one latent variable, u and v below another: the four-point condition."""
    rng = np.random.default_rng(0)
    n = 200_000
    first = rng.integers(2, size=n)
    second = np.where(rng.random(n) < 0.8, first, 1 - first)
    columns = {
        "x": 2.0 * first + rng.normal(size=n),
        "y": np.exp(1.5 * first + rng.normal(size=n)),
        "u": -2.0 * second + rng.normal(size=n),
        "v": np.where(rng.random(n) < 0.9, second, 1 - second).astype(str),
    }
    found = compute_distances(Dataset.from_table(columns), rank=2)
    d, e = found.values, found.errors
    assert d[0, 2] + d[1, 3] == pytest.approx(d[0, 3] + d[1, 2], abs=5 * e.max())
    assert d[0, 1] + d[2, 3] < d[0, 2] + d[1, 3] - 0.3
