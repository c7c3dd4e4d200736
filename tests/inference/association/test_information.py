"""Mutual information against counting row after row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Variable
from latentforest.errors import DataError, ParameterError
from latentforest.inference.association import information
from latentforest.inference.association.information import (
    indicators,
    joint_counts,
    mutual_information,
    pair_scores,
    posterior_information,
    table_information,
)
from reference.information import count_pair, information_of_columns, information_of_table

WEIGHTS = {
    "equal": lambda rng, n: np.ones(n),
    "whole": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "large": lambda rng, n: rng.integers(0, 2**25, n).astype(float),
    "fractions": lambda rng, n: rng.random(n) * 1e-3,
}


def make_table(seed, n_rows, cards, missing=0.3, weights="equal"):
    """Dependent columns, every other one complete."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n_rows)
    columns = []
    for j, card in enumerate(cards):
        codes = np.minimum((hidden * card + rng.random(n_rows)).astype(int), card - 1)
        codes[(rng.random(n_rows) < missing) & (j % 2 == 1)] = -1
        columns.append(codes)
    variables = [Variable(f"x{j}", tuple(map(str, range(k)))) for j, k in enumerate(cards)]
    return Dataset(variables, columns, WEIGHTS[weights](rng, n_rows) + (np.arange(n_rows) == 0))


@pytest.mark.parametrize("few", [0, 1 << 62], ids=["bits", "dense"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("batch", [1, 7, 1024])
def test_all_pairs(monkeypatch, few, weights, batch):
    monkeypatch.setattr(information, "FEW", few)
    monkeypatch.setattr(information, "CHUNK_ROWS", 50)
    table = make_table(1, 130, [2, 2, 3, 3, 2, 2, 5, 1, 1, 4], weights=weights)
    found = mutual_information(table, batch=batch)
    np.testing.assert_allclose(found, information_of_columns(table), rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), n_rows=st.integers(1, 70), n_columns=st.integers(1, 5))
def test_small_tables(seed, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 5, n_columns).tolist()
    table = make_table(seed, n_rows, cards, missing=0.7, weights="fractions")
    expected = information_of_columns(table)
    np.testing.assert_allclose(mutual_information(table), expected, rtol=1e-9, atol=1e-12)


def test_diagonal_is_the_entropy():
    table = make_table(2, 200, [2, 3, 4])
    for name, value in zip(table.names, mutual_information(table).diagonal(), strict=True):
        p = table.counts(name) / table.counts(name).sum()
        assert value == pytest.approx(-(p[p > 0] * np.log(p[p > 0])).sum())


def test_scores_of_pairs():
    table = make_table(8, 100, [2, 3, 2, 4, 3], weights="fractions")

    def score(counts):
        return counts.sum(axis=(0, 2)) + (counts**2).sum(axis=(0, 2))

    found = pair_scores(table, score, batch=3)
    cards = [2, 3, 2, 4, 3]
    for i in range(5):
        for j in range(i, 5):
            counts = count_pair(
                table.columns[i], table.columns[j], table.weights, (cards[i], cards[j])
            )
            assert found[i, j] == pytest.approx(counts.sum() + (counts**2).sum())
    np.testing.assert_array_equal(found, found.T)


def test_no_row_has_both():
    pair = [Variable("a", ("0", "1")), Variable("b", ("0", "1"))]
    found = mutual_information(Dataset(pair, [[0, 1, -1, -1], [-1, -1, 0, 1]]))
    np.testing.assert_allclose(found, np.log(2) * np.eye(2))


@pytest.mark.parametrize("few", [0, 1 << 62], ids=["bits", "dense"])
def test_threads_merging_and_repeats_make_no_difference(monkeypatch, few):
    monkeypatch.setattr(information, "FEW", few)
    table = make_table(3, 300, [2] * 9 + [3] * 5)
    alone = mutual_information(table, n_jobs=1, batch=6)
    np.testing.assert_array_equal(mutual_information(table, n_jobs=2, batch=6), alone)
    np.testing.assert_array_equal(mutual_information(table.merged()[0], batch=6), alone)


def test_bits_are_used_for_wide_tables_of_whole_weights(monkeypatch):
    monkeypatch.setattr(information, "FEW", 0)
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        real(*arguments)

    real = information.count_common
    monkeypatch.setattr(information, "count_common", counted)
    table = make_table(4, 100, [2, 2, 3])
    mutual_information(table)
    assert calls
    calls.clear()
    mutual_information(table.with_weights(np.linspace(1, 2, 100)))
    mutual_information(table.with_weights(np.full(100, 1000)))
    assert not calls


def test_table_information():
    rng = np.random.default_rng(5)
    tables = rng.random((3, 2, 4)) * (rng.random((3, 2, 4)) < 0.7)
    tables[2] = 0.0
    expected = [information_of_table(table) for table in tables]
    np.testing.assert_allclose(table_information(tables), expected, atol=1e-14)


def test_joint_counts_of_columns_are_counts():
    table = make_table(6, 80, [3, 2], weights="fractions")
    found = joint_counts(indicators(table, "x0"), indicators(table, "x1"), table.weights)
    np.testing.assert_allclose(found, count_pair(*table.columns, table.weights, (3, 2)))


def test_posterior_information():
    rng = np.random.default_rng(7)
    table = make_table(7, 60, [3, 2, 4], weights="fractions")
    posteriors = [rng.dirichlet(np.ones(k), 60) for k in (2, 3)]
    left = [*posteriors, indicators(table, "x1")]
    right = [indicators(table, "x0"), posteriors[0]]
    found = posterior_information(left, right, table.weights)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            counts = sum(w * np.outer(x, y) for x, y, w in zip(a, b, table.weights, strict=True))
            assert found[i, j] == pytest.approx(information_of_table(counts), abs=1e-12)
    assert posterior_information([], right, table.weights).shape == (0, 2)


def test_bad_input():
    table = Dataset([Variable("a", ("0", "1")), Variable("size")], [[0, 1], [0.5, 1.5]])
    with pytest.raises(DataError, match="'size' is continuous"):
        mutual_information(table)
    with pytest.raises(ParameterError, match="batch must be at least 1, got 0"):
        mutual_information(table.select(["a"]), batch=0)
