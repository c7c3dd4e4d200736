"""Trees from distances: recursive grouping, alone or along a spanning tree.

Choi, Tan, Anandkumar and Willsky (2011). With Φ(i,j,k) = d(i,k) - d(j,k), the leaves i and j are
siblings if and only if Φ(i,j,k) is the same for all other k; and j is the parent of the leaf i if
it is d(i,j) for all of them. Siblings get a new hidden parent and are replaced by it, until one
node is left. The parent of i and j is (d(i,j) + Φ(i,j,k)) / 2 away from i: nothing, if i is the
parent itself. So every family gets a hidden node here, and edges of no length are contracted in
the end; that is the test for parents.

Distances come with standard errors. "Same" and "nothing" mean: but for so many standard errors.
Exact distances have tiny ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import squareform

from latentforest.errors import ParameterError
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray

EXACT = 1e-9  # error of exact distances, relative to the largest
APART = 1e9  # dissimilarity of nodes that are not siblings
RELIABLE = 0.3  # standard error of distances that are worth a comparison


class Edge(NamedTuple):
    """An edge with its length and the standard error of that."""

    a: int
    b: int
    length: float
    error: float


@dataclass(frozen=True)
class DistanceTree:
    """A forest over the nodes 0, 1, …: the observed ones first, then the hidden ones."""

    n_observed: int
    n_nodes: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Grouping:
    """How nodes are compared.

    Parameters
    ----------
    threshold
        Differences of fewer standard errors are none.
    reach
        Distances above it are not used in comparisons; default: those with large errors.
    is_late
        Asked now and then; once it says yes, all that is left becomes one family.
    """

    threshold: float = 3.0
    reach: float = np.inf
    is_late: Callable[[], bool] = lambda: False


class Metric:
    """Distances between nodes, and their errors, to which hidden nodes are added.

    The error of exact distances is zero; it is raised to what rounding needs.
    """

    def __init__(self, values: FloatArray, errors: FloatArray) -> None:
        self.n_nodes = len(values)
        finite = values[np.isfinite(values)]
        self.floor = EXACT * max(float(finite.max(initial=0.0)), np.finfo(float).tiny)
        self._values = np.array(values, dtype=np.float64)
        self._errors = np.maximum(errors, self.floor)

    @property
    def values(self) -> FloatArray:
        """Distances between all nodes so far."""
        return self._values[: self.n_nodes, : self.n_nodes]

    @property
    def errors(self) -> FloatArray:
        """Their standard errors."""
        return self._errors[: self.n_nodes, : self.n_nodes]

    def add(self, values: FloatArray, errors: FloatArray) -> int:
        """Add a node with its distances to all others, and return its number."""
        n = self.n_nodes
        if n == len(self._values):
            self._values = np.pad(self._values, (0, n + 8))
            self._errors = np.pad(self._errors, (0, n + 8))
        self._values[n, :n] = self._values[:n, n] = values
        self._errors[n, :n] = self._errors[:n, n] = np.maximum(errors, self.floor)
        self._values[n, n] = self._errors[n, n] = 0.0
        self.n_nodes += 1
        return n


def grow_forest(
    distances: FloatArray,
    errors: FloatArray | None = None,
    *,
    along_spanning_tree: bool = False,
    leaves_only: bool = False,
    grouping: Grouping | None = None,
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
    >>> [tuple(edge[:3]) for edge in grow_forest(star).edges]
    [(0, 3, 1.0), (1, 3, 2.0), (2, 3, 3.0)]
    """
    values = _check(distances)
    given = np.zeros_like(values) if errors is None else np.asarray(errors, dtype=np.float64)
    grouping = grouping or Grouping()
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


def group_all(metric: Metric, grouping: Grouping) -> list[Edge]:
    """RG: group all nodes."""
    n = metric.n_nodes
    return _group(metric, list(range(n)), dict(enumerate(np.eye(n, dtype=bool))), grouping)


def group_along_spanning_tree(metric: Metric, grouping: Grouping) -> list[Edge]:
    """CLRG: group each inner node of a minimum spanning tree with its neighbours."""
    graph: dict[int, dict[int, Edge]] = {node: {} for node in range(metric.n_nodes)}
    _connect(graph, find_spanning_tree(metric))
    for centre in [node for node in graph if len(graph[node]) > 1]:
        members = sorted([centre, *graph[centre]])
        for other in list(graph[centre]):
            del graph[centre][other], graph[other][centre]
        sides = {member: _reach(graph, member) for member in members}
        _connect(graph, _group(metric, members, sides, grouping))
    return [edge for a in graph for b, edge in graph[a].items() if a < b]


