"""The E-step: message passing over pattern tables. See ``plan`` for the legend.

Upward, ``belief[u][p] = Π_c message[c][q]`` and ``message[u][p] = table · belief``. Downward,
everything is linear in the outside factor, so it is summed per pattern of the child before it
goes on: ``outside[c][q] += outside[u][p] · Π_{other children} message``. A vector that gets
small is multiplied by 2^256 and the exponent is kept; a row that still vanishes is computed
again by the caller in the log domain (``rescue``).
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.addresses import address_of, caller
from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest.base import meet_base
from latentforest.kernels.forest.downward import clear, collect, collect_root, count_pairs, spread
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.forest.scaling import LOG_GROW, VANISHING
from latentforest.kernels.forest.upward import upward
from latentforest.kernels.hooks import call_step
from latentforest.kernels.layout import (
    COLLECT,
    FIRST_SLOT,
    GAUSSIAN,
    HIDDEN,
    IS_FREE,
    IS_ROOT,
    KIND,
    LAST_SLOT,
    MEET,
    MESSAGES,
    N_FIELDS,
    N_PATTERNS,
    N_STEPS,
    OUTSIDE,
    ROW,
    SHIFTS,
    STRIDE,
    TABLE,
    UPWARD,
    WEIGHTS,
)
from latentforest.kernels.types import BoolArray, Flag, FloatArray, LongArray
from latentforest.kernels.vector import LANES, load, logarithm, splat, store, total

_call_meet, _call_upward = caller(meet_base), caller(upward)


def make_steps(has_base: bool = False) -> LongArray:
    """Return the steps of a plan without continuous variables; compile, or load, them."""
    steps = np.zeros(N_STEPS, np.int64)
    steps[UPWARD] = address_of(upward)
    steps[MEET] = address_of(meet_base) if has_base else 0
    return steps


@kernel
def propagate(
    plan: Plan,
    work: Workspace,
    theta: FloatArray,
    counts: FloatArray,
    values: FloatArray,
    floor: float,
    is_judged: Flag,
) -> tuple[float, int]:
    """Propagate the evidence of all rows under the parameters.

    Fills ``counts`` (layout of ``theta``) with expected counts and ``values`` (layout of
    ``plan.weights``) with log-likelihoods of the root patterns, less the offsets of their Gaussian
    leaves; an empty array is left alone, and without counts there is no way down. With a positive
    ``floor``, entries of messages that would fall below it are raised to it, so that values are
    upper bounds. Returns the log-likelihood and how many root patterns vanished; these are listed
    in ``work.vanished`` and add nothing to any result but their offsets. If it is not to be judged,
    a plan with a base saves the logarithms and returns zero.
    """
    log_likelihood = _call_upward(plan.steps[UPWARD], plan, work, theta, floor)
    nodes, buffer, outside = plan.nodes, work.buffer, plan.sizes[OUTSIDE]
    has_counts = counts.shape[0] > 0
    if has_counts:
        clear(counts, 0, counts.shape[0])
        clear(buffer, outside, 2 * outside)
    work.vanished[0] = 0
    for u in range(0, nodes.shape[0], N_FIELDS):
        if nodes[u + STRIDE] > 0:
            log_likelihood += _call_meet(plan.steps[MEET], plan, work, u, is_judged)
        elif nodes[u + IS_ROOT] == 1:
            _find_likelihoods(plan, work, u)
            log_likelihood += _sum_logarithms(plan, work, values, u)
        elif has_counts and nodes[u + KIND] == HIDDEN:
            count_pairs(plan, work, u)
        if has_counts and nodes[u + STRIDE] == 0 and nodes[u + FIRST_SLOT] < nodes[u + LAST_SLOT]:
            spread(plan, work, u)
        if has_counts and nodes[u + IS_FREE] == 1:
            if nodes[u + IS_ROOT] == 1:
                collect_root(plan, work, counts, u)
            elif nodes[u + KIND] >= GAUSSIAN:
                call_step(
                    plan.steps[COLLECT + nodes[u + KIND] - GAUSSIAN],
                    u,
                    float(outside),
                    nodes,
                    plan.slot_child,
                    plan.slot_index,
                    plan.evidence,
                    buffer,
                    counts,
                )
            else:
                collect(plan, work, theta, counts, u)
    return log_likelihood, work.vanished[0]


@part
def _find_likelihoods(plan: Plan, work: Workspace, u: int) -> None:
    """Compute the likelihoods of a root's patterns."""
    nodes, slot_child, slot_index, links = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    buffer, likelihoods, places = work.buffer, work.likelihood, work.places
    row, prior, first = nodes[u + ROW], nodes[u + TABLE], nodes[u + FIRST_SLOT]
    n_patterns, n_slots = nodes[u + N_PATTERNS], nodes[u + LAST_SLOT] - first
    if n_slots == 2:
        left, right = slot_index[first], slot_index[first + 1]
        left_place = nodes[slot_child[first] + MESSAGES]
        right_place = nodes[slot_child[first + 1] + MESSAGES]
        for p in range(n_patterns):
            a = left_place + links[left + p] * row
            b = right_place + links[right + p] * row
            joint = splat(0.0)
            for k in range(0, row, LANES):
                joint = joint + load(buffer, prior + k) * load(buffer, a + k) * load(buffer, b + k)
            likelihoods[p] = total(joint)
        return
    for p in range(n_patterns):
        for j in range(n_slots):
            place = nodes[slot_child[first + j] + MESSAGES]
            places[j] = place + links[slot_index[first + j] + p] * row
        joint = splat(0.0)
        for k in range(0, row, LANES):
            product = load(buffer, prior + k)
            for j in range(n_slots):
                product = product * load(buffer, places[j] + k)
            joint = joint + product
        likelihoods[p] = total(joint)


@part
def _sum_logarithms(plan: Plan, work: Workspace, values: FloatArray, u: int) -> float:
    """Sum the weighted logarithms of a root's likelihoods, which become weight / likelihood."""
    nodes, weights, vanished = plan.nodes, plan.weights, work.vanished
    likelihoods, logs = work.likelihood, work.logarithm
    n, first, has_values = nodes[u + N_PATTERNS], nodes[u + WEIGHTS], values.shape[0] > 0
    for p in range(0, n, LANES):
        store(logs, p, logarithm(load(likelihoods, p)))
    if _any_child_shifted(nodes, plan.slot_child, u, work.is_shifted):
        for p in range(n):
            logs[p] -= LOG_GROW * _shift_at_root(plan, work, u, p)
    result = 0.0
    for p in range(n):
        if likelihoods[p] >= VANISHING:
            result += weights[first + p] * logs[p]
            likelihoods[p] = weights[first + p] / likelihoods[p]
        else:
            likelihoods[p] = 0.0
            if weights[first + p] > 0.0 or has_values:
                vanished[0] += 1
                vanished[vanished[0]] = first + p
        if has_values:
            values[first + p] = logs[p]
    return result


@part
def _any_child_shifted(
    nodes: LongArray, slot_child: LongArray, u: int, is_shifted: BoolArray
) -> bool:
    found = False
    for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
        found = found or is_shifted[slot_child[slot]]
    return found


@part
def _shift_at_root(plan: Plan, work: Workspace, u: int, p: int) -> int:
    """Sum the exponents of the children's patterns."""
    nodes, shift = plan.nodes, 0
    for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
        child = plan.slot_child[slot]
        if work.is_shifted[child]:
            sums = nodes[child + SHIFTS] + nodes[child + N_PATTERNS]
            shift += work.shifts[sums + plan.links[plan.slot_index[slot] + p]]
    return shift
