"""Local fits around latent variables, many in one compiled call.

A region is a small tree. Its root has a *base*: one vector for each row, the probability of all
that was observed in the frozen part, given each state of the root (times the frozen probability of
that state, where the root's table is not free). Below the root lie arms with free tables, or a
*middle* variable with arms below it. Each region becomes a plan for the general kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.arms import (
    EACH_ROW,
    EVERY,
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
    WIDTH,
    Plan,
    Workspace,
)
from latentforest.kernels.types import FloatArray, IntArray, LongArray
from latentforest.kernels.vector import LANES

INSIDE = 0.01  # share of the uniform distribution in a start: no probability may be zero


class Region(NamedTuple):
    """A root, maybe a middle variable, and arms whose messages are multiplied in pairs.

    Members of groups are numbers: the arms in their order, then the groups in theirs. All groups
    together leave one member at the top if there is a base.
    """

    root_card: int
    is_prior_free: bool
    middle_card: int  # 0: there is none
    arms: LongArray
    tops: LongArray  # members that are left when all groups are made
    groups: LongArray  # the two members of each group
    columns: LongArray  # row of `codes` with the patterns of each group; -1: every row is one
    n_patterns: LongArray  # of each group
    codes: IntArray  # patterns of groups


class Scratch(NamedTuple):
    """Memory for one region after another."""

    place: LongArray  # of the rows when they are sorted
    base: FloatArray  # sorted, state by state
    weights: FloatArray
    likelihood: FloatArray
    logarithm: FloatArray
    vanished: LongArray


@part
def make_scratch(n_rows: int, n_states: int) -> Scratch:
    """Allocate memory for regions whose root has at most so many states."""
    stride = find_stride(n_rows)
    return Scratch(
        np.empty(n_rows, np.int64),
        np.zeros(stride * (n_states + 1)),
        np.zeros(stride),
        np.ones(stride),
        np.ones(stride),
        np.zeros(n_rows + 1, np.int64),
    )


@part
def find_stride(n_rows: int) -> int:
    """Length of a state's part of the base; reading past the last row must be possible."""
    return (n_rows + 2 * LANES - 1) // LANES * LANES


@part
def _sketch_region(
    arms: Arms, region: Region, n_rows: int, has_base: bool
) -> tuple[Sketch, LongArray]:
    """List the nodes: root, middle, groups (last first), arms, beliefs of the arms.

    Returns the member that each node stands for too: -1 for the root, that of its top for the
    middle, that of its arm for a belief.
    """
    n_arms, n_groups = region.arms.shape[0], region.groups.shape[0]
    has_middle = region.middle_card > 0
    first_group = 2 if has_middle else 1
    first_arm = first_group + n_groups
    n_nodes = first_arm + n_arms
    for i in range(n_arms):
        n_nodes += 1 if arms.belief[region.arms[i]] != LEAF_ARM else 0
    zeros = np.zeros((9, n_nodes), np.int64)
    kind, card, width, n_patterns = zeros[0], zeros[1], zeros[2], zeros[3]
    is_root, is_free, offset, degree, stride = zeros[4], zeros[5], zeros[6], zeros[7], zeros[8]
    member = np.full(n_nodes, -1)
    children, slot = np.empty(n_nodes - 1, np.int64), 0
    above, top = region.root_card, region.tops[0]
    kind[0], card[0], width[0], n_patterns[0] = HIDDEN, above, above, n_rows
    is_root[0], is_free[0] = 1, 1 if region.is_prior_free else 0
    stride[0] = find_stride(n_rows) if has_base else 0
    taken = above
    if has_middle:
        children[0], degree[0], slot = 1, 1, 1
        kind[1], card[1], width[1], member[1] = HIDDEN, region.middle_card, above, top
        if top >= n_arms:
            n_patterns[1] = region.n_patterns[top - n_arms]
        else:
            n_patterns[1] = arms.n_patterns[region.arms[top]]
        is_free[1], offset[1] = 1, taken
        taken += above * region.middle_card
        above = region.middle_card
    u = 1 if has_middle else 0
    degree[u] = region.tops.shape[0]
    for i in range(region.tops.shape[0]):
        children[slot] = _number(region.tops[i], n_arms, n_groups, first_group)
        slot += 1
    for i in range(n_groups):
        u, g = first_group + i, n_groups - 1 - i
        kind[u], card[u], width[u], member[u] = PRODUCT, above, above, n_arms + g
        n_patterns[u], degree[u] = region.n_patterns[g], 2
        for side in range(2):
            children[slot] = _number(region.groups[g, side], n_arms, n_groups, first_group)
            slot += 1
    belief = first_arm + n_arms
    for i in range(n_arms):
        u, a = first_arm + i, region.arms[i]
        kind[u], card[u], width[u], member[u] = LEAF, arms.card[a], above, i
        n_patterns[u], is_free[u], offset[u] = arms.n_patterns[a], 1, taken
        taken += above * arms.card[a]
        if arms.belief[a] != LEAF_ARM:
            kind[u], degree[u], children[slot] = HIDDEN, 1, belief
            kind[belief], card[belief], width[belief] = DENSE, arms.card[a], arms.card[a]
            n_patterns[belief], member[belief] = arms.n_patterns[a], i
            belief += 1
            slot += 1
    sketch = Sketch(
        kind, card, width, n_patterns, is_root, is_free, offset, degree, stride, children
    )
    return sketch, member


