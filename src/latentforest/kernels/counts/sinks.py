"""The best network over a few columns, by dynamic programming over their subsets.

Silander and Myllymäki (2006): the best network over a set has a sink; without it, it is the best
network over the rest. Sets are bit masks. Sets of the columns other than one have the bits above
its place moved down by one: half as many as there are sets of all columns.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray

IMPOSSIBLE = -np.inf


@part
def _count_bits(mask: int) -> int:
    n_bits = 0
    while mask:
        mask &= mask - 1
        n_bits += 1
    return n_bits


@part
def _widen(others: int, variable: int) -> int:
    """Turn a set of the other columns into a set of all."""
    below = (1 << variable) - 1
    return (others & below) | ((others & ~below) << 1)


@part
def _narrow(columns: int, variable: int) -> int:
    """Turn a set of columns without one into a set of the others."""
    below = (1 << variable) - 1
    return (columns & below) | ((columns >> 1) & ~below)


@kernel
def score_families(
    values: FloatArray,
    above: FloatArray,
    weights: FloatArray,
    variable: int,
    required: int,
    allowed: int,
    most: int,
    scores: FloatArray,
) -> None:
    """Set ``scores[C]`` to the score of a variable with the parents C; -inf if it must not be.

    That is the value of variable and parents less the value ``above`` of the parents, plus the
    weight of each parent.
    """
    for others in range(scores.shape[0]):
        parents = _widen(others, variable)
        scores[others] = IMPOSSIBLE
        if (parents & required) != required or (parents & ~allowed) != 0:
            continue
        if above[parents] == IMPOSSIBLE or _count_bits(parents) > most:
            continue
        score = values[parents | (1 << variable)] - above[parents]
        for j in range(weights.shape[0]):
            if parents >> j & 1:
                score += weights[j]
        scores[others] = score


@kernel
def spread_best(scores: FloatArray) -> None:
    """Replace the score of each set of parents by that of the best of its subsets."""
    for others in range(scores.shape[0]):
        highest = scores[others]
        left = others
        while left:
            rest = left & (left - 1)
            highest = max(highest, scores[others ^ (left ^ rest)])
            left = rest
        scores[others] = highest


@kernel
def score_best_networks(best: FloatArray, totals: FloatArray) -> None:
    """Set ``totals[S]`` to the score of the best network over S; ``best[j]`` is of variable j."""
    totals[0] = 0.0
    for members in range(1, totals.shape[0]):
        highest = IMPOSSIBLE
        left = members
        variable = 0
        while left:
            if left & 1:
                highest = max(highest, score_sink(best, totals, members, variable))
            left >>= 1
            variable += 1
        totals[members] = highest


@kernel
def score_sink(best: FloatArray, totals: FloatArray, members: int, variable: int) -> float:
    """Score of the best network over a set in which this variable has no children."""
    rest = members ^ (1 << variable)
    return float(best[variable, _narrow(rest, variable)] + totals[rest])


@kernel
def find_parents(best: FloatArray, variable: int, within: int) -> int:
    """Find the best parents of a variable within a set: none of them can be spared."""
    others = _narrow(within, variable)
    highest = best[others]
    left = others
    while left:  # from the first column on: what can be spared goes
        rest = left & (left - 1)
        without = others ^ (left ^ rest)
        if best[without] == highest:
            others = without
        left = rest
    return _widen(others, variable)
