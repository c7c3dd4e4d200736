"""Spanning trees and forests of the greatest total gain, and how they are rooted.

Prim's algorithm row by row: with all pairs as edges it takes n passes over n numbers and no
memory. A sparse graph of 10,000 columns would have to hold and sort 50 million edges, and drops
gains of zero.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

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
    scale = SAME * float(np.abs(gains[np.isfinite(gains)]).max(initial=0.0)) or 1.0
    nodes = np.arange(n)
    best = np.full(n, -np.inf)  # of the edges between the tree and each other node
    first = np.full(n, n * n)  # number of that edge
    is_outside = np.full(n, True)
    found, here = [], 0
    for _ in range(n - 1):
        is_outside[here] = False
        best[here] = -np.inf
        values = np.round(gains[here] / scale)
        numbers = np.minimum(nodes, here) * n + np.maximum(nodes, here)
        is_better = (values > best) | ((values == best) & (numbers < first))
        is_better &= is_outside
        best = np.where(is_better, values, best)
        first = np.where(is_better, numbers, first)
        others = np.flatnonzero(is_outside & (best == best[is_outside].max()))
        here = int(others[np.argmin(first[others])])
        found.append((-best[here], *divmod(int(first[here]), n)))
    return [(i, j) for _, i, j in sorted(found) if gains[i, j] > least]


def layered_forest(
    gains: NDArray[np.float64], is_lower: NDArray[np.bool_], least: float = -np.inf
) -> list[Edge]:
    """Return the best forest in which no lower node is above an upper one.

    Then no path between upper nodes leads through a lower one, and lower nodes that are connected
    hang on one upper node at most. The upper nodes have the best forest of their own; for the lower
    ones, all upper nodes together are one.

    Parameters
    ----------
    gains, least
        As for ``spanning_forest``.
    is_lower
        Whether a node must not be the parent of those that are not lower, ``(n,)``.

    Examples
    --------
    >>> gains = np.array([[0, 1, 9], [1, 0, 8], [9, 8, 0.0]])
    >>> layered_forest(gains, np.array([False, False, True]))
    [(0, 2), (0, 1)]
    """
    upper, lower = np.flatnonzero(~is_lower), np.flatnonzero(is_lower)
    above = spanning_forest(gains[np.ix_(upper, upper)], least)
    edges = [(int(upper[i]), int(upper[j])) for i, j in above]
    n_upper = min(len(upper), 1)
    contracted = np.zeros((n_upper + len(lower), n_upper + len(lower)))
    contracted[n_upper:, n_upper:] = gains[np.ix_(lower, lower)]
    best = np.zeros(len(lower), np.intp)
    if n_upper:
        best = gains[np.ix_(lower, upper)].argmax(axis=1)
        contracted[0, 1:] = contracted[1:, 0] = gains[lower, upper[best]]
    for i, j in spanning_forest(contracted, least):
        a = lower[i - n_upper] if i >= n_upper else upper[best[j - n_upper]]
        edges.append((min(int(a), int(lower[j - n_upper])), max(int(a), int(lower[j - n_upper]))))
    return sorted(edges, key=lambda edge: -gains[edge])


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
