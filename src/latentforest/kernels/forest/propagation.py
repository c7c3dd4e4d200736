"""The E-step: message passing over pattern tables. See ``plan`` for the legend.

Upward, ``belief[u][p] = Π_c message[c][q]`` and ``message[u][p] = table · belief``. Downward,
everything is linear in the outside factor, so it is summed per pattern of the child before it
goes on: ``outside[c][q] += outside[u][p] · Π_{other children} message``. A vector that gets
small is multiplied by 2^256 and the exponent is kept; a row that still vanishes is computed
again by the caller in the log domain (``rescue``).
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest.plan import (
    BELIEFS,
    CARD,
    COLLECT,
    COLUMN,
    COUNTS,
    FILL,
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
    NEEDS_OUTSIDE,
    OUTSIDE,
    PARAMETERS,
    PRODUCT,
    ROW,
    SCRATCH,
    SHIFTS,
    STRIDE,
    TABLE,
    TRANSPOSED,
    WEIGHTS,
    WIDTH,
    Plan,
    Workspace,
)
from latentforest.kernels.hooks import call_step
from latentforest.kernels.types import BoolArray, Flag, FloatArray, IntArray, LongArray
from latentforest.kernels.vector import (
    LANES,
    any_above,
    capped,
    front,
    lesser,
    load,
    logarithm,
    raised,
    splat,
    store,
    total,
)

SMALL = 2.0**-256
GROW = 2.0**256
LOG_GROW = 256 * math.log(2.0)
TINIEST = 5e-324  # the smallest positive number
HIGHEST = 1e290  # an outside factor above it belongs to a state that is impossible below
VANISHING = 1e-200  # below this, entries lost to underflow may matter: left to the log domain


@part
def _clear(values: FloatArray, start: int, end: int) -> None:
    for i in range(start, end):
        values[i] = 0.0


@part
def upward(plan: Plan, work: Workspace, theta: FloatArray, floor: float) -> float:
    """Compute the messages of every node but the roots.

    Returns what the offsets of the Gaussian leaves add to the log-likelihood of all rows.
    """
    nodes, slot_child, slot_index, index = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    buffer, shifts, is_shifted, result = work.buffer, work.shifts, work.is_shifted, 0.0
    for u in range(nodes.shape[0] - N_FIELDS, -1, -N_FIELDS):
        kind, is_root = nodes[u + KIND], nodes[u + IS_ROOT] == 1
        card, width, start = nodes[u + CARD], nodes[u + WIDTH], nodes[u + PARAMETERS]
        if kind >= GAUSSIAN:
            result += call_step(
                plan.sizes[FILL + kind - GAUSSIAN],
                u,
                floor,
                nodes,
                slot_child,
                slot_index,
                plan.evidence,
                buffer,
                theta,
            )
        if kind == HIDDEN and start >= 0:
            n_rows = 1 if is_root else width
            _copy_table(theta, start, n_rows, card, buffer, nodes[u + TABLE], nodes[u + ROW], 1)
        if kind == LEAF or (kind == HIDDEN and not is_root):
            place = nodes[u + MESSAGES] if kind == LEAF else nodes[u + TRANSPOSED]
            _copy_table(theta, start, width, card, buffer, place, 1, nodes[u + COLUMN])
        if kind == PRODUCT or (kind == HIDDEN and not is_root):
            place = nodes[u + MESSAGES] if kind == PRODUCT else nodes[u + BELIEFS]
            is_shifted[u] = _sum_shifts(nodes, slot_child, slot_index, index, u, shifts, is_shifted)
            if nodes[u + LAST_SLOT] - nodes[u + FIRST_SLOT] == 2:
                smallest = _multiply_two(plan, u, buffer, place, floor)
            else:
                smallest = _multiply_many(plan, u, buffer, place, floor)
            if smallest:
                _rescale(nodes, u, buffer, place, shifts, is_shifted)
            if kind == HIDDEN:
                _send(nodes, u, buffer, floor)
    return result


@part
def _copy_table(
    theta: FloatArray,
    source: int,
    n_rows: int,
    n_columns: int,
    buffer: FloatArray,
    place: int,
    row_step: int,
    column_step: int,
) -> None:
    """Copy a table of the parameter vector into the buffer, spread out or transposed."""
    for k in range(n_rows):
        for x in range(n_columns):
            buffer[place + k * row_step + x * column_step] = theta[source + k * n_columns + x]


@part
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


@part
def _multiply_two(plan: Plan, u: int, buffer: FloatArray, target: int, floor: float) -> bool:
    """Multiply the messages of two children; tell whether any product is small."""
    nodes, links, row, slot = (
        plan.nodes,
        plan.links,
        plan.nodes[u + ROW],
        plan.nodes[u + FIRST_SLOT],
    )
    left, right = plan.slot_index[slot], plan.slot_index[slot + 1]
    left_place = nodes[plan.slot_child[slot] + MESSAGES]
    right_place = nodes[plan.slot_child[slot + 1] + MESSAGES]
    is_small = False
    for p in range(nodes[u + N_PATTERNS]):
        a = left_place + links[left + p] * row
        b = right_place + links[right + p] * row
        is_large = False
        for k in range(0, row, LANES):
            product = load(buffer, a + k) * load(buffer, b + k)
            if floor > 0.0:
                product = raised(product, load(buffer, a + k), load(buffer, b + k), floor)
            store(buffer, target + p * row + k, product)
            is_large = is_large or any_above(product, SMALL)
        is_small = is_small or not is_large
    return is_small


@part
def _multiply_many(plan: Plan, u: int, buffer: FloatArray, target: int, floor: float) -> bool:
    """Multiply the messages of any number of children; tell whether any product is small."""
    nodes, slot_child, slot_index, links = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    row, first = nodes[u + ROW], nodes[u + FIRST_SLOT]
    is_small = False
    for p in range(nodes[u + N_PATTERNS]):
        place = target + p * row
        a = nodes[slot_child[first] + MESSAGES] + links[slot_index[first] + p] * row
        for k in range(0, row, LANES):
            store(buffer, place + k, load(buffer, a + k))
        for slot in range(first + 1, nodes[u + LAST_SLOT]):
            a = nodes[slot_child[slot] + MESSAGES] + links[slot_index[slot] + p] * row
            for k in range(0, row, LANES):
                product = load(buffer, place + k) * load(buffer, a + k)
                if floor > 0.0:
                    product = raised(product, load(buffer, place + k), load(buffer, a + k), floor)
                store(buffer, place + k, product)
        is_large = False
        for k in range(0, row, LANES):
            is_large = is_large or any_above(load(buffer, place + k), SMALL)
        is_small = is_small or not is_large
    return is_small


@part
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


@part
def _send(nodes: LongArray, u: int, buffer: FloatArray, floor: float) -> None:
    """Carry the beliefs of a hidden node through its table to its parent."""
    card, row, column = nodes[u + CARD], nodes[u + ROW], nodes[u + COLUMN]
    table, message = nodes[u + TRANSPOSED], nodes[u + MESSAGES]
    for p in range(nodes[u + N_PATTERNS]):
        belief = nodes[u + BELIEFS] + p * row
        for k in range(0, column, LANES):
            sums = splat(0.0)
            for x in range(card):
                value = buffer[belief + x]
                if value != 0.0:  # of an observed variable, most are
                    entry = load(buffer, table + x * column + k)
                    product = splat(value) * entry
                    if floor > 0.0:
                        product = raised(product, splat(value), entry, floor)
                    sums = sums + product
            store(buffer, message + p * column + k, sums)


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
    log_likelihood = upward(plan, work, theta, floor)
    nodes, buffer, outside = plan.nodes, work.buffer, plan.sizes[OUTSIDE]
    has_counts = counts.shape[0] > 0
    if has_counts:
        _clear(counts, 0, counts.shape[0])
        _clear(buffer, outside, 2 * outside)
    work.vanished[0] = 0
    for u in range(0, nodes.shape[0], N_FIELDS):
        if nodes[u + STRIDE] > 0:
            log_likelihood += _meet_base(plan, work, u, is_judged)
        elif nodes[u + IS_ROOT] == 1:
            _find_likelihoods(plan, work, u)
            log_likelihood += _sum_logarithms(plan, work, values, u)
        elif has_counts and nodes[u + KIND] == HIDDEN:
            _count_pairs(plan, work, u)
        if has_counts and nodes[u + STRIDE] == 0 and nodes[u + FIRST_SLOT] < nodes[u + LAST_SLOT]:
            _spread(plan, work, u)
        if has_counts and nodes[u + IS_FREE] == 1:
            if nodes[u + IS_ROOT] == 1:
                _collect_root(plan, work, counts, u)
            elif nodes[u + KIND] >= GAUSSIAN:
                call_step(
                    plan.sizes[COLLECT + nodes[u + KIND] - GAUSSIAN],
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
                _collect(plan, work, theta, counts, u)
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
def _meet_base(plan: Plan, work: Workspace, u: int, is_judged: Flag) -> float:
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


@part
def _count_pairs(plan: Plan, work: Workspace, u: int) -> None:
    """Count the pairs of a hidden node's states and its parent's.

    The beliefs, not needed any more, are replaced by the outside factors in the node's own states.
    """
    nodes, buffer, outside = plan.nodes, work.buffer, plan.sizes[OUTSIDE]
    width, row, column = nodes[u + WIDTH], nodes[u + ROW], nodes[u + COLUMN]
    table, sums = nodes[u + TABLE], nodes[u + COUNTS]
    _clear(buffer, sums, sums + width * row)
    for p in range(nodes[u + N_PATTERNS]):
        above = nodes[u + MESSAGES] + outside + p * column
        belief = nodes[u + BELIEFS] + p * row
        for k in range(0, row, LANES):
            here, through = load(buffer, belief + k), splat(0.0)
            if any_above(here, TINIEST):  # of an observed variable, most states are impossible
                for j in range(width):
                    factor = splat(buffer[above + j])
                    place = sums + j * row + k
                    store(buffer, place, load(buffer, place) + factor * here)
                    through = through + factor * load(buffer, table + j * row + k)
            store(buffer, belief + k, through)


@part
def _spread(plan: Plan, work: Workspace, u: int) -> None:
    """Send the outside factors of a node to its children, each times the others' messages.

    The factors of a root are its table times weight over likelihood.
    """
    nodes, row, slot = plan.nodes, plan.nodes[u + ROW], plan.nodes[u + FIRST_SLOT]
    source, step = nodes[u + MESSAGES] + plan.sizes[OUTSIDE], row
    if nodes[u + IS_ROOT] == 1:
        source, step = nodes[u + TABLE], 0
    elif nodes[u + KIND] == HIDDEN:
        source = nodes[u + BELIEFS]
    if nodes[u + LAST_SLOT] - slot == 2 and not work.is_shifted[u]:
        to_left = nodes[plan.slot_child[slot] + NEEDS_OUTSIDE] == 1
        to_right = nodes[plan.slot_child[slot + 1] + NEEDS_OUTSIDE] == 1
        if to_left and to_right:
            _spread_two(plan, work, u, source, step)
        elif to_left:
            _spread_one(plan, work, u, source, step, slot, slot + 1)
        elif to_right:
            _spread_one(plan, work, u, source, step, slot + 1, slot)
    elif nodes[u + LAST_SLOT] - slot > 1 or nodes[plan.slot_child[slot] + NEEDS_OUTSIDE] == 1:
        _spread_many(plan, work, u, source, step)


@part
def _spread_two(plan: Plan, work: Workspace, u: int, source: int, step: int) -> None:
    """Spread factors, at ``source`` and every ``step`` behind it, over two children."""
    nodes, links, buffer, factors = plan.nodes, plan.links, work.buffer, work.likelihood
    row, slot, outside = nodes[u + ROW], nodes[u + FIRST_SLOT], plan.sizes[OUTSIDE]
    left, right = plan.slot_index[slot], plan.slot_index[slot + 1]
    left_place = nodes[plan.slot_child[slot] + MESSAGES]
    right_place = nodes[plan.slot_child[slot + 1] + MESSAGES]
    is_root = nodes[u + IS_ROOT] == 1
    for p in range(nodes[u + N_PATTERNS]):
        a = left_place + links[left + p] * row
        b = right_place + links[right + p] * row
        factor = 1.0
        if is_root:
            factor = factors[p]
        for k in range(0, row, LANES):
            here = load(buffer, source + p * step + k) * splat(factor)
            to_left = here * load(buffer, b + k)
            to_right = here * load(buffer, a + k)
            store(buffer, a + outside + k, load(buffer, a + outside + k) + to_left)
            store(buffer, b + outside + k, load(buffer, b + outside + k) + to_right)


@part
def _spread_one(
    plan: Plan, work: Workspace, u: int, source: int, step: int, slot: int, other: int
) -> None:
    """Spread factors over one of two children."""
    nodes, links, buffer, factors = plan.nodes, plan.links, work.buffer, work.likelihood
    row, outside, is_root = nodes[u + ROW], plan.sizes[OUTSIDE], nodes[u + IS_ROOT] == 1
    target_links, other_links = plan.slot_index[slot], plan.slot_index[other]
    target_place = nodes[plan.slot_child[slot] + MESSAGES] + outside
    other_place = nodes[plan.slot_child[other] + MESSAGES]
    for p in range(nodes[u + N_PATTERNS]):
        a = target_place + links[target_links + p] * row
        b = other_place + links[other_links + p] * row
        factor = 1.0
        if is_root:
            factor = factors[p]
        for k in range(0, row, LANES):
            here = load(buffer, source + p * step + k) * splat(factor)
            store(buffer, a + k, load(buffer, a + k) + here * load(buffer, b + k))


@part
def _spread_many(plan: Plan, work: Workspace, u: int, source: int, step: int) -> None:
    """Spread factors over any number of children, undoing the scaling on the way up."""
    nodes, slot_child, slot_index, links = plan.nodes, plan.slot_child, plan.slot_index, plan.links
    buffer, factors, shifts, places = work.buffer, work.likelihood, work.shifts, work.places
    outside, scratch, is_shifted = plan.sizes[OUTSIDE], plan.sizes[SCRATCH], work.is_shifted[u]
    row, first, is_root = nodes[u + ROW], nodes[u + FIRST_SLOT], nodes[u + IS_ROOT] == 1
    n_slots, exponents = nodes[u + LAST_SLOT] - first, nodes[u + SHIFTS]
    for p in range(nodes[u + N_PATTERNS]):
        factor = 1.0
        if is_root:
            factor = factors[p]
        elif is_shifted and shifts[exponents + p] > 0:
            factor = GROW
        for j in range(n_slots):
            place = nodes[slot_child[first + j] + MESSAGES]
            places[j] = place + links[slot_index[first + j] + p] * row
        for k in range(0, row, LANES):
            before = capped(load(buffer, source + p * step + k) * splat(factor), HIGHEST)
            for j in range(n_slots):
                store(buffer, scratch + j * LANES, before)
                before = before * load(buffer, places[j] + k)
            after = splat(1.0)
            for j in range(n_slots - 1, -1, -1):
                place = places[j] + k
                if nodes[slot_child[first + j] + NEEDS_OUTSIDE] == 1:
                    others = load(buffer, scratch + j * LANES) * after
                    store(buffer, place + outside, load(buffer, place + outside) + others)
                after = after * load(buffer, place)


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


@part
def _collect(plan: Plan, work: Workspace, theta: FloatArray, counts: FloatArray, u: int) -> None:
    """Move the sums of one node into the flat vector of expected counts."""
    nodes, buffer = plan.nodes, work.buffer
    card, start = nodes[u + CARD], nodes[u + PARAMETERS]
    place, row_step, column_step = nodes[u + COUNTS], nodes[u + ROW], 1
    if nodes[u + KIND] == LEAF:
        place, row_step, column_step = (
            nodes[u + MESSAGES] + plan.sizes[OUTSIDE],
            1,
            nodes[u + COLUMN],
        )
    for k in range(nodes[u + WIDTH]):
        for x in range(card):
            i = start + k * card + x
            counts[i] += buffer[place + k * row_step + x * column_step] * theta[i]


@part
def _collect_root(plan: Plan, work: Workspace, counts: FloatArray, u: int) -> None:
    """Sum the counts of a root over the patterns of its first child, fewer than its own."""
    nodes, buffer, outside = plan.nodes, work.buffer, plan.sizes[OUTSIDE]
    card, row, start = nodes[u + CARD], nodes[u + ROW], nodes[u + PARAMETERS]
    child = plan.slot_child[nodes[u + FIRST_SLOT]]
    for q in range(nodes[child + N_PATTERNS]):
        place = nodes[child + MESSAGES] + q * row
        for x in range(card):
            counts[start + x] += buffer[place + x] * buffer[place + outside + x]
