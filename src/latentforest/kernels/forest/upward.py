"""The E-step's way up: messages of all nodes but the roots. See ``propagation``."""

from __future__ import annotations

from latentforest.kernels.compilation import part, step
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.forest.scaling import GROW, SMALL, VANISHING
from latentforest.kernels.hooks import call_step
from latentforest.kernels.layout import (
    BELIEFS,
    CARD,
    COLUMN,
    FILL,
    FIRST_SLOT,
    GAUSSIAN,
    HIDDEN,
    IS_ROOT,
    KIND,
    LAST_SLOT,
    LEAF,
    MESSAGES,
    N_FIELDS,
    N_PATTERNS,
    PARAMETERS,
    PRODUCT,
    ROW,
    SHIFTS,
    TABLE,
    TRANSPOSED,
    WIDTH,
)
from latentforest.kernels.types import BoolArray, FloatArray, IntArray, LongArray
from latentforest.kernels.vector import LANES, any_above, load, raised, splat, store


@step
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
                plan.steps[FILL + kind - GAUSSIAN],
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
