"""The E-step: message passing over pattern tables. See ``plan`` for the legend.

Upward, ``belief[u][p] = Π_c message[c][q]`` and ``message[u][p] = table · belief``. Downward,
everything is linear in the outside factor, so it is summed per pattern of the child before it
goes on: ``outside[c][q] += outside[u][p] · Π_{other children} message``. A vector that gets
small is multiplied by 2^256 and the exponent is kept; a row that still vanishes is computed
again by the caller in the log domain (``rescue``).
"""

from __future__ import annotations

import math

from latentforest.kernels.compilation import inlined, kernel
from latentforest.kernels.plan import (
    BELIEFS,
    CARD,
    COLUMN,
    COUNTS,
    FIRST_SLOT,
    HIDDEN,
    IS_FREE,
    IS_ROOT,
    KIND,
    LAST_SLOT,
    LEAF,
    MESSAGES,
    N_FIELDS,
    N_PATTERNS,
    OUTSIDE,
    OWN,
    PARAMETERS,
    PRODUCT,
    ROW,
    SCRATCH,
    SHIFTS,
    TABLE,
    TRANSPOSED,
    WEIGHTS,
    WIDTH,
    Plan,
    Workspace,
)
from latentforest.kernels.types import BoolArray, FloatArray, IntArray, LongArray
from latentforest.kernels.vector import LANES, any_above, load, splat, store, total

SMALL = 2.0**-256
GROW = 2.0**256
LOG_GROW = 256 * math.log(2.0)
VANISHING = 1e-200  # below this, entries lost to underflow may matter: left to the log domain


@kernel
def _clear(values: FloatArray, start: int, end: int) -> None:
    for i in range(start, end):
        values[i] = 0.0


@kernel
def upward(plan: Plan, work: Workspace, theta: FloatArray) -> None:
    """Compute the messages of every node but the roots."""
    nodes, slot_child, slot_index, index = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    buffer, shifts, is_shifted = work.buffer, work.shifts, work.is_shifted
    for u in range(nodes.shape[0] - N_FIELDS, -1, -N_FIELDS):
        kind, is_root = nodes[u + KIND], nodes[u + IS_ROOT] == 1
        if kind == LEAF:
            _fill_leaf(nodes, u, theta, buffer)
        elif kind == HIDDEN:
            _fill_tables(nodes, u, theta, buffer)
        if kind == PRODUCT or (kind == HIDDEN and not is_root):
            place = nodes[u + MESSAGES] if kind == PRODUCT else nodes[u + BELIEFS]
            is_shifted[u] = _sum_shifts(nodes, slot_child, slot_index, index, u, shifts, is_shifted)
            if nodes[u + LAST_SLOT] - nodes[u + FIRST_SLOT] == 2 and nodes[u + OWN] < 0:
                smallest = _multiply_two(nodes, slot_child, slot_index, index, u, buffer, place)
            else:
                smallest = _multiply_many(nodes, slot_child, slot_index, index, u, buffer, place)
            if smallest:
                _rescale(nodes, u, buffer, place, shifts, is_shifted)
            if kind == HIDDEN:
                _send(nodes, u, index, buffer)


@kernel
def _fill_leaf(nodes: LongArray, u: int, theta: FloatArray, buffer: FloatArray) -> None:
    card, width, column = nodes[u + CARD], nodes[u + WIDTH], nodes[u + COLUMN]
    place, table = nodes[u + MESSAGES], nodes[u + PARAMETERS]
    for k in range(width):
        for x in range(card):
            buffer[place + x * column + k] = theta[table + k * card + x]
        if nodes[u + N_PATTERNS] > card:  # the last pattern is the missing value
            buffer[place + card * column + k] = 1.0


@kernel
def _fill_tables(nodes: LongArray, u: int, theta: FloatArray, buffer: FloatArray) -> None:
    card, row, column = nodes[u + CARD], nodes[u + ROW], nodes[u + COLUMN]
    n_rows = 1 if nodes[u + IS_ROOT] == 1 else nodes[u + WIDTH]
    for k in range(n_rows):
        for x in range(card):
            value = theta[nodes[u + PARAMETERS] + k * card + x]
            buffer[nodes[u + TABLE] + k * row + x] = value
            if nodes[u + IS_ROOT] == 0:
                buffer[nodes[u + TRANSPOSED] + x * column + k] = value


