"""Mutual information of columns, and of latent variables by posterior pseudo-frequencies.

The joint tables of all pairs are products of indicator matrices (a row for each state of each
column): dense ones times the weights, or sets of bits where every row counts the same. A column
without missing values needs no indicator of its most frequent state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import xlogy

from latentforest.data.dataset import Dataset
from latentforest.errors import DataError, ParameterError
from latentforest.inference.threads import count_threads, map_threads
from latentforest.kernels.bits import WORD_BITS, count_common
from latentforest.kernels.types import AnyArray, FloatArray, LongArray

BATCH = 1024  # states of columns that are counted against as many others at a time
CHUNK_ROWS = 1 << 13  # rows of dense indicators that are made at a time
EXACT = 1 << 24  # whole numbers below this are exact in single precision
KEPT_BYTES = 1 << 27  # dense indicators that are kept for later pairs of batches
FEW = 1 << 32  # multiplications that are not worth compiling code for
MOST_REPEATS = 8.0  # whole weights become repeated rows while these are not so many times more

Score = Callable[[FloatArray], FloatArray]
Check = Callable[[], None]


def mutual_information(
    data: Dataset, n_jobs: int | None = None, batch: int = BATCH, check: Check | None = None
) -> FloatArray:
    """Return the mutual information of all pairs of columns, in nats.

    Parameters
    ----------
    data
        Categorical columns. A pair is judged on the rows in which neither is missing, with their
        weights.
    n_jobs
        Threads; the result does not depend on it.
    batch
        So many states are counted against each other at once; bounds the memory beside the
        result.
    check
        Called now and then; what it raises ends the work.

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
        The entropies of the columns are on the diagonal.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> mutual_information(load("role-conflict").select(["A", "B"])).round(4)
    array([[0.5117, 0.0296],
           [0.0296, 0.6931]])
    """
    return _over_pairs(data, _judge, n_jobs, batch, check)


def pair_scores(
    data: Dataset, score: Score, n_jobs: int | None = None, batch: int = BATCH
) -> FloatArray:
    """Return any score of all pairs of columns that is a function of their joint counts.

    Parameters
    ----------
    data, n_jobs, batch
        As for ``mutual_information``.
    score
        Takes joint counts, ``(n_states, n_columns, n_states, n_columns)``: those of some columns
        with the same number of states against some others. Returns a value for each pair,
        ``(n_columns, n_columns)``. The order of the states is not that of the columns.
    """
    return _over_pairs(data, lambda table, a, b: score(table), n_jobs, batch)


def _over_pairs(
    data: Dataset,
    judge: Callable[[FloatArray, _Batch, _Batch], FloatArray],
    n_jobs: int | None,
    batch: int,
    check: Check | None = None,
) -> FloatArray:
    if batch < 1:
        raise ParameterError(f"batch must be at least 1, got {batch!r}")
    batches = _cut(data, batch)
    product = _choose_product(data, batches)
    result = np.zeros((data.n_columns, data.n_columns))

    def fill(pair: tuple[_Batch, _Batch]) -> None:
        a, b = pair
        if check is not None:
            check()
        values = judge(_complete(product(a, b), a, b), a, b)
        _put(result, a, b, values)
        _put(result, b, a, values.T)

    pairs = list(combinations_with_replacement(batches, 2))
    for _ in map_threads(fill, pairs, count_threads(n_jobs)):
        pass
    return result


def _put(result: FloatArray, a: _Batch, b: _Batch, values: FloatArray) -> None:
    """Write the values of two batches; much faster where the columns lie side by side."""
    if a.is_slice and b.is_slice:
        low, left = int(a.columns[0]), int(b.columns[0])
        result[low : low + len(a.columns), left : left + len(b.columns)] = values
    else:
        result[np.ix_(a.columns, b.columns)] = values


def table_information(joint: FloatArray) -> FloatArray:
    """Return the mutual information of joint tables, ``(..., n_states, n_states)``, in nats.

    The tables may be counts; an empty one has none.

    Examples
    --------
    >>> float(table_information(np.array([[2.0, 0.0], [0.0, 2.0]])).round(4))
    0.6931
    """
    joint = np.asarray(joint, dtype=np.float64)
    total = joint.sum(axis=(-2, -1))
    value = _entropy_sum(joint, (-2, -1)) + xlogy(total, total)
    value -= _entropy_sum(joint.sum(axis=-1), -1) + _entropy_sum(joint.sum(axis=-2), -1)
    return _share(value, total)


def joint_counts(a: FloatArray, b: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the joint pseudo-frequencies of two variables, ``(n_states of a, n_states of b)``.

    Parameters
    ----------
    a, b
        For each row the probabilities of the states, ``(n_rows, n_states)``: posteriors of a latent
        variable, or ``indicators`` of a column. Given the row, the two are taken as independent.
    weights
        Shape ``(n_rows,)``.
    """
    counts: FloatArray = (a * weights[:, None]).T @ b
    return counts


