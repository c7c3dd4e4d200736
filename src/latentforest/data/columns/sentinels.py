"""Finds numbers that stand for "no value", such as -9 or 99, in columns of other numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_POSITIVE = (
    *(7, 8, 9),
    *(77, 88, 96, 97, 98, 99),
    *(777, 888, 996, 997, 998, 999),
    *(7777, 8888, 9996, 9997, 9998, 9999),
    *(99999, 999999, 9999999, 99999999),
)
_NEGATIVE = (-1, *(-code for code in _POSITIVE), -2, -3, -4, -5, -6, -66, -666)
_NINES = tuple(float(10**k - 1) for k in range(1, 9))
_LEAST_RUN = 2  # distinct values below a code such as 9


def find_sentinels(values: NDArray[Any]) -> list[float]:
    """Codes for "no value" in a column of numbers; NaN is ignored.

    A negative code is found if nothing else is negative, or if it is farther from the rest than
    the rest spans; a code of nines (with the 7s and 8s beside it) if it is that far away, or if it
    stands behind a run of whole numbers with a gap, and more often than the run's last number or
    at more than twice its height.

    Examples
    --------
    >>> find_sentinels(np.array([34.0, 51, -99, 28, -99]))
    [-99.0]
    >>> find_sentinels(np.array([1.0, 2, 3, 9, 9, 2])), find_sentinels(np.arange(1.0, 10))
    ([9.0], [])
    """
    seen = values[~np.isnan(values)]
    if seen.size < 3 or not (seen.min() in _NEGATIVE or seen.max() in _NINES):
        return []
    distinct, counts = np.unique(seen, return_counts=True)
    low = _strip(distinct, _NEGATIVE)
    high = _strip(distinct[::-1], _POSITIVE) if distinct[-1] in _NINES else 0
    rest = distinct[low : len(distinct) - high]
    if len(rest) < _LEAST_RUN:
        return []
    found = [float(x) for x in distinct[:low] if _is_low_code(x, rest, distinct[0])]
    top = slice(len(distinct) - high, len(distinct))
    if high and _are_high_codes(distinct[top], counts[top], rest, counts[top.start - 1]):
        found += distinct[top].tolist()
    return found


def _strip(ordered: NDArray[Any], codes: tuple[float, ...]) -> int:
    """How many of the first values are codes."""
    n = 0
    while n < len(ordered) and ordered[n] in codes:
        n += 1
    return n


def _is_low_code(code: float, rest: NDArray[Any], lowest: float) -> bool:
    least, most = float(rest[0]), float(rest[-1])
    if least < 0:
        return code in (-99, -999, -9999, -99999) and least - code > most - least
    if lowest >= -5:  # -1 may be a point of a scale, such as -1, 0, 1
        return (least >= 1 and most > -2 * lowest) or most >= 20
    return True


def _are_high_codes(
    codes: NDArray[Any], counts: NDArray[Any], rest: NDArray[Any], last_count: int
) -> bool:
    gap, span = float(codes[0] - rest[-1]), float(rest[-1] - rest[0])
    is_whole = bool(np.all(rest == np.floor(rest)))
    if not is_whole or len(rest) < 0.5 * (span + 1):
        return float(codes[-1]) >= 99 and gap > 2 * span and float(rest[0]) >= 0
    if gap < 2 or rest[0] < 0 or rest[0] > 20:
        return False
    is_run = len(rest) == span + 1
    if codes[-1] == 9 and not is_run:
        return False
    return bool(codes[0] > 2 * rest[-1]) or bool(counts.sum() > max(last_count, 1))