@part
def _number(member: int, n_arms: int, n_groups: int, first_group: int) -> int:
    """Number of the node of an arm or group; the last group comes first."""
    first_arm = first_group + n_groups
    return first_arm + member if member < n_arms else first_arm - 1 - (member - n_arms)


@part
def _find_codes(arms: Arms, values: Values, region: Region, member: int) -> tuple[IntArray, bool]:
    """Patterns of a member in each row; false if every row is one."""
    n_arms = region.arms.shape[0]
    if member >= n_arms:
        column = region.columns[member - n_arms]
        if column != EACH_ROW:
            return region.codes[column], True
    elif member >= 0:
        column = arms.column[region.arms[member]]
        if column != EACH_ROW:
            return values.codes[column], True
    return np.empty(0, np.int32), False


@part
def _find_first(codes: IntArray, n_patterns: int) -> IntArray:
    """First row of each pattern."""
    first = np.zeros(n_patterns, np.int32)
    for r in range(codes.shape[0] - 1, -1, -1):
        first[codes[r]] = r
    return first


@part
def _link(
    arms: Arms, values: Values, region: Region, sketch: Sketch, member: LongArray, runs: IntArray
) -> IntArray:
    """Map the patterns of each node to those of its children; a root with a base has runs."""
    total, slot, taken = 0, 0, 0
    for u in range(sketch.kind.shape[0]):
        n = runs.shape[0] if sketch.stride[u] > 0 else sketch.n_patterns[u]
        total += sketch.degree[u] * n
    links = np.empty(total, np.int32)
    for u in range(sketch.kind.shape[0]):
        if sketch.degree[u] == 0:
            continue
        if sketch.stride[u] > 0:
            for p in range(runs.shape[0]):
                links[p] = runs[p]
            taken, slot = runs.shape[0], 1
            continue
        codes, has_codes = _find_codes(arms, values, region, member[u])
        first = np.empty(0, np.int32)
        if has_codes and sketch.degree[u] > 1:
            first = _find_first(codes, sketch.n_patterns[u])
        for _ in range(sketch.degree[u]):
            below = member[sketch.children[slot]]
            codes, child_has_codes = _find_codes(arms, values, region, below)
            n_patterns, is_same = sketch.n_patterns[u], below == member[u]
            for p in range(n_patterns):
                r = p
                if not is_same and has_codes:
                    r = first[p]
                if not is_same and child_has_codes:
                    r = codes[r]
                links[taken + p] = r
            taken += n_patterns
            slot += 1
    return links


