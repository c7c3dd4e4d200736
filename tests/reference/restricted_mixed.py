"""Restricted likelihood of latent trees with Gaussian leaves: EM on some tables of a network."""

import math

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.inference.columns import summarize
from latentforest.model import Network, Structure
from reference.mixed_networks import normal_density


def leaf_factor(network, dataset, name):
    """P(value | state of the parent) for each row; ones where it is missing."""
    table, column = network.cpd(name), dataset.column(name)
    if name in network.structure.continuous:
        x = column[:, None]
        return np.where(np.isnan(x), 1.0, normal_density(x, table[:, 0], table[:, 1]))
    rows = np.concatenate([table, np.ones((len(table), 1))], axis=1)
    return rows[:, column].T


def enumerate_joint(network, dataset):
    """P(row, states of all latent variables), one axis for the rows and one for each of them."""
    structure, latents = network.structure, list(network.latents)
    joint = np.ones((dataset.n_rows, *(structure.shape(z)[-1] for z in latents)))
    for name in structure.names:
        family = [*structure.parents(name), *([name] if name in latents else [])]
        factor = network.cpd(name)[None] if name in latents else leaf_factor(network, dataset, name)
        axes = [0, *(1 + latents.index(z) for z in family)]
        shape = np.ones(joint.ndim, int)
        shape[axes] = factor.shape
        joint = joint * factor.transpose(np.argsort(axes)).reshape(shape)
    return joint


def measure_mixed(network, dataset):
    """Log-likelihood of a table."""
    total = enumerate_joint(network, dataset).reshape(dataset.n_rows, -1).sum(axis=1)
    return float(dataset.weights @ np.log(total))


def climb_mixed(network, dataset, free, n_iterations):
    """Run EM on the free tables of a network, from the parameters it has."""
    for _ in range(n_iterations):
        network = step_mixed(network, dataset, free)
    return network


def step_mixed(network, dataset, free):
    """One iteration of EM on some tables."""
    structure, latents = network.structure, list(network.latents)
    joint = enumerate_joint(network, dataset)
    sums = joint.reshape(dataset.n_rows, -1).sum(axis=1)
    posterior = joint / sums.reshape(-1, *(1,) * len(latents))
    theta = np.array(network.parameters)
    for name in free:
        family = [*structure.parents(name), *([name] if name in latents else [])]
        axes = [1 + latents.index(z) for z in family]
        rest = tuple(axis for axis in range(1, joint.ndim) if axis not in axes)
        share = posterior.sum(axis=rest).transpose(np.argsort(np.argsort([0, *axes])))
        view = structure.table_view(theta, name)
        if name in structure.continuous:
            view[...] = find_moments(dataset, name, share)
            continue
        if name in latents:
            counts = np.tensordot(dataset.weights, share, 1)
        else:
            codes = dataset.column(name)
            seen = (codes[:, None] == np.arange(view.shape[-1])) * dataset.weights[:, None]
            counts = share.T @ seen
        total = counts.sum(axis=-1, keepdims=True)
        view[...] = np.where(total > 0, counts / np.where(total > 0, total, 1.0), view)
    return network.with_parameters(theta)


def find_moments(dataset, name, share):
    """Means and variances, not below the bound of the column."""
    x, least = dataset.column(name), summarize(name, dataset.column(name), dataset.weights)
    used = ~np.isnan(x)
    weights = share[used] * dataset.weights[used][:, None]
    total = weights.sum(axis=0)
    mean = x[used] @ weights / total
    variance = (weights * (x[used][:, None] - mean) ** 2).sum(axis=0) / total
    return np.stack([mean, np.maximum(variance, least.least_variance)], axis=1)


def draw_mixed_tree(seed, n_latents, share=0.6, latent_states=(2, 3), n_leaves=(2, 3)):
    """Draw a latent tree whose leaves are continuous with some probability."""
    rng = np.random.default_rng(seed)
    latents = [f"Y{i}" for i in range(1, n_latents + 1)]
    variables = [Variable.hidden(name, int(rng.choice(latent_states))) for name in latents]
    parents = {name: latents[rng.integers(i)] for i, name in enumerate(latents) if i}
    for latent in latents:
        for _ in range(rng.choice(n_leaves) + (n_latents == 1)):
            name = f"X{len(variables)}"
            states = None if rng.random() < share else tuple("abcd"[: rng.integers(3, 5)])
            variables.append(Variable(name, states))
            parents[name] = latent
    return draw_gaussians(Structure(variables, parents), rng).rooted_at(str(rng.choice(latents)))


def draw_gaussians(structure, rng):
    """Give a structure random tables; means lie about two deviations apart."""
    tables = {}
    for name in structure.names:
        *above, card = structure.shape(name)
        if name in structure.continuous:
            means, variances = rng.normal(0.0, 2.0, above), rng.uniform(0.3, 2.0, above)
            tables[name] = np.stack([means, variances], axis=-1)
        else:
            drawn = rng.dirichlet(np.full(card, 0.7), above) + 1e-3
            tables[name] = drawn / drawn.sum(axis=-1, keepdims=True)
    parents = {name: structure.parents(name) for name in structure.names}
    return Network.from_tables(structure.variables, parents, tables)


def draw_mixed_rows(network, n_rows, seed, missing=0.1, weights=(0.5, 1.0, 2.0), digits=None):
    """Draw rows of a network, some of their values missing, with weights."""
    rng = np.random.default_rng(seed)
    drawn = network.sample(n_rows, random_state=rng)
    columns = []
    for variable, column in zip(drawn.variables, drawn.columns, strict=True):
        values = np.array(column)
        if digits is not None and not variable.is_categorical:
            values = np.round(values, digits)
        values[rng.random(n_rows) < missing] = -1 if variable.is_categorical else math.nan
        columns.append(values)
    return Dataset(drawn.variables, columns, rng.choice(weights, n_rows))
