"""Distributions over the parameters of families: priors, and posteriors of the same kind.

Each object stands for one family: its arrays have the axes of the family's table but the last, one
for the parent's states, or none. A prior without axes counts for every row of a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, gammaln

from latentforest.errors import ParameterError
from latentforest.model.covariances import invert, log_determinant

Floats = NDArray[np.float64]

LOG_2_PI = math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Dirichlet:
    """Of the probabilities of a categorical variable.

    Parameters
    ----------
    concentration
        Positive numbers, one for each state along the last axis; they add to counts.

    Examples
    --------
    >>> Dirichlet([1.0, 3.0]).mean
    array([0.25, 0.75])
    """

    concentration: Floats

    def __init__(self, concentration: ArrayLike) -> None:
        values = _read("concentration", concentration)
        if values.ndim < 1 or not np.all(values > 0):
            raise ParameterError(
                f"concentration must be positive numbers, one for each state, got {concentration!r}"
            )
        object.__setattr__(self, "concentration", values)

    @property
    def mean(self) -> Floats:
        """Expected probabilities."""
        total = self.concentration.sum(axis=-1, keepdims=True)
        return np.asarray(self.concentration / total)

    @property
    def table(self) -> Floats:
        """Rows of a network's table: the expected probabilities."""
        return self.mean

    def expect(self, posterior: Dirichlet) -> float:
        """Return the expected logarithm of this density under another one of all rows."""
        a, own = posterior.concentration, self.concentration
        logs = digamma(a) - digamma(a.sum(axis=-1, keepdims=True))
        own = np.broadcast_to(own, a.shape)
        constants = gammaln(own.sum(axis=-1)) - gammaln(own).sum(axis=-1)
        return float((constants + ((own - 1.0) * logs).sum(axis=-1)).sum())


@dataclass(frozen=True)
class NormalGamma:
    """Of mean and precision (one over the variance) of a Gaussian.

    The precision has a Gamma distribution of this shape and rate; given it, the mean is Gaussian
    with this mean and ``weight`` times the precision. As a prior it is worth ``weight``
    observations of the mean and ``2 · shape`` of the variance.

    Examples
    --------
    >>> prior = NormalGamma.like(mean=10.0, variance=4.0)
    >>> float(prior.weight), float(prior.shape), float(prior.rate)
    (1.0, 0.5, 2.0)
    """

    mean: Floats
    weight: Floats
    shape: Floats
    rate: Floats

    def __init__(
        self, mean: ArrayLike, weight: ArrayLike, shape: ArrayLike, rate: ArrayLike
    ) -> None:
        object.__setattr__(self, "mean", _read("mean", mean))
        for name, value in (("weight", weight), ("shape", shape), ("rate", rate)):
            object.__setattr__(self, name, _read_positive(name, value))

    @classmethod
    def trusted(cls, mean: Floats, weight: Floats, shape: Floats, rate: Floats) -> NormalGamma:
        """Make one of arrays that are known to be good."""
        family = object.__new__(cls)
        parts = {"mean": mean, "weight": weight, "shape": shape, "rate": rate}
        for name, value in parts.items():
            object.__setattr__(family, name, value)
        return family

    @classmethod
    def like(cls, mean: float, variance: float, strength: float = 1.0) -> NormalGamma:
        """Return what so many observations of this mean and variance are worth."""
        half = 0.5 * strength
        return cls(mean, strength, half, half * _read_positive("variance", variance))

    @property
    def variance(self) -> Floats:
        """One over the expected precision."""
        return np.asarray(self.rate / self.shape)

    @property
    def table(self) -> Floats:
        """Rows of a network's table: mean and variance."""
        return np.stack(np.broadcast_arrays(self.mean, self.variance), axis=-1)

    def expect(self, posterior: NormalGamma) -> float:
        """Return the expected logarithm of this density under another one of all rows."""
        precision = posterior.shape / posterior.rate
        away = (posterior.mean - self.mean) ** 2 * precision + 1.0 / posterior.weight
        value = 0.5 * (np.log(self.weight) - self.weight * away - LOG_2_PI)
        value = value + expect_gamma(self.shape + 0.5, self.rate, posterior, self.shape)
        return float(np.sum(value))

    def log_predictive(self, x: Floats) -> Floats:
        """Log-density of values, each alone: Student's t. A last axis of ``x`` meets the rows."""
        return student(x - self.mean, 2.0 * self.shape, self.variance * (1.0 + 1.0 / self.weight))


