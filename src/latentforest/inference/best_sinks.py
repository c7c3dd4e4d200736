"""The best network over a few columns, given the values of all sets of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.kernels.counts.sinks import (
    find_parents,
    score_best_networks,
    score_best_parents,
    score_sink,
)
from latentforest.kernels.types import FloatArray


def find_best_network(
    values: FloatArray, required: Sequence[Mask], allowed: Sequence[Mask], max_parents: int
) -> list[Mask]:
    """Compare all networks; then take the sinks off, from the last column to the first.

    Parameters
    ----------
    values
        Of all sets of columns, by bit masks; -inf for sets that are out of reach. A family scores
        the value of variable and parents less that of the parents.
    required, allowed
        Parents that each variable must have, and may have.
    max_parents
        How many it may have.

    Returns
    -------
    parents
        Of each variable.
    """
    n_columns = len(required)
    limits = list(zip(required, allowed, strict=True))
    best = np.empty((n_columns, 1 << (n_columns - 1)))
    for j in range(n_columns):
        score_best_parents(values, j, *limits[j], max_parents, best[j])
    totals = np.empty(1 << n_columns)
    score_best_networks(best, totals)
    parents, left = [0] * n_columns, (1 << n_columns) - 1
    while left:
        sink = _find_sink(best, totals, left)
        left ^= 1 << sink
        parents[sink] = int(find_parents(values, sink, left, *limits[sink], max_parents))
    return parents


def _find_sink(best: FloatArray, totals: FloatArray, members: Mask) -> int:
    """Find the last column that is a sink of a best network over these."""
    columns = reversed(list_bits(members))
    return next(j for j in columns if score_sink(best, totals, members, j) == totals[members])
