"""Continuous columns in a junction tree: densities given the categorical variables above them.

A *component*, continuous variables that depend on each other, is a factor of the categorical
variables above it, with one value for each of their joint states (*configuration*) and each pattern
of the component's columns. Sums for the M-step are those of the forest engine (see
``kernels.gaussian``), for each configuration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from latentforest.inference.clique_tree import FactorItem, Member, find_strides
from latentforest.inference.columns import ColumnSummary
from latentforest.inference.forest import PatternedData
from latentforest.inference.patterns import Mask
from latentforest.inference.plan import place_sums
from latentforest.kernels.gaussian.leaves import LOG_2_PI, N_ROWS
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.gaussian import find_components, join_gaussians
from latentforest.model.structure import Structure


def find_gaussians(structure: Structure, data: PatternedData) -> dict[str, GaussianFactor]:
    """Make the factors of all continuous columns, by the first name of each component."""
    if not structure.continuous:
        return {}
    sums, _ = place_sums(structure)
    return {
        names[0]: GaussianFactor(structure, data, names, sums[names[0]])
        for names in find_components(structure, structure.continuous)
    }


class GaussianFactor:
    """One component of continuous columns."""

    def __init__(
        self, structure: Structure, data: PatternedData, names: tuple[str, ...], sums: int
    ) -> None:
        self.structure, self.names, self.sums = structure, names, sums
        above = (p for name in names for p in structure.categorical_parents(name))
        self.scope = tuple(dict.fromkeys(above))
        self.cards = [structure.shape(name)[-1] for name in self.scope]
        self.n_configurations = math.prod(self.cards)
        self.parts = [data.bits[name] for name in names]
        self.about = [data.summary(name) for name in names]

    @property
    def mask(self) -> Mask:
        """The columns."""
        return sum(self.parts)

    @property
    def item(self) -> FactorItem:
        """The component as an item of cliques."""
        members = zip(self.scope, find_strides(self.cards), strict=True)
        key = self.names[0]
        return FactorItem(key, self.n_configurations, tuple(Member(*m) for m in members), True)

    def log_densities(self, theta: FloatArray, values: FloatArray) -> FloatArray:
        """Log-densities of what patterns have, ``(n_patterns, n_configurations)``."""
        means, covariances = self._join(theta)
        result = np.zeros((len(values), self.n_configurations))
        for seen, rows in _sort_by_gaps(values):
            if len(seen):
                away = values[np.ix_(rows, seen)][:, None, :] - means[None, :, seen]
                result[rows] = _log_density(away, covariances[:, seen][:, :, seen])
        return result

    def collect(
        self, theta: FloatArray, values: FloatArray, weights: FloatArray, counts: FloatArray
    ) -> None:
        """Add the sums of patterns with these weights, ``(n_patterns, n_configurations)``."""
        if len(self.names) == 1:
            self._collect_leaf(theta, values, weights, counts)
        else:
            self._collect_block(theta, values, weights, counts)

    def complete(
        self,
        theta: FloatArray,
        values: FloatArray,
        configurations: AnyArray,
        generator: np.random.Generator | None,
    ) -> FloatArray:
        """Fill missing values given the others and a configuration for each row.

        They are drawn or, without a generator, the expected ones.
        """
        means, covariances = self._join(theta)
        filled = values.copy()
        for seen, rows in _sort_by_gaps(values):
            missing = np.setdiff1d(np.arange(values.shape[1]), seen)
            for k in np.unique(configurations[rows]) if len(missing) else ():
                here = rows[configurations[rows] == k]
                away, rest = _complete(values[here] - means[k], covariances[k], seen)
                drawn = means[k] + away
                if generator is not None:
                    root = np.linalg.cholesky(rest[np.ix_(missing, missing)])
                    noise = generator.standard_normal((len(here), len(missing)))
                    drawn[:, missing] += noise @ root.T
                filled[np.ix_(here, missing)] = drawn[:, missing]
        return filled

    def _join(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means and covariances for each configuration."""
        joint = join_gaussians(self.structure, np.asarray(theta), self.names)
        d = len(self.names)
        return joint.means.reshape(-1, d), joint.covariances.reshape(-1, d, d)

    def _collect_leaf(
        self, theta: FloatArray, values: FloatArray, weights: FloatArray, counts: FloatArray
    ) -> None:
        seen = ~np.isnan(values[:, 0])
        means, covariances = self._join(theta)
        y = (values[seen] - means[:, 0]) / np.sqrt(2.0 * covariances[:, 0, 0])
        share = weights[seen]
        sums = np.stack([share, share * y, share * y * y], axis=-1).sum(axis=0)
        counts[self.sums : self.sums + N_ROWS * self.n_configurations] += sums.ravel()

    def _collect_block(
        self, theta: FloatArray, values: FloatArray, weights: FloatArray, counts: FloatArray
    ) -> None:
        means, covariances = self._join(theta)
        center, unit = _scale(self.about)
        means, values = (means - center) / unit, (values - center) / unit
        covariances = covariances / np.outer(unit, unit)
        d = len(self.names)
        size = 1 + d + d * d
        for k in range(self.n_configurations):
            place = self.sums + k * size
            for seen, rows in _sort_by_gaps(values):
                if len(seen):
                    share = weights[rows, k]
                    away, rest = _complete(values[rows] - means[k], covariances[k], seen)
                    squares = (away * share[:, None]).T @ away + share.sum() * rest
                    counts[place] += share.sum()
                    counts[place + 1 : place + 1 + d] += share @ away
                    counts[place + 1 + d : place + size] += np.tril(squares).ravel()


def _scale(about: Sequence[ColumnSummary]) -> tuple[FloatArray, FloatArray]:
    return np.array([a.mean for a in about]), np.sqrt([a.variance for a in about])


def _sort_by_gaps(values: FloatArray) -> list[tuple[AnyArray, AnyArray]]:
    """List the sets of columns that are seen together, with the rows that have just these."""
    seen, which = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    return [
        (np.flatnonzero(kind), np.flatnonzero(which.ravel() == i)) for i, kind in enumerate(seen)
    ]


def _log_density(away: FloatArray, covariances: FloatArray) -> FloatArray:
    """Log-densities of distances from the means, ``(n_rows, n_configurations, n_columns)``."""
    spread = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    roots = np.linalg.cholesky(covariances / (spread[:, :, None] * spread[:, None, :]))
    inverse = np.linalg.inv(roots)
    z = np.einsum("cij,rcj->rci", inverse, away / spread)
    logs = np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1) + np.log(spread).sum(axis=-1)
    size = covariances.shape[-1]
    return np.asarray(-0.5 * (size * LOG_2_PI + (z * z).sum(axis=-1)) - logs)


def _complete(
    away: FloatArray, covariance: FloatArray, seen: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Expected distances where some are missing, and the covariance that these leave."""
    rest = np.zeros_like(covariance)
    missing = np.setdiff1d(np.arange(len(covariance)), seen)
    if len(missing) == len(covariance):
        return np.zeros_like(away), covariance
    if len(missing):
        inside = covariance[np.ix_(seen, seen)]
        gain = np.linalg.solve(inside, covariance[np.ix_(seen, missing)]).T
        away = away.copy()
        away[:, missing] = away[:, seen] @ gain.T
        left = covariance[np.ix_(missing, missing)] - gain @ covariance[np.ix_(seen, missing)]
        rest[np.ix_(missing, missing)] = left
    return away, rest
