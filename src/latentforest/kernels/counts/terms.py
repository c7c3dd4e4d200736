"""The term n log n of a count, as a whole number of grid units.

Rounded terms add up exactly in any order, so that sums do not depend on the order of rows, columns
or states, and differences of sums that are equal in mathematics are equal to the last bit.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray, LongArray


@kernel
def tabulate_terms(n_terms: int, scale: float) -> FloatArray:
    """Return the terms of the counts 0, 1, …, ``n_terms - 1``, in units of ``1 / scale``."""
    terms = np.zeros(n_terms)
    for count in range(2, n_terms):
        terms[count] = np.rint(count * math.log(count) * scale)
    return terms


@part
def find_term(count: float, terms: FloatArray, scale: float) -> float:
    """Look a term up, or compute it where the table ends; it is empty for broken weights."""
    if count < terms.shape[0]:
        return float(terms[int(count)])
    return float(np.rint(count * math.log(count) * scale)) if count > 0.0 else 0.0


@kernel
def sum_terms(
    counts: FloatArray, ends: LongArray, terms: FloatArray, scale: float, sums: FloatArray
) -> None:
    """Add up the terms of several lists of counts that lie one after the other."""
    start = 0
    for i in range(ends.shape[0]):
        total = 0.0
        for place in range(start, ends[i]):
            total += find_term(counts[place], terms, scale)
        sums[i] = total
        start = ends[i]


@kernel
def sum_gamma_terms(
    counts: FloatArray, ends: LongArray, priors: FloatArray, scale: float, sums: FloatArray
) -> None:
    """Add up log Γ(a + n) - log Γ(a) over several lists of counts, with a prior count a for each.

    Terms are whole numbers of grid units.
    """
    start = 0
    for i in range(ends.shape[0]):
        total, prior = 0.0, priors[i]
        empty = math.lgamma(prior)
        last, term = -1.0, 0.0
        for place in range(start, ends[i]):
            count = counts[place]
            if count != last:  # equal counts often lie side by side
                last, term = count, np.rint((math.lgamma(prior + count) - empty) * scale)
            total += term
        sums[i] = total
        start = ends[i]