def indicators(data: Dataset, name: str) -> FloatArray:
    """Return a column as rows of probabilities; rows of zeros where it is missing."""
    return _rows_of(data.column(name), data.variable(name).n_states)


def posterior_information(
    left: Sequence[FloatArray], right: Sequence[FloatArray], weights: FloatArray
) -> FloatArray:
    """Return the mutual information of variables by pseudo-frequencies, in nats.

    Parameters
    ----------
    left, right
        Variables as in ``joint_counts``.
    weights
        Shape ``(n_rows,)``.

    Returns
    -------
    ndarray of shape (len(left), len(right))
    """
    if not left or not right:
        return np.zeros((len(left), len(right)))
    weighted = (np.concatenate(left, axis=1) * weights[:, None]).T
    counts = np.concatenate([weighted @ each for each in right], axis=1)
    rows, columns = _starts(left), _starts(right)
    of_left = np.add.reduceat(counts, columns, axis=1)  # marginals, over what both sides have
    of_right = np.add.reduceat(counts, rows, axis=0)
    total = np.add.reduceat(of_left, rows, axis=0)
    cells = np.add.reduceat(xlogy(counts, counts), columns, axis=1)
    value = np.add.reduceat(cells, rows, axis=0) + xlogy(total, total)
    value -= np.add.reduceat(xlogy(of_left, of_left), rows, axis=0)
    value -= np.add.reduceat(xlogy(of_right, of_right), columns, axis=1)
    return _share(value, total)


def _starts(variables: Sequence[FloatArray]) -> LongArray:
    widths = [variable.shape[1] for variable in variables]
    return np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int64)


def _rows_of(codes: AnyArray, n_states: int) -> FloatArray:
    rows: FloatArray = (codes[:, None] == np.arange(n_states)).astype(np.float64)
    return rows


def _entropy_sum(counts: FloatArray, axis: int | tuple[int, ...]) -> FloatArray:
    result: FloatArray = xlogy(counts, counts).sum(axis=axis)
    return result


def _share(value: FloatArray, total: FloatArray) -> FloatArray:
    """Divide by the total weight; no information where that is zero, or below it by rounding."""
    result = np.zeros_like(total)
    np.divide(value, total, out=result, where=total > 0)
    return np.maximum(result, 0.0)


class _Batch(NamedTuple):
    """Columns with the same number of states, all of them complete or none."""

    columns: LongArray
    n_states: int
    is_complete: bool
    frequent: LongArray  # state of each column that has no indicator; complete columns only
    counts: FloatArray  # (n_states, n_columns), the state without indicator last

    @property
    def n_indicators(self) -> int:
        """Indicators of each column."""
        return self.n_states - 1 if self.is_complete else self.n_states

    @property
    def is_slice(self) -> bool:
        """Whether the columns lie side by side."""
        return int(self.columns[-1] - self.columns[0]) + 1 == len(self.columns)

    @property
    def states(self) -> LongArray:
        """State of each indicator, ``(n_indicators, n_columns)``; the rarer states if complete."""
        states = np.arange(self.n_indicators)[:, None]
        if not self.is_complete:
            return np.broadcast_to(states, (self.n_indicators, len(self.columns)))
        return states + (states >= self.frequent)


