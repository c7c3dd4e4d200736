"""The best network over a few columns, given the score of every family, by bit masks.

Scores need not come from values of sets, as those in ``kernels.counts.sinks`` do.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel
from latentforest.kernels.types import FloatArray


@kernel
def raise_to_subsets(scores: FloatArray, variable: int) -> None:
    """Set each set's score to the highest of its subsets'; sets with the variable keep theirs."""
    n_sets = scores.shape[0]
    bit = 1
    while bit < n_sets:
        if bit != 1 << variable:
            for members in range(n_sets):
                if members & bit:
                    scores[members] = max(scores[members], scores[members ^ bit])
        bit <<= 1


@kernel
def total_best_networks(best: FloatArray, totals: FloatArray) -> None:
    """Set ``totals[S]`` to the score of the best network over S.

    ``best[v, U]`` is the score of the best parents of v within U.
    """
    totals[0] = 0.0
    for members in range(1, totals.shape[0]):
        highest = -np.inf
        for v in range(best.shape[0]):
            if members >> v & 1:
                rest = members ^ (1 << v)
                highest = max(highest, totals[rest] + best[v, rest])
        totals[members] = highest
