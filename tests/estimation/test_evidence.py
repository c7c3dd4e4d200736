"""Closed forms of the evidence against one observation after another."""

import numpy as np
import pytest
from scipy import stats
from tests.reference.evidence import normal_gamma_evidence

from latentforest.estimation.evidence import (
    count_states,
    fit_line,
    measure_values,
    summarize_values,
)
from latentforest.model.conjugate import Dirichlet, NormalGamma, NormalRegression

GENERATOR = np.random.default_rng(0)


def test_beta_binomial():
    _, evidence = count_states(Dirichlet([0.7, 1.8]), np.array([3.0, 5.0]))
    exact = stats.betabinom.logpmf(3, 8, 0.7, 1.8) - np.log(stats.binom.pmf(3, 8, 0.5) * 2**8)
    assert evidence == pytest.approx(exact, abs=1e-10)


def test_rows_of_a_table_add_up():
    prior, counts = Dirichlet([0.2, 0.3, 0.5]), np.array([[1.0, 2, 0], [0, 0, 4]])
    posterior, evidence = count_states(prior, counts)
    assert evidence == pytest.approx(sum(count_states(prior, row)[1] for row in counts))
    assert np.array_equal(posterior.concentration, prior.concentration + counts)


def test_gaussian_values_one_after_another():
    x = GENERATOR.normal(3.0, 2.0, 12)
    x[4] = np.nan
    prior = NormalGamma(1.0, 0.5, 2.0, 3.0)
    posterior, evidence = measure_values(prior, *summarize_values(x, np.ones(12)))
    assert evidence == pytest.approx(normal_gamma_evidence((1.0, 0.5, 2.0, 3.0), x[~np.isnan(x)]))
    more = normal_gamma_evidence((1.0, 0.5, 2.0, 3.0), [*x[~np.isnan(x)], 0.3])
    assert float(posterior.log_predictive(np.array(0.3))) == pytest.approx(more - evidence)


def test_shares_split_values_among_states():
    x, z = GENERATOR.normal(size=20), GENERATOR.integers(0, 2, 20)
    prior = NormalGamma.like(0.0, 1.0)
    _, together = measure_values(prior, *summarize_values(x, np.ones(20), np.eye(2)[z]))
    apart = [summarize_values(x[z == k], np.ones(sum(z == k))) for k in (0, 1)]
    assert together == pytest.approx(sum(measure_values(prior, *each)[1] for each in apart))


def test_values_far_from_zero_lose_nothing():
    x = GENERATOR.normal(size=50)
    near, far = (
        measure_values(NormalGamma.like(c, 1.0), *summarize_values(x + c, np.ones(50)))[1]
        for c in (0.0, 1e9)
    )
    assert far == pytest.approx(near, abs=1e-4)


def test_regression_one_after_another():
    x = GENERATOR.normal(size=15)
    y = 2.0 - 3.0 * x + 0.5 * GENERATOR.normal(size=15)
    y[3], w = np.nan, np.ones(15)
    prior = NormalRegression(
        0.3, 2.0, np.array([0.5, 0.1]), np.diag([1.0, 2.0]), np.array(0.5), np.array(0.7)
    )
    expected, now = 0.0, prior
    for i in range(15):
        if not np.isnan(y[i]):
            expected += float(now.log_predictive(y[i], x[i]))
            now, _ = fit_line(now, x[i : i + 1], y[i : i + 1], w[:1])
    posterior, evidence = fit_line(prior, x, y, w)
    assert evidence == pytest.approx(expected, abs=1e-9)
    assert np.allclose(posterior.coefficients, now.coefficients)
    intercept, slope, _ = posterior.table
    line = posterior.coefficients[0] + posterior.coefficients[1] * (x - 0.3) / 2.0
    assert np.allclose(intercept + slope * x, line)


def test_regression_without_slope_is_a_gaussian():
    y = GENERATOR.normal(size=10)
    prior = NormalRegression(
        0.0, 1.0, np.array([0.2, 0.0]), np.diag([1.0, 1e12]), np.array(0.5), np.array(0.7)
    )
    _, evidence = fit_line(prior, GENERATOR.normal(size=10), y, np.ones(10))
    assert evidence == pytest.approx(normal_gamma_evidence((0.2, 1.0, 0.5, 0.7), y), abs=1e-6)
