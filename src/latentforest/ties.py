"""Which of several scores is the highest, whatever the last bits of their sums.

Sums of the same numbers differ between processors in their last bits, and candidates that are each
other's mirror image (a column and its copy) have the same score but for these. So scores within a
relative margin of the highest are equal, and of equal candidates the first one wins: candidates are
listed in an order that follows from the table and the model, never from the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

SAME = 1e-9  # relative to the higher score; scores below one are compared as they are

Scores = Sequence[float] | NDArray[np.float64]
Item = TypeVar("Item")


def is_higher(score: float, other: float) -> bool:
    """Whether a score is higher than another one by more than rounding errors.

    Examples
    --------
    >>> is_higher(-1000.0, -1000.0 - 1e-9), is_higher(-1000.0, -1000.1)
    (False, True)
    """
    return score > other + _margin(score) if np.isfinite(other) else score > other


def find_best(scores: Scores) -> int:
    """Return the position of the highest score; of equal ones, the first.

    Examples
    --------
    >>> find_best([0.1, 0.3, 0.1 + 0.2])
    1
    """
    values: NDArray[np.float64] = np.asarray(scores, dtype=np.float64)
    highest = float(values.max())
    return int(np.argmax(values >= highest - _margin(highest)))


def choose_best(items: Iterable[Item], score: Callable[[Item], float]) -> Item:
    """Return the item of the highest score; of equal ones, the first."""
    listed = list(items)
    return listed[find_best([score(item) for item in listed])]


def sort_best_first(scores: Scores) -> list[int]:
    """List the positions of scores, the highest first; equal ones in their order.

    Examples
    --------
    >>> sort_best_first([0.1, 0.1 + 0.2, 0.3, 0.5])
    [3, 1, 2, 0]
    """
    values: NDArray[np.float64] = np.asarray(scores, dtype=np.float64)
    order: NDArray[np.intp] = np.argsort(-values, kind="stable")
    falling = -values[order]
    with np.errstate(invalid="ignore"):  # infinite scores are in order already
        steps = np.diff(falling)
        is_tied = steps <= SAME * np.maximum(1.0, np.abs(falling[:-1]))
    end = 0
    for begin in np.flatnonzero(is_tied):
        if begin >= end:
            limit = falling[begin] + _margin(float(falling[begin]))
            end = int(np.searchsorted(falling, limit, "right"))
            order[begin:end].sort()
    return [int(i) for i in order]


def _margin(score: float) -> float:
    return SAME * max(1.0, abs(score)) if np.isfinite(score) else 0.0
