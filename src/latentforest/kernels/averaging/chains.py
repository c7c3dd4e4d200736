"""Markov chains over orders of variables, and over ordered partitions of them.

A state gives each variable a level. In an order (Friedman and Koller 2003) all levels differ, and a
variable has its parents below itself. In a partition (Kuipers and Moffa 2017) several share a
level, and each variable above level zero has a parent on the level just below its own: so every
network belongs to one partition, and counts once.

Each variable has a few candidates for parents. ``sums[v, M]`` is the logarithm of the sum of the
weights of all sets of parents within M, where bit c of M stands for ``candidates[v, c]``.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray, FloatTable, Int, LongArray, LongTable

SHARE_OF_MOVES = 0.7  # that take one variable elsewhere; the others exchange two


@part
def _score_variable(
    sums: FloatArray, candidates: LongArray, levels: LongArray, v: int, is_order: bool
) -> float:
    """Logarithm of the sum of the weights of the sets of parents that the levels allow."""
    below, under = _find_below(candidates, levels, v)
    total = sums[v, below]
    if is_order or levels[v] == 0:
        return float(total)
    rest = sums[v, under]
    if rest >= total:
        return -np.inf
    return float(total + np.log(-np.expm1(rest - total)))


@part
def _find_below(candidates: LongArray, levels: LongArray, v: int) -> tuple[int, int]:
    """Candidates below a variable, and those that are more than one level below it."""
    below, under, level = 0, 0, levels[v]
    for c in range(candidates.shape[1]):
        u = candidates[v, c]
        if u < 0:
            break
        if levels[u] < level:
            below |= 1 << c
            if levels[u] < level - 1:
                under |= 1 << c
    return below, under


@part
def _score_levels(
    sums: FloatArray, candidates: LongArray, levels: LongArray, is_order: bool
) -> float:
    total = 0.0
    for v in range(levels.shape[0]):
        total += _score_variable(sums, candidates, levels, v, is_order)
        if total == -np.inf:
            break
    return total


@part
def _move(levels: LongArray, proposed: LongArray, v: int, draw: float, is_order: bool) -> None:
    """Take a variable to any other place, all with the same probability.

    The places are the m levels that are left without it, and a level of its own below, between and
    above them. Without the variable both states are the same, so the way back is as probable.
    """
    n, old = levels.shape[0], levels[v]
    highest, is_alone = 0, True
    for u in range(n):
        highest = max(highest, levels[u])
        is_alone = is_alone and (u == v or levels[u] != old)
    n_left = highest + 1 - int(is_alone)
    place = 2 * int(draw * (n_left + 1)) if is_order else int(draw * (2 * n_left + 1))
    target, is_new = place // 2, place % 2 == 0
    for u in range(n):
        level = levels[u]
        if is_alone and level > old:
            level -= 1
        if is_new and level >= target:
            level += 1
        proposed[u] = level
    proposed[v] = target


@kernel
def run_chain(
    sums: FloatTable,
    candidates: LongTable,
    levels: LongArray,
    is_order: bool,
    draws: FloatTable,
    interval: Int,
    states: LongTable,
    scores: FloatArray,
) -> int:
    """Walk as many steps as there are draws; return how many were accepted.

    Every ``interval`` steps the levels are written to the next row of ``states``, and their score
    to ``scores``. ``levels`` is where the walk begins, and then where it ends.
    """
    n = levels.shape[0]
    proposed = levels.copy()
    score = _score_levels(sums, candidates, levels, is_order)
    n_accepted = 0
    for step in range(draws.shape[0]):
        v = int(draws[step, 1] * n)
        if draws[step, 0] < SHARE_OF_MOVES:
            _move(levels, proposed, v, draws[step, 2], is_order)
        else:
            u = int(draws[step, 2] * n)
            proposed[:] = levels
            proposed[u], proposed[v] = levels[v], levels[u]
        new = _score_levels(sums, candidates, proposed, is_order)
        if new - score > np.log(draws[step, 3]):
            levels[:] = proposed
            score = new
            n_accepted += 1
        if (step + 1) % interval == 0:
            row = (step + 1) // interval - 1
            states[row] = levels
            scores[row] = score
    return n_accepted


@kernel
def expect_arcs(
    sums: FloatTable, candidates: LongTable, states: LongTable, is_order: bool, arcs: FloatArray
) -> None:
    """Set ``arcs[s, v, c]`` to the probability in state s that v has candidate c as a parent.

    That is one less the share of the sets of parents without it.
    """
    arcs[:] = 0.0
    for s in range(states.shape[0]):
        levels = states[s]
        for v in range(levels.shape[0]):
            below, under = _find_below(candidates, levels, v)
            total = sums[v, below]
            has_to_reach = not is_order and levels[v] > 0
            left_out = np.exp(sums[v, under] - total) if has_to_reach else 0.0
            for c in range(candidates.shape[1]):
                bit = 1 << c
                if not below & bit:
                    continue
                without = np.exp(sums[v, below ^ bit] - total)
                if has_to_reach:
                    without -= np.exp(sums[v, under & ~bit] - total)
                share = 1.0 - without / (1.0 - left_out)
                arcs[s, v, c] = min(max(share, 0.0), 1.0)