@dataclass(frozen=True)
class NormalRegression:
    """Of intercept, slope and precision of a linear Gaussian with one continuous parent.

    The line is ``c₀ + c₁ · (x - center) / unit``. The precision has a Gamma distribution; given
    it, the coefficients are Gaussian with these means and ``weight``, a 2 x 2 matrix along
    the last two axes, times the precision. Before these there is an axis for the states of a
    categorical parent, if there is one.
    """

    center: float
    unit: float
    coefficients: Floats
    weight: Floats
    shape: Floats
    rate: Floats

    @property
    def variance(self) -> Floats:
        """One over the expected precision."""
        return np.asarray(self.rate / self.shape)

    @property
    def table(self) -> Floats:
        """Rows of a network's table: intercept, slope and variance."""
        slope = self.coefficients[..., 1] / self.unit
        intercept = self.coefficients[..., 0] - slope * self.center
        return np.stack([intercept, slope, self.variance], axis=-1)

    def expect(self, posterior: NormalRegression) -> float:
        """Return the expected logarithm of this density under another one of all rows."""
        precision = posterior.shape / posterior.rate
        d = posterior.coefficients - self.coefficients
        spread = np.einsum("...ij,...ji->...", self.weight, np.linalg.inv(posterior.weight))
        away = np.einsum("...i,...ij,...j->...", d, self.weight, d) * precision + spread
        value = 0.5 * (np.linalg.slogdet(self.weight)[1] - away) - LOG_2_PI
        value = value + expect_gamma(self.shape + 1.0, self.rate, posterior, self.shape)
        return float(np.sum(value))

    def log_predictive(self, y: Floats, x: Floats) -> Floats:
        """Log-density of values given those of the parent: Student's t.

        A last axis of both meets the rows.
        """
        z = (x - self.center) / self.unit
        inverse = np.linalg.inv(self.weight)
        spread = inverse[..., 0, 0] + 2.0 * z * inverse[..., 0, 1] + z * z * inverse[..., 1, 1]
        away = y - self.coefficients[..., 0] - self.coefficients[..., 1] * z
        return student(away, 2.0 * self.shape, self.variance * (1.0 + spread))


