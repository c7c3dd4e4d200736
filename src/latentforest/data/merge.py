"""Merges equal rows: columns are packed into integer keys, and keys are sorted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Keys stay below this, so that no product overflows a signed 64-bit integer.
_KEY_LIMIT = 1 << 62


class MergedRows(NamedTuple):
    """``first[m]``: first row of merged row m; ``inverse[i]``: merged row of row i."""

    first: NDArray[np.intp]
    inverse: NDArray[np.intp]


class _Digits(NamedTuple):
    """A column as non-negative integers below ``radix``."""

    values: NDArray[Any]
    radix: int


def merge_rows(columns: Iterable[NDArray[Any]]) -> MergedRows:
    """Find equal rows, in order of first occurrence; missing equals missing."""
    key: NDArray[np.int64] | None = None
    size = 1
    for column in columns:
        digits = _to_digits(column)
        if key is None:
            key, size = digits.values.astype(np.int64), digits.radix
            continue
        if size * digits.radix >= _KEY_LIMIT:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key *= digits.radix
        key += digits.values
        size *= digits.radix
    if key is None:
        raise ValueError("merge_rows needs at least one column")
    return _number_by_first(key)


def _to_digits(column: NDArray[Any]) -> _Digits:
    if column.dtype.kind == "f":
        distinct, ranks = np.unique(column, return_inverse=True)
        return _Digits(ranks, len(distinct))
    low, high = int(column.min()), int(column.max())
    shifted = column if low >= 0 else column.astype(np.int32) + 1
    return _Digits(shifted, high + 1 if low >= 0 else high + 2)


def _number_by_first(key: NDArray[np.int64]) -> MergedRows:
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return MergedRows(first[order], rank[inverse])
