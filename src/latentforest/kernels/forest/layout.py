"""Giving the nodes of a plan their places in the kernel's buffers. See ``plan`` for the legend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.gaussian.leaves import N_ROWS
from latentforest.kernels.layout import (
    BELIEFS,
    BLOCK,
    CARD,
    COLUMN,
    COUNTS,
    DEGREE,
    DENSE,
    FIRST_SLOT,
    GAUSSIAN,
    HIDDEN,
    IS_FREE,
    IS_ROOT,
    KIND,
    LAST_SLOT,
    LEAF,
    MESSAGES,
    N_DOUBLES,
    N_FIELDS,
    N_PATTERNS,
    N_SHIFTS,
    N_SIZES,
    NEEDS_OUTSIDE,
    OUTSIDE,
    PARAMETERS,
    PRODUCT,
    ROOT_PATTERNS,
    ROW,
    SCRATCH,
    SHIFTS,
    STRIDE,
    TABLE,
    TRANSPOSED,
    WEIGHTS,
    WIDTH,
)
from latentforest.kernels.types import Int, LongArray
from latentforest.kernels.vector import LANES

# What `lay_out_forest` wants to know of a node; KIND, CARD and WIDTH come first, as in `plan`.
ROOT_FACT = 3
FREE_FACT = 4
DEGREE_FACT = 5
PATTERNS_FACT = 6
N_FACTS = 7


class Sketch(NamedTuple):
    """The nodes of a plan, parents before children and tree by tree, before they have places."""

    kind: LongArray
    card: LongArray
    width: LongArray
    n_patterns: LongArray
    is_root: LongArray
    is_free: LongArray
    parameters: LongArray  # see `plan.PARAMETERS`
    degree: LongArray  # number of children
    stride: LongArray  # see `plan.STRIDE`
    children: LongArray  # numbers of the children, node by node


@part
def padded(n: Int) -> int:
    """Round a number of states up to whole vectors."""
    result: int = (n + LANES - 1) // LANES * LANES  # type: ignore[assignment]
    return result


@kernel
def lay_out_forest(
    facts: LongArray, parameters: LongArray
) -> tuple[LongArray, LongArray, LongArray, LongArray]:
    """Lay out trees whose nodes are given parents first, each followed by all that is below it."""
    n = facts.shape[0]
    first, n_slots = np.zeros(n, np.int64), 0
    for u in range(n):
        first[u] = n_slots
        n_slots += facts[u, DEGREE_FACT]
    children, stack, n_waiting = np.empty(n_slots, np.int64), np.empty(n, np.int64), 0
    for i in range(n):
        u = n - 1 - i
        for j in range(facts[u, DEGREE_FACT]):
            n_waiting -= 1
            children[first[u] + j] = stack[n_waiting]
        stack[n_waiting] = u
        n_waiting += 1
    columns = facts.T.copy()
    sketch = Sketch(
        columns[KIND],
        columns[CARD],
        columns[WIDTH],
        columns[PATTERNS_FACT],
        columns[ROOT_FACT],
        columns[FREE_FACT],
        parameters,
        columns[DEGREE_FACT],
        np.zeros(n, np.int64),
        children,
    )
    return lay_out(sketch)


@kernel
def lay_out(sketch: Sketch) -> tuple[LongArray, LongArray, LongArray, LongArray]:
    """Return ``nodes``, ``slot_child``, ``slot_index`` and ``sizes`` of a plan.

    The data of Gaussian nodes get their places later.
    """
    kind, card, width, n_patterns = sketch.kind, sketch.card, sketch.width, sketch.n_patterns
    is_root, is_free, parameters = sketch.is_root, sketch.is_free, sketch.parameters
    degree, stride, children = sketch.degree, sketch.stride, sketch.children
    n_nodes = kind.shape[0]
    nodes = np.zeros(n_nodes * N_FIELDS, np.int64)
    slot_child = np.empty(children.shape[0], np.int64)
    slot_index = np.empty(children.shape[0], np.int64)
    sizes = np.zeros(N_SIZES, np.int64)
    slot, link, weight = 0, 0, 0
    for i in range(n_nodes):
        u = i * N_FIELDS
        nodes[u + KIND] = kind[i]
        nodes[u + CARD] = card[i]
        nodes[u + WIDTH] = width[i]
        nodes[u + ROW] = padded(card[i])
        nodes[u + COLUMN] = padded(width[i])
        nodes[u + N_PATTERNS] = n_patterns[i]
        nodes[u + IS_ROOT] = is_root[i]
        nodes[u + IS_FREE] = is_free[i]
        nodes[u + PARAMETERS] = parameters[i]
        nodes[u + STRIDE] = stride[i]
        nodes[u + FIRST_SLOT] = slot
        for _ in range(degree[i]):
            slot_child[slot] = children[slot] * N_FIELDS
            slot_index[slot] = link
            link += n_patterns[children[slot]] + 1 if stride[i] > 0 else n_patterns[i]
            slot += 1
        nodes[u + LAST_SLOT] = slot
        sizes[DEGREE] = max(sizes[DEGREE], degree[i])
        if is_root[i] == 1:
            nodes[u + WEIGHTS] = weight
            weight += n_patterns[i]
            sizes[ROOT_PATTERNS] = max(sizes[ROOT_PATTERNS], padded(n_patterns[i]))
    sizes[DEGREE] += 1
    _place_shifts(nodes, sizes)
    _place_in_buffer(nodes, sizes)
    _mark_outside(nodes, slot_child)
    return nodes, slot_child, slot_index, sizes


@part
def _place_shifts(nodes: LongArray, sizes: LongArray) -> None:
    for u in range(0, nodes.shape[0], N_FIELDS):
        nodes[u + SHIFTS] = sizes[N_SHIFTS]
        is_inner = nodes[u + KIND] == HIDDEN or nodes[u + KIND] == PRODUCT
        if is_inner and nodes[u + IS_ROOT] == 0:
            sizes[N_SHIFTS] += 2 * nodes[u + N_PATTERNS]


@part
def _place_in_buffer(nodes: LongArray, sizes: LongArray) -> None:
    """Messages come first, then as many outside factors, then all the rest."""
    taken = 0
    for u in range(0, nodes.shape[0], N_FIELDS):
        nodes[u + MESSAGES] = taken
        if nodes[u + IS_ROOT] == 0:
            taken += nodes[u + N_PATTERNS] * nodes[u + COLUMN]
    sizes[OUTSIDE] = taken
    taken *= 2
    for u in range(0, nodes.shape[0], N_FIELDS):
        is_hidden, is_root = nodes[u + KIND] == HIDDEN, nodes[u + IS_ROOT] == 1
        table = 0
        if is_hidden:
            table = nodes[u + ROW] if is_root else nodes[u + WIDTH] * nodes[u + ROW]
        is_below = is_hidden and not is_root
        nodes[u + BELIEFS] = taken
        taken += nodes[u + N_PATTERNS] * nodes[u + ROW] if is_below else 0
        if nodes[u + KIND] == GAUSSIAN:
            taken += padded(nodes[u + N_PATTERNS])
            table = N_ROWS * nodes[u + CARD] * nodes[u + COLUMN]
        if nodes[u + KIND] == BLOCK:
            taken += padded(nodes[u + N_PATTERNS]) + nodes[u + N_PATTERNS] * nodes[u + COLUMN]
            table = nodes[u + WIDTH] * (1 + nodes[u + CARD] + nodes[u + CARD] * nodes[u + CARD])
            table = padded(table)
        nodes[u + TABLE] = taken
        nodes[u + COUNTS] = taken + table
        nodes[u + TRANSPOSED] = taken + 2 * table
        taken += 2 * table + (nodes[u + CARD] * nodes[u + COLUMN] if is_below else 0)
    sizes[SCRATCH] = taken
    sizes[N_DOUBLES] = taken + LANES * sizes[DEGREE]


@part
def _mark_outside(nodes: LongArray, slot_child: LongArray) -> None:
    """Nothing is learned from what reaches fixed messages, but for a root's first child."""
    for u in range(0, nodes.shape[0], N_FIELDS):
        if nodes[u + KIND] != DENSE:
            nodes[u + NEEDS_OUTSIDE] = 1
    for u in range(0, nodes.shape[0], N_FIELDS):
        if nodes[u + IS_ROOT] == 1 and nodes[u + KIND] != LEAF:
            nodes[slot_child[nodes[u + FIRST_SLOT]] + NEEDS_OUTSIDE] = 1
