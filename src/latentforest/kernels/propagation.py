"""The E-step: message passing over pattern tables. See ``plan`` for the legend.

Upward, ``belief[u][p] = Π_c message[c][q]`` and ``message[u][p] = table · belief``. Downward,
everything is linear in the outside factor, so it is summed per pattern of the child before it
goes on: ``outside[c][q] += outside[u][p] · Π_{other children} message``. A vector that gets
small is multiplied by 2^256 and the exponent is kept; a row that still vanishes is computed
again in the log domain (``rescue``).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from latentforest.kernels import plan as P
from latentforest.kernels.plan import Plan, Workspace
from latentforest.kernels.rescue import add_row
from latentforest.kernels.types import BoolArray, FloatArray, IntArray, LongArray
from latentforest.kernels.vector import LANES, any_above, load, splat, store, total

SMALL = 2.0**-256
GROW = 2.0**256
LOG_GROW = 256 * math.log(2.0)
VANISHING = 1e-200  # below this, entries lost to underflow may matter: left to the log domain


@njit(nogil=True, cache=True)
def upward(plan: Plan, work: Workspace, theta: FloatArray) -> None:
    """Compute the messages of every node but the roots."""
    nodes, slots, index = plan.nodes, plan.slots, plan.index
    buffer, shifts, is_shifted = work.buffer, work.shifts, work.is_shifted
    for u in range(nodes.shape[0] - 1, -1, -1):
        kind, is_root = nodes[u, P.KIND], nodes[u, P.IS_ROOT] == 1
        if kind == P.LEAF:
            _fill_leaf(nodes[u], theta, buffer)
        elif kind == P.HIDDEN:
            _fill_tables(nodes[u], theta, buffer)
        if kind == P.PRODUCT or (kind == P.HIDDEN and not is_root):
            place = nodes[u, P.MESSAGES] if kind == P.PRODUCT else nodes[u, P.BELIEFS]
            is_shifted[u] = _sum_shifts(nodes, slots, index, u, shifts, is_shifted)
            if nodes[u, P.LAST_SLOT] - nodes[u, P.FIRST_SLOT] == 2 and nodes[u, P.OWN] < 0:
                smallest = _multiply_two(nodes, slots, index, u, buffer, place)
            else:
                smallest = _multiply_many(nodes, slots, index, u, buffer, place)
            if smallest:
                _rescale(nodes[u], buffer, place, shifts, is_shifted, u)
            if kind == P.HIDDEN:
                _send(nodes[u], index, buffer)


@njit(nogil=True, cache=True)
def _fill_leaf(node: LongArray, theta: FloatArray, buffer: FloatArray) -> None:
    card, width, column = node[P.CARD], node[P.WIDTH], node[P.COLUMN]
    place, table = node[P.MESSAGES], node[P.PARAMETERS]
    for k in range(width):
        for x in range(card):
            buffer[place + x * column + k] = theta[table + k * card + x]
        if node[P.N_PATTERNS] > card:  # the last pattern is the missing value
            buffer[place + card * column + k] = 1.0


@njit(nogil=True, cache=True)
def _fill_tables(node: LongArray, theta: FloatArray, buffer: FloatArray) -> None:
    card, row, column = node[P.CARD], node[P.ROW], node[P.COLUMN]
    n_rows = 1 if node[P.IS_ROOT] == 1 else node[P.WIDTH]
    for k in range(n_rows):
        for x in range(card):
            value = theta[node[P.PARAMETERS] + k * card + x]
            buffer[node[P.TABLE] + k * row + x] = value
            if node[P.IS_ROOT] == 0:
                buffer[node[P.TRANSPOSED] + x * column + k] = value


@njit(nogil=True, cache=True)
def _sum_shifts(
    nodes: LongArray,
    slots: LongArray,
    index: IntArray,
    u: int,
    shifts: IntArray,
    is_shifted: BoolArray,
) -> bool:
    """Add up the exponents of the children; most often there are none."""
    found = False
    n, place = nodes[u, P.N_PATTERNS], nodes[u, P.SHIFTS]
    for slot in range(nodes[u, P.FIRST_SLOT], nodes[u, P.LAST_SLOT]):
        child = slots[slot, P.CHILD]
        if is_shifted[child]:
            if not found:
                for i in range(place, place + 2 * n):
                    shifts[i] = 0
            found = True
            sums = nodes[child, P.SHIFTS] + nodes[child, P.N_PATTERNS]
            for p in range(n):
                shifts[place + n + p] += shifts[sums + index[slots[slot, P.INDEX] + p]]
    return found


@njit(nogil=True, cache=True)
def _multiply_two(
    nodes: LongArray, slots: LongArray, index: IntArray, u: int, buffer: FloatArray, target: int
) -> bool:
    """Multiply the messages of two children; tell whether any product is small."""
    row, slot = nodes[u, P.ROW], nodes[u, P.FIRST_SLOT]
    left, right = slots[slot, P.INDEX], slots[slot + 1, P.INDEX]
    left_place = nodes[slots[slot, P.CHILD], P.MESSAGES]
    right_place = nodes[slots[slot + 1, P.CHILD], P.MESSAGES]
    is_small = False
    for p in range(nodes[u, P.N_PATTERNS]):
        a = left_place + index[left + p] * row
        b = right_place + index[right + p] * row
        is_large = False
        for k in range(0, row, LANES):
            product = load(buffer, a + k) * load(buffer, b + k)
            store(buffer, target + p * row + k, product)
            is_large = is_large or any_above(product, SMALL)
        is_small = is_small or not is_large
    return is_small


@njit(nogil=True, cache=True)
def _multiply_many(
    nodes: LongArray, slots: LongArray, index: IntArray, u: int, buffer: FloatArray, target: int
) -> bool:
    """Multiply the messages of any number of children and mask by an own value."""
    row, own = nodes[u, P.ROW], nodes[u, P.OWN]
    is_small = False
    for p in range(nodes[u, P.N_PATTERNS]):
        place = target + p * row
        for k in range(row):
            buffer[place + k] = 1.0 if k < nodes[u, P.CARD] else 0.0
        for slot in range(nodes[u, P.FIRST_SLOT], nodes[u, P.LAST_SLOT]):
            a = nodes[slots[slot, P.CHILD], P.MESSAGES] + index[slots[slot, P.INDEX] + p] * row
            for k in range(0, row, LANES):
                store(buffer, place + k, load(buffer, place + k) * load(buffer, a + k))
        if own >= 0:
            _keep_state(buffer, place, row, index[own + p])
        is_large = False
        for k in range(0, row, LANES):
            is_large = is_large or any_above(load(buffer, place + k), SMALL)
        is_small = is_small or not is_large
    return is_small


@njit(nogil=True, cache=True)
def _keep_state(buffer: FloatArray, place: int, row: int, x: int) -> None:
    """Set all entries but an observed one to zero; a missing value (-1) leaves them."""
    if x >= 0:
        kept = buffer[place + x]
        for k in range(row):
            buffer[place + k] = 0.0
        buffer[place + x] = kept


@njit(nogil=True, cache=True)
def _rescale(
    node: LongArray,
    buffer: FloatArray,
    place: int,
    shifts: IntArray,
    is_shifted: BoolArray,
    u: int,
) -> None:
    """Scale the small patterns of a node up; those that vanish are left to the log domain."""
    row, n, own = node[P.ROW], node[P.N_PATTERNS], node[P.SHIFTS]
    if not is_shifted[u]:
        for i in range(own, own + 2 * n):
            shifts[i] = 0
        is_shifted[u] = True
    for p in range(n):
        largest = 0.0
        for k in range(place + p * row, place + (p + 1) * row):
            largest = max(largest, buffer[k])
        if largest >= SMALL:
            continue
        factor = GROW if largest >= VANISHING else 0.0
        for k in range(place + p * row, place + (p + 1) * row):
            buffer[k] *= factor
        shifts[own + p] = 1
        shifts[own + n + p] += 1


@njit(nogil=True, cache=True)
def _send(node: LongArray, index: IntArray, buffer: FloatArray) -> None:
    """Carry the beliefs of a hidden node through its table to its parent."""
    row, column, own = node[P.ROW], node[P.COLUMN], node[P.OWN]
    for p in range(node[P.N_PATTERNS]):
        low, high = 0, node[P.CARD]
        if own >= 0 and index[own + p] >= 0:
            low, high = index[own + p], index[own + p] + 1
        belief = node[P.BELIEFS] + p * row
        for k in range(0, column, LANES):
            sums = splat(0.0)
            for x in range(low, high):
                entry = load(buffer, node[P.TRANSPOSED] + x * column + k)
                sums = sums + splat(buffer[belief + x]) * entry
            store(buffer, node[P.MESSAGES] + p * column + k, sums)


@njit(nogil=True, cache=True)
def expected_counts(
    plan: Plan, work: Workspace, theta: FloatArray, counts: FloatArray
) -> tuple[float, float]:
    """Fill ``counts`` (layout of ``theta``) with expected counts, given the parameters.

    Returns the log-likelihood of the rows of positive probability, and the weight of the others.
    """
    upward(plan, work, theta)
    nodes, slots, index, buffer = plan.nodes, plan.slots, plan.index, work.buffer
    outside, scratch = plan.sizes[P.OUTSIDE], plan.sizes[P.SCRATCH]
    counts[:] = 0.0
    log_likelihood, impossible = 0.0, 0.0
    buffer[outside : 2 * outside] = 0.0
    for u in range(nodes.shape[0]):
        kind = nodes[u, P.KIND]
        if kind == P.HIDDEN and nodes[u, P.IS_ROOT] == 1:
            value, lost = _leave_root(plan, work, theta, counts, u)
            log_likelihood += value
            impossible += lost
        elif kind == P.HIDDEN:
            _descend(nodes, slots, index, u, buffer, outside, scratch, work.shifts, work.is_shifted)
        elif kind == P.PRODUCT:
            _spread(nodes, slots, index, u, buffer, outside, scratch, work.shifts, work.is_shifted)
    for u in range(nodes.shape[0]):
        if nodes[u, P.IS_FREE] == 1:
            _collect(nodes, slots, u, theta, buffer, outside, counts)
    return log_likelihood, impossible


@njit(nogil=True, cache=True, forceinline=True)
def _distribute(
    nodes: LongArray,
    slots: LongArray,
    index: IntArray,
    u: int,
    p: int,
    buffer: FloatArray,
    outside: int,
    scratch: int,
) -> None:
    """Send the outside factor at ``scratch`` to the children, each times the others' messages."""
    row, first, last = nodes[u, P.ROW], nodes[u, P.FIRST_SLOT], nodes[u, P.LAST_SLOT]
    for k in range(0, row, LANES):
        before = load(buffer, scratch + k)
        for slot in range(first, last):
            place = nodes[slots[slot, P.CHILD], P.MESSAGES] + k
            place += index[slots[slot, P.INDEX] + p] * row
            store(buffer, scratch + 2 * row + (slot - first) * LANES, before)
            before = before * load(buffer, place)
        after = splat(1.0)
        for slot in range(last - 1, first - 1, -1):
            place = nodes[slots[slot, P.CHILD], P.MESSAGES] + k
            place += index[slots[slot, P.INDEX] + p] * row
            others = load(buffer, scratch + 2 * row + (slot - first) * LANES) * after
            store(buffer, place + outside, load(buffer, place + outside) + others)
            after = after * load(buffer, place)


