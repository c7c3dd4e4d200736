"""Local fits around latent variables, many in one compiled call.

A region is a small tree. Its root has a *base*: one vector for each row, the probability of all
that was observed in the frozen part, given each state of the root (times the frozen probability of
that state, where the root's table is not free). Below the root lie arms with free tables, or a
*middle* variable with arms below it. Each region becomes a plan for the general kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.arms import EACH_ROW, LEAF_ARM, Arms, Values
from latentforest.kernels.bases import (
    MEDIATORS,
    RELOCATIONS,
    UPPER_MEDIATORS,
    Bases,
    Region,
    Task,
    gather_bases,
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
    values: Values,
    base: FloatArray,
    n_states: int,
    codes: IntArray,
    n_patterns: int,
    scratch: Scratch,
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
            if i == 0 and region.own.shape[0] > 0:
                source, beliefs = 0, region.own
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
def _plan_region(
    arms: Arms, values: Values, region: Region, base: FloatArray, scratch: Scratch
) -> tuple[Plan, Workspace, Families]:
    """Lay a region out for the general kernels; parameters in the order root, middle, arms."""
    n_rows, has_base = values.weights.shape[0], base.shape[0] > 0
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
    return plan, work, _list_families(sketch)


@part
def _make_climb(n_values: int) -> Climb:
    climb = Climb(
        np.empty(n_values),
        np.empty(n_values),
        np.empty(n_values),
        np.zeros(3, np.int64),
        np.zeros(2),
        np.empty(n_values),
    )
    climb.values[OBJECTIVE] = -np.inf
    return climb


@part
def _join_arms(
    arms: Arms, codes: IntArray, n_rows: int, left: int, right: int
) -> tuple[IntArray, int, int]:
    """Number the pairs of patterns of two arms: codes, how many, and the column they make."""
    a, b = arms.column[left], arms.column[right]
    if a == EACH_ROW or b == EACH_ROW:
        return np.empty(n_rows, np.int32), n_rows, EACH_ROW
    joined, first = join(codes[a], arms.n_patterns[left], codes[b], arms.n_patterns[right])
    return joined, first.shape[0], 0


@kernel
def run_task(
    arms: Arms, values: Values, task: Task, limits: Limits, scores: FloatArray, results: FloatArray
) -> None:
    """Fit all candidates of a task: log-likelihoods, and parameters (root, middle, arms).

    A log-likelihood is minus infinity if rows vanish or messages had to be scaled.
    """
    n_candidates = task.marks.shape[0]
    bases = gather_bases(arms, values, task)
    scratch = make_scratch(values.weights.shape[0], _find_widest(arms, task))
    for c in range(n_candidates):
        if task.marks[c] == 0:
            continue
        region = _make_region(arms, values, task, bases, c)
        starts = _make_starts(arms, task, region, bases, c)
        base, n_values = bases.base[min(c, bases.base.shape[0] - 1)], starts.shape[1]
        plan, work, families = _plan_region(arms, values, region, base, scratch)
        best, value, is_sound = climb_pyramid(
            plan,
            work,
            _make_climb(n_values),
            families,
            starts,
            np.zeros(n_values),
            limits,
            np.bool_(False),
            np.empty(limits.max_iterations + 2 * starts.shape[0] + 2),
        )
        scores[c] = value + bases.constant[c] if is_sound else -np.inf
        for i in range(n_values):
            results[c, i] = starts[best, i]


@part
def _find_widest(arms: Arms, task: Task) -> int:
    """Most states of a root of the task's regions."""
    widest = max(task.region.root_card, 1)
    for i in range(arms.width.shape[0]):
        widest = max(widest, arms.width[i])
    return widest


@part
def _make_region(arms: Arms, values: Values, task: Task, bases: Bases, c: int) -> Region:
    """Describe the region of one candidate."""
    n_rows, region = values.weights.shape[0], task.region
    if task.kind == MEDIATORS or task.kind == UPPER_MEDIATORS:
        pair, column, n_patterns = (
            np.empty(2, np.int64),
            np.zeros(1, np.int64),
            np.empty(1, np.int64),
        )
        top, group = np.full(1, 2), np.arange(2).reshape((1, 2))
        if task.kind == MEDIATORS:
            pair[0], pair[1], root_card = task.arm, task.lo + c, arms.width[task.arm]
            codes, n_joined, column[0] = _join_arms(arms, values.codes, n_rows, pair[0], pair[1])
            n_patterns[0], own = n_joined, np.empty(0)
        else:
            below, root_card = arms.reverse[task.arm], arms.card[task.arm]
            pair[0], pair[1] = below, arms.first[task.hub] + c
            codes, n_patterns[0] = values.codes[arms.column[below]], arms.n_patterns[below]
            own = bases.own[c]
        codes = codes.reshape((1, n_rows))
        region = Region(
            root_card, False, task.marks[c], pair, top, group, column, n_patterns, codes, own
        )
    elif task.kind == RELOCATIONS:
        one = np.full(1, task.arm)
        root_card = arms.width[arms.first[c]]
        region = Region(
            root_card,
            False,
            0,
            one,
            np.zeros(1, np.int64),
            region.groups,
            region.columns,
            region.n_patterns,
            region.codes,
            region.own,
        )
    return region


@part
def _make_starts(arms: Arms, task: Task, region: Region, bases: Bases, c: int) -> FloatArray:
    """Put the starts of one candidate together."""
    if task.kind == MEDIATORS:
        return _pick_starts(arms, task, region, arms.first[task.hub] - 1, 0)
    if task.kind == UPPER_MEDIATORS:
        return _pick_starts(arms, task, region, arms.first[task.hub] - 2, 1)
    if task.kind == RELOCATIONS:
        root_card, card = region.root_card, arms.card[task.arm]
        starts = np.ones((1, root_card * (1 + card)))
        for k in range(root_card * card):
            starts[0, root_card + k] = (1.0 - INSIDE) * bases.tables[c, k] + INSIDE / card
        return starts
    return task.starts.copy()


@part
def _pick_starts(arms: Arms, task: Task, region: Region, before: int, n_special: int) -> FloatArray:
    """Starts of a mediator: of its own table, of the hub below it, of neighbours.

    ``places[0]`` is where those of its own table begin, ``places[i]`` those of a hub below it, and
    ``places[a - before]`` those of arm ``a``. Rows of tables that lose states are normalised again.
    """
    blocks, places, most = task.blocks, task.places, task.most
    root_card, card, n_arms = region.root_card, region.middle_card, region.arms.shape[0]
    n_values = root_card + root_card * card
    for i in range(n_arms):
        n_values += card * arms.card[region.arms[i]]
    starts = np.ones((task.n_starts, n_values))
    for s in range(task.n_starts):
        taken = root_card
        source = places[0] + s * root_card * most
        for y in range(root_card):
            total = 0.0
            for z in range(card):
                total += blocks[source + y * most + z]
            for z in range(card):
                starts[s, taken] = blocks[source + y * most + z] / total
                taken += 1
        for i in range(n_arms):
            a = region.arms[i]
            place = places[1 + i] if i < n_special else places[a - before]
            source = place + s * most * arms.card[a]
            for k in range(card * arms.card[a]):
                starts[s, taken] = blocks[source + k]
                taken += 1
    return starts
