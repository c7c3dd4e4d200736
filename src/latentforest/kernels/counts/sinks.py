"""The best network over a few columns, by dynamic programming over their subsets.

Silander and Myllymäki (2006): the best network over a set has a sink; without it, it is the best
network over the rest. Sets are bit masks. ``values[S]`` measures set S, and a family's score is the
value of variable and parents less that of the parents; it is -inf for sets that are out of reach.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray

IMPOSSIBLE = -np.inf


@part
def _score(
    values: FloatArray, variable: int, parents: int, required: int, allowed: int, most: int
) -> float:
    """Score of a family, -inf if it is not to be considered."""
    if (parents & required) != required or (parents & ~allowed) != 0:
        return IMPOSSIBLE
    above = values[parents]
    if above == IMPOSSIBLE or _count_bits(parents) > most:
        return IMPOSSIBLE
    return float(values[parents | (1 << variable)] - above)


@part
def _count_bits(mask: int) -> int:
    n_bits = 0
    while mask:
        mask &= mask - 1
        n_bits += 1
    return n_bits


@kernel
def score_best_parents(
    values: FloatArray, variable: int, required: int, allowed: int, most: int, best: FloatArray
) -> None:
    """Set ``best[C]`` to the score of the variable's best parents within a set C of the others.

    Bits of C above the variable's place are moved down by one: half as many sets as in ``values``.
    """
    below = (1 << variable) - 1
    for others in range(best.shape[0]):
        parents = (others & below) | ((others & ~below) << 1)
        highest = _score(values, variable, parents, required, allowed, most)
        left = others
        while left:
            rest = left & (left - 1)
            highest = max(highest, best[others ^ (left ^ rest)])
            left = rest
        best[others] = highest


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
    below = (1 << variable) - 1
    return float(best[variable, (rest & below) | ((rest >> 1) & ~below)] + totals[rest])


@kernel
def find_parents(
    values: FloatArray, variable: int, within: int, required: int, allowed: int, most: int
) -> int:
    """Find the best parents within a set: of equal ones the fewest, then those of least mask."""
    chosen, n_chosen, highest = -1, 0, IMPOSSIBLE
    parents = 0
    while True:
        score = _score(values, variable, parents, required, allowed, most)
        n_parents = _count_bits(parents)
        if score > highest or (score == highest and chosen >= 0 and n_parents < n_chosen):
            chosen, n_chosen, highest = parents, n_parents, score
        if parents == within:
            return chosen
        parents = (parents - within) & within
