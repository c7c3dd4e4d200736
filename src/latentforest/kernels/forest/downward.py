"""The E-step's way down: outside factors and counts. See ``propagation``."""

from __future__ import annotations

from latentforest.kernels.compilation import part
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.forest.scaling import GROW, HIGHEST, TINIEST
from latentforest.kernels.layout import (
    BELIEFS,
    CARD,
    COLUMN,
    COUNTS,
    FIRST_SLOT,
    HIDDEN,
    IS_ROOT,
    KIND,
    LAST_SLOT,
    LEAF,
    MESSAGES,
    N_PATTERNS,
    NEEDS_OUTSIDE,
    OUTSIDE,
    PARAMETERS,
    ROW,
    SCRATCH,
    SHIFTS,
    TABLE,
    WIDTH,
)
from latentforest.kernels.types import FloatArray
from latentforest.kernels.vector import LANES, any_above, capped, load, splat, store


@part
def count_pairs(plan: Plan, work: Workspace, u: int) -> None:
    """Count the pairs of a hidden node's states and its parent's.

    The beliefs, not needed any more, are replaced by the outside factors in the node's own states.
    """
    nodes, buffer, outside = plan.nodes, work.buffer, plan.sizes[OUTSIDE]
    width, row, column = nodes[u + WIDTH], nodes[u + ROW], nodes[u + COLUMN]
    table, sums = nodes[u + TABLE], nodes[u + COUNTS]
    clear(buffer, sums, sums + width * row)
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
def spread(plan: Plan, work: Workspace, u: int) -> None:
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
def collect(plan: Plan, work: Workspace, theta: FloatArray, counts: FloatArray, u: int) -> None:
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
def collect_root(plan: Plan, work: Workspace, counts: FloatArray, u: int) -> None:
    """Sum the counts of a root over the patterns of its first child, fewer than its own."""
    nodes, buffer, outside = plan.nodes, work.buffer, plan.sizes[OUTSIDE]
    card, row, start = nodes[u + CARD], nodes[u + ROW], nodes[u + PARAMETERS]
    child = plan.slot_child[nodes[u + FIRST_SLOT]]
    for q in range(nodes[child + N_PATTERNS]):
        place = nodes[child + MESSAGES] + q * row
        for x in range(card):
            counts[start + x] += buffer[place + x] * buffer[place + outside + x]


@part
def clear(values: FloatArray, start: int, end: int) -> None:
    for i in range(start, end):
        values[i] = 0.0