def find_spanning_tree(metric: Metric) -> list[Edge]:
    """Minimum spanning tree; of equal distances, that between nodes of lower number is shorter.

    This is how they would differ if leaves moved a little away, each its own way, from a tree.
    """
    a, b = np.triu_indices(metric.n_nodes, 1)
    values, errors = metric.values, metric.errors
    rounded = np.round(values[a, b] / metric.floor)
    rank = np.empty(len(a))
    rank[np.lexsort((a, b, rounded))] = np.arange(1, len(a) + 1)
    size = (metric.n_nodes, metric.n_nodes)
    tree = minimum_spanning_tree(coo_array((rank, (a, b)), shape=size).tocsr()).tocoo()
    return [
        Edge(int(i), int(j), values[i, j], errors[i, j])
        for i, j in zip(tree.row, tree.col, strict=True)
    ]


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


def _group(
    metric: Metric, members: Sequence[int], sides: dict[int, BoolArray], grouping: Grouping
) -> list[Edge]:
    """Recursive grouping of some nodes; ``sides`` tells what else hangs on each of them."""
    edges: list[Edge] = []
    active = list(members)
    while len(active) > 2:
        values, errors = (each[np.ix_(active, active)] for each in (metric.values, metric.errors))
        comparison = compare(values, errors, grouping)
        n = len(active)
        families = [list(range(n))] if grouping.is_late() else find_families(comparison, values)
        left = set(active)
        for family in families:
            to_parent = place_parent(comparison, values, errors, family)
            children = [active[i] for i in family]
            parent = _add_parent(metric, children, to_parent, sides)
            edges += [Edge(i, parent, *each) for i, each in zip(children, to_parent, strict=True)]
            left = (left - set(children)) | {parent}
        active = sorted(left)
    if len(active) == 2:
        a, b = active
        edges.append(Edge(a, b, float(metric.values[a, b]), float(metric.errors[a, b])))
    return edges


@dataclass(frozen=True)
class Comparison:
    """Φ of all pairs of nodes.

    Attributes
    ----------
    mean, error
        Weighted mean of Φ(i,j,k) over the k, and its standard error.
    difference
        Largest deviation of Φ(i,j,k) from the mean, in thresholds: up to one, i and j may be
        siblings.
    doubt
        The same in units of distance with the error added: small where it is certain that they are.
    """

    mean: FloatArray
    error: FloatArray
    difference: FloatArray
    doubt: FloatArray


def compare(values: FloatArray, errors: FloatArray, grouping: Grouping) -> Comparison:
    """Compare all pairs of nodes with all others that are near enough to both."""
    n = len(values)
    found = [np.zeros((n, n)) for _ in range(4)]
    is_near = (errors <= max(RELIABLE, EXACT)) & (values <= grouping.reach)
    for i in range(n):
        phi = values[i] - values
        variance = errors[i] ** 2 + errors**2
        usable = np.isfinite(variance)
        usable[:, i] = False
        np.fill_diagonal(usable, False)
        near = usable & is_near & is_near[i]
        is_alone = ~near.any(axis=1)
        usable[~is_alone] = near[~is_alone]
        weight = np.where(usable, 1.0 / np.where(usable, variance, 1.0), 0.0)
        total = np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
        mean = (weight * phi).sum(axis=1) / total
        deviation = np.where(usable, np.abs(phi - mean[:, None]), 0.0)
        deviation_error = np.where(usable, np.sqrt(np.where(usable, variance, 0.0)), 0.0)
        scaled = deviation / np.where(usable, deviation_error, 1.0)
        is_alone |= ~is_near[i]
        found[0][i], found[1][i] = mean, 1.0 / np.sqrt(total)
        found[2][i] = np.where(is_alone, np.inf, scaled.max(axis=1) / grouping.threshold)
        found[3][i] = (deviation + deviation_error).max(axis=1)
    return Comparison(*found)


def find_families(comparison: Comparison, values: FloatArray) -> list[list[int]]:
    """Group nodes all of which may be siblings, the most certain first (complete linkage).

    If there are none, the two that come closest are taken.
    """
    difference = np.maximum(comparison.difference, comparison.difference.T)
    doubt = np.maximum(comparison.doubt, comparison.doubt.T)
    dissimilarity = np.where(difference <= 1.0, np.minimum(doubt, APART / 2), APART)
    np.fill_diagonal(dissimilarity, 0.0)
    tree = linkage(squareform(dissimilarity, checks=False), "complete")
    labels = fcluster(tree, 0.75 * APART, "distance")
    members = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    families = [family for family in members if len(family) > 1]
    if families:
        return families
    a, b = np.triu_indices(len(values), 1)
    best = np.lexsort((values[a, b], difference[a, b]))[0]
    return [[int(a[best]), int(b[best])]]