@kernel
def _sum_shifts(
    nodes: LongArray,
    slot_child: LongArray,
    slot_index: LongArray,
    index: IntArray,
    u: int,
    shifts: IntArray,
    is_shifted: BoolArray,
) -> bool:
    """Add up the exponents of the children; most often there are none."""
    found = False
    n, place = nodes[u + N_PATTERNS], nodes[u + SHIFTS]
    for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
        child = slot_child[slot]
        if is_shifted[child]:
            if not found:
                for i in range(place, place + 2 * n):
                    shifts[i] = 0
            found = True
            sums = nodes[child + SHIFTS] + nodes[child + N_PATTERNS]
            for p in range(n):
                shifts[place + n + p] += shifts[sums + index[slot_index[slot] + p]]
    return found


@kernel
def _multiply_two(
    nodes: LongArray,
    slot_child: LongArray,
    slot_index: LongArray,
    index: IntArray,
    u: int,
    buffer: FloatArray,
    target: int,
) -> bool:
    """Multiply the messages of two children; tell whether any product is small."""
    row, slot = nodes[u + ROW], nodes[u + FIRST_SLOT]
    left, right = slot_index[slot], slot_index[slot + 1]
    left_place = nodes[slot_child[slot] + MESSAGES]
    right_place = nodes[slot_child[slot + 1] + MESSAGES]
    is_small = False
    for p in range(nodes[u + N_PATTERNS]):
        a = left_place + index[left + p] * row
        b = right_place + index[right + p] * row
        is_large = False
        for k in range(0, row, LANES):
            product = load(buffer, a + k) * load(buffer, b + k)
            store(buffer, target + p * row + k, product)
            is_large = is_large or any_above(product, SMALL)
        is_small = is_small or not is_large
    return is_small


@kernel
def _multiply_many(
    nodes: LongArray,
    slot_child: LongArray,
    slot_index: LongArray,
    index: IntArray,
    u: int,
    buffer: FloatArray,
    target: int,
) -> bool:
    """Multiply the messages of any number of children and mask by an own value."""
    row, own = nodes[u + ROW], nodes[u + OWN]
    is_small = False
    for p in range(nodes[u + N_PATTERNS]):
        place = target + p * row
        for k in range(row):
            buffer[place + k] = 1.0 if k < nodes[u + CARD] else 0.0
        for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
            a = nodes[slot_child[slot] + MESSAGES] + index[slot_index[slot] + p] * row
            for k in range(0, row, LANES):
                store(buffer, place + k, load(buffer, place + k) * load(buffer, a + k))
        if own >= 0:
            _keep_state(buffer, place, row, index[own + p])
        is_large = False
        for k in range(0, row, LANES):
            is_large = is_large or any_above(load(buffer, place + k), SMALL)
        is_small = is_small or not is_large
    return is_small


@kernel
def _keep_state(buffer: FloatArray, place: int, row: int, x: int) -> None:
    """Set all entries but an observed one to zero; a missing value (-1) leaves them."""
    if x >= 0:
        kept = buffer[place + x]
        for k in range(row):
            buffer[place + k] = 0.0
        buffer[place + x] = kept


@kernel
def _rescale(
    nodes: LongArray,
    u: int,
    buffer: FloatArray,
    place: int,
    shifts: IntArray,
    is_shifted: BoolArray,
) -> None:
    """Scale the small patterns of a node up; those that vanish are left to the log domain."""
    row, n, own = nodes[u + ROW], nodes[u + N_PATTERNS], nodes[u + SHIFTS]
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


@kernel
def _send(nodes: LongArray, u: int, index: IntArray, buffer: FloatArray) -> None:
    """Carry the beliefs of a hidden node through its table to its parent."""
    row, column, own = nodes[u + ROW], nodes[u + COLUMN], nodes[u + OWN]
    for p in range(nodes[u + N_PATTERNS]):
        low, high = 0, nodes[u + CARD]
        if own >= 0 and index[own + p] >= 0:
            low, high = index[own + p], index[own + p] + 1
        belief = nodes[u + BELIEFS] + p * row
        for k in range(0, column, LANES):
            sums = splat(0.0)
            for x in range(low, high):
                entry = load(buffer, nodes[u + TRANSPOSED] + x * column + k)
                sums = sums + splat(buffer[belief + x]) * entry
            store(buffer, nodes[u + MESSAGES] + p * column + k, sums)


