import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Dataset, Variable, datasets
from latentforest.errors import DataError
from latentforest.scores import saturated
from latentforest.scores.saturated import fit_saturated
from reference.goodness import rank_of_marginals, saturated_by_em
from reference.latent_class import count_cells

QUICK = settings(deadline=None, max_examples=20)


def uniform(cells):
    return np.ones(cells.n_rows)


def make_table(seed, cards, n_rows, share):
    rng = np.random.default_rng(seed)
    variables = [Variable(f"x{i}", tuple("abc"[:n])) for i, n in enumerate(cards)]
    columns = [
        np.where(rng.random(n_rows) < share, -1, rng.integers(n, size=n_rows)) for n in cards
    ]
    return Dataset(variables, columns, rng.integers(1, 5, n_rows))


def test_complete_rows_have_their_frequencies():
    table = datasets.load("hiv-tests")
    fit = fit_saturated(table, uniform)
    assert fit.counts.tolist() == table.weights.tolist()
    assert fit.log_p == pytest.approx(np.log(table.weights / 428))
    assert (fit.n_cells, fit.n_free, fit.margins) == (16, 15, (("A", "B", "C", "D"),))


@QUICK
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.1, 0.3, 0.6]))
def test_incomplete_rows_agree_with_plain_em(seed, share):
    table = make_table(seed, (2, 3, 2), 12, share)
    table = table.take(np.any(np.stack(table.columns) >= 0, axis=0))
    fit = fit_saturated(table, uniform)
    start = np.full((2, 3, 2), 1 / 12)
    _, log_likelihood = saturated_by_em(table, start, 1500)
    assert fit.rows.weights @ fit.log_p == pytest.approx(log_likelihood, abs=1e-3)
    assert fit.rows.weights @ fit.log_p >= log_likelihood - 1e-6
    assert fit.counts.sum() == pytest.approx(table.total_weight)


def test_expected_counts_of_a_dense_table():
    rng = np.random.default_rng(0)
    full = datasets.load("role-conflict")
    rows = np.repeat(np.arange(full.n_rows), full.weights.astype(int))
    columns = [np.where(rng.random(len(rows)) < 0.2, -1, c[rows]) for c in full.columns]
    table = Dataset(full.variables, columns)
    fit = fit_saturated(table, uniform)
    expected, log_likelihood = saturated_by_em(table.merged()[0], np.full((2,) * 4, 1 / 16), 3000)
    assert fit.rows.weights @ fit.log_p == pytest.approx(log_likelihood, abs=2e-6)
    np.testing.assert_allclose(fit.counts, table.total_weight * expected.ravel(), atol=0.02)


@QUICK
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.3, 0.6, 0.8]))
def test_what_incomplete_rows_determine(seed, share):
    table = make_table(seed, (2, 3, 1, 2, 2), 3, share)
    if (np.stack(table.columns) < 0).all(axis=0).all():
        return
    fit = fit_saturated(table, uniform)
    assert fit.n_free == rank_of_marginals(fit.rows)


def test_the_largest_sets_of_columns_seen_together():
    variables = [Variable(name, ("0", "1", "2")) for name in "abc"]
    table = Dataset(variables, [[0, 1, -1, 2], [1, -1, 0, -1], [-1, -1, 2, -1]])
    fit = fit_saturated(table, uniform)
    assert set(fit.margins) == {("a", "b"), ("b", "c")}
    assert fit.n_free == 2 + 2 + 2 + 4 + 4


def test_of_equally_likely_distributions_the_guess_is_kept():
    variables = [Variable(name, ("0", "1")) for name in "ab"]
    table = Dataset(variables, [[0, 1, -1, -1], [-1, -1, 0, 1]], [3, 1, 2, 2])
    start = np.array([0.45, 0.3, 0.05, 0.2])
    fit = fit_saturated(table, lambda cells: start[2 * cells.columns[0] + cells.columns[1]])
    assert fit.counts / 8 == pytest.approx(start)
    assert fit_saturated(table, uniform).log_p == pytest.approx(fit.log_p, abs=1e-6)


def test_rows_without_weight_or_values_are_dropped():
    variables = [Variable(name, ("0", "1")) for name in "ab"]
    table = Dataset(variables, [[0, 1, -1], [0, 1, -1]], [2.0, 0.0, 5.0])
    fit = fit_saturated(table, uniform)
    assert fit.rows.n_rows == 1
    assert fit.counts.tolist() == [2.0]


def test_leaving_cells_out_changes_nothing(monkeypatch):
    table = make_table(3, (3, 3, 2, 2), 60, 0.3)
    quick = fit_saturated(table, uniform)
    monkeypatch.setattr(saturated, "MAX_COMPARED", 0)
    slow = fit_saturated(table, uniform)
    assert quick.rows.weights @ quick.log_p == pytest.approx(
        slow.rows.weights @ slow.log_p, abs=2e-6
    )


def test_too_many_cells():
    table = make_table(0, [2] * 20, 10, 0.2)
    with pytest.raises(DataError, match=r"for up to 1,000,000 cells; this one has 1,048,576"):
        fit_saturated(table, uniform)


def test_too_many_completions(monkeypatch):
    monkeypatch.setattr(saturated, "MAX_PAIRS", 20)
    with pytest.raises(DataError, match="too many to share them out; up to 20 are handled"):
        fit_saturated(make_table(0, (3, 3, 3), 20, 0.5), uniform)


def test_nothing_observed():
    table = Dataset([Variable("a", ("0", "1"))], [[-1, -1]])
    with pytest.raises(DataError, match="needs a row with at least one value"):
        fit_saturated(table, uniform)


def test_all_cells_are_counted():
    table = datasets.load("coleman-panel")
    fit = fit_saturated(table, uniform)
    counts = np.zeros((2, 2, 2, 2))
    counts[tuple(fit.cells.columns)] = fit.counts
    assert np.array_equal(counts, count_cells(table))
