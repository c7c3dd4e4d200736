"""Local fits around a latent variable, many in one compiled call.

The *hub* of a region is a latent variable. What is frozen around it is one vector for each row,
the *base*: the probability of each state of the hub and of all that was observed in the frozen
arms. Below the hub lie arms with free tables, or a new *mediator* with two arms below it. Each
region becomes a small plan for the general kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.arms import (
    EACH_ROW,
    LEAF_ARM,
    Arms,
    Values,
    gather_arms,
    normalise_rows,
    spread_prior,
)
from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.em import OBJECTIVE, Climb, Families, Limits, climb_pyramid
from latentforest.kernels.layout import Sketch, lay_out, padded
from latentforest.kernels.patterns import join
from latentforest.kernels.plan import (
    CARD,
    COLUMN,
    DEGREE,
    DENSE,
    HIDDEN,
    KIND,
    LEAF,
    MESSAGES,
    N_DOUBLES,
    N_FIELDS,
    N_PATTERNS,
    N_SHIFTS,
    PRODUCT,
    ROOT_PATTERNS,
    WIDTH,
    Plan,
    Workspace,
)
from latentforest.kernels.types import FloatArray, IntArray, LongArray

JOINED = -2  # column of the patterns of the two arms below a mediator
INSIDE = 0.01  # share of the uniform distribution in a start: no probability may be zero


class Region(NamedTuple):
    """What lies below a hub, in numbers of arms; groups multiply arms or earlier groups."""

    hub_card: int
    is_prior_free: bool
    mediator_card: int  # 0: there is none
    arms: LongArray
    tops: LongArray  # what is left below the hub when `groups` are made: arms, then groups
    groups: LongArray  # pairs: [left, right] of each group, numbered after the arms
    columns: LongArray  # row of `codes` with the patterns of each group
    n_patterns: LongArray  # of each group


@part
def _sketch_region(
    arms: Arms, region: Region, n_rows: int, n_joined: int, has_base: bool
) -> tuple[Sketch, LongArray]:
    """List the nodes: hub, groups (last first), mediator, arms with their beliefs, base.

    Returns the column of patterns of each node too.
    """
    n_arms, n_groups = region.arms.shape[0], region.groups.shape[0]
    has_mediator = region.mediator_card > 0
    n_nodes = 1 + n_groups + n_arms + (1 if has_mediator else 0) + (1 if has_base else 0)
    for i in range(n_arms):
        n_nodes += 1 if arms.belief[region.arms[i]] != LEAF_ARM else 0
    zeros = np.zeros((8, n_nodes), np.int64)
    kind, card, width, n_patterns = zeros[0], zeros[1], zeros[2], zeros[3]
    is_root, is_free, offset, degree = zeros[4], zeros[5], zeros[6], zeros[7]
    column = np.full(n_nodes, EACH_ROW)
    children = np.empty(n_nodes - 1, np.int64)
    first_arm = 1 + n_groups + (1 if has_mediator else 0)
    hub_card, slot = region.hub_card, 0
    # The hub.
    kind[0], card[0], width[0], n_patterns[0] = HIDDEN, hub_card, hub_card, n_rows
    is_root[0], is_free[0] = 1, 1 if region.is_prior_free else 0
    taken = hub_card
    for i in range(region.tops.shape[0]):
        children[slot] = _number(region.tops[i], n_arms, n_groups, first_arm)
        slot += 1
    if has_mediator:
        children[slot] = 1 + n_groups
        slot += 1
    if has_base:
        children[slot] = n_nodes - 1
        slot += 1
    degree[0] = slot
    # Groups, the last one first.
    for i in range(n_groups):
        u, g = 1 + i, n_groups - 1 - i
        kind[u], card[u], width[u] = PRODUCT, hub_card, hub_card
        n_patterns[u], column[u], degree[u] = region.n_patterns[g], region.columns[g], 2
        for side in range(2):
            children[slot] = _number(region.groups[g, side], n_arms, n_groups, first_arm)
            slot += 1
    above = hub_card
    if has_mediator:
        u = 1 + n_groups
        above = region.mediator_card
        kind[u], card[u], width[u] = HIDDEN, above, hub_card
        n_patterns[u], column[u], degree[u] = n_joined, JOINED, 2
        is_free[u], offset[u] = 1, taken
        taken += hub_card * above
        for i in range(2):
            children[slot] = first_arm + i
            slot += 1
    # Arms; their beliefs come after all of them.
    belief = first_arm + n_arms
    for i in range(n_arms):
        u, a = first_arm + i, region.arms[i]
        card[u], width[u], n_patterns[u] = arms.card[a], above, arms.n_patterns[a]
        is_free[u], offset[u], column[u] = 1, taken, arms.column[a]
        taken += above * arms.card[a]
        kind[u] = LEAF
        if arms.belief[a] != LEAF_ARM:
            kind[u], degree[u] = HIDDEN, 1
            children[slot] = belief
            slot += 1
            kind[belief], card[belief], width[belief] = DENSE, arms.card[a], arms.card[a]
            n_patterns[belief], column[belief] = arms.n_patterns[a], arms.column[a]
            belief += 1
    if has_base:
        u = n_nodes - 1
        kind[u], card[u], width[u], n_patterns[u] = DENSE, hub_card, hub_card, n_rows
    sketch = Sketch(
        kind, card, width, n_patterns, is_root, is_free, offset, degree, children[:slot].copy()
    )
    return sketch, column


@part
def _number(member: int, n_arms: int, n_groups: int, first_arm: int) -> int:
    """Number of the node of an arm, or of a group; the last group comes first."""
    return first_arm + member if member < n_arms else 1 + n_groups - 1 - (member - n_arms)


@part
def _find_first(codes: IntArray, n_patterns: int) -> IntArray:
    """First row of each pattern; patterns are numbered by first occurrence."""
    first, found = np.empty(n_patterns, np.int32), 0
    for r in range(codes.shape[0]):
        if codes[r] == found:
            first[found] = r
            found += 1
    return first


@part
def _link(
    sketch: Sketch,
    column: LongArray,
    codes: IntArray,
    joined: IntArray,
    first_joined: IntArray,
) -> IntArray:
    """Map the patterns of each node to those of its children."""
    total, slot, taken = 0, 0, 0
    for u in range(sketch.kind.shape[0]):
        total += sketch.degree[u] * sketch.n_patterns[u]
    links = np.empty(total, np.int32)
    for u in range(sketch.kind.shape[0]):
        n = sketch.n_patterns[u]
        first = first_joined
        if column[u] >= 0 and sketch.degree[u] > 1:
            first = _find_first(codes[column[u]], n)
        for _ in range(sketch.degree[u]):
            c = column[sketch.children[slot]]
            for p in range(n):
                r = p
                if column[u] != EACH_ROW and c != column[u]:
                    r = first[p]
                if c == column[u] or c == EACH_ROW:
                    links[taken + p] = r
                elif c == JOINED:
                    links[taken + p] = joined[r]
                else:
                    links[taken + p] = codes[c, r]
            taken += n
            slot += 1
    return links


@part
def _fill_evidence(
    arms: Arms, values: Values, region: Region, nodes: LongArray, base: FloatArray, buffer: FloatArray
) -> None:
    """Place the beliefs of the arms, the base, and ones for the missing values of leaves."""
    i = 0
    for u in range(0, nodes.shape[0], N_FIELDS):
        place, column = nodes[u + MESSAGES], nodes[u + COLUMN]
        if nodes[u + KIND] == LEAF and nodes[u + N_PATTERNS] > nodes[u + CARD]:
            missing = place + nodes[u + CARD] * column
            for k in range(missing, missing + nodes[u + WIDTH]):
                buffer[k] = 1.0
        if nodes[u + KIND] == DENSE:
            size = nodes[u + N_PATTERNS] * column
            while i < region.arms.shape[0] and arms.belief[region.arms[i]] == LEAF_ARM:
                i += 1
            if i < region.arms.shape[0]:
                source = arms.belief[region.arms[i]]
                for k in range(size):
                    buffer[place + k] = values.beliefs[source + k]
                i += 1
            else:
                for k in range(size):
                    buffer[place + k] = base[k]


@part
def _list_families(sketch: Sketch) -> Families:
    n_free, i = 0, 0
    for u in range(sketch.kind.shape[0]):
        n_free += sketch.is_free[u]
    offset, n_rows = np.empty(n_free, np.int64), np.empty(n_free, np.int64)
    n_states = np.empty(n_free, np.int64)
    for u in range(sketch.kind.shape[0]):
        if sketch.is_free[u] == 1:
            offset[i] = sketch.parameters[u]
            n_rows[i] = 1 if sketch.is_root[u] == 1 else sketch.width[u]
            n_states[i] = sketch.card[u]
            i += 1
    return Families(offset, n_rows, n_states)


@part
def fit_region(
    arms: Arms,
    values: Values,
    region: Region,
    base: FloatArray,
    starts: FloatArray,
    limits: Limits,
    result: FloatArray,
) -> float:
    """Fit the tables of a region; return its part of the log-likelihood.

    Parameters lie in the order hub, mediator, arms; those of the best start are copied to
    ``result``. Minus infinity if rows vanish or messages had to be scaled.
    """
    n_rows, n_values = values.weights.shape[0], starts.shape[1]
    joined, first_joined = np.empty(0, np.int32), np.empty(0, np.int32)
    if region.mediator_card > 0:
        joined, first_joined = _join_arms(arms, values.codes, n_rows, region.arms)
    has_base = base.shape[0] > 0
    sketch, column = _sketch_region(arms, region, n_rows, first_joined.shape[0], has_base)
    nodes, slot_child, slot_index, sizes = lay_out(sketch)
    links = _link(sketch, column, values.codes, joined, first_joined)
    plan = Plan(
        nodes, slot_child, slot_index, links, values.weights, np.empty(0, np.float64), sizes
    )
    work = Workspace(
        np.zeros(sizes[N_DOUBLES]),
        np.zeros(sizes[N_SHIFTS], np.int32),
        np.zeros(nodes.shape[0], np.bool_),
        np.ones(sizes[ROOT_PATTERNS]),
        np.ones(sizes[ROOT_PATTERNS]),
        np.zeros(sizes[DEGREE], np.int64),
        np.zeros(n_rows + 1, np.int64),
    )
    _fill_evidence(arms, values, region, nodes, base, work.buffer)
    climb = Climb(
        np.empty(n_values),
        np.empty(n_values),
        np.empty(n_values),
        np.zeros(3, np.int64),
        np.zeros(2),
        np.empty(n_values),
    )
    climb.values[OBJECTIVE] = -np.inf
    trajectory = np.empty(limits.max_iterations + 2 * starts.shape[0] + 2)
    best, value, is_sound = climb_pyramid(
        plan,
        work,
        climb,
        _list_families(sketch),
        starts,
        np.zeros(n_values),
        limits,
        False,
        trajectory,
    )
    for i in range(n_values):
        result[i] = starts[best, i]
    return value if is_sound else -np.inf


@part
def _join_arms(
    arms: Arms, codes: IntArray, n_rows: int, pair: LongArray
) -> tuple[IntArray, IntArray]:
    """Number the pairs of patterns of two arms."""
    left, right = arms.column[pair[0]], arms.column[pair[1]]
    if left == EACH_ROW or right == EACH_ROW:
        rows = np.arange(n_rows).astype(np.int32)
        return rows, rows
    return join(codes[left], arms.n_patterns[pair[0]], codes[right], arms.n_patterns[pair[1]])


@kernel
def fit_mediators(
    arms: Arms,
    values: Values,
    hub: int,
    left: int,
    lo: int,
    hi: int,
    cards: LongArray,
    blocks: FloatArray,
    places: LongArray,
    limits: Limits,
    n_starts: int,
    scores: FloatArray,
    results: FloatArray,
) -> None:
    """Node introduction: mediators between a hub, one of its arms and each of some others.

    ``left``, ``lo`` and ``hi`` are numbers of arms; ``cards[j - lo]`` is the cardinality of the
    mediator of ``left`` and ``j``, 0 to leave it out. ``blocks`` holds the starts: of the
    mediator's table at ``places[0]``, of arm ``a`` at ``places[1 + a - first]``, for the largest
    cardinality; smaller ones take part of it.

    Arms are excluded by halving: the base of a range of candidates holds all arms outside it.
    """
    first, last = arms.first[hub], arms.first[hub + 1]
    hub_card, n_rows = arms.width[first], values.weights.shape[0]
    row, depth = padded(hub_card), 2
    while (1 << (depth - 2)) < hi - lo:
        depth += 1
    bases, constants = np.empty((depth, n_rows * row)), np.zeros(depth)
    pending = np.zeros(depth, np.int64)
    spread_prior(arms, values, hub, bases[0], row)
    constant, n_pending = gather_arms(arms, values, first, lo, left, bases[0], row, 0)
    more, n_pending = gather_arms(arms, values, hi, last, left, bases[0], row, n_pending)
    constants[0], pending[0] = constant + more, n_pending
    # Ranges of candidates that wait: [level, lo, hi, and the arms to gather first].
    stack, n_waiting = np.empty((2 * depth, 5), np.int64), 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 1, lo, hi, lo, lo
    most = np.int64(0)
    for i in range(hi - lo):
        most = max(most, cards[i])
    nothing, no_groups = np.empty(0, np.int64), np.empty((0, 2), np.int64)
    pair = np.empty(2, np.int64)
    while n_waiting > 0:
        n_waiting -= 1
        level, begin, end = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        target, source = bases[level], bases[level - 1]
        for i in range(target.shape[0]):
            target[i] = source[i]
        constant, n_pending = gather_arms(
            arms,
            values,
            stack[n_waiting, 3],
            stack[n_waiting, 4],
            left,
            target,
            row,
            pending[level - 1],
        )
        constants[level], pending[level] = constants[level - 1] + constant, n_pending
        if end - begin > 1:
            middle = (begin + end) // 2
            for half in range(2):
                bounds = stack[n_waiting + half]
                bounds[0] = level + 1
                bounds[1], bounds[2] = (middle, end) if half == 0 else (begin, middle)
                bounds[3], bounds[4] = (begin, middle) if half == 0 else (middle, end)
            n_waiting += 2
            continue
        j, card = begin, cards[begin - lo]
        if card == 0:
            continue
        pair[0], pair[1] = left, j
        region = Region(
            hub_card, False, card, pair, nothing, no_groups, nothing, nothing
        )
        starts = _pick_starts(arms, region, blocks, places, first, most, n_starts)
        fitted = fit_region(arms, values, region, target, starts, limits, results[j - lo])
        scores[j - lo] = fitted + constants[level] + values.constant[left] + values.constant[j]


@part
def _pick_starts(
    arms: Arms,
    region: Region,
    blocks: FloatArray,
    places: LongArray,
    first: int,
    most: int,
    n_starts: int,
) -> FloatArray:
    """Put the starts of a mediator together; rows that lose states are normalised again."""
    hub_card, card = region.hub_card, region.mediator_card
    n_values = hub_card + hub_card * card
    for i in range(2):
        n_values += card * arms.card[region.arms[i]]
    starts = np.ones((n_starts, n_values))
    for s in range(n_starts):
        taken = hub_card
        source = places[0] + s * hub_card * most
        for y in range(hub_card):
            total = 0.0
            for z in range(card):
                total += blocks[source + y * most + z]
            for z in range(card):
                starts[s, taken] = blocks[source + y * most + z] / total
                taken += 1
        for i in range(2):
            a = region.arms[i]
            source = places[1 + a - first] + s * most * arms.card[a]
            for k in range(card * arms.card[a]):
                starts[s, taken] = blocks[source + k]
                taken += 1
    return starts


@kernel
def fit_relocations(
    arms: Arms,
    values: Values,
    moved: int,
    is_target: LongArray,
    is_passed: LongArray,
    limits: Limits,
    scores: FloatArray,
    results: FloatArray,
) -> None:
    """Node relocation: an arm taken from its hub and tied to each of some other latent variables.

    The arm is taken away once; what is left is sent outward from its hub, which gives the base of
    every target. Only one table is free, in which the likelihood is concave: one start is enough.
    ``is_passed`` marks the targets and all on the way to them.
    """
    n_rows, n_hubs, origin = values.weights.shape[0], is_target.shape[0], arms.hub[moved]
    moved_card, widest, constant = arms.card[moved], np.int64(1), 0.0
    for h in range(n_hubs):
        widest = max(widest, arms.width[arms.first[h]])
    incoming = np.empty((n_hubs, n_rows * padded(widest)))
    from_arm = np.full(n_hubs, -1)  # the arm at a hub that leads back to the origin
    tables = np.empty((n_hubs, widest * moved_card))  # P(moved | hub) along the way
    stack, n_waiting = np.empty(n_hubs, np.int64), 1
    stack[0] = origin
    one_arm, zero = np.empty(1, np.int64), np.zeros(1, np.int64)
    no_groups = np.empty((0, 2), np.int64)
    nothing, base = np.empty(0, np.int64), np.empty(0)
    one_arm[0] = moved
    while n_waiting > 0:
        n_waiting -= 1
        here = stack[n_waiting]
        first, last = arms.first[here], arms.first[here + 1]
        card = arms.width[first]
        row = padded(card)
        skip = moved if here == origin else from_arm[here]
        if here == origin:
            for k in range(card * moved_card):
                tables[here, k] = values.tables[arms.table[moved] + k]
        if here == origin or is_target[here] == 1:
            base = np.empty(n_rows * row)
            spread_prior(arms, values, here, base, row)
            if here != origin:
                for i in range(n_rows * row):
                    base[i] *= incoming[here, i]
            left_out, _ = gather_arms(arms, values, first, last, skip, base, row, 0)
            left_out += normalise_rows(base, row, values.weights)
            if here == origin:  # the same for all targets
                constant = left_out + values.constant[moved]
        if is_target[here] == 1:
            region = Region(card, False, 0, one_arm, zero, no_groups, nothing, nothing)
            starts = np.ones((1, card + card * moved_card))
            for k in range(card * moved_card):
                inside = INSIDE / moved_card
                starts[0, card + k] = (1.0 - INSIDE) * tables[here, k] + inside
            fitted = fit_region(arms, values, region, base, starts, limits, results[here])
            scores[here] = fitted + constant
        for b in range(first, last):
            there = arms.source[b]
            if b == skip or there < 0 or is_passed[there] == 0:
                continue
            back = arms.reverse[b]
            from_arm[there] = back
            _send_outward(arms, values, here == origin, skip, b, incoming)
            width = arms.width[arms.first[there]]
            _follow(values.tables, arms.table[back], tables, here, there, card, width, moved_card)
            stack[n_waiting] = there
            n_waiting += 1


@part
def _send_outward(
    arms: Arms, values: Values, is_origin: bool, skip: int, toward: int, incoming: FloatArray
) -> None:
    """Fill the messages that reach the next hub without the arm that was taken away.

    ``skip`` is the arm that was taken away, or that leads to where it was; ``toward`` the arm that
    leads to the next hub.
    """
    here, back = arms.hub[toward], arms.reverse[toward]
    n_rows, card, width = values.weights.shape[0], arms.card[back], arms.width[back]
    row, column, table = padded(card), padded(width), arms.table[back]
    first, last = arms.first[here], arms.first[here + 1]
    belief = np.zeros(n_rows * row)
    for r in range(n_rows):
        for k in range(card):
            belief[r * row + k] = 1.0 if is_origin else incoming[here, r * row + k]
    lo, hi = min(skip, toward), max(skip, toward)
    _, n_pending = gather_arms(arms, values, first, lo, lo, belief, row, 0)
    _, n_pending = gather_arms(arms, values, lo, hi, lo, belief, row, n_pending)
    gather_arms(arms, values, hi, last, hi, belief, row, n_pending)
    normalise_rows(belief, row, values.weights)
    target = incoming[arms.hub[back]]
    for r in range(n_rows):
        for y in range(column):
            total = 0.0
            if y < width:
                for z in range(card):
                    total += values.tables[table + y * card + z] * belief[r * row + z]
            target[r * column + y] = total


@part
def _follow(
    edges: FloatArray,
    edge: int,
    tables: FloatArray,
    here: int,
    there: int,
    card: int,
    width: int,
    moved_card: int,
) -> None:
    """P(moved | there) = Σ P(here | there) P(moved | here)."""
    for y in range(width):
        for x in range(moved_card):
            total = 0.0
            for z in range(card):
                total += edges[edge + y * card + z] * tables[here, z * moved_card + x]
            tables[there, y * moved_card + x] = total


@kernel
def fit_star(
    arms: Arms,
    values: Values,
    region: Region,
    hub: int,
    removed: int,
    starts: FloatArray,
    limits: Limits,
    result: FloatArray,
) -> float:
    """Fit all tables around a hub, or tie the arms of a deleted neighbour to it.

    ``removed`` is the arm of the hub that the arms of the region replace; the others are frozen.
    Without one (-1) all arms of the hub are free, and there is no base.
    """
    base, constant = np.empty(0), 0.0
    if removed >= 0:
        row = padded(region.hub_card)
        base = np.empty(values.weights.shape[0] * row)
        spread_prior(arms, values, hub, base, row)
        first, last = arms.first[hub], arms.first[hub + 1]
        constant, _ = gather_arms(arms, values, first, last, removed, base, row, 0)
        constant += normalise_rows(base, row, values.weights)
    for i in range(region.arms.shape[0]):
        constant += values.constant[region.arms[i]]
    return constant + fit_region(arms, values, region, base, starts, limits, result)
