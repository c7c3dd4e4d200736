"""Laying the region of a local fit out as a plan for the general kernels; see ``regions``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import part, step
from latentforest.kernels.forest.layout import Sketch, lay_out, padded
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.gaussian.leaves import N_ROWS
from latentforest.kernels.layout import (
    CARD,
    COLUMN,
    DEGREE,
    DENSE,
    GAUSSIAN,
    HIDDEN,
    KIND,
    LEAF,
    MESSAGES,
    N_DOUBLES,
    N_FIELDS,
    N_PATTERNS,
    N_SHIFTS,
    NO_SUMS,
    PRODUCT,
    WEIGHTS,
    WIDTH,
    Families,
)
from latentforest.kernels.regions.types import (
    EACH_ROW,
    N_FACTS,
    Arms,
    RegionShape,
    Values,
)
from latentforest.kernels.types import FloatArray, IntArray, LongArray
from latentforest.kernels.vector import LANES


class Scratch(NamedTuple):
    """Memory for one region after another."""

    place: LongArray  # of the rows when they are sorted
    base: FloatArray  # sorted, state by state
    weights: FloatArray
    likelihood: FloatArray
    logarithm: FloatArray
    vanished: LongArray


@part
def make_scratch(arms: Arms, n_rows: int, n_states: int) -> Scratch:
    """Allocate memory for regions whose root has at most so many states.

    Behind the base is room for the continuous leaves of a latent variable.
    """
    stride, most, n_leaves = find_stride(n_rows), 0, 0
    for a in range(arms.belief.shape[0]):
        if a == 0 or arms.hub[a] != arms.hub[a - 1]:
            n_leaves = 0
        n_leaves += 1 if arms.facts[a] >= 0 else 0
        most = max(most, n_leaves)
    base = np.empty(stride * (n_states + 1) + 2 * most * n_rows)
    for i in range(stride * (n_states + 1)):
        base[i] = 0.0
    return Scratch(
        np.empty(n_rows, np.int64),
        base,
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
def _find_tops(arms: Arms, region: RegionShape) -> LongArray:
    """For each member, the largest group of continuous leaves only that it belongs to, or -1.

    Such a group, or a leaf that is its own, is one node.
    """
    n_arms, n_groups = region.arms.shape[0], region.groups.shape[0]
    tops = np.full(n_arms + n_groups, -1)
    for i in range(n_arms):
        if arms.facts[region.arms[i]] >= 0:
            tops[i] = i
    for g in range(n_groups):
        if tops[region.groups[g, 0]] >= 0 and tops[region.groups[g, 1]] >= 0:
            tops[n_arms + g] = n_arms + g
    for g in range(n_groups - 1, -1, -1):
        if tops[n_arms + g] >= 0:
            tops[region.groups[g, 0]] = tops[n_arms + g]
            tops[region.groups[g, 1]] = tops[n_arms + g]
    return tops


@part
def _number_members(region: RegionShape, tops: LongArray, first: int) -> tuple[LongArray, int]:
    """Number the nodes of groups (last first) and arms; return how many there are with these."""
    n_arms, n_groups = region.arms.shape[0], region.groups.shape[0]
    number, n_nodes = np.full(n_arms + n_groups, -1), first
    for i in range(n_arms + n_groups):
        m = n_arms + n_groups - 1 - i if i < n_groups else i - n_groups
        if tops[m] < 0 or tops[m] == m:
            number[m] = n_nodes
            n_nodes += 1
    return number, n_nodes


@part
def _sketch_region(
    arms: Arms, region: RegionShape, tops: LongArray, n_rows: int, has_base: bool
) -> tuple[Sketch, LongArray]:
    """List the nodes: root, middle, groups (last first), arms, beliefs of the arms.

    Returns the member that each node stands for too: -1 for the root, that of its top for the
    middle, that of its arm for a belief.
    """
    n_arms = region.arms.shape[0]
    has_middle = region.middle_card > 0
    number, n_nodes = _number_members(region, tops, 2 if has_middle else 1)
    belief = n_nodes
    for i in range(n_arms):
        n_nodes += 1 if arms.belief[region.arms[i]] >= 0 else 0
    zeros = np.zeros((9, n_nodes), np.int64)
    kind, card, width, n_patterns = zeros[0], zeros[1], zeros[2], zeros[3]
    is_root, is_free, offset, degree, stride = zeros[4], zeros[5], zeros[6], zeros[7], zeros[8]
    children, member = np.empty(n_nodes - 1, np.int64), np.full(n_nodes, -1)
    sketch = Sketch(
        kind, card, width, n_patterns, is_root, is_free, offset, degree, stride, children
    )
    above, top = region.root_card, region.tops[0]
    kind[0], card[0], width[0], n_patterns[0] = HIDDEN, above, above, n_rows
    is_root[0], is_free[0] = 1, 1 if region.is_prior_free else 0
    stride[0] = find_stride(n_rows) if has_base else 0
    u, slot, taken = 0, 0, above
    if has_middle:
        u, children[0], degree[0], slot = 1, 1, 1, 1
        kind[1], card[1], width[1], member[1] = HIDDEN, region.middle_card, above, top
        if top >= n_arms:
            n_patterns[1] = region.n_patterns[top - n_arms]
        else:
            n_patterns[1] = arms.n_patterns[region.arms[top]]
        is_free[1], offset[1] = 1, taken
        taken += above * region.middle_card
        above = region.middle_card
    degree[u] = region.tops.shape[0]
    for i in range(region.tops.shape[0]):
        children[slot] = number[region.tops[i]]
        slot += 1
    slot, entry = _sketch_groups(region, tops, number, above, slot, sketch, member)
    _sketch_arms(arms, region, tops, number, above, slot, entry, belief, taken, sketch, member)
    return sketch, member


@part
def _sketch_groups(
    region: RegionShape,
    tops: LongArray,
    number: LongArray,
    above: int,
    slot: int,
    sketch: Sketch,
    member: LongArray,
) -> tuple[int, int]:
    """List the groups; return the next slot of a child and the next entry of a column."""
    n_arms, entry = region.arms.shape[0], sketch.children.shape[0]
    for g in range(region.groups.shape[0] - 1, -1, -1):
        u = number[n_arms + g]
        if u < 0:
            continue
        sketch.kind[u], sketch.card[u], sketch.width[u] = PRODUCT, above, above
        sketch.n_patterns[u], member[u] = region.n_patterns[g], n_arms + g
        if tops[n_arms + g] >= 0:
            sketch.kind[u], sketch.card[u] = GAUSSIAN, 0
            sketch.is_free[u], sketch.parameters[u] = 1, entry
            for i in range(n_arms):
                sketch.card[u] += 1 if tops[i] == n_arms + g else 0
            entry += sketch.card[u]
            continue
        sketch.degree[u] = 2
        for side in range(2):
            sketch.children[slot] = number[region.groups[g, side]]
            slot += 1
    return slot, entry


@part
def _sketch_arms(
    arms: Arms,
    region: RegionShape,
    tops: LongArray,
    number: LongArray,
    above: int,
    slot: int,
    entry: int,
    belief: int,
    taken: int,
    sketch: Sketch,
    member: LongArray,
) -> None:
    """List the arms and the beliefs below them."""
    for i in range(region.arms.shape[0]):
        u, a = number[i], region.arms[i]
        offset, card = taken, arms.card[a]
        taken += above * card
        if u < 0:
            continue
        sketch.kind[u], sketch.card[u], sketch.width[u], member[u] = LEAF, card, above, i
        sketch.n_patterns[u] = arms.n_patterns[a]
        sketch.is_free[u], sketch.parameters[u] = 1, offset
        if tops[i] == i:
            sketch.kind[u], sketch.card[u], sketch.parameters[u] = GAUSSIAN, 1, entry
            entry += 1
        elif arms.belief[a] >= 0:
            sketch.kind[u], sketch.degree[u], sketch.children[slot] = HIDDEN, 1, belief
            sketch.kind[belief], sketch.card[belief], sketch.width[belief] = DENSE, card, card
            sketch.n_patterns[belief], member[belief] = arms.n_patterns[a], i
            belief += 1
            slot += 1


@part
def _find_codes(
    arms: Arms, values: Values, region: RegionShape, member: int
) -> tuple[IntArray, bool]:
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
    arms: Arms,
    values: Values,
    region: RegionShape,
    sketch: Sketch,
    member: LongArray,
    runs: IntArray,
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
    arms: Arms, values: Values, region: RegionShape, nodes: LongArray, buffer: FloatArray
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
            while arms.belief[region.arms[i]] < 0:
                i += 1
            source, beliefs = arms.belief[region.arms[i]], values.beliefs
            if i == 0 and region.own.shape[0] > 0:
                source, beliefs = 0, region.own
            for k in range(nodes[u + N_PATTERNS] * column):
                buffer[place + k] = beliefs[source + k]
            i += 1


@part
def _list_families(sketch: Sketch, slot_child: LongArray, slot_index: LongArray) -> Families:
    n_free, i = 0, 0
    for u in range(sketch.kind.shape[0]):
        n_free += sketch.card[u] if sketch.kind[u] == GAUSSIAN else sketch.is_free[u]
    found = np.empty((4, n_free), np.int64)
    offset, n_rows, n_states, sums = found[0], found[1], found[2], found[3]
    for u in range(sketch.kind.shape[0]):
        entry = sketch.parameters[u]
        if sketch.kind[u] == GAUSSIAN:
            for j in range(entry, entry + sketch.card[u]):
                offset[i], n_rows[i], n_states[i] = slot_child[j], sketch.width[u], 2
                sums[i] = slot_index[j]
                i += 1
        elif sketch.is_free[u] == 1:
            offset[i] = entry
            n_rows[i] = 1 if sketch.is_root[u] == 1 else sketch.width[u]
            n_states[i], sums[i] = sketch.card[u], NO_SUMS
            i += 1
    return Families(offset, n_rows, n_states, sums, np.empty(0, np.int64))


@part
def _list_columns(
    arms: Arms,
    region: RegionShape,
    tops: LongArray,
    sketch: Sketch,
    member: LongArray,
    n_values: int,
) -> LongArray:
    """For each column of the Gaussian nodes: its arm, the offset of its table, that of its sums."""
    n_columns, entry = 0, 0
    for i in range(region.arms.shape[0]):
        n_columns += 1 if tops[i] >= 0 else 0
    columns = np.empty((3, n_columns), np.int64)
    above = region.middle_card if region.middle_card > 0 else region.root_card
    for u in range(sketch.kind.shape[0]):
        if sketch.kind[u] != GAUSSIAN:
            continue
        taken = region.root_card * (1 + region.middle_card)
        for i in range(region.arms.shape[0]):
            if tops[i] == member[u]:
                columns[0, entry], columns[1, entry] = region.arms[i], taken
                columns[2, entry] = n_values + N_ROWS * above * entry
                entry += 1
            taken += above * arms.card[region.arms[i]]
    return columns


@part
def _measure_patterns(
    arms: Arms,
    values: Values,
    region: RegionShape,
    columns: LongArray,
    plan: Plan,
    sketch: Sketch,
    member: LongArray,
    prior: FloatArray,
) -> None:
    """Place weights and values of the Gaussian nodes' patterns; bound the variances."""
    nodes, evidence, weights = plan.nodes, plan.evidence, values.weights
    n_slots, place = sketch.children.shape[0], plan.evidence.shape[0]
    for i in range(sketch.kind.shape[0]):
        if sketch.kind[i] != GAUSSIAN:
            continue
        n, n_columns, first_column = sketch.n_patterns[i], sketch.card[i], sketch.parameters[i]
        place -= n * (1 + n_columns)
        nodes[i * N_FIELDS + WEIGHTS] = place
        codes, has_codes = _find_codes(arms, values, region, member[i])
        first = _find_first(codes, n)
        for p in range(place, place + n):
            evidence[p] = 0.0
        for r in range(weights.shape[0]):
            evidence[place + (codes[r] if has_codes else r)] += weights[r]
        for j in range(n_columns):
            a, sums = columns[0, first_column - n_slots + j], columns[2, first_column - n_slots + j]
            facts, column = arms.facts[a], values.codes[arms.column[a]]
            for p in range(n):
                x = values.beliefs[facts + N_FACTS + column[first[p] if has_codes else p]]
                evidence[place + n + p * n_columns + j] = x
            for k in range(N_ROWS * sketch.width[i]):
                prior[sums + k] = values.beliefs[facts + k % N_FACTS]


