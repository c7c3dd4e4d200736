"""Spanning trees and forests of the greatest total gain, and how they are rooted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

SAME = 1e-11  # relative difference of gains that rounding may make

Edge = tuple[int, int]


def spanning_forest(gains: NDArray[np.float64], least: float = -np.inf) -> list[Edge]:
    """Return the edges of the forest with the greatest sum of gains.

    Parameters
    ----------
    gains
        Symmetric, ``(n, n)``; the diagonal does not matter.
    least
        Only edges with more than this are taken; by default all are, and the result is a tree.

    Returns
    -------
    list of (int, int)
        The smaller number first, the edges of the greatest gain first. Equal gains are taken in the
        order of the numbers.

    Examples
    --------
    >>> spanning_forest(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0.0]]))
    [(0, 1), (1, 2)]
    """
    n = len(gains)
    left, right = np.triu_indices(n, 1)
    values = gains[left, right]
    order = _sort(values)
    order = order[values[order] > least]
    # The rank as weight: no two are equal, and none is zero, which a sparse matrix would drop.
    ranks = np.arange(1, len(order) + 1, dtype=np.float64)
    graph = csr_array((ranks, (left[order], right[order])), shape=(n, n))
    taken = minimum_spanning_tree(graph).data.astype(np.int64) - 1
    chosen = order[np.sort(taken)]
    return list(zip(left[chosen].tolist(), right[chosen].tolist(), strict=True))


def _sort(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order by falling value; values that differ by rounding only keep their order."""
    scale = float(np.abs(values).max(initial=0.0)) * SAME
    return np.argsort(-np.round(values / scale) if scale > 0 else values, kind="stable")


def direct(edges: Iterable[Edge], n: int, roots: Iterable[int] = ()) -> list[int]:
    """Return the parent of each node, -1 for roots.

    Parameters
    ----------
    edges
        Of a forest.
    n
        Number of nodes.
    roots
        Wanted as roots, at most one of each tree; the other trees are rooted at their first node.

    Examples
    --------
    >>> direct([(0, 1), (1, 2)], 4, [2])
    [1, 2, -1, -1]
    """
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    parents = [-2] * n
    for root in (*roots, *range(n)):
        if parents[root] != -2:
            continue
        parents[root] = -1
        stack = [root]
        while stack:
            here = stack.pop()
            for other in neighbours[here]:
                if parents[other] == -2:
                    parents[other] = here
                    stack.append(other)
    return parents