@njit(nogil=True, cache=True)
def _leave_root(
    plan: Plan, work: Workspace, theta: FloatArray, counts: FloatArray, u: int
) -> tuple[float, float]:
    """Weigh each root pattern by weight / likelihood and start the way down."""
    nodes, slots, index, buffer = plan.nodes, plan.slots, plan.index, work.buffer
    outside, scratch = plan.sizes[P.OUTSIDE], plan.sizes[P.SCRATCH]
    row, prior, sums = nodes[u, P.ROW], nodes[u, P.TABLE], nodes[u, P.COUNTS]
    own, first, last = nodes[u, P.OWN], nodes[u, P.FIRST_SLOT], nodes[u, P.LAST_SLOT]
    has_shifts = _any_child_shifted(nodes, slots, u, work.is_shifted)
    buffer[sums : sums + row] = 0.0
    log_likelihood, impossible = 0.0, 0.0
    for p in range(nodes[u, P.N_PATTERNS]):
        weight = plan.weights[nodes[u, P.WEIGHTS] + p]
        if weight == 0.0:
            continue
        joint = splat(0.0)
        for k in range(0, row, LANES):
            product = load(buffer, prior + k)
            store(buffer, scratch + k, product)
            for slot in range(first, last):
                place = nodes[slots[slot, P.CHILD], P.MESSAGES] + k
                place += index[slots[slot, P.INDEX] + p] * row
                product = product * load(buffer, place)
            store(buffer, scratch + row + k, product)
            joint = joint + product
        if own >= 0 and index[own + p] >= 0:
            _keep_state(buffer, scratch, row, index[own + p])
            likelihood = buffer[scratch + row + index[own + p]]
            _keep_state(buffer, scratch + row, row, index[own + p])
        else:
            likelihood = total(joint)
        if likelihood < VANISHING:
            value = add_row(plan, work, theta, counts, u, p, weight)
            if value == -np.inf:
                impossible += weight
            else:
                log_likelihood += weight * value
            continue
        shift = 0
        if has_shifts:
            shift = _shift_at_root(nodes, slots, index, u, p, work.shifts, work.is_shifted)
        log_likelihood += weight * (math.log(likelihood) - shift * LOG_GROW)
        scale = splat(weight / likelihood)
        for k in range(0, row, LANES):
            here = load(buffer, scratch + row + k) * scale
            store(buffer, sums + k, load(buffer, sums + k) + here)
            store(buffer, scratch + k, load(buffer, scratch + k) * scale)
        _distribute(nodes, slots, index, u, p, buffer, outside, scratch)
    return log_likelihood, impossible


