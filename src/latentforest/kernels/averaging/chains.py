"""Markov chains over orders of variables, and over networks.

Each variable has a few candidates for parents. Sets of these are bit masks: bit c stands for
``candidates[v, c]``. ``sums[v, M]`` is the logarithm of the sum of the weights of all sets of
parents within M, so that a state's sums are looked up.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import (
    BoolArray,
    FloatArray,
    FloatTable,
    Int,
    LongArray,
    LongTable,
)

SHARE_OF_MOVES = 0.7  # steps that take one variable elsewhere in an order; others exchange two
SHARE_OF_FAMILIES = 0.5  # steps that draw one variable's parents; others turn an arc


@part
def _find_earlier(candidates: LongArray, order: LongArray, v: int) -> int:
    """Candidates that stand before a variable."""
    found = 0
    for c in range(candidates.shape[1]):
        u = candidates[v, c]
        if u >= 0 and order[u] < order[v]:
            found |= 1 << c
    return found


@part
def _score_order(sums: FloatArray, candidates: LongArray, order: LongArray) -> float:
    total = 0.0
    for v in range(order.shape[0]):
        total += sums[v, _find_earlier(candidates, order, v)]
        if total == -np.inf:
            break
    return total


@kernel
def walk_orders(
    sums: FloatTable,
    candidates: LongTable,
    order: LongArray,
    draws: FloatTable,
    interval: Int,
    states: LongTable,
    scores: FloatArray,
) -> int:
    """Walk over orders (Friedman and Koller 2003); return how many steps were accepted.

    There are as many steps as draws. Every ``interval`` steps the place of each variable is written
    to the next row of ``states``, and the order's score to ``scores``. ``order`` is where the walk
    begins, and then where it ends.
    """
    n = order.shape[0]
    proposed = order.copy()
    score = _score_order(sums, candidates, order)
    n_accepted = 0
    for step in range(draws.shape[0]):
        v, other = int(draws[step, 1] * n), int(draws[step, 2] * n)
        proposed[:] = order
        if draws[step, 0] < SHARE_OF_MOVES:  # to any place: those between make room
            for u in range(n):
                if order[v] < order[u] <= other:
                    proposed[u] -= 1
                elif other <= order[u] < order[v]:
                    proposed[u] += 1
            proposed[v] = other
        else:
            proposed[other], proposed[v] = order[v], order[other]
        new = _score_order(sums, candidates, proposed)
        if new - score > np.log(draws[step, 3]):
            order[:] = proposed
            score = new
            n_accepted += 1
        if (step + 1) % interval == 0:
            row = (step + 1) // interval - 1
            states[row] = order
            scores[row] = score
    return n_accepted


@part
def _find_above(
    candidates: LongArray, arcs: BoolArray, v: int, below: BoolArray, stack: LongArray
) -> int:
    """Candidates that are no descendants of a variable; ``arcs[u, w]`` says that u is above w."""
    n = arcs.shape[0]
    below[:] = False
    below[v] = True
    stack[0], n_left = v, 1
    while n_left:
        n_left -= 1
        u = stack[n_left]
        for w in range(n):
            if arcs[u, w] and not below[w]:
                below[w] = True
                stack[n_left] = w
                n_left += 1
    found = 0
    for c in range(candidates.shape[1]):
        u = candidates[v, c]
        if u >= 0 and not below[u]:
            found |= 1 << c
    return found


@part
def _set_parents(candidates: LongArray, arcs: BoolArray, v: int, chosen: int) -> None:
    for c in range(candidates.shape[1]):
        u = candidates[v, c]
        if u >= 0:
            arcs[u, v] = (chosen >> c & 1) == 1


@part
def _draw_set(
    weights: FloatArray, ranks: LongArray, within: int, needed: int, total: float, draw: float
) -> int:
    """Draw a set of parents within a set that has what is needed; the heaviest are tried first."""
    reached, chosen = 0.0, -1
    for members in ranks:
        if members & ~within or (members & needed) != needed:
            continue
        if weights[members] == -np.inf:
            break
        chosen = members
        reached += np.exp(weights[members] - total)
        if reached >= draw:
            break
    return chosen


@part
def _sum_with(sums: FloatArray, within: int, bit: int) -> float:
    """Logarithm of the sum over the sets that have one candidate."""
    total, rest = sums[within], sums[within & ~bit]
    if rest >= total:
        return -np.inf
    return float(total + np.log(-np.expm1(rest - total)))


@part
def _count_bits(mask: int) -> int:
    n_bits = 0
    while mask:
        mask &= mask - 1
        n_bits += 1
    return n_bits


@part
def _find_arc(parents: LongArray, number: int) -> tuple[int, int]:
    """The child of an arc by its number, and the place of the parent among its candidates."""
    for v in range(parents.shape[0]):
        n_here = _count_bits(parents[v])
        if number < n_here:
            place = 0
            while True:
                if parents[v] >> place & 1:
                    if number == 0:
                        return v, place
                    number -= 1
                place += 1
        number -= n_here
    return -1, -1


@kernel
def walk_networks(
    sums: FloatTable,
    weights: FloatTable,
    ranks: LongTable,
    candidates: LongTable,
    parents: LongArray,
    draws: FloatTable,
    interval: Int,
    states: LongTable,
    scores: FloatArray,
) -> int:
    """Walk over networks; return how many steps were accepted.

    A step draws the parents of one variable among those that are not below it (Gibbs sampling,
    Goudie and Mukherjee 2016). Or it turns an arc i -> j: parents of both are forgotten, those of i
    are drawn with j among them, then those of j (Grzegorczyk and Husmeier 2008). ``weights`` are
    logarithms of the weights of sets of parents, ``ranks`` lists the sets from the heaviest on.
    Parents of each variable are written to ``states`` as orders are above.
    """
    n = parents.shape[0]
    arcs, below = np.zeros((n, n), np.bool_), np.zeros(n, np.bool_)
    stack = np.zeros(n, np.int64)
    n_arcs, n_accepted = 0, 0
    for v in range(n):
        _set_parents(candidates, arcs, v, parents[v])
        n_arcs += _count_bits(parents[v])
    for step in range(draws.shape[0]):
        if draws[step, 0] < SHARE_OF_FAMILIES or n_arcs == 0:
            v = int(draws[step, 1] * n)
            above = _find_above(candidates, arcs, v, below, stack)
            chosen = _draw_set(weights[v], ranks[v], above, 0, sums[v, above], draws[step, 2])
            n_arcs += _count_bits(chosen) - _count_bits(parents[v])
            n_accepted += int(chosen != parents[v])
            parents[v] = chosen
            _set_parents(candidates, arcs, v, chosen)
        else:
            j, place = _find_arc(parents, int(draws[step, 1] * n_arcs))
            i, back = candidates[j, place], -1
            for c in range(candidates.shape[1]):
                if candidates[i, c] == j:
                    back = c
            if back >= 0:
                old_i, old_j = parents[i], parents[j]
                # The way back, with the parents of j as they are and those of i forgotten.
                _set_parents(candidates, arcs, i, 0)
                above = _find_above(candidates, arcs, i, below, stack)
                ratio = -sums[i, above]
                _set_parents(candidates, arcs, j, 0)
                above = _find_above(candidates, arcs, j, below, stack)
                ratio -= _sum_with(sums[j], above, 1 << place)
                above = _find_above(candidates, arcs, i, below, stack)
                total = _sum_with(sums[i], above, 1 << back)
                ratio += total
                new_i, new_j = old_i, old_j
                if total > -np.inf:
                    new_i = _draw_set(weights[i], ranks[i], above, 1 << back, total, draws[step, 2])
                    _set_parents(candidates, arcs, i, new_i)
                    above = _find_above(candidates, arcs, j, below, stack)
                    ratio += sums[j, above]
                    if sums[j, above] > -np.inf:
                        new_j = _draw_set(
                            weights[j], ranks[j], above, 0, sums[j, above], draws[step, 3]
                        )
                n_new = n_arcs + _count_bits(new_i) + _count_bits(new_j)
                n_new -= _count_bits(old_i) + _count_bits(old_j)
                ratio += np.log(n_arcs / n_new)
                if ratio > np.log(draws[step, 4]):
                    n_arcs = n_new
                    n_accepted += 1
                else:
                    new_i, new_j = old_i, old_j
                parents[i], parents[j] = new_i, new_j
                _set_parents(candidates, arcs, i, new_i)
                _set_parents(candidates, arcs, j, new_j)
        if (step + 1) % interval == 0:
            row = (step + 1) // interval - 1
            states[row] = parents
            scores[row] = 0.0
            for v in range(n):
                scores[row] += weights[v, parents[v]]
    return n_accepted


@kernel
def expect_arcs(
    sums: FloatTable, candidates: LongTable, states: LongTable, is_order: bool, arcs: FloatArray
) -> None:
    """Set ``arcs[s, v, c]`` to the probability in state s that v has candidate c as a parent.

    Parents come before v in an order, and are not below it in a network that is given but for the
    parents of v. The probability is one less the share of the sets of parents without it.
    """
    n = states.shape[1]
    network, below = np.zeros((n, n), np.bool_), np.zeros(n, np.bool_)
    stack = np.zeros(n, np.int64)
    arcs[:] = 0.0
    for s in range(states.shape[0]):
        if not is_order:
            for v in range(n):
                _set_parents(candidates, network, v, states[s, v])
        for v in range(n):
            if is_order:
                within = _find_earlier(candidates, states[s], v)
            else:
                within = _find_above(candidates, network, v, below, stack)
            for c in range(candidates.shape[1]):
                if within >> c & 1:
                    arcs[s, v, c] = -np.expm1(sums[v, within ^ 1 << c] - sums[v, within])
