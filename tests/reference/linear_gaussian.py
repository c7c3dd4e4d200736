"""Conditional linear Gaussian networks the slow way: all states, one joint Gaussian for each."""

import math
from itertools import product

import numpy as np


def list_states(network):
    """All joint states of the categorical variables."""
    structure = network.structure
    names = [n for n in structure.names if structure.variable(n).is_categorical]
    for cell in product(*(range(len(structure.states(name))) for name in names)):
        yield dict(zip(names, cell, strict=True))


def join(network, codes):
    """Names, means and covariance of the continuous variables: x = a + B x + noise."""
    structure = network.structure
    names = structure.continuous
    a, slopes, noise = np.zeros(len(names)), *np.zeros((2, len(names), len(names)))
    for i, name in enumerate(names):
        table = network.cpd(name)[tuple(codes[p] for p in structure.categorical_parents(name))]
        a[i], pouch = table[0], structure.pouch(name)
        if len(pouch) > 1:
            noise[i, [names.index(other) for other in pouch]] = table[1:]
            continue
        noise[i, i] = table[-1]
        for parent, slope in zip(structure.continuous_parents(name), table[1:-1], strict=True):
            slopes[i, names.index(parent)] = slope
    back = np.linalg.inv(np.eye(len(names)) - slopes)
    return back @ a, back @ noise @ back.T


def log_density(x, mean, matrix):
    """Log-density of the values that are there."""
    seen = ~np.isnan(x)
    away, inside = x[seen] - mean[seen], matrix[np.ix_(seen, seen)]
    if not seen.any():
        return 0.0
    square = away @ np.linalg.solve(inside, away)
    return -0.5 * (square + np.linalg.slogdet(2.0 * math.pi * inside)[1])


def weigh_states(network, dataset, row):
    """Log-probability of each joint state together with what a row has."""
    structure = network.structure
    x = np.array([dataset.column(name)[row] for name in structure.continuous])
    logs = {}
    for codes in list_states(network):
        seen = [(n, dataset.column(n)[row]) for n in codes if n in dataset.names]
        if any(code >= 0 and code != codes[name] for name, code in seen):
            continue
        value = 0.0
        for name, code in codes.items():
            table = network.cpd(name)
            value += math.log(table[tuple(codes[p] for p in structure.parents(name))][code])
        logs[tuple(codes.items())] = value + log_density(x, *join(network, codes))
    return logs


def row_log_likelihood(network, dataset, row):
    """log P(row)."""
    return float(np.logaddexp.reduce(list(weigh_states(network, dataset, row).values())))


def row_posterior(network, dataset, row, name):
    """P(variable | row)."""
    total = row_log_likelihood(network, dataset, row)
    posterior = np.zeros(len(network.structure.states(name)))
    for codes, value in weigh_states(network, dataset, row).items():
        posterior[dict(codes)[name]] += math.exp(value - total)
    return posterior


def complete(x, mean, matrix):
    """Expected values of what is missing, and the covariance that is left."""
    seen = ~np.isnan(x)
    filled, rest = np.where(seen, x, mean), matrix.copy()
    if seen.any():
        gain = np.linalg.solve(matrix[np.ix_(seen, seen)], matrix[seen]).T
        filled = np.where(seen, x, mean + gain @ (x[seen] - mean[seen]))
        rest = matrix - gain @ matrix[seen]
    return filled, rest


def em_step(network, dataset):
    """New lines of the continuous variables after one EM iteration, by name.

    A row that has no value of a variable, nor of any that depends on it, adds nothing to its sums.
    There are no pouches.
    """
    structure, names = network.structure, network.structure.continuous
    sums = {name: {} for name in names}
    related = relate(structure)
    for row in range(dataset.n_rows):
        x = np.array([dataset.column(name)[row] for name in names])
        used = [name for i, name in enumerate(names) if not np.isnan(x[related[i]]).all()]
        total = row_log_likelihood(network, dataset, row)
        for codes, value in weigh_states(network, dataset, row).items():
            share = dataset.weights[row] * math.exp(value - total)
            filled, rest = complete(x, *join(network, dict(codes)))
            z = np.append(1.0, filled)
            moments = np.outer(z, z)
            moments[1:, 1:] += rest
            for name in used:
                key = tuple(dict(codes)[p] for p in structure.categorical_parents(name))
                sums[name][key] = sums[name].get(key, 0.0) + share * moments
    return {name: _solve(structure, name, sums[name]) for name in names}


def relate(structure):
    """For each continuous variable, which ones are linked to it, directly or not."""
    names = structure.continuous
    linked = np.eye(len(names), dtype=bool)
    for i, name in enumerate(names):
        for parent in structure.continuous_parents(name):
            j = names.index(parent)
            linked[i, j] = linked[j, i] = True
    return np.linalg.matrix_power(linked.astype(float), len(names)) > 0


def _solve(structure, name, sums):
    names = structure.continuous
    above = [0, *(1 + names.index(p) for p in structure.continuous_parents(name))]
    i, table = 1 + names.index(name), np.empty(structure.shape(name))
    for key, moments in sums.items():
        inside, across = moments[np.ix_(above, above)], moments[above, i]
        line = np.linalg.solve(inside, across)
        variance = (moments[i, i] - line @ across) / moments[0, 0]
        table[key] = [*line, variance]
    return table