@dataclass(frozen=True)
class NormalWishart:
    """Of mean vector and precision matrix of a pouch.

    The precision matrix has a Wishart distribution with ``freedom`` degrees and the inverse of
    ``scatter`` for its scale; given it, the mean is Gaussian with ``weight`` times the precision.
    Variables lie along the last axes.
    """

    mean: Floats
    weight: Floats
    freedom: Floats
    scatter: Floats

    @property
    def size(self) -> int:
        """Number of variables."""
        return int(self.mean.shape[-1])

    @property
    def covariance(self) -> Floats:
        """Inverse of the expected precision."""
        matrix = self.scatter / self.freedom[..., None, None]
        return np.asarray(0.5 * (matrix + np.swapaxes(matrix, -1, -2)))

    def table_of(self, i: int) -> Floats:
        """Rows of a network's table of one variable: mean and covariances."""
        return np.concatenate([self.mean[..., i, None], self.covariance[..., i, :]], axis=-1)

    @property
    def log_determinant(self) -> Floats:
        """Expected logarithm of the determinant of the precision."""
        logs = _multidigamma(0.5 * self.freedom, self.size) + self.size * math.log(2.0)
        return np.asarray(logs - log_determinant(self.scatter))

    @property
    def precision(self) -> Floats:
        """Expected precision."""
        return np.asarray(invert(self.scatter) * self.freedom[..., None, None])

    @property
    def log_constant(self) -> Floats:
        """Logarithm of the constant of the Wishart density."""
        d, half = self.size, 0.5 * self.freedom
        logs = half * (log_determinant(self.scatter) - d * math.log(2.0))
        return np.asarray(logs - multigammaln_of(half, d))

    def expect(self, posterior: NormalWishart) -> float:
        """Return the expected logarithm of this density under another one of all rows."""
        d, precision, logs = self.size, posterior.precision, posterior.log_determinant
        away = posterior.mean - self.mean
        spread = np.einsum("...i,...ij,...j->...", away, precision, away) + d / posterior.weight
        value = 0.5 * (d * (np.log(self.weight) - LOG_2_PI) + logs - self.weight * spread)
        value = value + self.log_constant + 0.5 * (self.freedom - d - 1.0) * logs
        value = value - 0.5 * np.einsum("...ij,...ji->...", self.scatter, precision)
        return float(np.sum(value))

    def log_predictive(self, x: Floats) -> Floats:
        """Log-density of rows, ``(n_rows, n_variables)``, each alone; gaps (nan) are integrated.

        Shape ``(n_rows, …)``, with the axes of the rows of the table.
        """
        freedom = self.freedom - self.size + 1.0
        scale = self.scatter * ((1.0 + 1.0 / self.weight) / freedom)[..., None, None]
        result = np.zeros((len(x), *self.weight.shape))
        gaps, member = np.unique(np.isnan(x), axis=0, return_inverse=True)
        for g, gap in enumerate(gaps):
            kept, rows = np.flatnonzero(~gap), np.flatnonzero(member.ravel() == g)
            if len(kept) == 0:
                continue
            matrix = scale[..., kept, :][..., kept]
            away = x[np.ix_(rows, kept)].reshape(-1, *[1] * self.weight.ndim, len(kept))
            away = away - self.mean[..., kept]
            squares = np.einsum("...i,...ij,...j->...", away, invert(matrix), away)
            n, half = len(kept), 0.5 * (freedom + len(kept))
            logs = gammaln(half) - gammaln(0.5 * freedom) - 0.5 * n * np.log(np.pi * freedom)
            logs = logs - 0.5 * log_determinant(matrix)
            result[rows] = logs - half * np.log1p(squares / freedom)
        return result


Conjugate = Dirichlet | NormalGamma | NormalRegression | NormalWishart


def multigammaln_of(a: Floats, d: int) -> Floats:
    """Logarithm of the multivariate gamma function, for arrays."""
    total = np.asarray(0.25 * d * (d - 1) * math.log(math.pi) + np.zeros_like(a))
    for i in range(d):
        total = total + gammaln(a - 0.5 * i)
    return total


def _multidigamma(a: Floats, d: int) -> Floats:
    return np.asarray(sum(digamma(a - 0.5 * i) for i in range(d)))


def expect_gamma(
    power: Floats, rate: Floats, posterior: NormalGamma | NormalRegression, shape: Floats
) -> Floats:
    """Expected logarithm of a Gamma density whose power of the precision is raised."""
    logs = digamma(posterior.shape) - np.log(posterior.rate)
    constant = shape * np.log(rate) - gammaln(shape)
    return np.asarray(constant + (power - 1.0) * logs - rate * posterior.shape / posterior.rate)


def student(away: Floats, freedom: Floats, scale: Floats) -> Floats:
    """Log-density of Student's t at a distance from its mean; ``scale`` is squared."""
    half = 0.5 * freedom
    constant = gammaln(half + 0.5) - gammaln(half) - 0.5 * np.log(np.pi * freedom * scale)
    return np.asarray(constant - (half + 0.5) * np.log1p(away * away / (freedom * scale)))


def _read(name: str, values: ArrayLike) -> Floats:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be numbers, got {values!r}") from None
    if not np.all(np.isfinite(numbers)):
        raise ParameterError(f"{name} must be finite, got {values!r}")
    return numbers


def _read_positive(name: str, values: ArrayLike) -> Floats:
    numbers = _read(name, values)
    if not np.all(numbers > 0):
        raise ParameterError(f"{name} must be positive, got {values!r}")
    return numbers
