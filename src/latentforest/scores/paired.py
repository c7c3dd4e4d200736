"""Paired differences: of two models' log-likelihoods row by row, and p-values of many of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from latentforest.kernels.types import FloatArray


@dataclass(frozen=True)
class PairedDifference:
    """The mean of differences with its standard error, z, and two-sided p.

    ``z`` and ``p`` are not a number where all differences are zero, or none is there.
    """

    mean: float
    standard_error: float
    z: float
    p: float


def compare_paired(
    gaps: FloatArray, weights: FloatArray, correction: float = 0.0
) -> PairedDifference:
    """Test whether the mean of differences is zero (Vuong 1989).

    Parameters
    ----------
    gaps
        Finite differences of two models' log-likelihoods, of shape (n_rows,).
    weights
        How many observations each row stands for.
    correction
        Taken off the mean before it is tested: what the first model has in advance.

    Examples
    --------
    >>> import numpy as np
    >>> found = compare_paired(np.array([1.0, -1.0, 3.0, 1.0]), np.ones(4))
    >>> found.mean, round(found.standard_error, 4), round(found.p, 4)
    (1.0, 0.7071, 0.1573)
    """
    total = float(weights.sum())
    if total <= 0:
        return PairedDifference(math.nan, math.nan, math.nan, math.nan)
    mean = float(weights @ gaps) / total
    error = math.sqrt(float(weights @ (gaps - mean) ** 2)) / total
    # Differences that are nothing but rounding have no z.
    z = (mean - correction) / error if error > 1e-12 else math.nan
    return PairedDifference(mean, error, z, two_sided(z))


def two_sided(z: float) -> float:
    """Return the probability that a standard normal number is as far from zero."""
    return math.erfc(abs(z) / math.sqrt(2)) if math.isfinite(z) else math.nan


def adjust_holm(values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number, so that one error in all is as rare as one was in each.

    Holm's step-down method, which holds whatever the dependences are. Values that are not numbers
    stay and do not count.

    Examples
    --------
    >>> adjust_holm([0.01, 0.04, float("nan"), 0.03])
    [0.03, 0.06, nan, 0.06]
    """
    adjusted = [math.nan] * len(values)
    order = sorted((p, i) for i, p in enumerate(values) if not math.isnan(p))
    highest = 0.0
    for rank, (p, i) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        adjusted[i] = highest
    return adjusted