@njit(nogil=True, cache=True)
def _any_child_shifted(nodes: LongArray, slots: LongArray, u: int, is_shifted: BoolArray) -> bool:
    for slot in range(nodes[u, P.FIRST_SLOT], nodes[u, P.LAST_SLOT]):
        if is_shifted[slots[slot, P.CHILD]]:
            return True
    return False


@njit(nogil=True, cache=True)
def _shift_at_root(
    nodes: LongArray,
    slots: LongArray,
    index: IntArray,
    u: int,
    p: int,
    shifts: IntArray,
    is_shifted: BoolArray,
) -> int:
    """Sum the exponents of the children's patterns."""
    shift = 0
    for slot in range(nodes[u, P.FIRST_SLOT], nodes[u, P.LAST_SLOT]):
        child = slots[slot, P.CHILD]
        if is_shifted[child]:
            q = index[slots[slot, P.INDEX] + p]
            shift += shifts[nodes[child, P.SHIFTS] + nodes[child, P.N_PATTERNS] + q]
    return shift


@njit(nogil=True, cache=True)
def _spread(
    nodes: LongArray,
    slots: LongArray,
    index: IntArray,
    u: int,
    buffer: FloatArray,
    outside: int,
    scratch: int,
    shifts: IntArray,
    is_shifted: BoolArray,
) -> None:
    """Pass the outside factors of a product node on to its children."""
    row, start, slot = nodes[u, P.ROW], nodes[u, P.MESSAGES] + outside, nodes[u, P.FIRST_SLOT]
    if nodes[u, P.LAST_SLOT] - slot != 2 or is_shifted[u]:
        for p in range(nodes[u, P.N_PATTERNS]):
            is_grown = is_shifted[u] and shifts[nodes[u, P.SHIFTS] + p] > 0
            scale = splat(GROW if is_grown else 1.0)
            for k in range(0, row, LANES):
                store(buffer, scratch + k, load(buffer, start + p * row + k) * scale)
            _distribute(nodes, slots, index, u, p, buffer, outside, scratch)
        return
    left, right = slots[slot, P.INDEX], slots[slot + 1, P.INDEX]
    left_place = nodes[slots[slot, P.CHILD], P.MESSAGES]
    right_place = nodes[slots[slot + 1, P.CHILD], P.MESSAGES]
    for p in range(nodes[u, P.N_PATTERNS]):
        a = left_place + index[left + p] * row
        b = right_place + index[right + p] * row
        for k in range(0, row, LANES):
            here = load(buffer, start + p * row + k)
            to_left = here * load(buffer, b + k)
            to_right = here * load(buffer, a + k)
            store(buffer, a + outside + k, load(buffer, a + outside + k) + to_left)
            store(buffer, b + outside + k, load(buffer, b + outside + k) + to_right)