@part
def _sort_rows(codes: IntArray, n_patterns: int, place: LongArray) -> IntArray:
    """Find the place of each row when they are sorted; return where each pattern starts."""
    runs = np.zeros(n_patterns + 1, np.int32)
    for r in range(codes.shape[0]):
        runs[codes[r] + 1] += 1
    for q in range(n_patterns):
        runs[q + 1] += runs[q]
    taken = runs.copy()
    for r in range(codes.shape[0]):
        place[r] = taken[codes[r]]
        taken[codes[r]] += 1
    return runs


@part
def _sort_base(
    values: Values, base: FloatArray, n_states: int, codes: IntArray, n_patterns: int, scratch: Scratch
) -> IntArray:
    """Sort the base by the patterns that meet it, state by state; empty codes: it is sorted."""
    place, target, weights, given = scratch.place, scratch.base, scratch.weights, values.weights
    stride, row = weights.shape[0], padded(n_states)
    if codes.shape[0] > 0:
        runs = _sort_rows(codes, n_patterns, place)
    else:
        runs = np.arange(n_patterns + 1).astype(np.int32)
        for r in range(n_patterns):
            place[r] = r
    for r in range(given.shape[0]):
        weights[place[r]] = given[r]
        for k in range(n_states):
            target[k * stride + place[r]] = base[r * row + k]
    if n_states % 2 == 1:
        for i in range(n_states * stride, (n_states + 1) * stride):
            target[i] = 0.0
    return runs


@part
def _fill_evidence(
    arms: Arms, values: Values, region: Region, nodes: LongArray, buffer: FloatArray
) -> None:
    """Place the beliefs of the arms, and ones for the missing values of leaves."""
    i = 0
    for u in range(0, nodes.shape[0], N_FIELDS):
        place, column = nodes[u + MESSAGES], nodes[u + COLUMN]
        if nodes[u + KIND] == LEAF and nodes[u + N_PATTERNS] > nodes[u + CARD]:
            missing = place + nodes[u + CARD] * column
            for k in range(missing, missing + nodes[u + WIDTH]):
                buffer[k] = 1.0
        if nodes[u + KIND] == DENSE:
            while arms.belief[region.arms[i]] == LEAF_ARM:
                i += 1
            source, beliefs = arms.belief[region.arms[i]], values.beliefs
            for k in range(nodes[u + N_PATTERNS] * column):
                buffer[place + k] = beliefs[source + k]
            i += 1


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
    scratch: Scratch,
    result: FloatArray,
) -> float:
    """Fit the tables of a region; return its part of the log-likelihood.

    Parameters lie in the order root, middle, arms; those of the best start are copied to
    ``result``. Minus infinity if rows vanish or messages had to be scaled.
    """
    n_rows, n_values, has_base = values.weights.shape[0], starts.shape[1], base.shape[0] > 0
    sketch, member = _sketch_region(arms, region, n_rows, has_base)
    runs, weights = np.empty(0, np.int32), values.weights
    if has_base:
        codes, _ = _find_codes(arms, values, region, region.tops[0])
        n_patterns, weights = sketch.n_patterns[sketch.children[0]], scratch.weights
        runs = _sort_base(values, base, region.root_card, codes, n_patterns, scratch)
    nodes, slot_child, slot_index, sizes = lay_out(sketch)
    links = _link(arms, values, region, sketch, member, runs)
    plan = Plan(nodes, slot_child, slot_index, links, weights, scratch.base, sizes)
    work = Workspace(
        np.zeros(sizes[N_DOUBLES]),
        np.zeros(sizes[N_SHIFTS], np.int32),
        np.zeros(nodes.shape[0], np.bool_),
        scratch.likelihood,
        scratch.logarithm,
        np.zeros(sizes[DEGREE], np.int64),
        scratch.vanished,
    )
    _fill_evidence(arms, values, region, nodes, work.buffer)
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
) -> tuple[IntArray, int, int]:
    """Number the pairs of patterns of two arms: codes, how many, and the column they make."""
    left, right = arms.column[pair[0]], arms.column[pair[1]]
    if left == EACH_ROW or right == EACH_ROW:
        return np.empty(n_rows, np.int32), n_rows, EACH_ROW
    joined, first = join(
        codes[left], arms.n_patterns[pair[0]], codes[right], arms.n_patterns[pair[1]]
    )
    return joined, first.shape[0], 0


