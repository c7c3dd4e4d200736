"""Continuous columns in completed data: their sums given latent variables, and what those tell.

All that a Gaussian needs of the completed rows in a state are their weight, sum and sum of squares.
A missing value is completed by the Gaussian given the state of the column's own latent variable,
independently of all else given that state: its mean enters the sum, its mean square the sum of
squares. From these come, in place of what tables of counts give,

- the maximum expected log-likelihood of a column below a latent variable, and what it loses when
  two states are merged: that of the pooled Gaussian;
- a likelihood ratio statistic of a column and another neighbour of a hub: twice what the Gaussians
  given the states of the hub gain by a regression on the neighbour, with one variance for each
  state. That is -n log(1 - r²), where r² is the squared correlation with a continuous neighbour and
  the share of the variance between the states of any other. It sees means only: a latent variable
  that shifts two columns correlates them, one that changes nothing but variances stays unseen.
  But variances of small groups would be noise, and so would what they gain;
- a Kullback-Leibler divergence from the model's joint distribution of a pair to that of the
  completed data. Either is replaced by the Gaussian that has the same moments, given each state of
  a neighbour that has states: the divergence of the model's own, a mixture, has no closed form.
  After EM the moments of single columns agree, so what is left are the covariances, which a state
  that the hub lacks changes. That a column is not Gaussian within a state is not seen.

All values are in deviations from the mean of their column, so units do not matter. Ratios of
variances are bounded below as in ``columns``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from latentforest.inference.columns import SHARE
from latentforest.inference.messages import Messages
from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.model.gaussian import LOG_2_PI

TINY = 1e-300  # added to what is divided by: a state of zero probability stays at zero
CHUNK_ROWS = 1 << 14  # rows whose joint posteriors are held at once

Pair = tuple[str, str]
Measures = dict[Pair, tuple[float, float]]  # likelihood ratio statistic and divergence


class Column(NamedTuple):
    """A continuous column in deviations from its mean, and the model's Gaussians of it."""

    values: FloatArray  # zero where missing
    is_missing: BoolArray
    means: FloatArray  # given each state of its latent variable
    variances: FloatArray
    least: float  # least variance
    log_unit: float  # logarithm of the deviation

    @property
    def powers(self) -> FloatArray:
        """1, x and x² of each row, ``(n_rows, 3)``; zeros where the value is missing."""
        return np.stack([~self.is_missing, self.values, self.values**2], axis=1)

    @property
    def expected(self) -> FloatArray:
        """The same expected in each state, for missing values, ``(n_states, 3)``."""
        squares = self.means**2 + self.variances
        return np.stack([np.ones_like(self.means), self.means, squares], axis=1)


