"""Gaussian families: joint means and covariances given the categorical variables, densities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.model.covariances import factorize, invert
from latentforest.model.structure import Structure

Floats = NDArray[np.float64]

LOG_2_PI = math.log(2.0 * math.pi)


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


def find_components(structure: Structure, names: Iterable[str]) -> list[tuple[str, ...]]:
    """Split continuous variables, with their continuous ancestors, into dependent sets.

    Given the categorical variables, sets are independent of each other. Each is in topological
    order.
    """
    home: dict[str, set[str]] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in home:
            continue
        home[name] = {name}
        waiting += structure.continuous_parents(name)
        waiting += structure.pouch(name)
    for name in home:
        for other in (*structure.continuous_parents(name), *structure.pouch(name)):
            if home[other] is not home[name]:
                merged = home[other] | home[name]
                for each in merged:
                    home[each] = merged
    found: dict[int, list[str]] = {}
    for name in structure.order:
        if name in home:
            found.setdefault(id(home[name]), []).append(name)
    return [tuple(component) for component in found.values()]


def join_gaussians(structure: Structure, parameters: Floats, component: tuple[str, ...]) -> Joint:
    """Multiply the families of a component out."""
    scope = tuple(
        dict.fromkeys(p for name in component for p in structure.categorical_parents(name))
    )
    cards = [len(structure.states(name)) for name in scope]
    size = len(component)
    means, covariances = np.zeros((*cards, size)), np.zeros((*cards, size, size))
    for i, name in enumerate(component):
        table = _spread(structure, name, structure.table_view(parameters, name), scope)
        means[..., i] = table[..., 0]
        pouch = structure.pouch(name)
        if len(pouch) > 1:
            for j, other in enumerate(pouch):
                covariances[..., i, component.index(other)] = table[..., 1 + j]
            continue
        parents = [component.index(parent) for parent in structure.continuous_parents(name)]
        slopes = table[..., 1:-1]
        means[..., i] += (slopes * means[..., parents]).sum(axis=-1)
        across = (covariances[..., :i, :][..., parents] * slopes[..., None, :]).sum(axis=-1)
        covariances[..., :i, i] = covariances[..., i, :i] = across
        covariances[..., i, i] = table[..., -1] + (slopes * across[..., parents]).sum(axis=-1)
    return Joint(component, scope, means, covariances)


def _spread(structure: Structure, name: str, table: Floats, scope: tuple[str, ...]) -> Floats:
    """Give a table one axis for each variable of a scope, of length one if it has none."""
    parents = structure.categorical_parents(name)
    order = sorted(range(len(parents)), key=lambda axis: scope.index(parents[axis]))
    shape = [len(structure.states(each)) if each in parents else 1 for each in scope]
    return table.transpose(*order, len(parents)).reshape(*shape, table.shape[-1])
