"""The saturated model of a table: any distribution over the cells of all its columns.

Of complete rows it is their frequencies. Rows with missing values are shared out among the cells
that they may be in, by EM; its likelihood is concave, so that the distance from the maximum is
known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.errors import DataError
from latentforest.kernels.types import FloatArray, IntArray, LongArray

MAX_CELLS = 10**6  # of the full table, if rows with missing values are shared out among them
MAX_PAIRS = 30_000_000  # rows with missing values times the cells that each may be in
MAX_COMPARED = 10_000_000  # pairs of cells that are compared to leave out those that go to zero
MAX_ITERATIONS = 20_000
CLOSE = 1e-6  # distance of the log-likelihood from its maximum at which EM stops
RARE = 1e-3  # a cell has at least this share of the mean probability at the start

Guess = Callable[[Dataset], FloatArray]
Margins = tuple[tuple[str, ...], ...]


class SaturatedFit(NamedTuple):
    """The saturated model of a table.

    Attributes
    ----------
    rows
        The distinct rows that have a weight and at least one value.
    cells
        The complete cells that these rows may be in.
    counts
        Weight of each cell, ``(n_cells,)``; expected, if there are missing values.
    log_p
        Log-probability of each of the rows.
    n_cells
        Of the full table.
    n_free
        How many free parameters the rows can determine.
    margins
        The largest sets of columns that are observed together.
    """

    rows: Dataset
    cells: Dataset
    counts: FloatArray
    log_p: FloatArray
    n_cells: int
    n_free: int
    margins: Margins


def fit_saturated(table: Dataset, guess: Guess) -> SaturatedFit:
    """Fit the saturated model.

    Parameters
    ----------
    table
        Categorical columns.
    guess
        Gives a probability for each row of a table of complete cells. EM starts there, which
        matters if several distributions are equally likely.
    """
    n_cells = count_cells(table.variables)
    rows = _drop_empty(table.merged()[0])
    weights = rows.weights
    if not rows.has_missing:
        log_p = np.log(weights / weights.sum())
        return SaturatedFit(rows, rows, weights, log_p, n_cells, n_cells - 1, (rows.names,))
    if n_cells > MAX_CELLS:
        raise DataError(
            "goodness of fit to a table with missing values is computed for up to "
            f"{MAX_CELLS:,} cells; this one has {_write_number(n_cells)}"
        )
    cells, matrix = _list_completions(rows)
    start = guess(cells)
    start = np.maximum(start, RARE * max(start.mean(), 1e-300))
    p = _share_out(matrix, weights, start / start.sum())
    n_free, margins = _find_margins(rows)
    log_p = np.log(matrix @ p)
    return SaturatedFit(rows, cells, weights.sum() * p, log_p, n_cells, n_free, margins)


def count_cells(variables: Sequence[Variable]) -> int:
    """Number of cells of the full table of some categorical columns."""
    return math.prod(variable.n_states for variable in variables)


def all_cells(variables: Sequence[Variable], numbers: LongArray) -> Dataset:
    """Make a table of the cells with these numbers, the last column changing fastest."""
    cards = [variable.n_states for variable in variables]
    return Dataset(variables, list(np.unravel_index(numbers, cards)))


def _write_number(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"about 1e{len(str(number)) - 1}"


def _drop_empty(rows: Dataset) -> Dataset:
    """Keep the rows with a weight and a value."""
    is_seen = np.any(np.stack(rows.columns) >= 0, axis=0) & (rows.weights > 0)
    if not is_seen.any():
        raise DataError("goodness of fit needs a row with at least one value, got none")
    return rows if is_seen.all() else rows.take(np.flatnonzero(is_seen))


def _list_completions(rows: Dataset) -> tuple[Dataset, Any]:
    """List the cells that rows may be in, and which row may be in which, as a sparse matrix."""
    from scipy.sparse import csr_array

    parts = list(_pair_up(rows))
    row, cell = (np.concatenate(each) for each in zip(*parts, strict=True))
    numbers, place = np.unique(cell, return_inverse=True)
    shape = rows.n_rows, len(numbers)
    matrix = csr_array((np.ones(len(row)), (row, place.ravel())), shape)
    return all_cells(rows.variables, numbers), matrix


def _pair_up(rows: Dataset) -> Iterator[tuple[LongArray, LongArray]]:
    """Pair rows with the numbers of the cells that they may be in, for each set of gaps."""
    cards = np.array([variable.n_states for variable in rows.variables])
    strides = np.concatenate([np.cumprod(cards[:0:-1])[::-1], [1]])
    codes = np.stack(rows.columns, axis=1).astype(np.int64)
    base = np.where(codes >= 0, codes, 0) @ strides
    kinds, which = np.unique(codes < 0, axis=0, return_inverse=True)
    n_each = np.array([math.prod(cards[kind].tolist()) for kind in kinds])
    n_pairs = int(n_each[which.ravel()].sum())
    if n_pairs > MAX_PAIRS:
        raise DataError(
            f"the rows with missing values may be in {n_pairs:,} cells in all, too many to share "
            f"them out; up to {MAX_PAIRS:,} are handled"
        )
    for number, gaps in enumerate(kinds):
        shifts = np.zeros(1, np.int64)
        for j in np.flatnonzero(gaps):
            shifts = np.add.outer(shifts, strides[j] * np.arange(cards[j])).ravel()
        here = np.flatnonzero(which.ravel() == number)
        yield np.repeat(here, len(shifts)), np.add.outer(base[here], shifts).ravel()


def _share_out(matrix: Any, weights: FloatArray, start: FloatArray) -> FloatArray:
    """Find the probabilities of the cells to which EM goes from a start.

    Cells that the same rows may be in keep their ratio. A cell that only some of another cell's
    rows may be in goes to zero.
    """
    group, merged = _merge_columns(matrix)
    keep = _find_undominated(merged)
    sums = np.bincount(group, weights=start)
    p = np.zeros(len(sums))
    p[keep] = _climb(merged[:, keep], weights, sums[keep] / sums[keep].sum())
    return start * (p / sums)[group]


def _merge_columns(matrix: Any) -> tuple[LongArray, Any]:
    """Number the distinct columns of a matrix of zeros and ones, and keep one of each."""
    by_column = matrix.tocsc()
    keys = np.random.default_rng(0).integers(2**63, size=(matrix.shape[0], 2), dtype=np.uint64)
    sums = np.add.reduceat(keys[by_column.indices], by_column.indptr[:-1], axis=0)
    _, first, group = np.unique(sums, axis=0, return_index=True, return_inverse=True)
    return group.ravel(), by_column[:, first].tocsr()


def _find_undominated(matrix: Any) -> LongArray:
    """List the columns that are not part of another one, unless that would take long."""
    n_each = np.diff(matrix.indptr).astype(float)
    if n_each @ n_each > MAX_COMPARED:
        return np.arange(matrix.shape[1])
    common = (matrix.T @ matrix).tocoo()
    sizes = matrix.sum(axis=0)
    is_part = (common.data == sizes[common.row]) & (sizes[common.col] > sizes[common.row])
    return np.setdiff1d(np.arange(matrix.shape[1]), common.row[is_part])


def _climb(matrix: Any, weights: FloatArray, p: FloatArray) -> FloatArray:
    """Run EM, extrapolated through pairs of iterations (SQUAREM), close to the maximum."""
    total, transposed = weights.sum(), matrix.T.tocsr()

    def ascend(p: FloatArray) -> tuple[FloatArray, float]:
        """Return the next iterate, and how far the log-likelihood may be from its maximum."""
        slope = transposed @ (weights / (matrix @ p))
        return p * slope / total, float(slope.max() - total)

    value = weights @ np.log(matrix @ p)
    for _ in range(MAX_ITERATIONS):
        first, gap = ascend(p)
        if gap <= CLOSE:
            break
        second, _ = ascend(first)
        p, value = _extrapolate(matrix, weights, (p, first, second), value)
    return p


def _extrapolate(
    matrix: Any, weights: FloatArray, points: tuple[FloatArray, ...], value: float
) -> tuple[FloatArray, float]:
    """Go further along the path of two iterations, if that is better than the second."""
    p, first, second = points
    step, bend = first - p, second - 2 * first + p
    reached = float(weights @ np.log(matrix @ second))
    size = float(bend @ bend)
    if size == 0.0:
        return second, reached
    alpha = -max(1.0, math.sqrt(float(step @ step) / size))
    further = p - 2 * alpha * step + alpha**2 * bend
    further = np.maximum(further, 1e-3 * second)
    further /= further.sum()
    beyond = float(weights @ np.log(matrix @ further))
    return (further, beyond) if beyond > reached else (second, reached)


def _find_margins(rows: Dataset) -> tuple[int, Margins]:
    """Count what the rows can determine, and list the largest sets of columns seen together.

    A term of the saturated log-linear model is determined if some row has all its columns.
    """
    cards = {v.name: v.n_states for v in rows.variables if v.n_states > 1}
    names = list(cards)
    if not names:
        return 0, (rows.names,)
    masks = np.zeros(rows.n_rows, np.int64)
    for name in names:
        masks = 2 * masks + (rows.column(name) >= 0)
    seen = np.zeros(2 ** len(names), bool)
    seen[masks] = True
    seen = seen.reshape((2,) * len(names))
    n_terms, largest = np.ones((), np.int64), ~np.zeros_like(seen)
    for axis, name in enumerate(names):
        without, having = np.split(seen, 2, axis)
        seen = np.concatenate([without | having, having], axis)
        n_terms = np.multiply.outer(n_terms, [1, cards[name] - 1])
    for axis in range(len(names)):
        without, having = np.split(largest, 2, axis)
        without &= ~np.split(seen, 2, axis)[1]
    found: list[IntArray] = list(np.argwhere(seen & largest))
    margins = [tuple(n for n, here in zip(names, each, strict=True) if here) for each in found]
    return int(n_terms[seen].sum()) - 1, tuple(margins)
