"""The term n log n of a count, as a whole number of grid units.

Rounded terms add up exactly in any order, so that sums do not depend on the order of rows, columns
or states, and differences of sums that are equal in mathematics are equal to the last bit.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray, LongArray

FEW_COUNTS = 16  # whole counts below this are looked up


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


@part
def tabulate_gamma_terms(prior: float, terms: FloatArray, scale: float) -> None:
    """Set the terms log Γ(a + n) - log Γ(a) of the counts 0, 1, …, in units of ``1 / scale``."""
    total = 0.0
    for count in range(terms.shape[0]):
        terms[count] = np.rint(total * scale)
        total += math.log(prior + count)


@part
def find_gamma_term(count: float, prior: float, terms: FloatArray, scale: float) -> float:
    """Look the term of a small whole count up, or compute it."""
    if count < terms.shape[0] and count == math.floor(count):
        return float(terms[int(count)])
    return float(np.rint((math.lgamma(prior + count) - math.lgamma(prior)) * scale))


@kernel
def sum_gamma_terms(
    counts: FloatArray, ends: LongArray, priors: FloatArray, scale: float, sums: FloatArray
) -> None:
    """Add up log Γ(a + n) - log Γ(a) over several lists of counts, with a prior count a for each.

    Terms are whole numbers of grid units.
    """
    start = 0
    terms = np.empty(FEW_COUNTS)
    for i in range(ends.shape[0]):
        total = 0.0
        tabulate_gamma_terms(priors[i], terms, scale)
        for place in range(start, ends[i]):
            total += find_gamma_term(counts[place], priors[i], terms, scale)
        sums[i] = total
        start = ends[i]