@step
def plan_region(
    arms: Arms,
    values: Values,
    region: RegionShape,
    base: FloatArray,
    scratch: Scratch,
    n_values: int,
) -> tuple[Plan, Workspace, Families, FloatArray]:
    """Lay a region out for the general kernels; parameters in the order root, middle, arms.

    Returns the prior of the Gaussians too.
    """
    n_rows, has_base = values.weights.shape[0], base.shape[0] > 0
    tops = _find_tops(arms, region)
    sketch, member = _sketch_region(arms, region, tops, n_rows, has_base)
    runs, weights = np.empty(0, np.int32), values.weights
    if has_base:
        codes, _ = _find_codes(arms, values, region, region.tops[0])
        n_patterns, weights = sketch.n_patterns[sketch.children[0]], scratch.weights
        runs = _sort_base(values, base, region.root_card, codes, n_patterns, scratch)
    nodes, slot_child, slot_index, sizes = lay_out(sketch)
    links = _link(arms, values, region, sketch, member, runs)
    columns = _list_columns(arms, region, tops, sketch, member, n_values)
    n_counts = n_values
    if columns.shape[1] > 0:
        slot_child = np.concatenate((slot_child, columns[1]))
        slot_index = np.concatenate((slot_index, columns[2]))
        above = region.middle_card if region.middle_card > 0 else region.root_card
        n_counts += N_ROWS * above * columns.shape[1]
    plan = Plan(nodes, slot_child, slot_index, links, weights, scratch.base, sizes, arms.steps)
    prior = np.zeros(n_counts)
    _measure_patterns(arms, values, region, columns, plan, sketch, member, prior)
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
    return plan, work, _list_families(sketch, slot_child, slot_index), prior
