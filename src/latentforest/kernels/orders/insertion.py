"""Orders of columns: what each column scores given those before it, and where one fits best.

A *growth graph* holds, for each column, the sets of parents that a greedy search can reach. A node
is a set of parents; it lists the further parents that raise its score, the best first. The parents
of a column in an order are found by a walk from its root: at each node, to the first listed
candidate that stands before the column, until there is none. Unneeded parents are then taken away
again: what is left has the node's final score. Grow-shrink trees are due to Andrews et al. (2023).

The graph grows while it is used: a walk that leaves the known part notes where, and the caller adds
what is missing and begins again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray, LongArray

UNKNOWN, WANTED = -1, -2  # instead of the number of a node


class Growth(NamedTuple):
    """The arrays of a growth graph.

    Attributes
    ----------
    roots
        Node of each column at which walks begin.
    final
        Score of each node after unneeded parents are taken away; nan if unknown.
    is_asked
        Whether a walk has asked for that score.
    firsts, lasts
        Slots of the candidates of each node.
    candidates, nodes
        Column of each slot, and the node that it leads to, or ``UNKNOWN`` or ``WANTED``.
    """

    roots: LongArray
    final: FloatArray
    is_asked: LongArray
    firsts: LongArray
    lasts: LongArray
    candidates: LongArray
    nodes: LongArray


@part
def _walk(
    growth: Growth,
    column: int,
    places: LongArray,
    limit: int,
    moved: int,
    is_before: bool,
    wanted: LongArray,
    n_wanted: int,
) -> tuple[int, int]:
    """Walk to the parents of a column; returns the node (or ``UNKNOWN``) and how many are wanted.

    Before the column stand those with ``places`` below the limit, and the moved one if
    ``is_before``. What is wanted is a slot that leads to an unknown node, or ``~node`` for a final
    score.
    """
    firsts, lasts = growth.firsts, growth.lasts
    candidates, nodes = growth.candidates, growth.nodes
    node = growth.roots[column]
    while True:
        next_slot = -1
        for slot in range(firsts[node], lasts[node]):
            other = candidates[slot]
            if is_before if other == moved else places[other] < limit:
                next_slot = slot
                break
        if next_slot < 0:
            break
        following = nodes[next_slot]
        if following < 0:
            if following == UNKNOWN:
                nodes[next_slot] = WANTED
                wanted[n_wanted] = next_slot
                n_wanted += 1
            return UNKNOWN, n_wanted
        node = following
    if np.isnan(growth.final[node]):
        if not growth.is_asked[node]:
            growth.is_asked[node] = 1
            wanted[n_wanted] = ~node
            n_wanted += 1
        return UNKNOWN, n_wanted
    return node, n_wanted


@kernel
def find_nodes(growth: Growth, order: LongArray, found: LongArray, wanted: LongArray) -> int:
    """Find the node of each column in an order; returns how many entries of ``wanted`` are set."""
    places = np.empty(order.shape[0], np.int64)
    for place in range(order.shape[0]):
        places[order[place]] = place
    n_wanted = 0
    for place in range(order.shape[0]):
        column = order[place]
        found[column], n_wanted = _walk(growth, column, places, place, -1, False, wanted, n_wanted)
    return n_wanted


@kernel
def move_columns(
    growth: Growth,
    order: LongArray,
    schedule: LongArray,
    start: int,
    is_above: LongArray,
    gains: FloatArray,
    wanted: LongArray,
) -> tuple[int, int]:
    """Move columns to where the score of the order is highest, one after the other.

    Parameters
    ----------
    growth
        The growth graph.
    order
        Is changed.
    schedule, start
        The columns to be moved, and at which to begin.
    is_above
        ``is_above[i, j]``: column i must stand before column j.
    gains
        Filled with what each move adds to the score.
    wanted
        Filled with what the graph lacks; has room for three entries for each column.

    Returns
    -------
    done
        How many of the schedule are done, those before ``start`` among them.
    n_wanted
        How many entries of ``wanted`` are set: none if all are done.
    """
    n = order.shape[0]
    places, rest = np.empty(n, np.int64), np.empty(n, np.int64)
    own, without, behind = np.empty(n), np.empty(n), np.empty(n)
    for turn in range(start, schedule.shape[0]):
        moved = schedule[turn]
        n_rest, now = 0, 0
        for place in range(n):
            if order[place] == moved:
                now = place
            else:
                rest[n_rest] = order[place]
                places[order[place]] = n_rest
                n_rest += 1
        places[moved] = n
        lowest, highest = 0, n_rest
        for place in range(n_rest):
            if is_above[rest[place], moved]:
                lowest = place + 1
        for place in range(n_rest - 1, -1, -1):
            if is_above[moved, rest[place]]:
                highest = place
        n_wanted = 0
        for place in range(lowest, highest + 1):
            node, n_wanted = _walk(growth, moved, places, place, -1, False, wanted, n_wanted)
            own[place] = growth.final[node]
        for place in range(lowest, highest):
            column = rest[place]
            node, n_wanted = _walk(growth, column, places, place, moved, False, wanted, n_wanted)
            without[place] = growth.final[node]
            node, n_wanted = _walk(growth, column, places, place, moved, True, wanted, n_wanted)
            behind[place] = growth.final[node]
        if n_wanted > 0:
            return turn, n_wanted
        # Relative to the first place: each column passed scores without the moved one.
        total, best, best_place, here = own[lowest], own[lowest], lowest, own[lowest]
        passed = 0.0
        for place in range(lowest, highest + 1):
            if place > lowest:
                passed += without[place - 1] - behind[place - 1]
            total = own[place] + passed
            if place == now:
                here = total
            if total > best:
                best, best_place = total, place
        gains[turn] = best - here
        if best > here:
            n_rest = 0
            for place in range(n):
                if place == best_place:
                    order[place] = moved
                else:
                    order[place] = rest[n_rest]
                    n_rest += 1
    return schedule.shape[0], 0
