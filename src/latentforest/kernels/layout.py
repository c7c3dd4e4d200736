"""Giving the nodes of a plan their places in the kernel's buffers. See ``plan`` for the legend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.plan import (
    BELIEFS,
    CARD,
    COLUMN,
    COUNTS,
    DEGREE,
    DENSE,
    FIRST_SLOT,
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
    NEEDS_OUTSIDE,
    OUTSIDE,
    PARAMETERS,
    PRODUCT,
    ROOT_PATTERNS,
    ROW,
    SCRATCH,
    SHIFTS,
    TABLE,
    TRANSPOSED,
    WEIGHTS,
    WIDTH,
)
from latentforest.kernels.types import LongArray
from latentforest.kernels.vector import LANES

N_SIZES = 6


class Sketch(NamedTuple):
    """The nodes of a plan, parents before children and tree by tree, before they have places."""

    kind: LongArray
    card: LongArray
    width: LongArray
    n_patterns: LongArray
    is_root: LongArray
    is_free: LongArray
    parameters: LongArray  # offset of the table in the parameter vector
    degree: LongArray  # number of children
    children: LongArray  # numbers of the children, node by node


@part
def padded(n: int) -> int:
    """Round a number of states up to whole vectors."""
    return (n + LANES - 1) // LANES * LANES


@kernel
def lay_out(sketch: Sketch) -> tuple[LongArray, LongArray, LongArray, LongArray]:
    """Return ``nodes``, ``slot_child``, ``slot_index`` and ``sizes`` of a plan."""
    n_nodes = sketch.kind.shape[0]
    nodes = np.zeros(n_nodes * N_FIELDS, np.int64)
    slot_child = np.empty(sketch.children.shape[0], np.int64)
    slot_index = np.empty(sketch.children.shape[0], np.int64)
    sizes = np.zeros(N_SIZES, np.int64)
    slot, link, weight = 0, 0, 0
    for i in range(n_nodes):
        u = i * N_FIELDS
        nodes[u + KIND] = sketch.kind[i]
        nodes[u + CARD] = sketch.card[i]
        nodes[u + WIDTH] = sketch.width[i]
        nodes[u + ROW] = padded(sketch.card[i])
        nodes[u + COLUMN] = padded(sketch.width[i])
        nodes[u + N_PATTERNS] = sketch.n_patterns[i]
        nodes[u + IS_ROOT] = sketch.is_root[i]
        nodes[u + IS_FREE] = sketch.is_free[i]
        nodes[u + PARAMETERS] = sketch.parameters[i]
        nodes[u + FIRST_SLOT] = slot
        for _ in range(sketch.degree[i]):
            child = sketch.children[slot]
            slot_child[slot] = child * N_FIELDS
            slot_index[slot] = link
            link += sketch.n_patterns[i]
            slot += 1
        nodes[u + LAST_SLOT] = slot
        sizes[DEGREE] = max(sizes[DEGREE], sketch.degree[i])
        if sketch.is_root[i] == 1:
            nodes[u + WEIGHTS] = weight
            weight += sketch.n_patterns[i]
            sizes[ROOT_PATTERNS] = max(sizes[ROOT_PATTERNS], padded(sketch.n_patterns[i]))
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
