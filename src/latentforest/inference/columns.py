"""What estimation needs to know of a continuous column: its mean, its variance, the least variance.

The likelihood of a Gaussian grows without limit when its variance shrinks around a single value, or
around equal ones. So no variance may fall below a small share of the column's own. That of the
middle of the values counts, where it is smaller: a few values far away must not forbid the rest to
have narrow clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentforest.errors import DataError
from latentforest.kernels.types import FloatArray

SHARE = 1e-3  # least variance over that of the column, or of its middle
CONSTANT = 1e-3  # deviation of a column with a single value, as a share of that value
# Shares left out on either side of the middle, and how wide it is in deviations of a Gaussian. The
# first middle with different values counts.
MIDDLES = ((0.25, 1.349), (0.1, 2.563), (0.01, 4.653))
SMALLEST, LARGEST = 1e-290, 1e290  # variances that can be computed with


@dataclass(frozen=True)
class ColumnSummary:
    """Weighted mean and variance of a column, and the least variance of a Gaussian in it.

    Attributes
    ----------
    is_constant
        True if there are not two different values of positive weight.
    """

    mean: float
    variance: float
    least_variance: float
    is_constant: bool = False


def summarize(name: str, values: FloatArray, weights: FloatArray) -> ColumnSummary:
    """Describe a column; missing values and rows without weight do not count.

    Examples
    --------
    >>> summarize("size", np.array([1.0, 3.0, np.nan]), np.ones(3))
    ColumnSummary(mean=2.0, variance=1.0, least_variance=0.001, is_constant=False)
    """
    used = ~np.isnan(values) & (weights > 0)
    x, w = values[used], weights[used]
    if len(x) == 0:
        return ColumnSummary(0.0, 1.0, SHARE, is_constant=True)
    total = float(w.sum())
    mean = float(x[0] + w @ ((x - x[0]) / total))
    d = x - mean
    largest = float(np.abs(d).max())
    if x.min() == x.max():
        spread = (CONSTANT * (abs(float(x[0])) or 1.0)) ** 2
        _check(name, spread)
        return ColumnSummary(float(x[0]), spread, spread, is_constant=True)
    variance = largest * largest * float(w @ (d / largest) ** 2) / total
    _check(name, variance)
    return ColumnSummary(mean, variance, SHARE * min(variance, _measure_middle(x, w) or variance))


def _measure_middle(x: FloatArray, w: FloatArray) -> float:
    """Variance of a Gaussian whose middle is as wide; zero if nearly all values are equal."""
    order = np.argsort(x)
    below = np.cumsum(w[order])
    for tail, width in MIDDLES:
        low, high = np.searchsorted(below, [tail * below[-1], (1.0 - tail) * below[-1]])
        distance = float(x[order[high]] - x[order[low]]) / width
        if distance * distance > SMALLEST:
            return distance * distance
    return 0.0


def _check(name: str, variance: float) -> None:
    if not SMALLEST <= variance <= LARGEST:
        raise DataError(
            f"column {name!r}: the variance of its values, {variance:.3g}, cannot be computed "
            f"with; change the unit of the column so that it lies between {SMALLEST:g} and "
            f"{LARGEST:g}"
        )
