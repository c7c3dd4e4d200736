"""All spanning trees of a graph at once: the sum of their weights, and how often an edge occurs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.errors import ParameterError
from latentforest.kernels.averaging.trees import (
    count_mesh_values,
    find_edge_probabilities,
    sum_trees,
)
from latentforest.kernels.types import FloatArray, LongArray

MOST_VERTICES = 500  # memory is a third of the cube of them times eight bytes: 330 MB


class TreeSum(NamedTuple):
    """Of all spanning trees, each with the product of its edges' weights.

    Attributes
    ----------
    log_total
        Logarithm of the sum.
    probabilities
        Of each edge, ``(n, n)``, symmetric: the share of the sum of trees that have it.
    """

    log_total: float
    probabilities: FloatArray


def add_up_trees(log_weights: FloatArray) -> TreeSum:
    """Add up all spanning trees of a graph.

    Parameters
    ----------
    log_weights
        Logarithms of the edges' weights, ``(n, n)``, symmetric; -inf for no edge. The diagonal does
        not count. They may differ by thousands.

    Examples
    --------
    >>> round(float(np.exp(add_up_trees(np.zeros((5, 5))).log_total)), 9)
    125.0
    """
    weights = _check(log_weights)
    n = len(weights)
    meshes = np.empty(count_mesh_values(n))
    log_total = float(sum_trees(weights, meshes))
    probabilities = np.zeros((n, n))
    if log_total == -np.inf:
        raise ParameterError("log_weights: the graph is not connected, so it has no spanning tree")
    find_edge_probabilities(meshes, probabilities)
    np.clip(probabilities, 0.0, 1.0, out=probabilities)
    return TreeSum(log_total, probabilities + probabilities.T)


def add_up_tilted(
    log_weights: FloatArray, log_factors: FloatArray, states: LongArray
) -> FloatArray:
    """Return the logarithms of sums over trees whose edges are weighed anew for each row.

    Parameters
    ----------
    log_weights
        As above.
    log_factors
        What is added to the weight of an edge between columns in two of their states,
        ``(n_states, n_states)``; the states of all columns are numbered one after the other.
    states
        Numbers of the states of each row, ``(n_rows, n_columns)``.
    """
    weights = _check(log_weights)
    meshes, totals = np.empty(count_mesh_values(len(weights))), np.empty(len(states))
    for row, here in enumerate(states):
        totals[row] = sum_trees(weights + log_factors[np.ix_(here, here)], meshes)
    return totals


def _check(log_weights: FloatArray) -> FloatArray:
    weights = np.array(log_weights, dtype=np.float64, order="C")
    if weights.ndim != 2 or len(weights) != weights.shape[1] or not len(weights):
        raise ParameterError(f"log_weights must be a square matrix, got shape {weights.shape}")
    if len(weights) > MOST_VERTICES:
        raise ParameterError(
            f"sums over spanning trees are possible for up to {MOST_VERTICES} vertices, got "
            f"{len(weights)}"
        )
    above = weights[np.triu_indices(len(weights), 1)]
    if np.isnan(above).any() or (above == np.inf).any():
        raise ParameterError("log_weights must be numbers or -inf, got nan or +inf")
    below = weights.T[np.triu_indices(len(weights), 1)]
    if not np.array_equal(above, below):
        raise ParameterError("log_weights must be symmetric")
    return weights