@kernel
def fit_mediators(
    arms: Arms,
    values: Values,
    hub: int,
    left: int,
    lo: int,
    hi: int,
    cards: LongArray,
    most: int,
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
    mediator's table at ``places[0]``, of arm ``a`` at ``places[1 + a - first]``, for mediators
    with ``most`` states; smaller ones take part of it.

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
    scratch = make_scratch(n_rows, hub_card)
    pair, top, column = np.empty(2, np.int64), np.full(1, 2), np.empty(1, np.int64)
    group, n_patterns = np.arange(2).reshape((1, 2)), np.empty(1, np.int64)
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
        codes, n_joined, column[0] = _join_arms(arms, values.codes, n_rows, pair)
        n_patterns[0] = n_joined
        region = Region(
            hub_card, False, card, pair, top, group, column, n_patterns, codes.reshape((1, n_rows))
        )
        starts = _pick_starts(arms, region, blocks, places, first, most, n_starts)
        fitted = fit_region(
            arms, values, region, target, starts, limits, scratch, results[j - lo]
        )
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
    hub_card, card = region.root_card, region.middle_card
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
    no_groups, no_codes = np.empty((0, 2), np.int64), np.empty((0, n_rows), np.int32)
    nothing, base = np.empty(0, np.int64), np.empty(0)
    one_arm[0], scratch = moved, make_scratch(n_rows, widest)
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
            left_out += normalise_rows(base, row, values.weights, EVERY)
            if here == origin:  # the same for all targets
                constant = left_out + values.constant[moved]
        if is_target[here] == 1:
            region = Region(
                card, False, 0, one_arm, zero, no_groups, nothing, nothing, no_codes
            )
            starts = np.ones((1, card + card * moved_card))
            for k in range(card * moved_card):
                inside = INSIDE / moved_card
                starts[0, card + k] = (1.0 - INSIDE) * tables[here, k] + inside
            fitted = fit_region(
                arms, values, region, base, starts, limits, scratch, results[here]
            )
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
    normalise_rows(belief, row, values.weights, EVERY)
    target, tables = incoming[arms.hub[back]], values.tables
    for r in range(n_rows):
        for y in range(column):
            total = 0.0
            if y < width:
                for z in range(card):
                    total += tables[table + y * card + z] * belief[r * row + z]
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
    pivot: int,
    starts: FloatArray,
    limits: Limits,
    result: FloatArray,
) -> float:
    """Fit the arms of a latent variable.

    With ``removed`` (an arm of ``hub``), the arms of the region replace it below the hub, and
    all other arms of the hub are frozen. With ``pivot`` (an arm), the neighbour that starts it is
    the root of the region, and its beliefs are the base. With neither (-1) there is no base.
    """
    base, constant, n_rows = np.empty(0), 0.0, values.weights.shape[0]
    row = padded(region.root_card)
    if removed >= 0:
        base = np.empty(n_rows * row)
        spread_prior(arms, values, hub, base, row)
        first, last = arms.first[hub], arms.first[hub + 1]
        constant, _ = gather_arms(arms, values, first, last, removed, base, row, 0)
        constant += normalise_rows(base, row, values.weights, EVERY)
    elif pivot >= 0:
        base, constant = np.empty(n_rows * row), values.constant[pivot]
        column, place = arms.column[pivot], arms.belief[pivot]
        codes, beliefs = values.codes, values.beliefs
        for r in range(n_rows):
            q = r if column == EACH_ROW else codes[column, r]
            for k in range(row):
                base[r * row + k] = beliefs[place + q * row + k]
    for i in range(region.arms.shape[0]):
        constant += values.constant[region.arms[i]]
    scratch = make_scratch(n_rows, region.root_card)
    fitted = fit_region(arms, values, region, base, starts, limits, scratch, result)
    return constant + fitted
