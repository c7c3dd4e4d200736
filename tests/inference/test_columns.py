"""Mean, variance and least variance of continuous columns."""

import numpy as np
import pytest

from latentforest.errors import DataError
from latentforest.inference.columns import CONSTANT, SHARE, summarize


def test_mean_and_variance_are_weighted():
    x, w = np.array([1.0, 2.0, 4.0, np.nan, 100.0]), np.array([1.0, 2.0, 1.0, 5.0, 0.0])
    about = summarize("x", x, w)
    assert about.mean == pytest.approx(np.average(x[:3], weights=w[:3]))
    assert about.variance == pytest.approx(np.average((x[:3] - about.mean) ** 2, weights=w[:3]))
    assert not about.is_constant


def test_a_large_mean_costs_no_precision():
    x = 1e9 + np.array([0.0, 1.0, 2.0, 3.0])
    assert summarize("x", x, np.ones(4)).variance == pytest.approx(1.25, rel=1e-12)


def test_bound_of_even_values():
    x = np.linspace(0.0, 1.0, 1001)
    about = summarize("x", x, np.ones(1001))
    assert about.least_variance == pytest.approx(SHARE * about.variance)


def test_few_far_values_do_not_raise_the_bound():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    narrow = summarize("x", x, np.ones(1000))
    x[:10] = 99.0
    far = summarize("x", x, np.ones(1000))
    assert far.variance > 50 * narrow.variance
    assert far.least_variance == pytest.approx(SHARE, rel=0.2)


@pytest.mark.parametrize("n_equal", [100, 400, 600, 900, 990, 999])
def test_many_equal_values_do_not_remove_the_bound(n_equal):
    x = np.r_[np.zeros(n_equal), np.linspace(-1.0, 1.0, 1000 - n_equal)]
    about = summarize("x", x, np.ones(1000))
    assert SHARE * about.variance / 10 < about.least_variance <= SHARE * about.variance


@pytest.mark.parametrize("factor", [1e-100, 1e-3, 1e3, 1e100])
def test_units_only_scale(factor):
    x = np.array([3.0, 4.0, 4.0, 7.0, -2.0, np.nan])
    plain, scaled = (summarize("x", c * x, np.ones(6)) for c in (1.0, factor))
    assert scaled.mean == pytest.approx(factor * plain.mean)
    assert scaled.variance == pytest.approx(factor**2 * plain.variance)
    assert scaled.least_variance == pytest.approx(factor**2 * plain.least_variance)


@pytest.mark.parametrize(("value", "spread"), [(5.0, 25.0), (-2.0, 4.0), (0.0, 1.0)])
def test_constant_columns(value, spread):
    about = summarize("x", np.array([value, value, np.nan]), np.ones(3))
    assert about.is_constant
    assert about.mean == value
    assert about.variance == about.least_variance == pytest.approx(CONSTANT**2 * spread)


def test_columns_without_values():
    about = summarize("x", np.array([np.nan, 1.0]), np.array([1.0, 0.0]))
    assert about.is_constant
    assert (about.mean, about.variance) == (0.0, 1.0)


def test_weights_count_like_repeated_rows():
    x, w = np.array([1.0, 5.0, 2.0, 9.0]), np.array([3.0, 1.0, 2.0, 4.0])
    repeated = np.repeat(x, w.astype(int))
    by_weight, by_rows = summarize("x", x, w), summarize("x", repeated, np.ones(10))
    assert by_weight.least_variance == pytest.approx(by_rows.least_variance, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_units_that_cannot_be_squared_are_refused(factor):
    with pytest.raises(DataError, match=r"column 'x': the variance of its values, .*change the u"):
        summarize("x", factor * np.array([1.0, 2.0]), np.ones(2))
