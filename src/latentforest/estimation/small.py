"""Models of one or two latent variables over a few columns, fitted to their table of counts.

A few categorical columns have few joint patterns, however many rows there are. Once these are
counted, EM does not see the rows any more, so that thousands of such models are fitted in a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from latentforest.inference.forest import PatternedData
from latentforest.kernels.forest.em import find_method
from latentforest.kernels.layout import NO_SUMS, Families
from latentforest.kernels.loop import Limits, make_climb
from latentforest.kernels.small import fit_small
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray, IntArray, LongArray

MOST_NOISE = 1 << 12  # random numbers of a start; longer ones repeat them
MOST_PREPARED = 1 << 10  # layouts that are kept


@dataclass(frozen=True, eq=False)
class Counts:
    """The distinct patterns of some columns, ``(n_patterns, n_columns)``, with their weights.

    A code equal to ``cards[i]`` is a missing value. ``rows`` holds the pattern of each row.
    """

    codes: IntArray
    weights: FloatArray
    cards: LongArray
    rows: IntArray

    @property
    def limits(self) -> LongArray:
        """States that each column can tell apart."""
        return self.cards

    @cached_property
    def marginals(self) -> list[FloatArray]:
        """Distribution of each column over the rows in which it is there."""
        result = []
        for column, card in zip(self.codes.T, self.cards, strict=True):
            found = np.bincount(column, self.weights, minlength=card + 1)[:card] + 1e-9
            result.append(found / found.sum())
        return result

    @cached_property
    def highest(self) -> float:
        """A bound of the log-likelihood: every pattern as likely as it is frequent.

        Patterns with other columns missing are events of their own.
        """
        is_missing = self.codes == self.cards
        if not is_missing.any():
            totals = np.full(len(self.weights), self.weights.sum())
        else:
            group = np.unique(is_missing, axis=0, return_inverse=True)[1].reshape(-1)
            totals = np.bincount(group, self.weights)[group]
        return float(np.sum(xlogy(self.weights, self.weights) - xlogy(self.weights, totals)))


def count_patterns(data: PatternedData, columns: Sequence[int]) -> Counts:
    """Count the joint patterns of some columns, given by their positions."""
    store = data.whole
    bits = [1 << j for j in columns]
    found = store.column(sum(bits), bits)
    first: AnyArray = found.first
    if not len(first):  # a single column: its patterns are its states
        first = np.unique(found.codes, return_index=True)[1]
    totals: AnyArray = np.bincount(found.codes, data.dataset.weights, found.n_patterns)
    codes = np.stack([store.column(bit).codes[first] for bit in bits], axis=1)
    weights = totals[found.codes[first]]
    cards = np.array([data.dataset.variables[j].n_states for j in columns], np.int64)
    return Counts(np.ascontiguousarray(codes, np.int32), weights, cards, found.codes)


@dataclass(frozen=True)
class SmallEffort:
    """How hard EM tries: random starts, iterations of each, iterations of the best, precision.

    ``tolerance`` is a gain of the log-likelihood.
    """

    n_starts: int = 8
    n_first: int = 10
    max_iterations: int = 200
    tolerance: float = 1e-3


@dataclass(frozen=True)
class SmallModel:
    """A fitted model of one or two latent variables (``n_far`` is 1 if there is one only)."""

    n_near: int
    n_far: int
    is_far: BoolArray
    log_likelihood: float
    dimension: int
    theta: FloatArray
    layout: Families

    def bic(self, total_weight: float) -> float:
        """Log-likelihood less half the dimension times log N."""
        return self.log_likelihood - 0.5 * self.dimension * float(np.log(total_weight))

    @property
    def sizes(self) -> FloatArray:
        """P(y) of the root."""
        return self.theta[: self.n_near]

    def posteriors(self, counts: Counts) -> FloatArray:
        """P(root | row) for a model with one latent variable, ``(n_rows, n_near)``."""
        with np.errstate(divide="ignore"):
            belief = np.repeat(np.log(self.sizes)[None], len(counts.codes), axis=0)
            for i, column in enumerate(counts.codes.T):
                table = self.table(i)
                ones = np.ones((self.n_near, 1))  # a missing value says nothing
                belief += np.log(np.concatenate([table, ones], axis=1)).T[column]
        belief = np.exp(belief - belief.max(axis=1, keepdims=True))
        belief /= belief.sum(axis=1, keepdims=True)
        result: FloatArray = belief[counts.rows]
        return result

    def table(self, i: int) -> FloatArray:
        """P(column i | its latent variable)."""
        shape = self.layout.n_rows[i + 2], self.layout.n_states[i + 2]
        start = self.layout.offset[i + 2]
        return self.theta[start : start + shape[0] * shape[1]].reshape(shape)


class SmallFits:
    """Fits small models; all starts come from one table of random numbers."""

    def __init__(self, seed: int, effort: SmallEffort | None = None) -> None:
        self.effort = effort or SmallEffort()
        generator = np.random.default_rng([seed, 77])
        self._noise = generator.standard_exponential((self.effort.n_starts, MOST_NOISE))
        self._prepared: dict[tuple[int, int, bytes, bytes], tuple[Families, FloatArray]] = {}

    def fit(
        self, counts: Counts, n_near: int, n_far: int = 1, is_far: BoolArray | None = None
    ) -> SmallModel:
        """Fit a model with so many states of the root and of the second latent variable."""
        if is_far is None:
            is_far = np.zeros(len(counts.cards), np.bool_)
        layout, noise = self._prepare(counts.cards, n_near, n_far, is_far)
        starts = self._make_starts(counts, layout, noise)
        effort = self.effort
        limits = Limits(effort.max_iterations, effort.tolerance, True, effort.n_first)
        climb = make_climb(noise.shape[1])
        best, value = fit_small(
            counts.codes, counts.weights, is_far, layout, starts, find_method(), climb, limits
        )
        dimension = count_parameters(counts.cards, n_near, n_far, is_far)
        return SmallModel(n_near, n_far, is_far, value, dimension, starts[best], layout)

    def _prepare(
        self, cards: LongArray, n_near: int, n_far: int, is_far: BoolArray
    ) -> tuple[Families, FloatArray]:
        """Return the layout of a model, and half of its starts: random rows of tables."""
        key = (n_near, n_far, cards.tobytes(), is_far.tobytes())
        prepared = self._prepared.get(key)
        if prepared is None:
            layout, n_values = _lay_out(cards, n_near, n_far, is_far)
            noise = np.tile(self._noise, (1, -(-n_values // MOST_NOISE)))[:, :n_values]
            lengths = np.repeat(layout.n_states, layout.n_rows)
            sums = np.add.reduceat(noise, np.cumsum(lengths) - lengths, axis=1)
            noise = 0.5 * noise / np.repeat(sums, lengths, axis=1)
            inner = n_near * (1 + n_far)
            noise[:, :inner] += 0.5 * np.repeat(1.0 / lengths, lengths)[:inner]
            if len(self._prepared) >= MOST_PREPARED:
                self._prepared.clear()
            self._prepared[key] = prepared = layout, noise
        return prepared

    def _make_starts(self, counts: Counts, layout: Families, noise: FloatArray) -> FloatArray:
        """Rows of tables halfway between the column's frequencies and a random point."""
        starts = noise.copy()
        for i, marginal in enumerate(counts.marginals):
            first, n_rows = layout.offset[i + 2], layout.n_rows[i + 2]
            rows = starts[:, first : first + n_rows * len(marginal)]
            rows.reshape(len(starts), n_rows, -1)[...] += 0.5 * marginal
        return starts


def count_parameters(cards: LongArray, n_near: int, n_far: int, is_far: BoolArray) -> int:
    """Return the number of free parameters of a model."""
    leaves = np.where(is_far, n_far, n_near) @ (cards - 1)
    return int(n_near - 1 + n_near * (n_far - 1) + leaves)


def _lay_out(cards: LongArray, n_near: int, n_far: int, is_far: BoolArray) -> tuple[Families, int]:
    n_rows = np.concatenate([[1, n_near], np.where(is_far, n_far, n_near)]).astype(np.int64)
    n_states = np.concatenate([[n_near, n_far], cards]).astype(np.int64)
    sizes = n_rows * n_states
    ends = np.cumsum(sizes)
    no_sums, no_tasks = np.full(len(sizes), NO_SUMS), np.empty(0, np.int64)
    return Families(ends - sizes, n_rows, n_states, no_sums, no_tasks), int(ends[-1])