@njit(nogil=True, cache=True)
def _descend(
    nodes: LongArray,
    slots: LongArray,
    index: IntArray,
    u: int,
    buffer: FloatArray,
    outside: int,
    scratch: int,
    shifts: IntArray,
    is_shifted: BoolArray,
) -> None:
    """Count the pairs of a hidden node and its parent, and carry the outside factors through."""
    width, row, column, own = nodes[u, P.WIDTH], nodes[u, P.ROW], nodes[u, P.COLUMN], nodes[u, P.OWN]
    table, sums = nodes[u, P.TABLE], nodes[u, P.COUNTS]
    buffer[sums : sums + width * row] = 0.0
    for p in range(nodes[u, P.N_PATTERNS]):
        above = nodes[u, P.MESSAGES] + outside + p * column
        belief = nodes[u, P.BELIEFS] + p * row
        is_grown = is_shifted[u] and shifts[nodes[u, P.SHIFTS] + p] > 0
        scale = splat(GROW if is_grown else 1.0)
        for k in range(0, row, LANES):
            here, through = load(buffer, belief + k), splat(0.0)
            for j in range(width):
                factor = splat(buffer[above + j])
                place = sums + j * row + k
                store(buffer, place, load(buffer, place) + factor * here)
                through = through + factor * load(buffer, table + j * row + k)
            store(buffer, scratch + k, through * scale)
        if own >= 0:
            _keep_state(buffer, scratch, row, index[own + p])
        _distribute(nodes, slots, index, u, p, buffer, outside, scratch)


