"""The best network over a few columns, given the scores of all their families."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.kernels.counts.sinks import (
    find_parents,
    score_best_networks,
    score_families,
    score_sink,
    spread_best,
)
from latentforest.kernels.types import FloatArray


def tabulate_families(
    values: Sequence[tuple[FloatArray, FloatArray]],
    weights: FloatArray,
    required: Sequence[Mask],
    allowed: Sequence[Mask],
    max_parents: int,
) -> FloatArray:
    """Return the scores of all families.

    Parameters
    ----------
    values
        For each variable, the values of all sets of columns by bit masks, and their values as
        parents of this variable; -inf for sets that are out of reach.
    weights
        What each arc adds to a score, by child and parent.
    required, allowed
        Parents that each variable must have, and may have.
    max_parents
        How many it may have.

    Returns
    -------
    scores
        ``(n_columns, 2^(n_columns - 1))``: of variable j with a set of the other columns, in which
        the bits above j are moved down by one. -inf for families that must not be.
    """
    n = len(required)
    scores = np.empty((n, 1 << (n - 1)))
    for j, (families, above) in enumerate(values):
        score_families(
            families, above, weights[j], j, required[j], allowed[j], max_parents, scores[j]
        )
    return scores


def find_best_network(scores: FloatArray) -> list[Mask]:
    """Compare all networks; then take the sinks off, from the last column to the first.

    Parameters
    ----------
    scores
        As of ``tabulate_families``; they are overwritten.

    Returns
    -------
    parents
        Of each variable.
    """
    n_columns = len(scores)
    for row in scores:
        spread_best(row)
    totals = np.empty(1 << n_columns)
    score_best_networks(scores, totals)
    parents, left = [0] * n_columns, (1 << n_columns) - 1
    while left:
        sink = _find_sink(scores, totals, left)
        left ^= 1 << sink
        parents[sink] = int(find_parents(scores[sink], sink, left))
    return parents


def _find_sink(best: FloatArray, totals: FloatArray, members: Mask) -> int:
    """Find the last column that is a sink of a best network over these."""
    columns = reversed(list_bits(members))
    return next(j for j in columns if score_sink(best, totals, members, j) == totals[members])