@kernel
def propagate(
    plan: Plan, work: Workspace, theta: FloatArray, counts: FloatArray, values: FloatArray
) -> tuple[float, int]:
    """Propagate the evidence of all rows under the parameters.

    Fills ``counts`` (layout of ``theta``) with expected counts and ``values`` (layout of
    ``plan.weights``) with log-likelihoods of the root patterns; an empty array is left alone, and
    without counts there is no way down. Returns the log-likelihood and how many root patterns
    vanished; these are listed in ``work.vanished`` and add nothing to any result.
    """
    upward(plan, work, theta)
    nodes, buffer, outside = plan.nodes, work.buffer, plan.sizes[OUTSIDE]
    has_counts = counts.shape[0] > 0
    if has_counts:
        _clear(counts, 0, counts.shape[0])
        _clear(buffer, outside, 2 * outside)
    log_likelihood = 0.0
    work.vanished[0] = 0
    for u in range(0, nodes.shape[0], N_FIELDS):
        if nodes[u + IS_ROOT] == 1:
            log_likelihood += _leave_root(plan, work, counts, values, u)
        elif has_counts and nodes[u + KIND] == HIDDEN:
            _descend(plan, work, u)
        elif has_counts and nodes[u + KIND] == PRODUCT:
            _spread(plan, work, u)
        if has_counts and nodes[u + IS_FREE] == 1:
            _collect(nodes, u, theta, buffer, outside, counts)
    return log_likelihood, work.vanished[0]


@inlined
def _find_places(
    nodes: LongArray,
    slot_child: LongArray,
    slot_index: LongArray,
    index: IntArray,
    u: int,
    p: int,
    places: LongArray,
) -> None:
    """Find where the messages of the children's patterns start."""
    first, row = nodes[u + FIRST_SLOT], nodes[u + ROW]
    for slot in range(first, nodes[u + LAST_SLOT]):
        place = nodes[slot_child[slot] + MESSAGES]
        places[slot - first] = place + index[slot_index[slot] + p] * row


@inlined
def _distribute(
    n_slots: int, row: int, places: LongArray, buffer: FloatArray, outside: int, scratch: int
) -> None:
    """Send the outside factor at ``scratch`` to the children, each times the others' messages."""
    for k in range(0, row, LANES):
        before = load(buffer, scratch + k)
        for j in range(n_slots):
            store(buffer, scratch + 2 * row + j * LANES, before)
            before = before * load(buffer, places[j] + k)
        after = splat(1.0)
        for j in range(n_slots - 1, -1, -1):
            place = places[j] + k
            others = load(buffer, scratch + 2 * row + j * LANES) * after
            store(buffer, place + outside, load(buffer, place + outside) + others)
            after = after * load(buffer, place)


@kernel
def _leave_root(
    plan: Plan,
    work: Workspace,
    counts: FloatArray,
    values: FloatArray,
    u: int,
) -> float:
    """Weigh each root pattern by weight / likelihood and start the way down."""
    nodes, slot_child, slot_index, index = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    weights, buffer, outside, scratch = (
        plan.weights,
        work.buffer,
        plan.sizes[OUTSIDE],
        plan.sizes[SCRATCH],
    )
    row, prior, sums = nodes[u + ROW], nodes[u + TABLE], nodes[u + COUNTS]
    own, n_slots = nodes[u + OWN], nodes[u + LAST_SLOT] - nodes[u + FIRST_SLOT]
    places = work.places
    has_shifts = _any_child_shifted(nodes, slot_child, u, work.is_shifted)
    has_counts, has_values = counts.shape[0] > 0, values.shape[0] > 0
    _clear(buffer, sums, sums + row)
    log_likelihood = 0.0
    for p in range(nodes[u + N_PATTERNS]):
        weight = weights[nodes[u + WEIGHTS] + p]
        _find_places(nodes, slot_child, slot_index, index, u, p, places)
        joint = splat(0.0)
        for k in range(0, row, LANES):
            product = load(buffer, prior + k)
            store(buffer, scratch + k, product)
            for j in range(n_slots):
                product = product * load(buffer, places[j] + k)
            store(buffer, scratch + row + k, product)
            joint = joint + product
        likelihood = total(joint)
        if own >= 0 and index[own + p] >= 0:
            _keep_state(buffer, scratch, row, index[own + p])
            _keep_state(buffer, scratch + row, row, index[own + p])
            likelihood = buffer[scratch + row + index[own + p]]
        if not likelihood >= VANISHING:
            work.vanished[0] += 1
            work.vanished[work.vanished[0]] = nodes[u + WEIGHTS] + p
            continue
        value = math.log(likelihood)
        if has_shifts:
            value -= LOG_GROW * _shift_at_root(plan, work, u, p)
        if has_values:
            values[nodes[u + WEIGHTS] + p] = value
        log_likelihood += weight * value
        if has_counts:
            scale = splat(weight / likelihood)
            for k in range(0, row, LANES):
                here = load(buffer, scratch + row + k) * scale
                store(buffer, sums + k, load(buffer, sums + k) + here)
                store(buffer, scratch + k, load(buffer, scratch + k) * scale)
            _distribute(n_slots, row, places, buffer, outside, scratch)
    return log_likelihood


