"""Likelihoods, expected sums and EM steps of networks with Gaussian leaves, by enumeration."""

from itertools import product

import numpy as np

from reference.mixed_networks import normal_density


def enumerate_mixed(network, dataset):
    """Return log P(row), and for each name and row the posterior of its family.

    The posterior has an axis for the rows, then one for each categorical variable of the family:
    categorical parents, and the variable itself if it is categorical. Missing values of Gaussian
    leaves are left out.
    """
    structure = network.structure
    categorical = [n for n in structure.names if structure.variable(n).is_categorical]
    cards = [len(structure.states(name)) for name in categorical]
    joint = np.zeros((dataset.n_rows, *cards))
    for row in range(dataset.n_rows):
        for cell in product(*map(range, cards)):
            codes = dict(zip(categorical, cell, strict=True))
            joint[(row, *cell)] = row_density(network, dataset, row, codes)
    total = joint.reshape(dataset.n_rows, -1).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(total)
        posterior = joint / total.reshape(-1, *(1 for _ in cards))
    families = {}
    for name in structure.names:
        family = [*structure.categorical_parents(name)]
        family += [name] if name in categorical else []
        axes = [1 + categorical.index(each) for each in family]
        rest = tuple(axis for axis in range(1, joint.ndim) if axis not in axes)
        order = np.argsort(np.argsort([0, *axes]))
        families[name] = posterior.sum(axis=rest).transpose(order)
    return values, families


def row_density(network, dataset, row, codes):
    """P(categorical states, what was observed in a row)."""
    structure, density = network.structure, 1.0
    for name in structure.names:
        table = network.cpd(name)[tuple(codes[p] for p in structure.categorical_parents(name))]
        if not structure.variable(name).is_categorical:
            x = dataset.column(name)[row]
            density *= normal_density(x, *table) if x == x else 1.0
            continue
        density *= table[codes[name]]
        if not structure.variable(name).latent:
            seen = dataset.column(name)[row]
            density *= 1.0 if seen < 0 or seen == codes[name] else 0.0
    return density


def sum_moments(network, dataset, name):
    """Weight, mean and variance of a Gaussian leaf given each state of its parent."""
    _, families = enumerate_mixed(network, dataset)
    x = dataset.column(name)
    share = families[name] * (dataset.weights * ~np.isnan(x)).reshape(
        -1, *(1,) * (families[name].ndim - 1)
    )
    x = np.nan_to_num(x)
    weight = share.sum(axis=0)
    mean = np.tensordot(x, share, 1) / weight
    d = x.reshape(-1, *(1,) * weight.ndim) - mean
    return weight, mean, (share * d**2).sum(axis=0) / weight


def mixed_em_step(network, dataset, smoothing=0.0):
    """Return the network after one EM iteration with pseudo-observations of each column."""
    structure = network.structure
    theta = np.array(network.parameters)
    _, families = enumerate_mixed(network, dataset)
    for name in structure.names:
        table = structure.table_view(theta, name)
        if structure.variable(name).is_categorical:
            weights = dataset.weights.copy()
            if (
                not structure.variable(name).latent
                and structure.parents(name)
                and not structure.children(name)
            ):
                weights[dataset.column(name) < 0] = 0.0
            counts = np.tensordot(weights, families[name], 1) + smoothing
            table[...] = counts / counts.sum(axis=-1, keepdims=True)
            continue
        x = dataset.column(name)
        used = ~np.isnan(x)
        center = np.average(x[used], weights=dataset.weights[used])
        spread = np.average((x[used] - center) ** 2, weights=dataset.weights[used])
        weight, mean, variance = sum_moments(network, dataset, name)
        new = (weight * mean + smoothing * center) / (weight + smoothing)
        squares = weight * (variance + (mean - new) ** 2)
        squares += smoothing * ((new - center) ** 2 + spread)
        table[..., 0], table[..., 1] = new, squares / (weight + smoothing)
    return network.with_parameters(theta)
