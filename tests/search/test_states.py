"""States split and merged: halves differ, mixed again they are what was split."""

import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.datasets.generate import generate, random_latent_class
from latentforest.model import Network, Structure
from latentforest.model.parameters import join_covariances
from latentforest.search.states import (
    Around,
    halve,
    merge_all,
    merge_shares,
    merge_states,
    move_apart,
    split_all,
    split_shares,
    split_starts,
    split_state,
)
from reference.mixed_networks import draw_mixed


def make_profile(n_columns, n_states, has_pouch=False):
    columns = [Variable(f"c{j}") for j in range(n_columns)]
    names = [column.name for column in columns]
    variables = [Variable.hidden("class", n_states), *columns]
    return Structure(variables, dict.fromkeys(names, "class"), [names] if has_pouch else [])


def make_around(seed=0, n_states=3, steps=None):
    rng = np.random.default_rng(seed)
    tables = {
        "A": rng.dirichlet(np.ones(4), n_states),
        "c": np.stack([rng.normal(size=n_states), rng.uniform(1, 2, n_states)], axis=1),
    }
    return Around(rng.dirichlet(np.ones(n_states)), tables, {"c"}, steps or {})


@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_each_state_is_split_once(n_classes):
    network = random_latent_class(4, n_classes, n_states=3, random_state=0)
    larger = random_latent_class(4, n_classes + 1, n_states=3, random_state=0).structure
    starts = split_starts(network, "Y1", larger)
    assert starts.shape == (n_classes, larger.n_values)
    for s, start in enumerate(starts):
        Network(larger, start)
        root = larger.table_view(start, "Y1")
        assert root[s] == root[n_classes] == network.cpd("Y1")[s] / 2
        table, old = larger.table_view(start, "X1"), network.cpd("X1")
        others = np.delete(np.arange(n_classes), s)
        assert np.array_equal(table[others], old[others])
        assert not np.allclose(table[s], table[n_classes])


def test_a_split_start_is_close_to_the_network_it_came_from():
    network = random_latent_class(3, 2, random_state=0)
    larger = random_latent_class(3, 3, random_state=0).structure
    dataset = generate(network, 5, random_state=0)
    assert dataset.n_rows == 5
    for start in split_starts(network, "Y1", larger):
        marginal = Network(larger, start).marginal("X1")
        np.testing.assert_allclose(marginal, network.marginal("X1"), atol=0.15)


def test_split_starts_move_means():
    structure = make_profile(2, 1)
    network = Network.from_tables(
        structure.variables,
        dict.fromkeys(("c0", "c1"), "class"),
        {"class": [1.0], "c0": [[1.0, 4.0]], "c1": [[0.0, 1.0]]},
    )
    larger = make_profile(2, 2)
    (start,) = split_starts(network, "class", larger)
    assert larger.table_view(start, "class").tolist() == [0.5, 0.5]
    assert larger.table_view(start, "c0").tolist() == [[2.0, 3.0], [0.0, 3.0]]
    Network(larger, start)


def test_split_starts_keep_the_moments_of_a_pouch():
    network = draw_mixed(make_profile(3, 1, has_pouch=True), seed=0)
    larger = make_profile(3, 2, has_pouch=True)
    (start,) = split_starts(network, "class", larger)
    Network(larger, start)
    names = larger.observed
    means = np.stack([larger.table_view(start, name)[:, 0] for name in names], axis=1)
    covariances = join_covariances(larger, names, start)
    old = join_covariances(network.structure, names, np.array(network.parameters))[0]
    mean = means.mean(axis=0)
    between = np.mean([np.outer(m - mean, m - mean) for m in means], axis=0)
    np.testing.assert_allclose(covariances.mean(axis=0) + between, old, rtol=1e-12)
    np.testing.assert_allclose(mean, [network.cpd(name)[0, 0] for name in names])
    assert np.abs(means[0] - means[1]).max() > 0.1


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("steps", [None, {"c": np.array([0.1, 0.2, 0.3])}], ids=["half", "given"])
def test_two_halves_are_merged_to_the_state_they_came_from(k, steps):
    around = make_around(steps=steps)
    again = merge_states(split_state(around, k), k, 3)
    np.testing.assert_allclose(again.prior, around.prior, rtol=1e-12)
    np.testing.assert_allclose(again.tables["c"], around.tables["c"], rtol=1e-12)
    others = np.delete(np.arange(3), k)
    assert np.array_equal(again.tables["A"][others], around.tables["A"][others])


def test_every_state_is_split_and_every_pair_merged():
    around = make_around()
    assert [each.prior.shape for each in split_all(around)] == [(4,)] * 3
    assert [each.prior.shape for each in merge_all(around)] == [(2,)] * 3
    for each in (*split_all(around), *merge_all(around)):
        assert each.prior.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(each.tables["A"].sum(axis=1), 1.0)
        assert np.all(each.tables["c"][:, 1] > 0)


def test_states_that_no_row_has_are_merged_evenly():
    around = make_around()
    around = Around(np.array([0.0, 0.0, 1.0]), around.tables, around.continuous)
    merged = merge_states(around, 0, 1)
    np.testing.assert_allclose(merged.tables["A"][0], around.tables["A"][:2].mean(axis=0))


def test_halves_are_distributions_on_both_sides():
    row = np.array([0.2, 0.3, 0.5])
    first, second = halve(row)
    assert first.sum() == pytest.approx(1.0)
    assert np.all(np.sign(first / first.sum() - second / second.sum()) == [1, -1, 1])


def test_gaussians_without_a_side_stay():
    means, variances = np.array([1.0, 2.0, 3.0]), np.array([4.0, 4.0, 4.0])
    moved, shrunk = move_apart(means, variances, np.array([1.0, 0.0, -1.0]))
    assert moved.tolist() == [2.0, 2.0, 2.0]
    assert shrunk.tolist() == [3.0, 4.0, 3.0]


def test_rows_are_divided_where_they_differ_most():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(-3, 1, (50, 2)), rng.normal(3, 1, (50, 2))])
    shares = np.column_stack([np.full(100, 0.8), np.full(100, 0.2)])
    split = split_shares(shares, 0, rows - rows.mean(axis=0))
    np.testing.assert_allclose(split[:, 0] + split[:, 2], shares[:, 0])
    assert np.array_equal(split[:, 1], shares[:, 1])
    upper = split[:, 2] > split[:, 0]
    assert len({*upper[:50]}) == len({*upper[50:]}) == 1
    assert upper[0] != upper[-1]


@pytest.mark.parametrize(("i", "j"), [(0, 2), (2, 0), (1, 2)])
def test_merged_rows_keep_their_shares(i, j):
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    merged = merge_shares(shares, i, j)
    (other,) = {0, 1, 2} - {i, j}
    place = i - (i > j)
    np.testing.assert_allclose(merged[:, place], shares[:, i] + shares[:, j])
    assert np.array_equal(merged[:, 1 - place], shares[:, other])
