"""Scores of continuous families the slow way: row by row, group by group, formula by formula."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from scipy.special import multigammaln

from latentforest.data import Dataset, Variable
from latentforest.inference.columns import summarize
from latentforest.model.covariances import raise_eigenvalues


def random_mixed_table(seed, cards, n_numbers, n_rows, weights="ones"):
    """Categorical columns c0, c1, ..., then continuous x0, x1, ... that depend on earlier ones."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, card, n_rows) for card in cards]
    numbers = []
    for _ in range(n_numbers):
        x = rng.normal(0.0, rng.uniform(0.5, 3.0), n_rows) + rng.normal(0.0, 20.0)
        for other in numbers:
            x = x + rng.normal() * other * (rng.random() < 0.6)
        for code in codes:
            x = x + rng.normal(0.0, 2.0, code.max() + 1)[code] * (rng.random() < 0.6)
        numbers.append(x)
    variables = [Variable(f"c{j}", tuple(map(str, range(card)))) for j, card in enumerate(cards)]
    variables += [Variable(f"x{j}") for j in range(n_numbers)]
    made = {
        "ones": np.ones(n_rows),
        "whole": rng.integers(1, 4, n_rows).astype(float),
        "broken": rng.random(n_rows),
    }
    return Dataset(variables, [*codes, *numbers], made[weights])


def fit_line(y, above, w):
    """Intercept, slopes and mean square distance by weighted least squares."""
    design = np.column_stack([np.ones(len(y)), *above])
    root = np.sqrt(w)
    found = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    return found, float(w @ (y - design @ found) ** 2 / w.sum())


def least_variance(data, child, parents):
    """A thousandth of what the parents leave of the variance, or of the middle's, if smaller."""
    numbers = [v.name for v in data.variables if not v.is_categorical]
    about = summarize(child, data.column(child), data.weights)
    matrix = np.atleast_2d(np.cov([data.column(n) for n in numbers], aweights=data.weights))
    spread = np.sqrt(np.diag(matrix))
    spread[spread < 1e-9] = np.inf  # constant columns
    matrix = matrix / np.outer(spread, spread)
    np.fill_diagonal(matrix, 1.0)
    matrix = raise_eigenvalues(matrix)
    places = [numbers.index(name) for name in (child, *parents)]
    matrix = matrix[np.ix_(places, places)]
    left = matrix[0, 0]
    if parents:
        left -= matrix[0, 1:] @ np.linalg.solve(matrix[1:, 1:], matrix[1:, 0])
    return about.least_variance * left


def gaussian_family(data, child, parents, price):
    """Log-likelihood of a continuous column given its parents, less a price."""
    categorical = [p for p in parents if data.variable(p).is_categorical]
    above = [p for p in parents if p not in categorical]
    y, w, least = data.column(child), data.weights, least_variance(data, child, above)
    numbers = [data.column(p) for p in above]
    pooled, spread = fit_line(y, numbers, w)
    spread, value = max(spread, least), 0.0
    cards = [data.variable(p).n_states for p in categorical]
    for cell in product(*map(range, cards)):
        here = np.ones(len(y), bool)
        for name, code in zip(categorical, cell, strict=True):
            here &= data.column(name) == code
        here &= w > 0
        if not here.any():
            continue
        some = [x[here] for x in numbers]
        line, variance = fit_line(y[here], some, w[here])
        if here.sum() <= len(above) + 1:
            line, variance = pooled, spread
        variance = max(variance, least)
        away = y[here] - line[0] - sum(b * x for b, x in zip(line[1:], some, strict=True))
        logs = np.log(2.0 * math.pi * variance) + away**2 / variance
        value -= 0.5 * float(w[here] @ logs)
    return value - price * math.prod(cards) * (len(above) + 2)


def log_marginal(data, names, n, mean_weight=1.0, degrees=None, variances=None):
    """log p(columns) of Kuipers, Moffa and Heckerman (2014), with the sample mean as prior mean."""
    if not names:
        return 0.0
    x, w = np.column_stack([data.column(name) for name in names]), data.weights
    size, total, degrees = len(names), w.sum(), degrees or n + mean_weight + 1
    away = x - w @ x / total
    t = mean_weight * (degrees - n - 1) / (mean_weight + 1)
    if variances is None:
        variances = {name: w @ a**2 / total for name, a in zip(names, away.T, strict=True)}
    prior = t * np.diag([variances[name] for name in names])
    posterior = prior + (away * w[:, None]).T @ away
    alpha = degrees - n + size
    value = -0.5 * size * total * math.log(math.pi)
    value += 0.5 * size * math.log(mean_weight / (total + mean_weight))
    value += multigammaln(0.5 * (total + alpha), size) - multigammaln(0.5 * alpha, size)
    value += 0.5 * alpha * np.linalg.slogdet(prior)[1]
    return value - 0.5 * (total + alpha) * np.linalg.slogdet(posterior)[1]
