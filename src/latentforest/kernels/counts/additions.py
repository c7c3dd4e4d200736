"""Counts of a set of columns with one more, for many candidates at once."""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel
from latentforest.kernels.types import AnyArray, FloatArray, IntArray, LongArray


@kernel
def count_additions(
    numbers: IntArray,
    n_groups: int,
    codes: AnyArray,
    cards: LongArray,
    added: LongArray,
    weights: FloatArray,
    counts: FloatArray,
    ends: LongArray,
) -> None:
    """Count the configurations of a set of columns together with each of some others.

    ``numbers`` numbers the configurations of the set that occur, row by row. The positive
    counts of candidate i end at ``ends[i]`` of ``counts``, where those of i + 1 begin.
    """
    n_rows = numbers.shape[0]
    most = np.int64(1)
    for i in range(added.shape[0]):
        most = max(most, cards[added[i]])
    table = np.empty(n_groups * most)
    filled = 0
    for i in range(added.shape[0]):
        column, card = added[i], cards[added[i]]
        size = n_groups * card
        for cell in range(size):
            table[cell] = 0.0
        for row in range(n_rows):
            table[numbers[row] * card + codes[column, row]] += weights[row]
        for cell in range(size):
            if table[cell] > 0.0:
                counts[filled] = table[cell]
                filled += 1
        ends[i] = filled


@kernel
def count_family(
    numbers: IntArray, codes: AnyArray, column: int, weights: FloatArray, table: FloatArray
) -> None:
    """Add each row's weight to the cell of its parents' configuration and its own state."""
    for row in range(numbers.shape[0]):
        table[numbers[row], codes[column, row]] += weights[row]
