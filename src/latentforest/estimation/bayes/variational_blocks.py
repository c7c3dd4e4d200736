"""Variational Bayes inside blocks: continuous variables along lines and in pouches, with gaps.

The expected log density of a line is quadratic in both of its variables, so a block has tables like
those of maximum likelihood: a constant, a center and a precision for each state. In NumPy: what has
gaps along lines is rare.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from latentforest.estimation.bayes.posterior_vector import read_family, write_family
from latentforest.estimation.evidence import measure_values, measure_vectors
from latentforest.inference.blocks import GaussianBlock
from latentforest.inference.engine import Engine
from latentforest.inference.plan import place_sums
from latentforest.kernels.gaussian.leaves import LOG_2_PI
from latentforest.kernels.types import FloatArray
from latentforest.model.conjugate import (
    Conjugate,
    Dirichlet,
    NormalGamma,
    NormalRegression,
    NormalWishart,
)

Sums = tuple[FloatArray, FloatArray, FloatArray]


class BlockPosterior:
    """Potentials, updates and divergences of one block.

    Values are measured from the means of their columns in units of their deviations, as in
    ``kernels.gaussian.blocks``.
    """

    def __init__(self, engine: Engine, block: GaussianBlock) -> None:
        self.structure, self.block = engine.structure, block
        about = [engine.data.summary(name) for name in block.names]
        self.means = np.array([each.mean for each in about])
        self.units = np.sqrt([each.variance for each in about])
        self.position = {name: i for i, name in enumerate(block.names)}
        self.n_states = len(self.structure.states(block.parent)) if block.parent else 1
        self.place = place_sums(self.structure)[0][block.names[0]]
        d = len(block.names)
        self.size = 1 + d + d * d

    def fill(self, q: FloatArray, potentials: FloatArray) -> None:
        """Compute the tables of all states."""
        d = len(self.block.names)
        constant, h = np.zeros(self.n_states), np.zeros((self.n_states, d))
        precision = np.zeros((self.n_states, d, d))
        for names in self.block.families:
            name, i = names[0], self.position[names[0]]
            family = read_family(self.structure, q, name)
            if isinstance(family, NormalWishart):
                self._add_pouch(family, names, constant, h, precision)
                continue
            assert not isinstance(family, Dirichlet)
            scale = family.shape * self.units[i] ** 2 / family.rate
            constant += 0.5 * (digamma(family.shape) - np.log(family.rate / self.units[i] ** 2))
            constant -= 0.5 * LOG_2_PI
            precision[:, i, i] += scale
            if isinstance(family, NormalGamma):
                m = (family.mean - self.means[i]) / self.units[i]
                h[:, i] += scale * m
                constant -= 0.5 * (scale * m * m + 1.0 / family.weight)
                continue
            j = self._parent(name)
            (m0, m1), spread = self._scale_line(family, i, j).T, self._spread(family, j)
            h[:, i] += scale * m0
            h[:, j] -= scale * m0 * m1 + spread[..., 0, 1]
            precision[:, j, j] += scale * m1 * m1 + spread[..., 1, 1]
            precision[:, i, j] -= scale * m1
            precision[:, j, i] -= scale * m1
            constant -= 0.5 * (scale * m0 * m0 + spread[..., 0, 0])
        center = np.linalg.solve(precision, h[..., None])[..., 0]
        constant += 0.5 * (h * center).sum(axis=1)
        tables = np.concatenate(
            [constant[:, None], center, precision.reshape(self.n_states, -1)], axis=1
        )
        potentials[self.place : self.place + tables.size] = tables.ravel()

    def _add_pouch(
        self,
        family: NormalWishart,
        names: tuple[str, ...],
        constant: FloatArray,
        h: FloatArray,
        precision: FloatArray,
    ) -> None:
        places = [self.position[name] for name in names]
        units, d = self.units[places], len(names)
        scale = family.precision * units[:, None] * units
        m = (family.mean - self.means[places]) / units
        constant += 0.5 * (family.log_determinant - d * LOG_2_PI - d / family.weight)
        constant += np.log(units).sum() - 0.5 * np.einsum("...i,...ij,...j->...", m, scale, m)
        h[:, places] += np.einsum("...ij,...j->...i", scale, m)
        precision[np.ix_(range(self.n_states), places, places)] += scale

    def update(
        self, counts: FloatArray, potentials: FloatArray, prior: FloatArray, q: FloatArray
    ) -> None:
        """Add what an E-step with these potentials expects to the prior."""
        by_state = self._read_sums(counts, potentials)
        n, first, second = by_state
        together = n.sum(axis=0), first.sum(axis=0), second.sum(axis=0)
        for names in self.block.families:
            name = names[0]
            before = read_family(self.structure, prior, name)
            assert not isinstance(before, Dirichlet)
            write_family(self.structure, q, name, self._update(before, names, by_state, together))

    def _update(
        self,
        prior: NormalGamma | NormalRegression | NormalWishart,
        names: tuple[str, ...],
        by_state: Sums,
        together: Sums,
    ) -> Conjugate:
        """Update a family by the sums of each state, or of all if it does not depend on them."""
        if isinstance(prior, NormalWishart):
            return self._update_pouch(prior, names, *(by_state if prior.weight.ndim else together))
        sums = by_state if prior.shape.ndim else together
        if isinstance(prior, NormalGamma):
            return self._update_gaussian(prior, names[0], *sums)
        return self._update_line(prior, names[0], *sums)

    def _update_gaussian(
        self, prior: NormalGamma, name: str, n: FloatArray, first: FloatArray, second: FloatArray
    ) -> NormalGamma:
        i = self.position[name]
        mean = first[..., i] / np.where(n > 0, n, 1.0)
        scatter = np.maximum(second[..., i, i] - n * mean * mean, 0.0) * self.units[i] ** 2
        return measure_values(prior, n, self.means[i] + self.units[i] * mean, scatter)[0]

    def _update_pouch(
        self,
        prior: NormalWishart,
        names: tuple[str, ...],
        n: FloatArray,
        first: FloatArray,
        second: FloatArray,
    ) -> NormalWishart:
        places = [self.position[name] for name in names]
        units = self.units[places]
        mean = first[..., places] / np.where(n > 0, n, 1.0)[..., None]
        scatter = second[..., places, :][..., places]
        scatter = scatter - n[..., None, None] * mean[..., :, None] * mean[..., None, :]
        scatter = scatter * units[:, None] * units
        return measure_vectors(prior, n, self.means[places] + units * mean, scatter)[0]

    def _update_line(
        self,
        prior: NormalRegression,
        name: str,
        n: FloatArray,
        first: FloatArray,
        second: FloatArray,
    ) -> NormalRegression:
        i, j = self.position[name], self._parent(name)
        x, xx = first[..., j], second[..., j, j]
        square = np.stack([np.stack([n, x], axis=-1), np.stack([x, xx], axis=-1)], axis=-2)
        across = np.stack([first[..., i], second[..., i, j]], axis=-1)
        start, turn = self._scale_line(prior, i, j), self._turn(prior, j)
        fitted = np.einsum("...ij,...j->...i", square, start)
        residual = self.units[i] * (across - fitted) @ turn.T
        squares = second[..., i, i] + (start * (fitted - 2.0 * across)).sum(axis=-1)
        weight = prior.weight + turn @ square @ turn.T
        step = np.linalg.solve(weight, residual[..., None])[..., 0]
        left = self.units[i] ** 2 * squares - (step * residual).sum(axis=-1)
        rate = prior.rate + 0.5 * np.maximum(left, 0.0)
        return NormalRegression(
            prior.center,
            prior.unit,
            prior.coefficients + step,
            weight,
            prior.shape + 0.5 * n,
            rate,
        )

    def divergence(self, prior: FloatArray, q: FloatArray, names: set[str]) -> float:
        """Sum the divergences of some posteriors from their priors."""
        result = 0.0
        for name in (family[0] for family in self.block.families):
            if name not in names:
                continue
            after, before = (read_family(self.structure, each, name) for each in (q, prior))
            result += after.expect(after) - before.expect(after)  # type: ignore[arg-type]
        return result

    def _read_sums(
        self, counts: FloatArray, potentials: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights, first and second moments around zero, of each state."""
        d, size = len(self.block.names), self.n_states * self.size
        sums = counts[self.place : self.place + size].reshape(self.n_states, -1)
        tables = potentials[self.place : self.place + size].reshape(self.n_states, -1)
        n, m, center = sums[:, 0], sums[:, 1 : 1 + d], tables[:, 1 : 1 + d]
        lower = np.tril(sums[:, 1 + d :].reshape(-1, d, d))
        s = lower + np.tril(lower, -1).transpose(0, 2, 1)
        across = m[:, :, None] * center[:, None, :]
        second = s + across + across.transpose(0, 2, 1)
        second = second + n[:, None, None] * center[:, :, None] * center[:, None, :]
        return n, m + n[:, None] * center, second

    def _parent(self, name: str) -> int:
        (parent,) = self.structure.continuous_parents(name)
        return self.position[parent]

    def _turn(self, family: NormalRegression, j: int) -> FloatArray:
        """What makes a line's own terms of one and the scaled parent."""
        shift = (self.means[j] - family.center) / family.unit
        return np.array([[1.0, 0.0], [shift, self.units[j] / family.unit]])

    def _scale_line(self, family: NormalRegression, i: int, j: int) -> FloatArray:
        """Intercept and slope between scaled variables, along the last axis."""
        m = family.coefficients @ self._turn(family, j)
        return np.asarray((m - [self.means[i], 0.0]) / self.units[i])

    def _spread(self, family: NormalRegression, j: int) -> FloatArray:
        """Expected precision times the covariance of both coefficients."""
        turn = self._turn(family, j)
        return np.asarray(turn.T @ np.linalg.inv(family.weight) @ turn)
