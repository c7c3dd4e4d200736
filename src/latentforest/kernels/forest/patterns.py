"""Joining pattern columns: which rows agree on two columns at once.

A pattern column numbers the distinct values (or tuples of values) that rows take, in the order
of their first occurrence.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import IntArray

_EMPTY = -1
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: spreads keys over the table


@kernel
def join(left: IntArray, n_left: int, right: IntArray, n_right: int) -> tuple[IntArray, IntArray]:
    """Number the distinct pairs of two columns.

    Returns the pair's number for each row, and for each number the first row that has it.
    """
    n_rows = left.shape[0]
    codes = np.empty(n_rows, np.int32)
    first = np.empty(n_rows, np.int32)
    if n_left * n_right <= max(4 * n_rows, 4096):
        n_pairs = _join_by_table(left, right, n_left, n_right, codes, first)
    else:
        n_pairs = _join_by_hash(left, right, n_right, codes, first)
    return codes, first[:n_pairs].copy()


@part
def _join_by_table(
    left: IntArray, right: IntArray, n_left: int, n_right: int, codes: IntArray, first: IntArray
) -> int:
    numbers = np.full(n_left * n_right, _EMPTY, np.int32)
    n_pairs = 0
    for row in range(left.shape[0]):
        key = left[row] * n_right + right[row]
        number = numbers[key]
        if number == _EMPTY:
            number = n_pairs
            numbers[key] = number
            first[number] = row
            n_pairs += 1
        codes[row] = number
    return n_pairs


@part
def _join_by_hash(
    left: IntArray, right: IntArray, n_right: int, codes: IntArray, first: IntArray
) -> int:
    n_rows = left.shape[0]
    bits = 4
    while (1 << bits) < 2 * n_rows:
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    keys = np.full(1 << bits, _EMPTY, np.int64)
    numbers = np.empty(1 << bits, np.int32)
    n_pairs = 0
    for row in range(n_rows):
        key = np.int64(left[row]) * n_right + right[row]
        place = np.int64((np.uint64(key) * _SPREAD) >> shift)
        while keys[place] != key and keys[place] != _EMPTY:
            place = (place + 1) & mask
        if keys[place] == _EMPTY:
            keys[place] = key
            numbers[place] = n_pairs
            first[n_pairs] = row
            n_pairs += 1
        codes[row] = numbers[place]
    return n_pairs


@kernel
def count_joint(left: IntArray, n_left: int, right: IntArray, n_right: int) -> int:
    """Count the distinct pairs of two columns."""
    _, first = join(left, n_left, right, n_right)
    return len(first)
