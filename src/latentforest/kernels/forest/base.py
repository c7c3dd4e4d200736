"""Where the messages of a region meet its base: compiled when the first region is fitted."""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import step
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.forest.scaling import LOG_GROW, VANISHING
from latentforest.kernels.layout import (
    CARD,
    FIRST_SLOT,
    MESSAGES,
    N_PATTERNS,
    OUTSIDE,
    ROW,
    SCRATCH,
    SHIFTS,
    STRIDE,
    TABLE,
)
from latentforest.kernels.vector import LANES, front, lesser, load, logarithm, splat, store, total


@step
def meet_base(plan: Plan, work: Workspace, u: int, is_judged: bool) -> float:
    """Let the messages of a root's only child meet the base: four rows and two states at a time.

    Fills the outside factors of the child. Rows that vanish are counted but not listed: a region in
    which that happens is given up.
    """
    nodes, links, base, weights = plan.nodes, plan.links, plan.evidence, plan.weights
    buffer, factors, card = work.buffer, work.likelihood, nodes[u + CARD]
    stride, slot, prior = nodes[u + STRIDE], nodes[u + FIRST_SLOT], nodes[u + TABLE]
    child, runs = plan.slot_child[slot], plan.slot_index[slot]
    row, outside = nodes[u + ROW], plan.sizes[OUTSIDE]
    logs, smallest = splat(0.0), splat(1.0)
    for q in range(nodes[child + N_PATTERNS]):
        begin, end = np.int64(links[runs + q]), np.int64(links[runs + q + 1])
        message = nodes[child + MESSAGES] + q * row
        for k in range(0, card, 2):
            first = splat(buffer[prior + k] * buffer[message + k])
            second = splat(buffer[prior + k + 1] * buffer[message + k + 1])
            place = k * stride
            for r in range(begin, end, LANES):
                value = first * load(base, place + r) + second * load(base, place + stride + r)
                if k > 0:
                    value = value + load(factors, r)
                store(factors, r, value)
        for r in range(begin, end, LANES):
            value = load(factors, r)
            weight = load(weights, r)
            if end - r < LANES:
                value = front(value, end - r, 1.0)
                weight = front(weight, end - r, 0.0)
            smallest = lesser(smallest, value)
            if is_judged:
                logs = logs + weight * logarithm(value)
            store(factors, r, weight / value)
        for k in range(0, card, 2):
            first, second, place = splat(0.0), splat(0.0), k * stride
            for r in range(begin, end, LANES):
                factor = load(factors, r)
                first = first + factor * load(base, place + r)
                second = second + factor * load(base, place + stride + r)
            buffer[message + outside + k] = buffer[prior + k] * total(first)
            buffer[message + outside + k + 1] = buffer[prior + k + 1] * total(second)
    scratch = plan.sizes[SCRATCH]
    store(buffer, scratch, smallest)
    for i in range(scratch, scratch + LANES):
        if not buffer[i] >= VANISHING:
            work.vanished[0] = 1
    result: float = total(logs)
    if is_judged and work.is_shifted[child]:
        sums = nodes[child + SHIFTS] + nodes[child + N_PATTERNS]
        for q in range(nodes[child + N_PATTERNS]):
            for r in range(links[runs + q], links[runs + q + 1]):
                result -= LOG_GROW * work.shifts[sums + q] * weights[r]
    return result
