"""Message passing in a tree of cliques, over patterns of rows.

All numbers of a propagation lie in one *buffer*:

    | parameters | ones | dense messages | messages of the groups, children before parents |

The *groups* of a clique are its patterns of rows in which the same variables are missing: in these
the same few cells of the clique's table agree with the rows. A pattern multiplies its *items*, cell
by cell, and sums the products into its message. An item is a table of parameters, a dense message
or the message of a child. Where it starts in the buffer depends on the pattern (``offsets``),
which of its entries belongs to a cell on the group (``maps``).

The way down fills a second buffer of the same layout: at an item's entry, the weight of the rows
that go through it, all patterns together. At the parameters these are the expected counts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import (
    Flag,
    FloatArray,
    FloatTable,
    IndexArray,
    Int,
    IntArray,
    IntTable,
    LongArray,
    LongTable,
)

# Fields of a group's record in `CliquePlan.groups`.
N_PATTERNS = 0
N_CELLS = 1
N_ITEMS = 2
FIRST_CHILD = 3  # items before it are tables and dense messages
SIZE = 4  # of a message
PLACE = 5  # of the first message in the buffer; the others follow
MAPS = 6  # start in `maps`: for each cell the entry of every item, then that of the message
OFFSETS = 7  # start in `offsets`: for each pattern the start of every item
NODE = 8  # number of the clique
REPORTS = 9  # start in `reports`
N_REPORTS = 10
CHILDREN = 11  # start in `children`: the cliques of the child items
IS_PLAIN = 12  # entry k of every item belongs to cell k
KEEPS_ALL = 13  # nothing is summed: entry k of the message is cell k
N_FIELDS = 14

LEAST = 2.0**-256  # messages below are scaled up
SCALE = 2.0**256
LOG_SCALE = 256.0 * math.log(2.0)
NEARLY = 1.0 - 1e-12  # cells whose values differ by less are tied: the first one counts


class CliquePlan(NamedTuple):
    """The work of a network over some rows, as data."""

    groups: LongTable  # (n_groups, N_FIELDS), children before parents
    maps: IndexArray
    offsets: IndexArray
    roots: LongArray  # places of the root patterns' messages
    weights: FloatArray  # of the rows of each root pattern
    owner: IntArray  # at the start of each message: its group
    reports: LongArray  # pairs: where a variable's states go, and where their map starts
    children: LongArray


@part
def _multiply_plain(
    buffer: FloatArray, offsets: IndexArray, first: int, n_items: int, n_cells: int, place: int
) -> None:
    """Multiply items whose entries are the cells; the message has them all."""
    a, b = offsets[first], offsets[first + n_items - 1]
    for cell in range(n_cells):
        buffer[place + cell] = (
            buffer[a + cell] * buffer[b + cell] if n_items > 1 else buffer[a + cell]
        )
    for i in range(first + 1, first + n_items - 1):
        c = offsets[i]
        for cell in range(n_cells):
            buffer[place + cell] *= buffer[c + cell]


@part
def _sum_plain(
    buffer: FloatArray, offsets: IndexArray, first: int, n_items: int, n_cells: int
) -> float:
    """Multiply items whose entries are the cells, and sum over all of them."""
    total = 0.0
    for cell in range(n_cells):
        value = buffer[offsets[first] + cell]
        for i in range(first + 1, first + n_items):
            value *= buffer[offsets[i] + cell]
        total += value
    return total


@kernel
def ascend(
    plan: CliquePlan, buffer: FloatArray, shifts: IntArray, is_max: Flag, floor: float
) -> bool:
    """Fill the messages, from the leaves to the roots; ``is_max`` maximizes instead of summing.

    ``shifts`` counts at the start of each message how often it and those below it were scaled; its
    last entry tells whether there are any. Entries that underflow has removed get ``floor``.
    Returns whether any message was scaled.
    """
    groups, maps, offsets = plan.groups, plan.maps, plan.offsets
    any_shift = False
    if shifts[-1] > 0:
        shifts[:] = 0
    for g in range(groups.shape[0]):
        n_cells, n_items, size = groups[g, N_CELLS], groups[g, N_ITEMS], groups[g, SIZE]
        place, first = groups[g, PLACE], groups[g, OFFSETS]
        first_map, first_child = groups[g, MAPS], groups[g, FIRST_CHILD]
        is_plain = groups[g, IS_PLAIN] == 1 and n_items > 0 and not is_max
        for _ in range(groups[g, N_PATTERNS]):
            if is_plain and groups[g, KEEPS_ALL] == 1:
                _multiply_plain(buffer, offsets, first, n_items, n_cells, place)
            elif is_plain and size == 1:
                buffer[place] = _sum_plain(buffer, offsets, first, n_items, n_cells)
            else:
                for s in range(place, place + size):
                    buffer[s] = 0.0
                m = first_map
                for _ in range(n_cells):
                    value = 1.0
                    for i in range(n_items):
                        value *= buffer[offsets[first + i] + maps[m + i]]
                    s = place + maps[m + n_items]
                    buffer[s] = max(buffer[s], value) if is_max else buffer[s] + value
                    m += n_items + 1
            largest = 0.0
            for s in range(place, place + size):
                largest = max(largest, buffer[s])
            if any_shift:
                for i in range(first_child, n_items):
                    shifts[place] += shifts[offsets[first + i]]
            if largest < LEAST and largest > 0.0:
                any_shift = True
                shifts[place] += 1
                for s in range(place, place + size):
                    buffer[s] = max(buffer[s] * SCALE, floor)
            place += size
            first += n_items
    shifts[-1] = 1 if any_shift else 0
    return any_shift


@kernel
def descend(plan: CliquePlan, buffer: FloatArray, shifts: IntArray, weights: FloatArray) -> None:
    """Fill ``weights``, laid out like the buffer, from the roots to the leaves.

    At the roots they are those of the rows. A message's weights over its entries are what every
    way through it gets.
    """
    groups, maps, offsets, any_shift = plan.groups, plan.maps, plan.offsets, shifts[-1] > 0
    weights[:] = 0.0
    for r in range(plan.roots.shape[0]):
        weights[plan.roots[r]] = plan.weights[r]
    for g in range(groups.shape[0] - 1, -1, -1):
        n_cells, n_items, size = groups[g, N_CELLS], groups[g, N_ITEMS], groups[g, SIZE]
        place, first, first_child = groups[g, PLACE], groups[g, OFFSETS], groups[g, FIRST_CHILD]
        is_plain, first_map = groups[g, IS_PLAIN] == 1, groups[g, MAPS]
        if groups[g, KEEPS_ALL] == 1:  # what goes through an entry goes through its only cell
            for _ in range(groups[g, N_PATTERNS]):
                for i in range(n_items):
                    m, start = first_map + i, offsets[first + i]
                    for cell in range(n_cells):
                        entry = cell if is_plain else maps[m + cell * (n_items + 1)]
                        weights[start + entry] += weights[place + cell]
                place += size
                first += n_items
            continue
        for _ in range(groups[g, N_PATTERNS]):
            scale = 1.0
            if any_shift:
                shift = shifts[place]
                for i in range(first_child, n_items):
                    shift -= shifts[offsets[first + i]]
                scale = SCALE if shift > 0 else 1.0
            for s in range(place, place + size):
                if weights[s] > 0.0 and buffer[s] > 0.0:
                    weights[s] = weights[s] / buffer[s] * scale
                else:
                    weights[s] = 0.0
            m = first_map
            for cell in range(n_cells):
                value = weights[place + maps[m + n_items]]
                if value > 0.0 and is_plain:
                    for i in range(first, first + n_items):
                        value *= buffer[offsets[i] + cell]
                    for i in range(first, first + n_items):
                        weights[offsets[i] + cell] += value
                elif value > 0.0:
                    for i in range(n_items):
                        value *= buffer[offsets[first + i] + maps[m + i]]
                    for i in range(n_items):
                        weights[offsets[first + i] + maps[m + i]] += value
                m += n_items + 1
            place += size
            first += n_items


SUM, DRAW, BEST = 0, 1, 2  # what `follow` does with the cells of a clique


@part
def _choose(
    maps: IndexArray,
    offsets: IndexArray,
    buffer: FloatArray,
    weights: FloatArray,
    first_map: int,
    first: int,
    place: int,
    n_cells: int,
    n_items: int,
    action: int,
    random: float,
) -> int:
    """Draw one of the cells, or find the best."""
    total, best, chosen = 0.0, 0.0, -1
    for turn in range(2):
        m, sum_so_far = first_map, 0.0
        for cell in range(n_cells):
            value = weights[place + maps[m + n_items]]
            if value > 0.0:
                for i in range(n_items):
                    value *= buffer[offsets[first + i] + maps[m + i]]
            sum_so_far += value
            if turn == 0:
                best = max(best, value)
            elif value > 0.0:
                if action == BEST and value >= NEARLY * best:
                    return cell
                chosen = cell
                if action == DRAW and sum_so_far > random * total:
                    return cell
            m += n_items + 1
        total = sum_so_far
    return chosen


@kernel
def follow(
    plan: CliquePlan,
    buffer: FloatArray,
    shifts: IntArray,
    weights: FloatArray,
    row_roots: LongTable,
    row_tree: IntTable,
    n_nodes: Int,
    action: Int,
    random: FloatTable,
    result: FloatTable,
) -> None:
    """Go down for every row by itself and report what the cliques say of their variables.

    Parameters
    ----------
    weights
        Zeros, laid out like the buffer; zeros again afterwards.
    row_roots
        For each row and tree, where the root's message starts.
    row_tree
        The first and the last clique of each tree, roots last.
    action
        ``SUM``: posteriors of the variables. ``DRAW``: a cell is drawn in each clique, given those
        above. ``BEST``: the best one, after a pass upward that maximizes.
    random
        Numbers between zero and one, for each row and clique.
    result
        For each row the states of all reported variables side by side.
    """
    groups, maps, offsets, reports = plan.groups, plan.maps, plan.offsets, plan.reports
    owner, child_nodes = plan.owner, plan.children  # fields of a tuple are slow inside a loop
    here = np.empty(n_nodes, np.int64)
    for row in range(row_roots.shape[0]):
        for tree in range(row_tree.shape[0]):
            last = row_tree[tree, 1]
            here[last] = row_roots[row, tree]
            weights[here[last]] = 1.0
            for node in range(last, row_tree[tree, 0] - 1, -1):
                place = here[node]
                g = owner[place]
                n_cells, n_items, size = groups[g, N_CELLS], groups[g, N_ITEMS], groups[g, SIZE]
                first_child, children = groups[g, FIRST_CHILD], groups[g, CHILDREN]
                first = groups[g, OFFSETS] + (place - groups[g, PLACE]) // size * n_items
                shift = shifts[place]
                for i in range(first_child, n_items):
                    shift -= shifts[offsets[first + i]]
                    here[child_nodes[children + i - first_child]] = offsets[first + i]
                scale = SCALE if shift > 0 else 1.0
                for s in range(place, place + size):
                    if weights[s] > 0.0 and buffer[s] > 0.0:
                        weights[s] = weights[s] / buffer[s] * scale
                    else:
                        weights[s] = 0.0
                chosen = -1
                if action != SUM:
                    chosen = _choose(
                        maps,
                        offsets,
                        buffer,
                        weights,
                        groups[g, MAPS],
                        first,
                        place,
                        n_cells,
                        n_items,
                        int(action),
                        random[row, node] if action == DRAW else 0.0,
                    )
                m = groups[g, MAPS]
                for cell in range(n_cells):
                    value = weights[place + maps[m + n_items]]
                    if chosen >= 0:
                        value = 1.0 if cell == chosen else 0.0
                    elif value > 0.0:
                        for i in range(n_items):
                            value *= buffer[offsets[first + i] + maps[m + i]]
                    if value > 0.0:
                        for i in range(first_child, n_items):
                            weights[offsets[first + i] + maps[m + i]] += value
                        r = groups[g, REPORTS]
                        for _ in range(groups[g, N_REPORTS]):
                            result[row, reports[r] + maps[reports[r + 1] + cell]] += value
                            r += 2
                    m += n_items + 1
                for s in range(place, place + size):
                    weights[s] = 0.0
