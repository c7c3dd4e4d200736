"""Joint Gaussians given categorical states, by multiplying families out; EM steps by enumeration.

Slow and obvious: the joint covariance of all continuous variables is built from the families,
missing values are replaced by their conditional moments, and each family is fitted by itself.
"""

from itertools import product

import numpy as np
from scipy.stats import multivariate_normal


def joint_gaussian(network, codes):
    """Mean and covariance of all continuous variables given the categorical ones.

    All are linear functions of independent noise.
    """
    structure = network.structure
    names = structure.continuous
    place = {name: i for i, name in enumerate(names)}
    mean, noise = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for name in structure.order:
        if name not in place:
            continue
        i = place[name]
        table = network.cpd(name)[tuple(codes[p] for p in structure.categorical_parents(name))]
        pouch = structure.pouch(name)
        mean[i] = table[0]
        if len(pouch) > 1:
            rows = [network.cpd(n)[tuple(codes[p] for p in structure.parents(n))] for n in pouch]
            root = np.linalg.cholesky(np.array([row[1:] for row in rows]))
            noise[i, [place[n] for n in pouch]] = root[pouch.index(name)]
            continue
        noise[i, i] = np.sqrt(table[-1])
        for parent, slope in zip(structure.continuous_parents(name), table[1:-1], strict=True):
            mean[i] += slope * mean[place[parent]]
            noise[i] += slope * noise[place[parent]]
    return mean, noise @ noise.T


def list_cells(network):
    """All combinations of states of the categorical variables, as dictionaries of codes."""
    structure = network.structure
    names = [n for n in structure.names if structure.variable(n).is_categorical]
    cards = [range(len(structure.states(name))) for name in names]
    return [dict(zip(names, cell, strict=True)) for cell in product(*cards)]


def cell_log_density(network, dataset, row, codes):
    """Log P(categorical states, what was observed in a row); missing values integrated out."""
    structure, result = network.structure, 0.0
    for name, code in codes.items():
        table = network.cpd(name)[tuple(codes[p] for p in structure.parents(name))]
        result += np.log(table[code])
        if not structure.variable(name).latent:
            seen = dataset.column(name)[row]
            result += 0.0 if seen < 0 or seen == code else -np.inf
    mean, covariance = joint_gaussian(network, codes)
    x = np.array([dataset.column(name)[row] for name in structure.continuous])
    seen = ~np.isnan(x)
    if seen.any():
        part = multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)])
        result += part.logpdf(x[seen])
    return result


def row_log_likelihoods(network, dataset):
    """Log P(row) of every row."""
    cells = list_cells(network)
    logs = [
        [cell_log_density(network, dataset, row, codes) for codes in cells]
        for row in range(dataset.n_rows)
    ]
    return np.logaddexp.reduce(logs, axis=1)


def impute(network, dataset, row, codes):
    """First and second moments of all continuous variables given what was observed in a row."""
    mean, covariance = joint_gaussian(network, codes)
    x = np.array([dataset.column(name)[row] for name in network.structure.continuous])
    gone, seen = np.isnan(x), ~np.isnan(x)
    left = np.zeros_like(covariance)
    gain = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, gone)])
    x[gone] = mean[gone] + gain.T @ (x[seen] - mean[seen])
    left[np.ix_(gone, gone)] = (
        covariance[np.ix_(gone, gone)] - covariance[np.ix_(gone, seen)] @ gain
    )
    return x, np.outer(x, x) + left


def block_em_step(network, dataset, components, smoothing=0.0, reference=None):
    """Parameters of the continuous variables after one EM iteration, as tables by name.

    ``components`` lists sets of variables that depend on each other; a row that has no value in
    one adds nothing to it. Pseudo-observations have the moments ``reference``: mean and covariance
    of all continuous variables.
    """
    structure = network.structure
    names = list(structure.continuous)
    cells = list_cells(network)
    sums = {}
    for row in range(dataset.n_rows):
        logs = np.array([cell_log_density(network, dataset, row, codes) for codes in cells])
        shares = dataset.weights[row] * np.exp(logs - np.logaddexp.reduce(logs))
        for codes, share in zip(cells, shares, strict=True):
            first, second = impute(network, dataset, row, codes)
            for name in names:
                home = next(each for each in components if name in each)
                if all(np.isnan(dataset.column(other)[row]) for other in home):
                    continue
                key = (name, *(codes[p] for p in structure.categorical_parents(name)))
                total = sums.setdefault(key, [0.0, 0.0, 0.0])
                for i, term in enumerate((1.0, first, second)):
                    total[i] = total[i] + share * term
    tables = {name: np.array(network.cpd(name)) for name in names}
    for (name, *row), (weight, first, second) in sums.items():
        if smoothing:
            mean, covariance = reference
            weight = weight + smoothing
            first = first + smoothing * mean
            second = second + smoothing * (covariance + np.outer(mean, mean))
        tables[name][tuple(row)] = fit_family(structure, name, first / weight, second / weight)
    return tables


def fit_family(structure, name, first, second):
    """Row of a table from first and second moments of all continuous variables."""
    place = {each: i for i, each in enumerate(structure.continuous)}
    covariance = second - np.outer(first, first)
    i = place[name]
    pouch = structure.pouch(name)
    if len(pouch) > 1:
        return np.array([first[i], *covariance[i, [place[each] for each in pouch]]])
    above = [place[each] for each in structure.continuous_parents(name)]
    slopes = np.linalg.solve(covariance[np.ix_(above, above)], covariance[above, i])
    variance = covariance[i, i] - slopes @ covariance[above, i]
    return np.array([first[i] - slopes @ first[above], *slopes, variance])