class _Product(Protocol):
    """Gives the joint counts of the indicators of two batches.

    They have the shape (indicators of a, columns of a, indicators of b, columns of b).
    """

    def __call__(self, a: _Batch, b: _Batch) -> FloatArray: ...


def _cut(data: Dataset, batch: int) -> list[_Batch]:
    """Group the columns by kind and cut the groups into batches."""
    groups: dict[tuple[int, bool], list[int]] = {}
    for j, variable in enumerate(data.variables):
        if not variable.is_categorical:
            raise DataError(f"column {variable.name!r} is continuous; expected categorical columns")
        is_complete = not bool((data.columns[j] < 0).any())
        groups.setdefault((variable.n_states, is_complete), []).append(j)
    batches = []
    for (n_states, is_complete), columns in sorted(groups.items()):
        n_columns = max(1, batch // max(n_states, 1))
        for start in range(0, len(columns), n_columns):
            some = columns[start : start + n_columns]
            batches.append(_describe(data, some, n_states, is_complete))
    return batches


def _describe(data: Dataset, columns: list[int], n_states: int, is_complete: bool) -> _Batch:
    counts = np.stack([_count(data.columns[j], n_states, data.weights) for j in columns], axis=1)
    frequent = counts.argmax(axis=0) if n_states else np.zeros(len(columns), np.int64)
    described = _Batch(np.array(columns), n_states, is_complete, frequent, counts)
    if not is_complete:
        return described
    order = np.concatenate([described.states, frequent[None]])
    return described._replace(counts=np.take_along_axis(counts, order, axis=0))


def _count(codes: AnyArray, n_states: int, weights: FloatArray) -> FloatArray:
    """Total weight of each state."""
    counts = np.bincount(codes.astype(np.intp) + 1, weights, n_states + 1)
    return counts[1:].astype(np.float64)


def _complete(counts: FloatArray, a: _Batch, b: _Batch) -> FloatArray:
    """Add the states without indicator: what is left of the other column's counts."""
    if not (a.is_complete or b.is_complete):
        return counts
    size = (a.n_states, len(a.columns), b.n_states, len(b.columns))
    table = np.empty(size)
    table[: a.n_indicators, :, : b.n_indicators] = counts
    if a.is_complete:
        others = b.counts[: b.n_indicators]
        np.subtract(others, counts.sum(axis=0), out=table[-1, :, : b.n_indicators])
    if b.is_complete:
        np.subtract(
            a.counts[:, :, None], table[:, :, : b.n_indicators].sum(axis=2), out=table[:, :, -1]
        )
    # Differences of weights that are not whole numbers may fall below zero by rounding.
    return np.maximum(table, 0.0, out=table)


def _judge(table: FloatArray, a: _Batch, b: _Batch) -> FloatArray:
    """Return the mutual information of all pairs of two batches, ``(columns of a, of b)``."""
    value = _entropy_sum(table, (0, 2))
    if a.is_complete and b.is_complete:  # margins do not depend on the other column
        total = np.broadcast_to(a.counts.sum(axis=0)[:, None], value.shape)
        margins = _entropy_sum(a.counts, 0)[:, None] + _entropy_sum(b.counts, 0)
    else:
        total = table.sum(axis=(0, 2))
        margins = _entropy_sum(table.sum(axis=2), 0)
        margins = margins + _entropy_sum(table.sum(axis=0), 1)
    return _share(value + xlogy(total, total) - margins, total)


def _choose_product(data: Dataset, batches: list[_Batch]) -> _Product:
    weights = data.weights
    n_indicators = sum(batch.n_indicators * len(batch.columns) for batch in batches)
    is_whole = bool(np.all(weights == np.round(weights)))
    is_sparing = weights.sum() <= MOST_REPEATS * np.count_nonzero(weights)
    if is_whole and is_sparing and n_indicators**2 * data.n_rows > FEW:
        return _BitProduct(data, batches)
    return _DenseProduct(data, batches, is_whole)


class _BitProduct:
    """Counts bits in common; whole weights are repeated rows. All indicators are kept."""

    def __init__(self, data: Dataset, batches: list[_Batch]) -> None:
        rows = np.repeat(np.arange(data.n_rows), data.weights.astype(np.int64))
        self._n_words = -(-len(rows) // WORD_BITS)
        self._rows = None if np.array_equal(rows, np.arange(data.n_rows)) else rows
        self._packed = {int(batch.columns[0]): self._pack(data, batch) for batch in batches}

    def _pack(self, data: Dataset, batch: _Batch) -> AnyArray:
        n_bytes = self._n_words * (WORD_BITS // 8)
        sets = np.zeros((batch.n_indicators, len(batch.columns), n_bytes), np.uint8)
        for i, j in enumerate(batch.columns):
            codes = data.columns[j] if self._rows is None else data.columns[j][self._rows]
            for k, state in enumerate(batch.states[:, i]):
                bits = np.packbits(codes == state)
                sets[k, i, : len(bits)] = bits
        return sets.view(np.uint64)

    def __call__(self, a: _Batch, b: _Batch) -> FloatArray:
        left, right = self._packed[int(a.columns[0])], self._packed[int(b.columns[0])]
        n_left, n_right = (math.prod(sets.shape[:2]) for sets in (left, right))
        counts = np.empty((n_left, n_right))
        if counts.size:
            words = (-1, self._n_words)
            count_common(left.reshape(words), right.reshape(words), counts)
        return counts.reshape(*left.shape[:2], *right.shape[:2])


class _DenseProduct:
    """Multiplies indicators with the weights, some rows at a time.

    In single precision where all sums over a chunk of rows are exact in it.
    """

    def __init__(self, data: Dataset, batches: list[_Batch], is_whole: bool) -> None:
        self._data = data
        edges = range(0, data.n_rows, CHUNK_ROWS)
        self._chunks = [slice(start, start + CHUNK_ROWS) for start in edges]
        largest = max(float(data.weights[rows].sum()) for rows in self._chunks)
        self._type = np.float32 if is_whole and largest < EXACT else np.float64
        n_indicators = sum(batch.n_indicators * len(batch.columns) for batch in batches)
        size = data.n_rows * n_indicators * np.dtype(self._type).itemsize
        self._kept: dict[tuple[int, int], AnyArray] | None = {} if size <= KEPT_BYTES else None

    def __call__(self, a: _Batch, b: _Batch) -> FloatArray:
        sides = [(batch.n_indicators, len(batch.columns)) for batch in (a, b)]
        n_left, n_right = (k * n for k, n in sides)
        counts = np.zeros((n_left, n_right))
        for rows in self._chunks:
            left = self._encode(a, rows)
            right = left if a is b else self._encode(b, rows)
            weights = self._data.weights[rows].astype(self._type)
            counts += (left * weights) @ right.T
        return counts.reshape(*sides[0], *sides[1])

    def _encode(self, batch: _Batch, rows: slice) -> AnyArray:
        key = (int(batch.columns[0]), rows.start)
        if self._kept is not None and key in self._kept:
            return self._kept[key]
        codes = np.stack([self._data.columns[j][rows] for j in batch.columns])
        states = batch.states[:, :, None].astype(codes.dtype)
        encoded: AnyArray = (codes == states).astype(self._type)
        encoded = encoded.reshape(-1, codes.shape[1])
        if self._kept is not None:
            self._kept[key] = encoded
        return encoded
