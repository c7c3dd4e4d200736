"""Recursive grouping: a tree from the distances between its observed nodes.

Choi, Tan, Anandkumar and Willsky (2011): with Φ(i,j,k) = d(i,k) - d(j,k), the leaves i and j are
siblings if and only if Φ(i,j,k) is the same for all other k; and j is the parent of the leaf i if
it is d(i,j) for all of them. Siblings get a new hidden parent and are replaced by it, until one
node is left. The parent of i and j is (d(i,j) + Φ(i,j,k)) / 2 away from i: nothing, if i is the
parent itself. So every family gets a hidden node here, and edges of no length are contracted in
the end; that is the test for parents.

Distances come with standard errors. "Same" and "nothing" mean: but for so many standard errors.
Exact distances have tiny ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.search.distances.tree import Edge

EXACT = 1e-9  # error of exact distances, relative to the largest
APART = 1e9  # dissimilarity of nodes that are not siblings
RELIABLE = 1.0  # standard error of distances that are worth a comparison


@dataclass(frozen=True)
class ComparisonRules:
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
        self.floor = EXACT * (float(finite.max(initial=0.0)) or 1.0)
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


def group_all(metric: Metric, grouping: ComparisonRules) -> list[Edge]:
    """RG: group all nodes."""
    n = metric.n_nodes
    return group_members(metric, list(range(n)), dict(enumerate(np.eye(n, dtype=bool))), grouping)


def group_members(
    metric: Metric, members: Sequence[int], sides: dict[int, BoolArray], grouping: ComparisonRules
) -> list[Edge]:
    """Recursive grouping of some nodes; ``sides`` tells what else hangs on each of them."""
    edges: list[Edge] = []
    active = list(members)
    comparison, kept = None, list[int]()
    while len(active) > 2:
        values, errors = (each[np.ix_(active, active)] for each in (metric.values, metric.errors))
        comparison = compare(values, errors, grouping, comparison, kept)
        n = len(active)
        families = [list(range(n))] if grouping.is_late() else find_families(comparison, values)
        left = set(active)
        for family in families:
            to_parent = place_parent(comparison, values, errors, family)
            children = [active[i] for i in family]
            parent = _add_parent(metric, children, to_parent, sides)
            edges += [Edge(i, parent, *each) for i, each in zip(children, to_parent, strict=True)]
            left = (left - set(children)) | {parent}
        kept = [i for i, node in enumerate(active) if node in left]
        active = sorted(left)  # parents have higher numbers than all that were kept
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


def compare(
    values: FloatArray,
    errors: FloatArray,
    grouping: ComparisonRules,
    earlier: Comparison | None = None,
    kept: Sequence[int] = (),
) -> Comparison:
    """Compare all pairs of nodes with all others that are near enough to both.

    Two leaves that are not siblings do not become siblings when others are grouped. So pairs of
    the first nodes, which are those that ``kept`` numbers in an earlier comparison, stay as they
    were.
    """
    n = len(values)
    found = [np.zeros((n, n)) for _ in range(4)]
    if earlier is not None:
        before = (earlier.mean, earlier.error, earlier.difference, earlier.doubt)
        for matrix, old in zip(found, before, strict=True):
            matrix[: len(kept), : len(kept)] = old[np.ix_(kept, kept)]
    is_near = (errors <= RELIABLE) & (values <= grouping.reach)
    for i in range(len(kept), n):
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
        found[0][i], found[0][:, i] = mean, -mean
        found[1][i] = found[1][:, i] = 1.0 / np.sqrt(total)
        difference = np.where(is_alone, np.inf, scaled.max(axis=1) / grouping.threshold)
        found[2][i] = found[2][:, i] = difference
        found[3][i] = found[3][:, i] = (deviation + deviation_error).max(axis=1)
    return Comparison(*found)


def find_families(comparison: Comparison, values: FloatArray) -> list[list[int]]:
    """Group nodes all of which may be siblings, the most certain first (complete linkage).

    If there are none, the two that come closest are taken.
    """
    difference, doubt = comparison.difference, comparison.doubt
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
        known = np.isfinite(variance)
        weight = np.where(known, 1.0 / variance, 0.0) if known.any() else np.ones(len(others))
        length = max(float(weight @ half / weight.sum()), 0.0)
        error = float(np.sqrt(1.0 / weight.sum())) if known.any() else np.inf
        result.append((length, error))
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
