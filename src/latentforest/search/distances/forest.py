"""Forests from distances: recursive grouping of all nodes, or along a minimum spanning tree."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse.csgraph import connected_components

from latentforest.errors import ParameterError
from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.model.spanning import spanning_forest
from latentforest.search.distances.grouping import ComparisonRules, Metric, group_all, group_members
from latentforest.search.distances.tree import DistanceTree, Edge, contract


def grow_forest(
    distances: FloatArray,
    errors: FloatArray | None = None,
    *,
    along_spanning_tree: bool = False,
    leaves_only: bool = False,
    grouping: ComparisonRules | None = None,
) -> DistanceTree:
    """Find the forest that distances between observed nodes come from.

    Parameters
    ----------
    distances
        Symmetric, shape (n_observed, n_observed); infinite between different trees.
    errors
        Standard errors; default none, for exact distances.
    along_spanning_tree
        Group the neighbourhoods of a minimum spanning tree one after another (CLRG), not all nodes
        at once (RG).
    leaves_only
        Give a hidden parent also to families whose parent may be an observed node.
    grouping
        How nodes are compared.

    Examples
    --------
    >>> star = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> [(edge.a, edge.b, round(edge.length, 6)) for edge in grow_forest(star).edges]
    [(0, 3, 1.0), (1, 3, 2.0), (2, 3, 3.0)]
    """
    values = _check(distances)
    given = np.zeros_like(values) if errors is None else np.asarray(errors, dtype=np.float64)
    grouping = grouping or ComparisonRules()
    grow = group_along_spanning_tree if along_spanning_tree else group_all
    n = n_nodes = len(values)
    edges: list[Edge] = []
    _, group = connected_components(np.isfinite(values), directed=False)
    for label in range(group.max() + 1):
        (members,) = np.nonzero(group == label)
        metric = Metric(values[np.ix_(members, members)], given[np.ix_(members, members)])
        found = contract(grow(metric, grouping), len(members), grouping.threshold, leaves_only)
        names = [*members.tolist(), *range(n_nodes, n_nodes + found.n_nodes - len(members))]
        edges += [Edge(names[a], names[b], *rest) for a, b, *rest in found.edges]
        n_nodes += found.n_nodes - len(members)
    return DistanceTree(n, n_nodes, tuple(edges))


def _check(distances: FloatArray) -> FloatArray:
    values = np.asarray(distances, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not len(values):
        raise ParameterError(f"distances must be a square matrix, got shape {values.shape}")
    if not (np.all(values >= 0) and np.all(values == values.T) and not np.diag(values).any()):
        raise ParameterError("distances must be symmetric, not negative, and zero on the diagonal")
    return values


def group_along_spanning_tree(metric: Metric, grouping: ComparisonRules) -> list[Edge]:
    """CLRG: group each inner node of a minimum spanning tree with its neighbours."""
    graph: dict[int, dict[int, Edge]] = {node: {} for node in range(metric.n_nodes)}
    _connect(graph, find_spanning_tree(metric))
    for centre in [node for node in graph if len(graph[node]) > 1]:
        members = sorted([centre, *graph[centre]])
        for other in list(graph[centre]):
            del graph[centre][other], graph[other][centre]
        sides = {member: _reach(graph, member) for member in members}
        _connect(graph, group_members(metric, members, sides, grouping))
    return [edge for a in graph for b, edge in graph[a].items() if a < b]


def find_spanning_tree(metric: Metric) -> list[Edge]:
    """Minimum spanning tree; of equal distances, that between nodes of lower number is shorter.

    This is how they would differ if leaves moved a little away, each its own way, from a tree.
    """
    a, b = np.triu_indices(metric.n_nodes, 1)
    values, errors = metric.values, metric.errors
    order = np.lexsort((a, b, np.round(values[a, b] / metric.floor)))
    gains = np.zeros_like(values)
    gains[a[order], b[order]] = gains[b[order], a[order]] = -np.arange(len(a))
    return [Edge(i, j, values[i, j], errors[i, j]) for i, j in sorted(spanning_forest(gains))]


def _connect(graph: dict[int, dict[int, Edge]], edges: Iterable[Edge]) -> None:
    for edge in edges:
        graph.setdefault(edge.a, {})[edge.b] = edge
        graph.setdefault(edge.b, {})[edge.a] = edge


def _reach(graph: dict[int, dict[int, Edge]], node: int) -> BoolArray:
    """Mark what can be reached from a node."""
    reached = np.zeros(len(graph), dtype=bool)
    stack = [node]
    while stack:
        here = stack.pop()
        reached[here] = True
        stack += [other for other in graph[here] if not reached[other]]
    return reached
