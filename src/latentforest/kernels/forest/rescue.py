"""One row in the log domain: slow, but it never underflows. See ``plan`` for the legend.

Used for the rare row whose scaled likelihood vanishes, or may have lost a state that matters: many
columns speak for one state and many others for another. A row that is impossible in the log
domain too has probability zero.

Written in scalar loops: array expressions take many times longer to compile.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest.layout import padded
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.gaussian.leaves import add_moments, log_density
from latentforest.kernels.hooks import call_step
from latentforest.kernels.layout import (
    BELIEFS,
    BLOCK,
    CARD,
    COLLECT_BLOCKS,
    COLUMN,
    COUNTS,
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
    N_FIELDS,
    N_PATTERNS,
    PARAMETERS,
    WEIGHTS,
    WIDTH,
)
from latentforest.kernels.types import FloatArray, LongArray

LOG_SMALL = -256 * math.log(2.0)  # as in `propagation`: patterns above it are never scaled


@part
def add_logs(a: float, b: float) -> float:
    """Logarithm of the sum of two numbers given by their logarithms."""
    if a < b:
        a, b = b, a
    if b > -np.inf:
        a += math.log1p(math.exp(b - a))
    return a


@part
def patterns_below(plan: Plan, u: int, p: int, pattern: LongArray) -> int:
    """Fill ``pattern`` at the records of the nodes at and below ``u``; return their end."""
    nodes, slot_child, slot_index, links = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    pattern[u] = p
    end = u + N_FIELDS
    while u < end:
        for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
            child = slot_child[slot]
            pattern[child] = links[slot_index[slot] + pattern[u]]
            end = max(end, child + N_FIELDS)
        u += N_FIELDS
    return end


@part
def _send_up(
    plan: Plan,
    buffer: FloatArray,
    theta: FloatArray,
    u: int,
    p: int,
    belief: FloatArray,
    message: FloatArray,
) -> None:
    """Compute log belief and log message of one node from its children's messages."""
    nodes, slot_child = plan.nodes, plan.slot_child
    kind, card, width = nodes[u + KIND], nodes[u + CARD], nodes[u + WIDTH]
    start = nodes[u + PARAMETERS]
    if kind == LEAF:
        for k in range(width):
            message[u, k] = np.log(theta[start + k * card + p]) if p < card else 0.0
    elif kind == GAUSSIAN:
        for k in range(width):
            message[u, k] = log_density(plan, buffer, u, p, k)
    elif kind == BLOCK:
        n, offset = nodes[u + N_PATTERNS], buffer[nodes[u + BELIEFS] + p]
        place = nodes[u + BELIEFS] + padded(n) + p * nodes[u + COLUMN]
        for k in range(width):
            message[u, k] = buffer[place + k] - offset
    elif kind == DENSE:
        for k in range(width):
            message[u, k] = np.log(buffer[nodes[u + MESSAGES] + p * nodes[u + COLUMN] + k])
    else:
        for x in range(card):
            belief[u, x] = 0.0
            for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
                belief[u, x] += message[slot_child[slot], x]
            message[u, x] = belief[u, x]
    if kind == HIDDEN and nodes[u + IS_ROOT] == 0:
        for k in range(width):
            message[u, k] = -np.inf
            for x in range(card):
                term = np.log(theta[start + k * card + x]) + belief[u, x]
                message[u, k] = add_logs(message[u, k], term)


@part
def _send_down(
    plan: Plan,
    theta: FloatArray,
    u: int,
    outside: FloatArray,
    message: FloatArray,
) -> None:
    """Compute the log outside factors of the children of one node."""
    nodes, slot_child = plan.nodes, plan.slot_child
    card, start = nodes[u + CARD], nodes[u + PARAMETERS]
    passes_table = nodes[u + KIND] == HIDDEN and nodes[u + IS_ROOT] == 0
    for x in range(card):
        here = outside[u, x]
        if passes_table:
            here = -np.inf
            for k in range(nodes[u + WIDTH]):
                here = add_logs(here, outside[u, k] + np.log(theta[start + k * card + x]))
        for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
            others = here
            for other in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
                if other != slot:
                    others += message[slot_child[other], x]
            outside[slot_child[slot], x] = others


