"""Sums over all spanning trees of a graph, in logarithms.

The sum of the weights of all trees is a minor of the graph's Laplacian (matrix-tree theorem; Meila
and Jaakkola 2006). It is eliminated vertex by vertex: without vertex v, any two others i, j are
joined by w_ij + w_iv w_jv / W_v, where W_v is the sum of the weights at v, and the minor is the
product of all W_v. Nothing is subtracted, so logarithms keep their precision whatever the range of
the weights.

The probability of an edge is the derivative of the logarithm of the sum by that of its weight, by
the same steps backward. A rounding error of one of these probabilities on the way reaches those of
the whole graph with factors of at most one.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray


def count_mesh_values(n: int) -> int:
    """Return how many numbers the matrices of n vertices have."""
    return n * (n + 1) * (2 * n + 1) // 6


@kernel
def sum_trees(log_weights: FloatArray, meshes: FloatArray) -> float:
    """Return the logarithm of the sum of the weights of all spanning trees.

    Parameters
    ----------
    log_weights
        Shape ``(n, n)``; the part above the diagonal is read. -inf stands for no edge.
    meshes
        As many numbers as ``count_mesh_values`` says: set to a matrix for each vertex v, of the
        weights above the diagonal that are left when vertices above v are gone. Its last number
        is the sum of the weights at v. All are logarithms.
    """
    n = log_weights.shape[0]
    _take(meshes, n - 1)[:] = log_weights
    total = 0.0
    for v in range(n - 1, 0, -1):
        here = _take(meshes, v)
        at = _add_up(here, v)
        here[v, v] = at
        total += at
        if at == -np.inf:
            return total
        there = _take(meshes, v - 1)
        for i in range(v):
            through = here[i, v] - at
            for j in range(i + 1, v):
                there[i, j] = add_logs(here[i, j], through + here[j, v])
    return total


@kernel
def find_edge_probabilities(meshes: FloatArray, probabilities: FloatArray) -> None:
    """Set the probability of each edge, above the diagonal, from what ``sum_trees`` left.

    The sum must not be zero.
    """
    n = probabilities.shape[0]
    shares = np.empty(n)  # expected edges of the mesh that come through the vertex, by end
    probabilities[:] = 0.0
    for v in range(1, n):
        here, there = _take(meshes, v), _take(meshes, v - 1)
        at = here[v, v]
        shares[:v] = 0.0
        total = 0.0
        for i in range(v):
            for j in range(i + 1, v):
                known = probabilities[i, j]
                if known == 0.0:
                    continue
                through = known * np.exp(here[i, v] + here[j, v] - at - there[i, j])
                probabilities[i, j] = known * np.exp(here[i, j] - there[i, j])
                shares[i] += through
                shares[j] += through
                total += through
        for i in range(v):
            probabilities[i, v] = shares[i] + np.exp(here[i, v] - at) * (1.0 - total)


@part
def _take(meshes: FloatArray, v: int) -> FloatArray:
    """Take the matrix of a vertex, ``(v + 1, v + 1)``; they lie one after the other."""
    start = v * (v + 1) * (2 * v + 1) // 6
    return meshes[start : start + (v + 1) * (v + 1)].reshape(v + 1, v + 1)


@part
def add_logs(a: float, b: float) -> float:
    """Logarithm of the sum of two numbers given by theirs."""
    if a < b:
        a, b = b, a
    if b == -np.inf:
        return a
    return float(a + np.log1p(np.exp(b - a)))


@part
def _add_up(log_weights: FloatArray, v: int) -> float:
    """Logarithm of the sum of the weights between v and those below it."""
    highest = -np.inf
    for i in range(v):
        highest = max(highest, log_weights[i, v])
    if highest == -np.inf:
        return highest
    total = 0.0
    for i in range(v):
        total += np.exp(log_weights[i, v] - highest)
    return float(highest + np.log(total))
