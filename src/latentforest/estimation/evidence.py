"""Families whose variables are all observed: posteriors and log evidence in closed form.

Each function takes the prior of a family and statistics of its rows, one set for each state of the
parent along the first axis (or none), and returns the posterior and the logarithm of the
probability of the data, the parameters integrated out.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from latentforest.kernels.gaussian.leaves import LOG_2_PI
from latentforest.kernels.types import FloatArray
from latentforest.model.conjugate import (
    Dirichlet,
    NormalGamma,
    NormalRegression,
    NormalWishart,
    multigammaln_of,
)
from latentforest.model.covariances import log_determinant


def count_states(prior: Dirichlet, counts: FloatArray) -> tuple[Dirichlet, float]:
    """Dirichlet and multinomial; ``counts`` has the states along its last axis.

    Examples
    --------
    >>> posterior, evidence = count_states(Dirichlet([1.0, 1.0]), np.array([2.0, 1.0]))
    >>> posterior.mean.tolist(), round(float(np.exp(evidence)), 4)
    ([0.6, 0.4], 0.0833)
    """
    before = np.broadcast_to(prior.concentration, counts.shape)
    after = before + counts
    evidence = gammaln(before.sum(axis=-1)) - gammaln(after.sum(axis=-1))
    evidence = evidence + (gammaln(after) - gammaln(before)).sum(axis=-1)
    return Dirichlet(after), float(evidence.sum())


def measure_values(
    prior: NormalGamma, n: FloatArray, mean: FloatArray, scatter: FloatArray
) -> tuple[NormalGamma, float]:
    """Normal-Gamma and Gaussian: weight, mean and sum of squares around it of some values."""
    weight, shape = prior.weight + n, prior.shape + 0.5 * n
    away = mean - prior.mean
    rate = prior.rate + 0.5 * (scatter + prior.weight * n / weight * away * away)
    center = prior.mean + n / weight * away
    evidence = gammaln(shape) - gammaln(prior.shape) - 0.5 * n * LOG_2_PI
    evidence = evidence + prior.shape * np.log(prior.rate) - shape * np.log(rate)
    evidence = evidence + 0.5 * np.log(prior.weight / weight)
    posterior = NormalGamma.trusted(*map(np.asarray, (center, weight, shape, rate)))
    return posterior, float(np.sum(evidence))


def summarize_values(
    x: FloatArray, weights: FloatArray, shares: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight, mean and scatter of values, missing ones left out, for each column of shares."""
    used = ~np.isnan(x)
    x, w = x[used], weights[used][:, None]
    w = w if shares is None else w * shares[used]
    n = w.sum(axis=0)
    center = float(x.mean()) if len(x) else 0.0
    d = (x - center)[:, None]
    mean = (w * d).sum(axis=0) / np.where(n > 0, n, 1.0)
    scatter = (w * (d - mean) ** 2).sum(axis=0)
    if shares is None:
        return n[0], center + mean[0], scatter[0]
    return n, center + mean, scatter


def fit_line(
    prior: NormalRegression, x: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[NormalRegression, float]:
    """Regression of one continuous variable on another; rows without a value are left out."""
    used = ~(np.isnan(x) | np.isnan(y))
    z, w = (x[used] - prior.center) / prior.unit, weights[used]
    design = np.stack([np.ones(len(z)), z], axis=1)
    n = float(w.sum())
    residual = y[used] - design @ prior.coefficients
    weight = prior.weight + design.T @ (w[:, None] * design)
    step = np.linalg.solve(weight, design.T @ (w * residual))
    # What is left of the squares, written so that nothing cancels.
    left = residual - design @ step
    rate = prior.rate + 0.5 * (float(w @ left**2) + float(step @ prior.weight @ step))
    shape = prior.shape + 0.5 * n
    evidence = gammaln(shape) - gammaln(prior.shape) - 0.5 * n * LOG_2_PI
    evidence += prior.shape * np.log(prior.rate) - shape * np.log(rate)
    evidence += 0.5 * (np.linalg.slogdet(prior.weight)[1] - np.linalg.slogdet(weight)[1])
    posterior = NormalRegression(
        prior.center, prior.unit, prior.coefficients + step, weight, np.asarray(shape), rate
    )
    return posterior, float(evidence)


def measure_vectors(
    prior: NormalWishart, n: FloatArray, mean: FloatArray, scatter: FloatArray
) -> tuple[NormalWishart, float]:
    """Normal-Wishart and a joint Gaussian: weight, mean and scatter matrix of some vectors."""
    weight, freedom, away = prior.weight + n, prior.freedom + n, mean - prior.mean
    outer = away[..., :, None] * away[..., None, :]
    after = prior.scatter + scatter + (prior.weight * n / weight)[..., None, None] * outer
    center = prior.mean + (n / weight)[..., None] * away
    posterior = NormalWishart(center, weight, freedom, after)
    d = prior.size
    evidence = multigammaln_of(0.5 * freedom, d) - multigammaln_of(0.5 * prior.freedom, d)
    evidence = evidence - 0.5 * n * d * math.log(math.pi)
    evidence = evidence + 0.5 * prior.freedom * log_determinant(prior.scatter)
    evidence = evidence - 0.5 * freedom * log_determinant(after)
    evidence = evidence + 0.5 * d * np.log(prior.weight / weight)
    return posterior, float(np.sum(evidence))
