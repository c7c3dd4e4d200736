"""Edges between the trees of a forest whose columns depend on each other too weakly, pair by pair.

Latent variables gather what their columns know: two of them may depend on each other although no
two columns do so visibly.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.association.mixed_information import gaussian_gain
from latentforest.inference.columns import summarize
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.search.distances.one_by_one import guess_gaussians
from latentforest.search.tables import pack, soften
from latentforest.ties import sort_best_first


def join_trees(network: Network, data: PatternedData, table: Dataset) -> Network:
    """Add edges between trees, the strongest first, as long as each might raise BIC.

    An edge joins two latent variables, or a latent variable and a column that is alone. Whether it
    might is told by the mutual information of their posteriors, as if these were counts; EM has to
    decide. The same network is returned if there is none.

    Parameters
    ----------
    network, forest
        A fitted forest.
    table
        The rows that it was fitted to.
    """
    values = _find_ends(network, data, table)
    tree = _number_trees(network.structure)
    numbers = set(network.structure.continuous)
    gains = []
    for a, b in itertools.combinations(values, 2):
        if tree[a] != tree[b] and not {a, b}.isdisjoint(network.latents):
            if b in numbers or a in numbers:
                number, other = (b, a) if b in numbers else (a, b)
                gain, joint = _measure_number(table, number, values[other])
                a, b = other, number
            else:
                joint = (table.weights[:, None] * values[a]).T @ values[b]
                gain = measure_gain(joint)
            if gain > 0:
                gains.append((gain, a, b, joint))
    for i in sort_best_first([gain for gain, *_ in gains]):
        _, a, b, joint = gains[i]
        if tree[a] != tree[b] and b in numbers:
            network = pack(network.structure.with_parents({b: a}), network, {b: joint})
        elif tree[a] != tree[b]:
            network = _add_edge(network, a, b, joint)
        if tree[a] != tree[b]:
            old, new = tree[b], tree[a]
            tree = {name: new if number == old else number for name, number in tree.items()}
    return network


def measure_gain(counts: FloatArray) -> float:
    """Log-likelihood from the dependence of two variables, less its price in BIC."""
    total = float(counts.sum())
    if total <= 1:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    seen = counts > 0
    information = float((counts[seen] * np.log(counts[seen] / expected[seen])).sum())
    n_parameters: int = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return information - 0.5 * n_parameters * math.log(total)


def _measure_number(table: Dataset, name: str, shares: FloatArray) -> tuple[float, FloatArray]:
    """What a continuous column gains below a latent variable, and its Gaussians there."""
    values, weights = table.column(name), table.weights
    used, about = ~np.isnan(values) & (weights > 0), summarize(name, values, weights)
    gaussians = guess_gaussians(table, name, shares)
    if about.is_constant or not used.any():
        return 0.0, gaussians
    x, w = values[used], weights[used]
    gain = float(w.sum()) * gaussian_gain(x, shares[used], w, about.least_variance)
    price = (shares.shape[1] - 1) * math.log(max(table.total_weight, 1.0))
    return gain - price, gaussians


def _find_ends(network: Network, data: PatternedData, table: Dataset) -> dict[str, FloatArray]:
    """Where edges may end: posteriors of the latent variables, values of the columns alone."""
    structure = network.structure
    posteriors, _ = Rows(network, data).filled_posteriors(structure.latents)
    ends = dict(zip(structure.latents, posteriors, strict=True))
    for name in structure.observed:
        if name in structure.continuous:
            if not structure.neighbours(name):
                ends[name] = table.column(name)
            continue
        n_states = table.variable(name).n_states
        if not structure.neighbours(name) and n_states > 1:
            ends[name] = np.vstack([np.eye(n_states), np.zeros(n_states)])[table.column(name)]
    return ends


def _number_trees(structure: Structure) -> dict[str, int]:
    tree: dict[str, int] = {}
    for name in structure.order:
        parents = structure.parents(name)
        tree[name] = tree[parents[0]] if parents else len(tree)
    return tree


def _add_edge(network: Network, a: str, b: str, counts: FloatArray) -> Network:
    if b not in network.latents or a in network.latents:
        parent, child, joint = a, b, counts
    else:
        parent, child, joint = b, a, counts.T
    network = network.rooted_at(child)
    structure = network.structure.with_parents({child: parent})
    total = joint.sum(axis=1, keepdims=True)
    uniform = np.full_like(joint, 1.0 / joint.shape[1])
    table = soften(np.divide(joint, total, out=uniform, where=total > 0))
    return pack(structure, network, {child: table})
