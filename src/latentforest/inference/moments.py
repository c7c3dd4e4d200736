"""Moments of continuous columns, for searches over networks of them and for their estimates.

Columns are in units of their deviations, around their means. Weights are rounded so that all their
sums are exact, equal rows are merged and rows are sorted by their values: no moment depends on the
order of rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.errors import DataError
from latentforest.inference.blocks import correlate
from latentforest.inference.columns import ColumnSummary, summarize
from latentforest.inference.counts import round_weights
from latentforest.inference.patterns import Mask, PatternColumn, PatternStore, Recent
from latentforest.kernels.types import BoolArray, FloatArray, LongArray

ROWS_AT_ONCE = 1 << 14  # rows that are centered at a time
KEPT_BYTES = 1 << 28  # moments of groups that are kept
MOST_BYTES = 1 << 25  # moments of all columns that are made at once for one grouping


class GroupMoments(NamedTuple):
    """Moments of some columns in each group of rows.

    Attributes
    ----------
    weights, n_rows
        Of the groups, ``(n_groups,)``: total weight, and how many different rows.
    means
        Shape ``(n_groups, n_columns)``.
    covariances
        Shape ``(n_groups, n_columns, n_columns)``.
    """

    weights: FloatArray
    n_rows: LongArray
    means: FloatArray
    covariances: FloatArray

    def select(self, columns: Sequence[int]) -> GroupMoments:
        """Return the moments of some of the columns, in the order given."""
        some = list(columns)
        covariances = self.covariances[:, some][:, :, some]
        return self._replace(means=self.means[:, some], covariances=covariances)

    def take(self, groups: BoolArray) -> GroupMoments:
        """Return the moments of some of the groups."""
        return GroupMoments(
            self.weights[groups], self.n_rows[groups], self.means[groups], self.covariances[groups]
        )


class MomentTable:
    """A complete table, laid out for moments of its continuous columns.

    Rows are grouped by the values of categorical columns. A set of these is a bit mask: bit j
    stands for the j-th categorical column.

    Parameters
    ----------
    data
        Categorical and continuous columns without missing values.

    Attributes
    ----------
    names, categorical
        Names of the continuous and of the categorical columns.
    cards
        Numbers of states of the categorical columns.
    about
        Mean, variance and least variance of each continuous column.
    total, n_rows
        Weight of all rows, and how many different ones there are.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> columns = [[0, 0, 1, 1], [1.0, 3.0, 5.0, 7.0]]
    >>> table = MomentTable(Dataset([Variable("a", ("0", "1")), Variable("x")], columns))
    >>> table.measure(0b1).covariances.ravel().round(3).tolist()
    [0.2, 0.2]
    """

    def __init__(self, data: Dataset) -> None:
        _check_complete(data)
        rows = sort_rows(data)
        continuous = [v.name for v in rows.variables if not v.is_categorical]
        grouping = [v for v in rows.variables if v.is_categorical]
        self.names, self.categorical = tuple(continuous), tuple(v.name for v in grouping)
        self.cards = [variable.n_states for variable in grouping]
        self.weights, self.n_rows = rows.weights, rows.n_rows
        self.total = float(self.weights.sum())
        columns = [rows.column(name) for name in continuous]
        self.about: list[ColumnSummary] = [
            summarize(name, column, self.weights)
            for name, column in zip(continuous, columns, strict=True)
        ]
        self._correlations = correlate(columns, self.about, self.weights)
        scaled = [_scale(c, a) for c, a in zip(columns, self.about, strict=True)]
        self._values: FloatArray = np.stack(scaled, axis=1)
        self._patterns = PatternStore([rows.column(v.name) for v in grouping], self.cards)
        self._singles: dict[Mask, PatternColumn] = {}
        self._kept: Recent[Mask, GroupMoments] = Recent(KEPT_BYTES)

    @property
    def n_columns(self) -> int:
        """Number of continuous columns."""
        return len(self.names)

    @property
    def correlations(self) -> FloatArray:
        """Correlations over all rows, made positive definite by the rule of ``covariances``."""
        return self._correlations

    def count_groups(self, groups: Mask) -> float:
        """Number of configurations of categorical columns, whether they occur or not."""
        here = (card for j, card in enumerate(self.cards) if groups >> j & 1)
        return math.prod(map(float, here))

    def measure(self, groups: Mask, columns: Sequence[int] | None = None) -> GroupMoments:
        """Measure the groups that occur, in the order of their first rows.

        Moments of all columns are kept, unless they are too many.
        """
        some = range(self.n_columns) if columns is None else columns
        if not self.fits(groups):
            return self._measure(groups, some)
        known = self._kept.find(groups)
        if known is None:
            known = self._measure(groups, range(self.n_columns))
            self._kept.keep(groups, known, known.covariances.nbytes + known.means.nbytes)
        return known if columns is None else known.select(some)

    def fits(self, groups: Mask) -> bool:
        """Whether the moments of all columns are made at once."""
        return self._find(groups).n_patterns * self.n_columns**2 * 8 <= MOST_BYTES

    def configurations(self, groups: Sequence[int]) -> LongArray:
        """List the states of some categorical columns in each group that occurs."""
        column = self._find(sum(1 << j for j in groups))
        codes = [self._patterns.column(1 << j).codes[column.first] for j in groups]
        listed: LongArray = np.array(codes, np.int64).reshape(len(groups), column.n_patterns)
        return listed.T

    def _find(self, groups: Mask) -> PatternColumn:
        """Number the groups by first occurrence; states that do not occur have no number."""
        if not groups:
            return PatternColumn(np.zeros(self.n_rows, np.int32), 1, np.zeros(1, np.int32))
        if groups in self._singles:
            return self._singles[groups]
        last = 1 << (groups.bit_length() - 1)
        column = self._patterns.column(groups, (groups ^ last, last) if groups ^ last else ())
        if len(column.first) == column.n_patterns:
            return column
        _, first, inverse = np.unique(column.codes, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.argsort(order).astype(np.int32)
        codes = rank[inverse.ravel()]
        found = PatternColumn(codes, len(first), first[order].astype(np.int32))
        return self._singles.setdefault(groups, found)

    def _measure(self, groups: Mask, columns: Sequence[int]) -> GroupMoments:
        column, some = self._find(groups), list(columns)
        order = np.argsort(column.codes, kind="stable")
        n_rows = np.bincount(column.codes, minlength=column.n_patterns)
        ends = np.cumsum(n_rows)
        weights = np.empty(len(ends))
        means = np.empty((len(ends), len(some)))
        covariances = np.empty((len(ends), len(some), len(some)))
        for k, (n, end) in enumerate(zip(n_rows.tolist(), ends.tolist(), strict=True)):
            rows = order[end - n : end]
            weights[k], means[k], covariances[k] = self._sum_up(rows, some)
        return GroupMoments(weights, n_rows.astype(np.int64), means, covariances)

    def _sum_up(self, rows: LongArray, some: list[int]) -> tuple[float, FloatArray, FloatArray]:
        """Weight, means and covariances of some rows."""
        w = self.weights[rows]
        total = float(w.sum())
        pieces = [slice(i, i + ROWS_AT_ONCE) for i in range(0, len(rows), ROWS_AT_ONCE)]
        mean, squares = np.zeros(len(some)), np.zeros((len(some), len(some)))
        values = self._take(rows[pieces[0]], some)
        for piece in pieces:
            values = values if len(pieces) == 1 else self._take(rows[piece], some)
            mean += w[piece] @ values / total
        for piece in pieces:
            values = values if len(pieces) == 1 else self._take(rows[piece], some)
            away = values - mean
            squares += (away * w[piece, None]).T @ away
        return total, mean, squares / total

    def _take(self, rows: LongArray, some: list[int]) -> FloatArray:
        values = self._values[rows]
        return values if len(some) == self.n_columns else values[:, some]


def sort_rows(data: Dataset) -> Dataset:
    """Order rows by their values, continuous columns first; equal rows are merged.

    Rows without weight are left out, and weights are rounded, so that their sums are exact.
    """
    weights = round_weights(data.weights)
    kept = np.flatnonzero(weights > 0)
    columns = [column[kept] for column in data.columns]
    columns.sort(key=lambda column: column.dtype.kind != "f")
    n = 1
    while True:  # few columns tell most tables' rows apart
        order = np.lexsort(columns[:n][::-1])
        is_new = np.ones(len(order), bool)
        is_new[1:] = np.logical_or.reduce([c[order[1:]] != c[order[:-1]] for c in columns[:n]])
        if is_new.all() or n >= len(columns):
            break
        n = 4 * n
    starts = np.flatnonzero(is_new)
    sums = np.add.reduceat(weights[kept[order]], starts) if len(starts) else weights[:0]
    return data.take(kept[order[starts]]).with_weights(sums)


def _scale(column: FloatArray, about: ColumnSummary) -> FloatArray:
    scaled: FloatArray = (column - about.mean) / math.sqrt(about.variance)
    return scaled


def _check_complete(data: Dataset) -> None:
    for variable, column in zip(data.variables, data.columns, strict=True):
        missing = int((column < 0).sum() if variable.is_categorical else np.isnan(column).sum())
        if missing:
            raise DataError(
                f"column {variable.name!r} has {missing} missing values; expected a complete table"
            )
    if all(variable.is_categorical for variable in data.variables):
        raise DataError("the table has no continuous column")
