"""The completed data set of a mixed table written out, and all scores computed from its rows.

A missing number is completed by two values, one deviation below and one above its mean in the state
of its latent variable: these have the mean and the variance of the Gaussian, and nothing else of it
is looked at.
"""

import itertools
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from latentforest.data.values import Code
from latentforest.inference.columns import summarize

LEAST_SHARE = 1e-3  # of a variance that is left unexplained


class Completed(NamedTuple):
    """Rows without gaps: weights, and for each variable its codes or values."""

    weights: np.ndarray
    columns: dict
    least: dict  # least variances of the continuous columns


def complete(network, dataset):
    """Replace each row by all rows that agree with it, weighted by their probability."""
    parts = [complete_row(network, dataset, row) for row in range(dataset.n_rows)]
    columns = {name: np.concatenate([part[1][name] for part in parts]) for name in network.names}
    least = {
        name: summarize(name, dataset.column(name), dataset.weights).least_variance
        for name in network.structure.continuous
    }
    return Completed(np.concatenate([part[0] for part in parts]), columns, least)


def complete_row(network, dataset, row):
    structure = network.structure
    n_options, fixed = {}, {}
    for name in network.names:
        if name in network.latents:
            n_options[name] = structure.shape(name)[-1]
            continue
        value = dataset.column(name)[row]
        if name in structure.continuous:
            if np.isnan(value):
                n_options[name] = 2
            else:
                fixed[name] = value
        elif value < 0:
            n_options[name] = structure.shape(name)[-1]
        else:
            fixed[name] = int(value)
    grid = np.array(list(itertools.product(*map(range, n_options.values())))).T
    columns = {name: np.full(grid.shape[1], value) for name, value in fixed.items()}
    columns |= dict(zip(n_options, grid, strict=True))
    weights = np.ones(grid.shape[1])
    for name in network.names:
        table = network.cpd(name)
        given = table[columns[structure.parents(name)[0]]] if structure.parents(name) else table
        given = np.broadcast_to(given, (len(weights), table.shape[-1]))
        if name not in structure.continuous:
            weights = weights * np.take_along_axis(given, columns[name][:, None], axis=1)[:, 0]
            continue
        mean, deviation = given[:, 0], np.sqrt(given[:, 1])
        if name in n_options:
            columns[name] = mean + deviation * (2 * columns[name] - 1)
        else:
            weights = weights * norm.pdf(columns[name], mean, deviation)
    return dataset.weights[row] * weights / weights.sum(), columns


def sum_powers(completed, name, states):
    """Sums of 1, x and x² where each state is."""
    x, codes = completed.columns[name], completed.columns[states]
    return np.array(
        [
            [completed.weights[codes == k] @ x[codes == k] ** power for power in range(3)]
            for k in range(codes.max() + 1)
        ]
    )


def expected_log_likelihood(structure, completed):
    """Maximum over the parameters of all families."""
    value, nothing = 0.0, np.zeros(len(completed.weights), int)
    for name in structure.names:
        parents = structure.parents(name)
        given = completed.columns[parents[0]] if parents else nothing
        for state in np.unique(given):
            rows = (given == state) & (completed.weights > 0)
            w, x = completed.weights[rows], completed.columns[name][rows]
            if name in structure.continuous:
                mean, variance = moments(w, x)
                deviation = np.sqrt(max(variance, completed.least[name]))
                value += w @ norm.logpdf(x, mean, deviation)
            else:
                counts = np.bincount(x, w)
                value += (counts * np.log(np.where(counts > 0, counts / w.sum(), 1.0))).sum()
    return value


def moments(weights, x):
    mean = weights @ x / weights.sum()
    return mean, weights @ (x - mean) ** 2 / weights.sum()


def best_merging(structure, completed, hub):
    """Highest expected log-likelihood when two states of a hub are one."""
    codes = completed.columns[hub]
    values = []
    for i, j in itertools.combinations(range(codes.max() + 1), 2):
        columns = completed.columns | {hub: np.where(codes == j, i, codes)}
        values.append(expected_log_likelihood(structure, completed._replace(columns=columns)))
    return max(values)


def g2(completed, structure, left, right, hub):
    """Likelihood ratio statistic of two neighbours, one or both continuous, given a hub."""
    if left not in structure.continuous:
        left, right = right, left
    statistic, codes = 0.0, completed.columns[hub]
    for state in np.unique(codes):
        rows = (codes == state) & (completed.weights > 0)
        w, x, z = (a[rows] for a in (completed.weights, *map(completed.columns.get, (left, right))))
        _, variance = moments(w, x)
        variance = max(variance, completed.least[left])
        if right in structure.continuous:
            away = (w * (x - moments(w, x)[0])) @ (z - moments(w, z)[0]) / w.sum()
            share = away**2 / variance / max(moments(w, z)[1], completed.least[right])
        else:
            design = (z[:, None] == np.unique(z)).astype(float)
            root = np.sqrt(w)
            slopes = np.linalg.lstsq(design * root[:, None], x * root, rcond=None)[0]
            share = moments(w, design @ slopes)[1] / variance
        statistic -= w.sum() * np.log(max(1.0 - share, LEAST_SHARE))
    return statistic


def divergence(completed, network, left, right, hub):
    """From the model's pair to that of the completed data, both Gaussian with their moments."""
    numbers = network.structure.continuous
    if left not in numbers:
        left, right = right, left
    w, x, z = completed.weights, completed.columns[left], completed.columns[right]
    if right in numbers:
        data = np.average([x, z], axis=1, weights=w), np.cov([x, z], aweights=w, ddof=0)
        return gaussian_divergence(*data, *pair_of_model(network, left, right, hub))
    value = 0.0
    for state in np.unique(z):
        rows = (z == state) & (w > 0)
        if not rows.any():
            continue
        share, expected = w[rows].sum() / w.sum(), network.marginal(right)[state]
        mean, variance = moments(w[rows], x[rows])
        mixture = network.mixture(left, {right: Code(int(state))})
        gaussian = gaussian_divergence(
            np.array([mean]),
            np.array([[max(variance, completed.least[left])]]),
            np.array([mixture.mean]),
            np.array([[mixture.variance]]),
        )
        value += share * (np.log(share / expected) + gaussian)
    return value


def pair_of_model(network, left, right, hub):
    """Mean and covariance of two continuous children of a hub."""
    sizes, mean, square = network.marginal(hub), np.zeros(2), np.zeros((2, 2))
    tables = np.array([network.cpd(left), network.cpd(right)])
    for share, (means, variances) in zip(sizes, tables.transpose(1, 2, 0), strict=True):
        mean += share * means
        square += share * (np.diag(variances) + np.outer(means, means))
    return mean, square - np.outer(mean, mean)


def gaussian_divergence(mean, covariance, other_mean, other_covariance):
    inverse, away = np.linalg.inv(other_covariance), other_mean - mean
    value = np.trace(inverse @ covariance) - len(mean) + away @ inverse @ away
    return 0.5 * (value + np.log(np.linalg.det(other_covariance) / np.linalg.det(covariance)))