@part
def _add_counts(
    plan: Plan,
    buffer: FloatArray,
    theta: FloatArray,
    counts: FloatArray,
    u: int,
    p: int,
    weight: float,
    outside: FloatArray,
    belief: FloatArray,
    message: FloatArray,
) -> None:
    nodes = plan.nodes
    card, width, start = nodes[u + CARD], nodes[u + WIDTH], nodes[u + PARAMETERS]
    if nodes[u + IS_FREE] == 0:
        return
    if nodes[u + IS_ROOT] == 1:
        for x in range(card):
            counts[start + x] += weight * np.exp(outside[u, x] + belief[u, x])
        return
    for k in range(width):
        if nodes[u + KIND] == GAUSSIAN:
            share = weight * np.exp(outside[u, k] + message[u, k])
            add_moments(plan, buffer, counts, u, p, k, share)
            continue
        if nodes[u + KIND] == BLOCK:
            buffer[nodes[u + COUNTS] + k] = weight * np.exp(outside[u, k] + message[u, k])
            continue
        for x in range(card):
            i = start + k * card + x
            if nodes[u + KIND] == HIDDEN:
                counts[i] += weight * np.exp(outside[u, k] + np.log(theta[i]) + belief[u, x])
            elif nodes[u + KIND] == LEAF and x == p:
                counts[i] += weight * np.exp(outside[u, k] + np.log(theta[i]))
    if nodes[u + KIND] == BLOCK:
        call_step(
            plan.steps[COLLECT_BLOCKS],
            u,
            -1.0 - p,
            nodes,
            plan.slot_child,
            plan.slot_index,
            plan.evidence,
            buffer,
            counts,
        )


@kernel
def add_row(
    plan: Plan, work: Workspace, theta: FloatArray, counts: FloatArray, entry: int
) -> float:
    """Log-likelihood of the root pattern at one entry of ``plan.weights``, less its offsets.

    Messages must have been propagated under the same parameters, for the sake of the offsets.
    Adds the pattern's expected counts to ``counts`` unless that is empty.
    """
    nodes = plan.nodes
    root, widest = 0, 1
    for u in range(0, nodes.shape[0], N_FIELDS):
        widest = max(widest, nodes[u + CARD], nodes[u + WIDTH])
        if nodes[u + IS_ROOT] == 1 and nodes[u + WEIGHTS] <= entry:
            root = u
    p, weight = entry - nodes[root + WEIGHTS], plan.weights[entry]
    pattern = np.empty(nodes.shape[0], np.int64)
    belief = np.empty((nodes.shape[0], widest))
    message = np.empty((nodes.shape[0], widest))
    outside = np.empty((nodes.shape[0], widest))
    end = patterns_below(plan, root, p, pattern)
    for u in range(end - N_FIELDS, root - 1, -N_FIELDS):
        _send_up(plan, work.buffer, theta, u, pattern[u], belief, message)
    value = -np.inf
    start = nodes[root + PARAMETERS]
    for x in range(nodes[root + CARD]):
        outside[root, x] = np.log(theta[start + x]) if start >= 0 else 0.0
        value = add_logs(value, outside[root, x] + belief[root, x])
    if counts.shape[0] == 0 or value == -np.inf:
        return value
    for x in range(nodes[root + CARD]):
        outside[root, x] -= value
    for u in range(root, end, N_FIELDS):
        p = pattern[u]
        _add_counts(plan, work.buffer, theta, counts, u, p, weight, outside, belief, message)
        _send_down(plan, theta, u, outside, message)
    return value


@kernel
def message_of_pattern(
    plan: Plan, work: Workspace, theta: FloatArray, u: int, p: int, result: FloatArray
) -> None:
    """Fill ``result`` with the message of a node for one pattern; scaled only if it is tiny.

    Then the largest entry is one. A pattern that needs no scaling has no factor of its own, whether
    other patterns were scaled, or are impossible, or not.
    """
    nodes, widest = plan.nodes, 1
    for v in range(0, nodes.shape[0], N_FIELDS):
        widest = max(widest, nodes[v + CARD], nodes[v + WIDTH])
    pattern = np.empty(nodes.shape[0], np.int64)
    belief, message = np.empty((nodes.shape[0], widest)), np.empty((nodes.shape[0], widest))
    end = patterns_below(plan, u, p, pattern)
    for v in range(end - N_FIELDS, u - 1, -N_FIELDS):
        _send_up(plan, work.buffer, theta, v, pattern[v], belief, message)
    largest = -np.inf
    for k in range(nodes[u + WIDTH]):
        largest = max(largest, message[u, k])
    scale = largest if -np.inf < largest < LOG_SMALL else 0.0
    for k in range(nodes[u + WIDTH]):
        result[k] = math.exp(message[u, k] - scale)
