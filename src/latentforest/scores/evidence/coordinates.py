"""Softmax coordinates of tables: log(theta_j / theta_last) for the states of a row but the last."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.structure import Structure


class TableRows(NamedTuple):
    """Cells of all rows of all tables: the row of each, and which of them have a coordinate."""

    row_of: LongArray
    n_rows: int
    free: LongArray

    def spread(self, values: FloatArray) -> FloatArray:
        """Sum of each row, for each of its cells."""
        sums = np.bincount(self.row_of, values, self.n_rows)[self.row_of]
        return np.asarray(sums, np.float64)


def move(theta: FloatArray, rows: TableRows, cells: LongArray, steps: FloatArray) -> FloatArray:
    """Add to some coordinates."""
    moved = theta.copy()
    moved[cells] *= np.exp(steps)
    moved /= rows.spread(moved)
    return moved


def list_rows(structure: Structure) -> TableRows:
    """Number the rows of all tables; the last state of each has no coordinate."""
    row_of, n_rows = np.empty(structure.n_values, np.int64), 0
    is_free = np.ones(structure.n_values, bool)
    for name in structure.names:
        start, shape = structure.offset(name), structure.shape(name)
        size, card = math.prod(shape), shape[-1]
        row_of[start : start + size] = n_rows + np.arange(size) // card
        is_free[start + card - 1 : start + size : card] = False
        n_rows += size // card
    return TableRows(row_of, n_rows, np.flatnonzero(is_free))