class MixedCompletion:
    """Sums of continuous columns, and the dependence of pairs with such columns.

    Parameters
    ----------
    messages
        Of the current model.
    masses
        Returns P(hub | row) times the weight of the row, ``(n_rows, n_states)``.
    """

    def __init__(self, messages: Messages, masses: Callable[[str], FloatArray]) -> None:
        self.messages, self.masses = messages, masses
        self._columns: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """Return a column, prepared once."""
        if name not in self._columns:
            data, network = self.messages.data, self.messages.network
            about, values = data.summary(name), data.dataset.column(name)
            unit, is_missing = math.sqrt(about.variance), np.isnan(values)
            scaled = np.where(is_missing, 0.0, (values - about.mean) / unit)
            means, variances = network.table_view(name).T
            self._columns[name] = Column(
                scaled,
                is_missing,
                (means - about.mean) / unit,
                variances / about.variance,
                about.least_variance / about.variance,
                math.log(unit),
            )
        return self._columns[name]

    def measure_numbers(self, hub: str, names: Sequence[str]) -> Measures:
        """Measure the dependence of all pairs of some continuous neighbours of a hub."""
        columns, masses = [self.column(name) for name in names], self.masses(hub)
        values, is_missing, least = _join(columns)
        means, variances = _join_gaussians(columns)
        g2, moments = np.zeros((len(names), len(names))), _Moments(len(names))
        for mass, mean, variance in zip(masses.T, means, variances, strict=True):
            size = float(mass.sum())
            if size <= 0:
                continue
            away = np.where(is_missing, 0.0, values - mean)
            weighed = mass[:, None] * away
            first, second = weighed.sum(axis=0) / size, (weighed.T @ away) / size
            second += np.diag(mass @ is_missing / size * variance)
            g2 -= size * _log_unexplained(second - np.outer(first, first), least)
            moments.add(size, mean, first, second)
        model = _Moments(len(names))
        for share, mean, variance in zip(self.messages.table(hub), means, variances, strict=True):
            model.add(share, mean, np.zeros(len(names)), np.diag(variance))
        divergence = _diverge(moments, model, least)
        pairs = itertools.combinations(range(len(names)), 2)
        return {(names[i], names[j]): (float(g2[i, j]), float(divergence[i, j])) for i, j in pairs}

    def measure_mixed(self, hub: str, neighbour: str, names: Sequence[str]) -> Measures:
        """Measure the dependence of a neighbour with states and some continuous ones."""
        columns = [self.column(name) for name in names]
        counts, sums = self._sum_given(hub, neighbour, columns)
        means, variances = _join_gaussians(columns)
        least = np.array([column.least for column in columns])
        g2 = _compare_means(counts, sums[..., 1], sums[..., 2], least)
        joint = self.messages.table(hub)[:, None] * self.messages.table(hub, neighbour)
        of_model = np.stack([means, means**2 + variances], axis=2)
        divergence = _diverge_given(
            counts.sum(axis=1),
            sums.sum(axis=1)[..., 1:],
            joint.sum(axis=0),
            np.einsum("yz,yjk->zjk", joint, of_model),
            least,
        )
        found = zip(names, g2, divergence, strict=True)
        return {(neighbour, name): (float(g), float(d)) for name, g, d in found}

    def _sum_given(
        self, hub: str, neighbour: str, columns: Sequence[Column]
    ) -> tuple[FloatArray, FloatArray]:
        """Counts of a neighbour and a hub, and the sums of columns given the states of both.

        ``(n_states of the neighbour, n_states of the hub)``, and with axes for columns and powers.
        """
        masses, given = self.masses(hub), self._condition(hub, neighbour)
        patterns = self.messages.patterns(hub, neighbour)
        powers = np.stack([column.powers for column in columns], axis=1)
        n_rows, shape = len(masses), given.shape[1:]
        counts, sums = np.zeros(shape), np.zeros((*shape, *powers.shape[1:]))
        for begin in range(0, n_rows, CHUNK_ROWS):
            rows = slice(begin, min(begin + CHUNK_ROWS, n_rows))
            codes = rows if patterns is None else patterns[rows]
            joint = given[codes] * masses[rows, None, :]
            counts += joint.sum(axis=0)
            sums += np.tensordot(joint, powers[rows], (0, 0))
        for j, column in enumerate(columns):
            if column.is_missing.any():
                sums[:, :, j] += (counts - sums[:, :, j, 0])[..., None] * column.expected
        return counts, sums

    def _condition(self, hub: str, neighbour: str) -> FloatArray:
        """P(neighbour | hub, pattern of the arm), ``(n_patterns, n_states, n_states of the hub)``.

        The last pattern of a leaf is the missing value.
        """
        messages = self.messages
        table = messages.table(hub, neighbour).T
        if neighbour not in messages.number:
            known = np.eye(len(table))[:, :, None] * np.ones(table.shape[1])
            return np.concatenate([known, table[None]])
        belief, message = messages.read_arm(hub, neighbour)
        given: FloatArray = table * belief[:, :, None] / (message + TINY)[:, None, :]
        return given


def fit_gaussians(sums: FloatArray, column: Column) -> FloatArray:
    """Maximum expected log-likelihood of a column in each state.

    Parameters
    ----------
    sums
        Of 1, x and x², ``(..., 3)``.
    column
        Its units and its least variance.
    """
    weight = sums[..., 0]
    moments = sums[..., 1:] / np.where(weight > 0, weight, 1.0)[..., None]
    spread = np.maximum(moments[..., 1] - moments[..., 0] ** 2, 0.0)
    variance = np.maximum(spread, column.least)
    fits: FloatArray = -weight * (
        0.5 * (LOG_2_PI + np.log(variance) + spread / variance) + column.log_unit
    )
    return fits


def merge_gaussians(sums: FloatArray, column: Column) -> FloatArray:
    """By how much the expected log-likelihood of a column grows if two states are merged."""
    apart = fit_gaussians(sums, column)
    pooled = fit_gaussians(sums[:, None] + sums[None], column)
    gains: FloatArray = pooled - apart[:, None] - apart
    return gains