def place_parent(
    comparison: Comparison, values: FloatArray, errors: FloatArray, family: Sequence[int]
) -> list[tuple[float, float]]:
    """Distance of each sibling to the common parent, and its error."""
    result = []
    for i in family:
        others = [j for j in family if j != i]
        half = 0.5 * (values[i, others] + comparison.mean[i, others])
        variance = 0.25 * (errors[i, others] ** 2 + comparison.error[i, others] ** 2)
        weight = 1.0 / variance if np.isfinite(variance).all() else np.ones(len(others))
        length = float(weight @ half / weight.sum())
        result.append((max(length, 0.0), float(np.sqrt(1.0 / (1.0 / variance).sum()))))
    return result


def _add_parent(
    metric: Metric,
    children: Sequence[int],
    to_parent: Sequence[tuple[float, float]],
    sides: dict[int, BoolArray],
) -> int:
    """Add the parent of a family, with its distances to all nodes.

    Seen from it, a node lies behind one child or none; all other children are as much farther from
    that node as they are from the parent.
    """
    n = metric.n_nodes
    behind = np.zeros((len(children), n), dtype=bool)
    for row, child in zip(behind, children, strict=True):
        row[: len(sides[child])] = sides[child]
    length = np.array([each[0] for each in to_parent])[:, None]
    value, error = metric.values[children] - length, metric.errors[children]
    weight = np.where(behind, 0.0, 1.0 / np.where(behind, 1.0, error) ** 2)
    unknown = ~weight.any(axis=0)
    weight[:, unknown] = ~behind[:, unknown]
    total = weight.sum(axis=0)
    values = np.maximum((weight * value).sum(axis=0) / total, 0.0)
    least = np.where(behind, np.inf, error * np.exp(-length)).min(axis=0)
    errors = np.where(unknown, np.inf, np.sqrt(1.0 / total + least**2))
    for child, (value_of_child, error_of_child) in zip(children, to_parent, strict=True):
        values[child], errors[child] = value_of_child, error_of_child
    parent = metric.add(values, errors)
    sides[parent] = np.append(behind.any(axis=0), True)
    return parent


def contract(
    edges: Sequence[Edge], n_observed: int, threshold: float, leaves_only: bool
) -> DistanceTree:
    """Contract edges of no length between hidden nodes, and to observed nodes if these may be inner.

    Of several observed nodes at the place of a hidden one, the nearest takes it.
    """
    short = [edge for edge in edges if edge.length <= threshold * edge.error]
    n_nodes = max((max(edge.a, edge.b) + 1 for edge in edges), default=n_observed)
    inner = [edge for edge in short if min(edge.a, edge.b) >= n_observed]
    merged = _merge(n_nodes, inner)
    if not leaves_only:
        outer = [edge for edge in short if min(edge.a, edge.b) < n_observed <= max(edge.a, edge.b)]
        place: dict[int, int] = {}
        for edge in sorted(outer, key=lambda edge: (edge.length / edge.error, edge.a)):
            place.setdefault(int(merged[max(edge.a, edge.b)]), min(edge.a, edge.b))
        merged = np.array([place.get(int(node), int(node)) for node in merged])
    hidden = sorted({int(node) for node in merged if node >= n_observed})
    number = {node: node for node in range(n_observed)}
    number |= {node: n_observed + i for i, node in enumerate(hidden)}
    kept = [
        Edge(number[int(merged[edge.a])], number[int(merged[edge.b])], edge.length, edge.error)
        for edge in edges
        if merged[edge.a] != merged[edge.b]
    ]
    return DistanceTree(n_observed, n_observed + len(hidden), tuple(kept))


def _merge(n_nodes: int, edges: Sequence[Edge]) -> AnyArray:
    """Number of the first node of those that edges connect, for each node."""
    places = ([edge.a for edge in edges], [edge.b for edge in edges])
    graph = coo_array((np.ones(len(edges)), places), shape=(n_nodes, n_nodes))
    _, label = connected_components(graph, directed=False)
    _, first = np.unique(label, return_index=True)
    return first[label]