@kernel
def _any_child_shifted(
    nodes: LongArray, slot_child: LongArray, u: int, is_shifted: BoolArray
) -> bool:
    found = False
    for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
        found = found or is_shifted[slot_child[slot]]
    return found


@kernel
def _shift_at_root(plan: Plan, work: Workspace, u: int, p: int) -> int:
    """Sum the exponents of the children's patterns."""
    nodes, shift = plan.nodes, 0
    for slot in range(nodes[u + FIRST_SLOT], nodes[u + LAST_SLOT]):
        child = plan.slot_child[slot]
        if work.is_shifted[child]:
            sums = nodes[child + SHIFTS] + nodes[child + N_PATTERNS]
            shift += work.shifts[sums + plan.links[plan.slot_index[slot] + p]]
    return shift


@kernel
def _spread(plan: Plan, work: Workspace, u: int) -> None:
    """Pass the outside factors of a product node on to its children."""
    nodes, slot_child, slot_index, index = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    buffer, outside, scratch = work.buffer, plan.sizes[OUTSIDE], plan.sizes[SCRATCH]
    shifts, is_shifted = work.shifts, work.is_shifted[u]
    row, start, slot = nodes[u + ROW], nodes[u + MESSAGES] + outside, nodes[u + FIRST_SLOT]
    n_slots = nodes[u + LAST_SLOT] - slot
    if n_slots != 2 or is_shifted:
        for p in range(nodes[u + N_PATTERNS]):
            is_grown = is_shifted and shifts[nodes[u + SHIFTS] + p] > 0
            scale = splat(GROW if is_grown else 1.0)
            for k in range(0, row, LANES):
                store(buffer, scratch + k, load(buffer, start + p * row + k) * scale)
            _find_places(nodes, slot_child, slot_index, index, u, p, work.places)
            _distribute(n_slots, row, work.places, buffer, outside, scratch)
        return
    left, right = slot_index[slot], slot_index[slot + 1]
    left_place = nodes[slot_child[slot] + MESSAGES]
    right_place = nodes[slot_child[slot + 1] + MESSAGES]
    for p in range(nodes[u + N_PATTERNS]):
        a = left_place + index[left + p] * row
        b = right_place + index[right + p] * row
        for k in range(0, row, LANES):
            here = load(buffer, start + p * row + k)
            to_left = here * load(buffer, b + k)
            to_right = here * load(buffer, a + k)
            store(buffer, a + outside + k, load(buffer, a + outside + k) + to_left)
            store(buffer, b + outside + k, load(buffer, b + outside + k) + to_right)


@kernel
def _descend(plan: Plan, work: Workspace, u: int) -> None:
    """Count the pairs of a hidden node and its parent, and carry the outside factors through."""
    nodes, slot_child, slot_index, index = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    buffer, outside, scratch = work.buffer, plan.sizes[OUTSIDE], plan.sizes[SCRATCH]
    shifts, is_shifted = work.shifts, work.is_shifted[u]
    width, row, column, own = nodes[u + WIDTH], nodes[u + ROW], nodes[u + COLUMN], nodes[u + OWN]
    table, sums = nodes[u + TABLE], nodes[u + COUNTS]
    n_slots = nodes[u + LAST_SLOT] - nodes[u + FIRST_SLOT]
    _clear(buffer, sums, sums + width * row)
    for p in range(nodes[u + N_PATTERNS]):
        above = nodes[u + MESSAGES] + outside + p * column
        belief = nodes[u + BELIEFS] + p * row
        is_grown = is_shifted and shifts[nodes[u + SHIFTS] + p] > 0
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
        _find_places(nodes, slot_child, slot_index, index, u, p, work.places)
        _distribute(n_slots, row, work.places, buffer, outside, scratch)


@kernel
def _collect(
    nodes: LongArray,
    u: int,
    theta: FloatArray,
    buffer: FloatArray,
    outside: int,
    counts: FloatArray,
) -> None:
    """Move the sums of one node into the flat vector of expected counts."""
    card, width, start = nodes[u + CARD], nodes[u + WIDTH], nodes[u + PARAMETERS]
    row, column, sums = nodes[u + ROW], nodes[u + COLUMN], nodes[u + COUNTS]
    if nodes[u + KIND] == LEAF:
        place = nodes[u + MESSAGES] + outside
        for k in range(width):
            for x in range(card):
                i = start + k * card + x
                counts[i] += buffer[place + x * column + k] * theta[i]
    elif nodes[u + IS_ROOT] == 1:
        for x in range(card):
            counts[start + x] += buffer[sums + x]
    else:
        for k in range(width):
            for x in range(card):
                i = start + k * card + x
                counts[i] += buffer[sums + k * row + x] * theta[i]
