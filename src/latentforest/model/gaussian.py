"""Gaussian families: joint means and covariances given the categorical variables, densities."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.errors import ModelError
from latentforest.model.covariances import factorize, invert
from latentforest.model.structure import Structure

Floats = NDArray[np.float64]
Codes = NDArray[np.signedinteger]

LOG_2_PI = math.log(2.0 * math.pi)
MOST_NUMBERS = 1 << 26  # of covariances that are kept at once
EDGES = np.arange(-9.0, 9.25, 0.5)  # of the pieces of an integral, in deviations of a component
NODES, PARTS = np.polynomial.legendre.leggauss(5)  # of the quadrature in each piece


@dataclass(frozen=True)
class Mixture:
    """The distribution of a continuous variable: a mixture of Gaussians.

    Attributes
    ----------
    weights, means, variances
        Of the components, ``(n_components,)`` each; the weights sum to one.

    Examples
    --------
    >>> mixture = Mixture(np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.array([1.0, 1.0]))
    >>> mixture.mean, mixture.variance
    (0.0, 2.0)
    """

    weights: Floats
    means: Floats
    variances: Floats

    @property
    def mean(self) -> float:
        """Mean of the whole distribution."""
        return float(self.weights @ self.means)

    @property
    def variance(self) -> float:
        """Variance of the whole distribution."""
        return float(self.weights @ (self.variances + (self.means - self.mean) ** 2))

    def density(self, values: ArrayLike) -> Floats:
        """Return the density at some values."""
        x = np.asarray(values, dtype=np.float64)[..., None]
        logs = -0.5 * (LOG_2_PI + np.log(self.variances) + (x - self.means) ** 2 / self.variances)
        return np.asarray(np.exp(logs) @ self.weights)


@dataclass(frozen=True)
class Joint:
    """A joint Gaussian of continuous variables for every state of some categorical ones.

    Attributes
    ----------
    names
        The continuous variables.
    scope
        The categorical variables.
    means
        Axes of the scope, then one of the names.
    covariances
        Axes of the scope, then two of the names.
    """

    names: tuple[str, ...]
    scope: tuple[str, ...]
    means: Floats
    covariances: Floats

    def log_density(self, values: Mapping[str, float]) -> Floats:
        """Return the log-density of some of the variables, the others integrated out."""
        keep = [i for i, name in enumerate(self.names) if name in values]
        x = np.array([values[self.names[i]] for i in keep])
        d = x - self.means[..., keep]
        matrices = self.covariances[..., keep, :][..., keep]
        spread, roots = factorize(matrices)
        z = np.linalg.solve(roots, (d / spread)[..., None])[..., 0]
        logs = np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1)
        logs += np.log(spread).sum(axis=-1)
        return np.asarray(-0.5 * (len(keep) * LOG_2_PI + (z * z).sum(axis=-1)) - logs)

    def condition(self, name: str, values: Mapping[str, float]) -> tuple[Floats, Floats]:
        """Return mean and variance of one variable given some others."""
        i, keep = self.names.index(name), [j for j, n in enumerate(self.names) if n in values]
        mean, variance = self.means[..., i], self.covariances[..., i, i]
        if not keep:
            return mean, variance
        d = np.array([values[self.names[j]] for j in keep]) - self.means[..., keep]
        matrices = self.covariances[..., keep, :][..., keep]
        gain = (invert(matrices) @ self.covariances[..., keep, i][..., None])[..., 0]
        return (
            np.asarray(mean + (gain * d).sum(axis=-1)),
            np.asarray(variance - (gain * self.covariances[..., keep, i]).sum(axis=-1)),
        )


@dataclass(frozen=True)
class Cluster:
    """Continuous variables whose families are multiplied out together.

    Given the categorical variables, and the variables outside, it is independent of all others.

    Attributes
    ----------
    names
        The variables, parents before children.
    outside
        Their continuous parents that are not among them, whose values are known.
    scope
        Their categorical parents.
    """

    names: tuple[str, ...]
    outside: tuple[str, ...]
    scope: tuple[str, ...]


@dataclass(frozen=True)
class LinearJoint:
    """A cluster's joint Gaussian for each of some configurations, a linear function of outside.

    Attributes
    ----------
    lines
        Intercepts, then slopes, of the means: ``(n_configurations, n_names, 1 + n_outside)``.
    covariances
        Shape ``(n_configurations, n_names, n_names)``.
    """

    lines: Floats
    covariances: Floats

    def means(self, outside: Floats) -> Floats:
        """Return the means given the values outside, for each configuration."""
        return np.asarray(self.lines[..., 0] + self.lines[..., 1:] @ outside)


def find_components(structure: Structure, names: Iterable[str]) -> list[tuple[str, ...]]:
    """Split continuous variables, with their continuous ancestors, into dependent sets.

    Given the categorical variables, sets are independent of each other. Each is in topological
    order.
    """
    return [each.names for each in find_clusters(structure, names, structure.continuous)]


def find_clusters(
    structure: Structure, names: Iterable[str], missing: Collection[str]
) -> list[Cluster]:
    """Split continuous variables into sets that can be judged one by one.

    Families that have a missing variable in common are judged together, as are pouches; a variable
    whose value is known separates them. Missing ancestors are added to the names.
    """
    unknown = set(missing)
    home: dict[str, set[str]] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in home:
            home[name] = {name}
            waiting += _list_linked(structure, name, unknown)
    for name in home:
        for other in _list_linked(structure, name, unknown):
            if home[other] is not home[name]:
                merged = home[other] | home[name]
                for each in merged:
                    home[each] = merged
    found: dict[int, list[str]] = {}
    for name in structure.order:
        if name in home:
            found.setdefault(id(home[name]), []).append(name)
    return [_describe(structure, tuple(inside)) for inside in found.values()]


def _list_linked(structure: Structure, name: str, missing: Collection[str]) -> list[str]:
    above = [parent for parent in structure.continuous_parents(name) if parent in missing]
    return above + [each for each in structure.pouch(name) if each != name]


def _describe(structure: Structure, names: tuple[str, ...]) -> Cluster:
    above = dict.fromkeys(p for name in names for p in structure.parents(name))
    numbers = set(structure.continuous)
    outside = tuple(p for p in above if p in numbers and p not in names)
    return Cluster(names, outside, tuple(p for p in above if p not in numbers))


def join_gaussians(structure: Structure, parameters: Floats, component: tuple[str, ...]) -> Joint:
    """Multiply the families of a component out, for all states of the variables above it."""
    cluster = _describe(structure, component)
    cards = [len(structure.states(name)) for name in cluster.scope]
    joint = join_cluster(structure, parameters, cluster, list_configurations(cluster.scope, cards))
    size = len(component)
    means = joint.lines[..., 0].reshape(*cards, size)
    return Joint(component, cluster.scope, means, joint.covariances.reshape(*cards, size, size))


def list_configurations(scope: Sequence[str], cards: Sequence[int]) -> dict[str, Codes]:
    """List all joint states of some variables, the last one running fastest: codes of each."""
    n = math.prod(map(float, cards))
    if n > MOST_NUMBERS:
        raise ModelError(
            f"{n:,.0f} joint states of {', '.join(map(repr, scope))} would have to be looked at, "
            f"because continuous variables below them are missing; at most {MOST_NUMBERS:,} are "
            "allowed"
        )
    grid = np.indices(tuple(cards)).reshape(len(cards), math.prod(cards))
    return dict(zip(scope, grid, strict=True))


def join_cluster(
    structure: Structure, parameters: Floats, cluster: Cluster, codes: Mapping[str, Codes]
) -> LinearJoint:
    """Multiply the families of a cluster out.

    Parameters
    ----------
    structure, parameters
        The network.
    cluster
        The variables.
    codes
        States of each variable of its scope, in as many configurations as are wanted.
    """
    n, size = len(codes[cluster.scope[0]]) if cluster.scope else 1, len(cluster.names)
    if n * size * size > MOST_NUMBERS:
        raise ModelError(
            f"covariances of {size} continuous variables that depend on each other would be needed "
            f"for {n:,} joint states of {', '.join(map(repr, cluster.scope))}; at most "
            f"{MOST_NUMBERS // (size * size):,} are allowed"
        )
    lines, covariances = np.zeros((n, size, 1 + len(cluster.outside))), np.zeros((n, size, size))
    place = {name: i for i, name in enumerate(cluster.names)}
    for i, name in enumerate(cluster.names):
        table = select_rows(structure, parameters, name, codes)
        lines[:, i, 0] = table[:, 0]
        pouch = structure.pouch(name)
        if len(pouch) > 1:
            for j, other in enumerate(pouch):
                covariances[:, i, place[other]] = table[:, 1 + j]
            continue
        parents = structure.continuous_parents(name)
        for slope, parent in zip(table.T[1:-1], parents, strict=True):
            if parent in place:
                lines[:, i] += slope[:, None] * lines[:, place[parent]]
            else:
                lines[:, i, 1 + cluster.outside.index(parent)] += slope
        inside = [place[parent] for parent in parents if parent in place]
        slopes = table[:, [1 + a for a, parent in enumerate(parents) if parent in place]]
        across = (covariances[:, :i][:, :, inside] * slopes[:, None]).sum(axis=-1)
        covariances[:, :i, i] = covariances[:, i, :i] = across
        covariances[:, i, i] = table[:, -1] + (slopes * across[:, inside]).sum(axis=-1)
    return LinearJoint(lines, covariances)


def select_rows(
    structure: Structure, parameters: Floats, name: str, codes: Mapping[str, Codes]
) -> Floats:
    """Return the rows of a variable's table for the states that its categorical parents have."""
    table = structure.table_view(parameters, name)
    above = structure.categorical_parents(name)
    if not above:
        n = len(next(iter(codes.values()))) if codes else 1
        return np.broadcast_to(table, (n, len(table)))
    return np.asarray(table[tuple(codes[parent] for parent in above)])


def information_of_mixtures(
    sizes: Floats, weights: Floats, means: Floats, variances: Floats
) -> float:
    """Return the information of a variable and one that is a mixture of Gaussians given its state.

    Of the distributions themselves, by quadrature between points that lie half a deviation of a
    component apart.

    Parameters
    ----------
    sizes
        Probabilities of the states.
    weights
        Of the components in each state, ``(n_states, n_components)``.
    means, variances
        Of the components.
    """
    means = means - sizes @ weights @ means  # of values far from zero little would be left
    edges = np.unique(means[:, None] + np.sqrt(variances)[:, None] * EDGES)
    half = 0.5 * np.diff(edges)[:, None]
    x = (edges[:-1, None] + half + half * NODES).ravel()
    logs = -0.5 * (np.log(2.0 * np.pi * variances) + (x[:, None] - means) ** 2 / variances)
    given = np.exp(logs) @ weights.T
    overall = np.maximum(given @ sizes, np.finfo(float).tiny)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(given > 0, given * np.log(given / overall[:, None]), 0.0) @ sizes
    return max(0.0, float((half * PARTS).ravel() @ terms))
