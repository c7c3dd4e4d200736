"""Which entries of a clique's items belong to which of its cells; see ``propagation``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import BoolArray, IndexArray, IntArray, LongArray


class GroupShapes(NamedTuple):
    """The groups of a clique: sizes, and the entries of their cells.

    ``maps`` has the entries of all items and of the message, cell by cell, group after group, and
    then those of the reported variables, one after another.
    """

    n_cells: LongArray
    size: LongArray  # of a message
    first_map: LongArray
    first_report: LongArray
    is_plain: LongArray
    keeps_all: LongArray
    maps: IndexArray


@kernel
def shape_groups(
    cards: LongArray,
    is_summed: BoolArray,
    factors: LongArray,
    messages: IntArray,
    targets: LongArray,
) -> GroupShapes:
    """Lay out the groups of a clique.

    Parameters
    ----------
    cards
        Numbers of states of the clique's variables.
    is_summed
        For each group and variable, whether it is summed over.
    factors
        For each factor and variable, how far apart the states are in its values.
    messages
        For each child, and at last for the clique itself, the variables of the message in order,
        then -1.
    targets
        Like ``factors``, for what is reported.
    """
    n_groups, n_variables = is_summed.shape
    n_factors, n_messages, n_targets = factors.shape[0], messages.shape[0], targets.shape[0]
    n_items = n_factors + n_messages - 1
    n_cells, size = np.ones(n_groups, np.int64), np.ones(n_groups, np.int64)
    first_map, first_report = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    is_plain, keeps_all = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    taken = 0
    for g in range(n_groups):
        for v in range(n_variables):
            if is_summed[g, v]:
                n_cells[g] *= cards[v]
        first_map[g] = taken
        taken += n_cells[g] * (n_items + 1)
        first_report[g] = taken
        taken += n_cells[g] * n_targets
    maps = np.zeros(taken, np.uint32)
    strides = np.zeros((n_items + 1, n_variables), np.int64)
    for g in range(n_groups):
        strides[:] = 0
        strides[:n_factors] = factors
        for m in range(n_messages):
            size[g] = _find_strides(cards, is_summed[g], messages[m], strides[n_factors + m])
        width, start = n_items + 1, first_map[g]
        for i in range(width):
            _fill(cards, is_summed[g], strides[i], maps, start + i, width, n_cells[g])
        for t in range(n_targets):
            place = first_report[g] + t * n_cells[g]
            _fill(cards, is_summed[g], targets[t], maps, place, 1, n_cells[g])
        is_plain[g] = 1
        for i in range(n_items):
            if not _counts_up(maps, start + i, width, n_cells[g]):
                is_plain[g] = 0
        keeps_all[g] = 1 if _counts_up(maps, start + n_items, width, n_cells[g]) else 0
    return GroupShapes(n_cells, size, first_map, first_report, is_plain, keeps_all, maps)


@part
def _find_strides(
    cards: LongArray, is_summed: BoolArray, names: IntArray, strides: LongArray
) -> int:
    """Distances of states in a message over those of its variables that are summed; its size."""
    size = 1
    for i in range(names.shape[0] - 1, -1, -1):
        v = names[i]
        if v >= 0 and is_summed[v]:
            strides[v] = size
            size *= cards[v]
    return size


@part
def _fill(
    cards: LongArray,
    is_summed: BoolArray,
    strides: LongArray,
    maps: IndexArray,
    start: int,
    step: int,
    n_cells: int,
) -> None:
    """Write the entry of every cell, the last variable running fastest."""
    inner = n_cells
    for v in range(cards.shape[0]):
        if is_summed[v]:
            inner //= cards[v]
            if strides[v] > 0:
                for cell in range(n_cells):
                    state = cell // inner % cards[v]
                    maps[start + cell * step] += np.uint32(state * strides[v])


@part
def _counts_up(maps: IndexArray, start: int, step: int, n_cells: int) -> bool:
    """Whether entry k is that of cell k."""
    n_equal = 0
    for cell in range(n_cells):
        if maps[start + cell * step] == cell:
            n_equal += 1
    return n_equal == n_cells