@njit(nogil=True, cache=True)
def _collect(
    nodes: LongArray,
    slots: LongArray,
    u: int,
    theta: FloatArray,
    buffer: FloatArray,
    outside: int,
    counts: FloatArray,
) -> None:
    """Move the sums of one node into the flat vector of expected counts."""
    card, width, start = nodes[u, P.CARD], nodes[u, P.WIDTH], nodes[u, P.PARAMETERS]
    row, column, sums = nodes[u, P.ROW], nodes[u, P.COLUMN], nodes[u, P.COUNTS]
    if nodes[u, P.KIND] == P.LEAF:
        place = nodes[u, P.MESSAGES] + outside
        for k in range(width):
            for x in range(card):
                i = start + k * card + x
                counts[i] += buffer[place + x * column + k] * theta[i]
    elif nodes[u, P.IS_ROOT] == 1:
        for x in range(card):
            counts[start + x] += buffer[sums + x]
    else:
        for k in range(width):
            for x in range(card):
                i = start + k * card + x
                counts[i] += buffer[sums + k * row + x] * theta[i]


@njit(nogil=True, cache=True)
def log_likelihoods(plan: Plan, work: Workspace, theta: FloatArray, result: FloatArray) -> None:
    """Fill ``result`` (layout of ``plan.weights``) with log-likelihoods of the root patterns."""
    upward(plan, work, theta)
    nodes, slots, index, buffer = plan.nodes, plan.slots, plan.index, work.buffer
    counts = np.empty(0)
    for u in range(nodes.shape[0]):
        if nodes[u, P.IS_ROOT] == 0:
            continue
        row, prior, own = nodes[u, P.ROW], nodes[u, P.TABLE], nodes[u, P.OWN]
        for p in range(nodes[u, P.N_PATTERNS]):
            likelihood = 0.0
            for k in range(nodes[u, P.CARD]):
                product = buffer[prior + k]
                for slot in range(nodes[u, P.FIRST_SLOT], nodes[u, P.LAST_SLOT]):
                    place = nodes[slots[slot, P.CHILD], P.MESSAGES] + k
                    product *= buffer[place + index[slots[slot, P.INDEX] + p] * row]
                if own < 0 or index[own + p] < 0 or index[own + p] == k:
                    likelihood += product
            if likelihood < VANISHING:
                value = add_row(plan, work, theta, counts, u, p, 0.0)
            else:
                shift = _shift_at_root(nodes, slots, index, u, p, work.shifts, work.is_shifted)
                value = math.log(likelihood) - shift * LOG_GROW
            result[nodes[u, P.WEIGHTS] + p] = value


@njit(nogil=True, cache=True)
def log_likelihood(plan: Plan, work: Workspace, theta: FloatArray) -> tuple[float, float]:
    """Log-likelihood of the rows of positive probability, and the weight of the others."""
    values = np.empty(plan.weights.shape[0])
    log_likelihoods(plan, work, theta, values)
    result, impossible = 0.0, 0.0
    for i in range(values.shape[0]):
        weight = plan.weights[i]
        if weight > 0.0 and values[i] == -np.inf:
            impossible += weight
        elif weight > 0.0:
            result += weight * values[i]
    return result, impossible
