"""One row in the log domain: slow, but it never underflows. See ``plan`` for the legend.

Used for the rare row whose scaled likelihood vanishes: many columns speak for one state and many
others for another. A row that is impossible in the log domain too has probability zero.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from latentforest.kernels import plan as P
from latentforest.kernels.plan import Plan, Workspace
from latentforest.kernels.types import FloatArray, LongArray


@njit(nogil=True, cache=True)
def _log_sum(values: FloatArray) -> float:
    largest = np.max(values)
    if largest == -np.inf:
        return -np.inf
    return largest + np.log(np.sum(np.exp(values - largest)))


@njit(nogil=True, cache=True)
def patterns_of_row(plan: Plan, root: int, p: int, pattern: LongArray) -> int:
    """Fill ``pattern[u]`` for the nodes of the root's tree; return the end of the tree."""
    end = root + 1
    while end < plan.nodes.shape[0] and plan.nodes[end, P.IS_ROOT] == 0:
        end += 1
    pattern[root] = p
    for u in range(root, end):
        for slot in range(plan.nodes[u, P.FIRST_SLOT], plan.nodes[u, P.LAST_SLOT]):
            pattern[plan.slots[slot, P.CHILD]] = plan.index[plan.slots[slot, P.INDEX] + pattern[u]]
    return end


@njit(nogil=True, cache=True)
def _mask_own(plan: Plan, u: int, p: int, values: FloatArray) -> None:
    if plan.nodes[u, P.OWN] >= 0 and plan.index[plan.nodes[u, P.OWN] + p] >= 0:
        x = plan.index[plan.nodes[u, P.OWN] + p]
        for k in range(plan.nodes[u, P.CARD]):
            if k != x:
                values[k] = -np.inf


@njit(nogil=True, cache=True)
def _table_column(plan: Plan, theta: FloatArray, u: int, x: int) -> FloatArray:
    card, width = plan.nodes[u, P.CARD], plan.nodes[u, P.WIDTH]
    column = np.empty(width)
    for k in range(width):
        column[k] = np.log(theta[plan.nodes[u, P.PARAMETERS] + k * card + x])
    return column


@njit(nogil=True, cache=True)
def _send_up(
    plan: Plan,
    work: Workspace,
    theta: FloatArray,
    u: int,
    p: int,
    belief: FloatArray,
    message: FloatArray,
) -> None:
    """Compute log belief and log message of one node from its children's messages."""
    card, width = plan.nodes[u, P.CARD], plan.nodes[u, P.WIDTH]
    if plan.nodes[u, P.KIND] == P.LEAF:
        if p < card:
            message[u, :width] = _table_column(plan, theta, u, p)
        return
    if plan.nodes[u, P.KIND] == P.DENSE:
        start = plan.nodes[u, P.MESSAGES] + p * plan.nodes[u, P.COLUMN]
        message[u, :width] = np.log(work.buffer[start : start + width])
        return
    for slot in range(plan.nodes[u, P.FIRST_SLOT], plan.nodes[u, P.LAST_SLOT]):
        belief[u, :card] += message[plan.slots[slot, P.CHILD], :card]
    _mask_own(plan, u, p, belief[u])
    if plan.nodes[u, P.KIND] == P.PRODUCT:
        message[u, :card] = belief[u, :card]
    elif plan.nodes[u, P.IS_ROOT] == 0:
        start = plan.nodes[u, P.PARAMETERS]
        for k in range(width):
            table = theta[start + k * card : start + (k + 1) * card]
            message[u, k] = _log_sum(np.log(table) + belief[u, :card])


@njit(nogil=True, cache=True)
def _send_down(
    plan: Plan, theta: FloatArray, u: int, p: int, outside: FloatArray, message: FloatArray
) -> None:
    """Compute the log outside factors of the children of one node."""
    card = plan.nodes[u, P.CARD]
    here = np.empty(card)
    if plan.nodes[u, P.KIND] == P.HIDDEN and plan.nodes[u, P.IS_ROOT] == 0:
        for x in range(card):
            column = _table_column(plan, theta, u, x)
            here[x] = _log_sum(outside[u, : plan.nodes[u, P.WIDTH]] + column)
    else:
        here[:] = outside[u, :card]
    _mask_own(plan, u, p, here)
    for slot in range(plan.nodes[u, P.FIRST_SLOT], plan.nodes[u, P.LAST_SLOT]):
        child = plan.slots[slot, P.CHILD]
        outside[child, :card] = here
        for other in range(plan.nodes[u, P.FIRST_SLOT], plan.nodes[u, P.LAST_SLOT]):
            if other != slot:
                outside[child, :card] += message[plan.slots[other, P.CHILD], :card]


@njit(nogil=True, cache=True)
def _add_counts(
    plan: Plan,
    theta: FloatArray,
    counts: FloatArray,
    u: int,
    p: int,
    weight: float,
    outside: FloatArray,
    belief: FloatArray,
) -> None:
    card, width, start = plan.nodes[u, P.CARD], plan.nodes[u, P.WIDTH], plan.nodes[u, P.PARAMETERS]
    if plan.nodes[u, P.KIND] == P.LEAF and p < card:
        posterior = outside[u, :width] + _table_column(plan, theta, u, p)
        for k in range(width):
            counts[start + k * card + p] += weight * np.exp(posterior[k])
    elif plan.nodes[u, P.KIND] == P.HIDDEN and plan.nodes[u, P.IS_ROOT] == 1:
        counts[start : start + card] += weight * np.exp(outside[u, :card] + belief[u, :card])
    elif plan.nodes[u, P.KIND] == P.HIDDEN:
        for x in range(card):
            posterior = outside[u, :width] + _table_column(plan, theta, u, x) + belief[u, x]
            for k in range(width):
                counts[start + k * card + x] += weight * np.exp(posterior[k])


@njit(nogil=True, cache=True)
def add_row(
    plan: Plan,
    work: Workspace,
    theta: FloatArray,
    counts: FloatArray,
    root: int,
    p: int,
    weight: float,
) -> float:
    """Log-likelihood of one root pattern; adds its expected counts if ``weight`` is positive."""
    n = plan.nodes.shape[0]
    pattern = np.empty(n, np.int64)
    end = patterns_of_row(plan, root, p, pattern)
    widest = max(np.max(plan.nodes[:, P.CARD]), np.max(plan.nodes[:, P.WIDTH]))
    belief, message = np.zeros((n, widest)), np.zeros((n, widest))
    for u in range(end - 1, root - 1, -1):
        _send_up(plan, work, theta, u, pattern[u], belief, message)
    card, start = plan.nodes[root, P.CARD], plan.nodes[root, P.PARAMETERS]
    outside = np.zeros((n, widest))
    outside[root, :card] = np.log(theta[start : start + card])
    value = _log_sum(outside[root, :card] + belief[root, :card])
    if weight > 0.0 and value > -np.inf:
        outside[root, :card] -= value
        for u in range(root, end):
            _add_counts(plan, theta, counts, u, pattern[u], weight, outside, belief)
            if plan.nodes[u, P.KIND] == P.HIDDEN or plan.nodes[u, P.KIND] == P.PRODUCT:
                _send_down(plan, theta, u, pattern[u], outside, message)
    return value
