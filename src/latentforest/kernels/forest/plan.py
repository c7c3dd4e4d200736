"""The flat arrays that describe a forest, its patterns and its working memory.

Legend, used by all kernels: ``u`` a node, ``p`` one of its patterns, ``c`` a child of ``u``,
``q`` the pattern of ``c`` that is part of pattern ``p`` of ``u``, ``k`` a state of ``u`` (or of
the latent variable that a product node belongs to), ``x`` a state of a leaf.

Functions take the arrays one by one: a tuple of arrays costs reference counting at every access.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel
from latentforest.kernels.layout import (
    BLOCK,
    CARD,
    COLUMN,
    DEGREE,
    DENSE,
    FILL_BLOCKS,
    FILL_LEAVES,
    GAUSSIAN,
    IS_ROOT,
    KIND,
    LEAF,
    MESSAGES,
    N_DOUBLES,
    N_FIELDS,
    N_PATTERNS,
    N_SHIFTS,
    PARAMETERS,
    ROOT_PATTERNS,
    TABLE,
    WIDTH,
)
from latentforest.kernels.types import BoolArray, FloatArray, IntArray, LongArray

CACHE_LINE = 64  # bytes


class Plan(NamedTuple):
    """A forest, parents before children and tree by tree, with its pattern tables.

    The root of a region may have a *base*: frozen factors, a vector for each row, which meet the
    messages of the root's only child. Rows are then sorted by the child's patterns, the base lies
    in ``evidence`` state by state (an even number of them), and ``links`` says at which row each
    pattern starts.

    What Gaussian nodes need lies behind the rest of three arrays: see ``layout`` for a drawing.
    """

    nodes: LongArray
    # The child in each slot; then the offset of each Gaussian column's table; then tasks of blocks.
    slot_child: LongArray
    slot_index: LongArray  # where its patterns start in `links`; then the place of a column's sums
    links: IntArray  # patterns of the children, see `slot_index`
    weights: FloatArray  # sum of the weights of the rows with each root pattern
    # Messages of the DENSE nodes, one after another, padded; then of each GAUSSIAN node the weights
    # of its patterns and their values, nan for missing; of each BLOCK the weights, scales and
    # scaled values. Or the base.
    evidence: FloatArray
    sizes: LongArray
    steps: LongArray  # addresses of what only some plans need


class Workspace(NamedTuple):
    """Working memory of one propagation; belongs to one thread at a time."""

    buffer: FloatArray  # messages, outside factors, beliefs, tables, counts, scratch
    shifts: IntArray  # exponents of 2^256 by which patterns were scaled
    is_shifted: BoolArray  # at a node's record: whether any of its patterns was scaled
    likelihood: FloatArray  # of a root's patterns, then weight / likelihood
    logarithm: FloatArray  # of the likelihoods
    places: LongArray  # where the messages of the children of the pattern at hand start
    vanished: LongArray  # how many likelihoods vanished, then their entries in `Plan.weights`


def count_numbers(plan: Plan) -> int:
    """About how many numbers an iteration touches."""
    n_numbers = int(plan.sizes[N_DOUBLES]) + 8 * len(plan.weights)
    if not (plan.steps[FILL_LEAVES] or plan.steps[FILL_BLOCKS]):
        return n_numbers
    records = plan.nodes.reshape(-1, N_FIELDS)
    gaussians = records[records[:, KIND] == GAUSSIAN]
    n_values = int((gaussians[:, N_PATTERNS] * gaussians[:, CARD]).sum())
    blocks = records[records[:, KIND] == BLOCK]
    n_products = int((blocks[:, N_PATTERNS] * blocks[:, WIDTH] * blocks[:, CARD] ** 2).sum())
    return n_numbers + 4 * n_values + n_products // 4


def _zeros_on_line(n: int) -> FloatArray:
    """Allocate zeros that start on a cache line, so that no vector lies across two."""
    memory = np.zeros(n + CACHE_LINE // 8)
    start = -memory.ctypes.data % CACHE_LINE // 8
    return memory[start : start + n]


def make_workspace(plan: Plan) -> Workspace:
    """Allocate working memory and place the frozen messages in it."""
    sizes = plan.sizes.tolist()
    buffer, likelihood = _zeros_on_line(sizes[N_DOUBLES]), np.ones((2, sizes[ROOT_PATTERNS]))
    _place_frozen(plan.nodes, plan.evidence, buffer)
    return Workspace(
        buffer,
        np.zeros(sizes[N_SHIFTS], np.int32),
        np.zeros(len(plan.nodes), np.bool_),
        likelihood[0],
        likelihood[1],
        np.zeros(sizes[DEGREE], np.int64),
        np.zeros(len(plan.weights) + 1, np.int64),
    )


@kernel
def _place_frozen(nodes: LongArray, evidence: FloatArray, buffer: FloatArray) -> None:
    """Place what no iteration changes: dense messages, ones of missing values, of single states."""
    taken = 0
    for u in range(0, nodes.shape[0], N_FIELDS):
        if nodes[u + KIND] == DENSE:
            for i in range(nodes[u + N_PATTERNS] * nodes[u + COLUMN]):
                buffer[nodes[u + MESSAGES] + i] = evidence[taken]
                taken += 1
        if nodes[u + KIND] == LEAF and nodes[u + N_PATTERNS] > nodes[u + CARD]:
            missing = nodes[u + MESSAGES] + nodes[u + CARD] * nodes[u + COLUMN]  # the last pattern
            for k in range(nodes[u + WIDTH]):
                buffer[missing + k] = 1.0
        if nodes[u + IS_ROOT] == 1 and nodes[u + PARAMETERS] < 0:
            buffer[nodes[u + TABLE]] = 1.0  # a root of a single state