class _Moments:
    """Mean and covariance of a mixture, made of the moments of its parts."""

    def __init__(self, size: int) -> None:
        self.weight, self.first, self.second = 0.0, np.zeros(size), np.zeros((size, size))

    def add(self, weight: float, mean: FloatArray, first: FloatArray, second: FloatArray) -> None:
        """Add a part with first and second moments around a point that is not quite its mean."""
        across = np.outer(mean, first)
        self.weight += weight
        self.first += weight * (mean + first)
        self.second += weight * (second + across + across.T + np.outer(mean, mean))

    @property
    def mean(self) -> FloatArray:
        return self.first / self.weight

    @property
    def covariance(self) -> FloatArray:
        return self.second / self.weight - np.outer(self.mean, self.mean)


def _join(columns: Sequence[Column]) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Values, missing values and least variances, side by side."""
    values = np.stack([column.values for column in columns], axis=1)
    is_missing = np.stack([column.is_missing for column in columns], axis=1)
    return values, is_missing, np.array([column.least for column in columns])


def _join_gaussians(columns: Sequence[Column]) -> tuple[FloatArray, FloatArray]:
    """Means and variances given the states of a hub, ``(n_states, n_columns)`` each."""
    means = np.stack([column.means for column in columns], axis=1)
    return means, np.stack([column.variances for column in columns], axis=1)


def _log_unexplained(covariance: FloatArray, least: FloatArray) -> FloatArray:
    """Logarithm of 1 - r² of all pairs."""
    variance = np.maximum(np.diag(covariance), least)
    logs: FloatArray = np.log(np.maximum(1.0 - covariance**2 / np.outer(variance, variance), SHARE))
    return logs


def _diverge(data: _Moments, model: _Moments, least: FloatArray) -> FloatArray:
    """Kullback-Leibler divergence of the Gaussians of all pairs, in deviations of the model."""
    unit = np.sqrt(np.diag(model.covariance))
    away = (data.mean - model.mean) / unit
    r, both = model.covariance / np.outer(unit, unit), data.covariance / np.outer(unit, unit)
    ratio = np.maximum(np.diag(both), least / unit**2)
    left = np.maximum(1.0 - r**2, SHARE)
    squares = ratio + away**2
    traces = (np.add.outer(squares, squares) - 2.0 * r * (both + np.outer(away, away))) / left
    logs = np.log(left) - _log_unexplained(data.covariance, least)
    divergence: FloatArray = 0.5 * (traces - 2.0 + logs - np.log(np.outer(ratio, ratio)))
    return divergence


def _compare_means(
    counts: FloatArray, first: FloatArray, second: FloatArray, least: FloatArray
) -> FloatArray:
    """-Σ n log(1 - share of the variance between the states), over the states of the hub.

    ``counts`` is ``(n_states, n_states of the hub)``, the sums have another axis for the columns.
    """
    n = counts[..., None]
    size = np.maximum(n.sum(axis=0), TINY)
    mean = first.sum(axis=0) / size
    variance = np.maximum(second.sum(axis=0) / size - mean**2, least)
    away = first / np.maximum(n, TINY) - mean
    between = (n * away**2).sum(axis=0) / size
    logs = np.log(np.maximum(1.0 - between / variance, SHARE))
    g2: FloatArray = -(size * logs).sum(axis=0)
    return g2


def _diverge_given(
    counts: FloatArray,
    sums: FloatArray,
    probabilities: FloatArray,
    of_model: FloatArray,
    least: FloatArray,
) -> FloatArray:
    """Divergence of the distributions of a variable with states, and a Gaussian given each.

    ``counts`` and ``probabilities`` are ``(n_states,)``; the sums of values and of their squares
    ``(n_states, n_columns, 2)``.
    """
    seen = counts > 0
    share = counts[seen] / counts.sum()
    expected = np.maximum(probabilities[seen], TINY)
    moments = sums[seen] / counts[seen, None, None]
    known = of_model[seen] / expected[:, None, None]
    variance = np.maximum(moments[..., 1] - moments[..., 0] ** 2, least)
    unit = np.maximum(known[..., 1] - known[..., 0] ** 2, least)
    away = (moments[..., 0] - known[..., 0]) ** 2
    gaussian = 0.5 * (np.log(unit / variance) + (variance + away) / unit - 1.0)
    divergence: FloatArray = share @ (np.log(share / expected)[:, None] + gaussian)
    return divergence
