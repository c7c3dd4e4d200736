"""What is frozen around the candidates of a search: the bases of their regions.

A *task* is a bundle of candidates that share most of that, for instance all mediators of a hub, one
of its neighbours and each of the others. ``regions`` fits them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import part
from latentforest.kernels.forest.layout import padded
from latentforest.kernels.regions.arms import (
    EACH_ROW,
    EVERY,
    LEAF_ARM,
    Arms,
    Values,
    constant_of,
    divide_by_sums,
    gather_arms,
    multiply_patterns,
    normalise_rows,
    spread_prior,
)
from latentforest.kernels.types import FloatArray, IntArray, LongArray


class RegionShape(NamedTuple):
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
    own: FloatArray  # beliefs of the first arm that replace its own, or nothing


class LocalTask(NamedTuple):
    """Some local fits that share their surroundings; see the functions that gather their bases.

    ``marks`` has an entry for each possible candidate, 0 to leave it out. For a mediator, and for a
    hub that gets another number of states, it is its cardinality.
    """

    kind: int
    hub: int
    arm: int
    lo: int
    hi: int
    marks: LongArray
    ways: LongArray
    region: RegionShape  # of a star
    starts: FloatArray  # of a star without an arm
    most: int  # states of mediators for which `drafts` are made
    # Starts of mediators' tables, of their neighbours' tables; or see `star_starts.start_star`.
    drafts: FloatArray
    places: LongArray  # where the starts of mediators begin
    n_starts: int  # random ones only, around a hub


class LocalTasks(NamedTuple):
    """Several tasks, one in each row; what they have in common is in ``common``.

    The marks of mediators are for all arms of the hub.
    """

    arm: LongArray
    marks: LongArray
    ways: LongArray
    common: LocalTask


class Bases(NamedTuple):
    """What is frozen around each candidate of a task."""

    base: FloatArray  # one vector for each row; a single line if all candidates share it
    constant: FloatArray  # part of the log-likelihood that the region does not hold
    own: FloatArray  # beliefs of the first arm that are peculiar to the candidate
    tables: FloatArray  # first guess of the table of a relocated neighbour


MEDIATORS = 0  # NI: below a hub, of neighbour `arm` and each of `lo` to `hi`
UPPER_MEDIATORS = 1  # NI: of a hub, its parent (`arm`) and each of its other neighbours
RELOCATIONS = 2  # NR: of `arm` to every marked latent variable, passing those in `ways`
STAR_WITHOUT = 3  # ND: `arm` of a hub replaced by others
STAR_AROUND = 4  # SI, SD: all tables around a hub, rooted at neighbour `arm` if that is not -1


def _make_empty() -> LocalTask:
    nothing, one = np.empty(0, np.int64), np.ones(1, np.int64)
    groups, codes, floats = np.empty((0, 2), np.int64), np.empty((0, 0), np.int32), np.empty(0)
    region = RegionShape(0, False, 0, nothing, one - 1, groups, nothing, nothing, codes, floats)
    starts = np.empty((0, 0))
    return LocalTask(0, 0, 0, 0, 0, one, nothing, region, starts, 0, floats, nothing, 0)


EMPTY = _make_empty()  # a task with nothing; what it needs is replaced


@part
def pick_task(arms: Arms, tasks: LocalTasks, t: int) -> LocalTask:
    """Return one of several tasks; mediators reach from the first mark to the last."""
    common, marks, lo, hi = tasks.common, tasks.marks[t], 0, tasks.marks.shape[1]
    if common.kind == MEDIATORS:
        while marks[lo] == 0:
            lo += 1
        while marks[hi - 1] == 0:
            hi -= 1
    first = arms.first[common.hub]
    return LocalTask(
        common.kind,
        common.hub,
        tasks.arm[t],
        first + lo,
        first + hi,
        marks[lo:hi].copy(),
        tasks.ways[t],
        common.region,
        common.starts,
        common.most,
        common.drafts,
        common.places,
        common.n_starts,
    )


@part
def gather_bases(arms: Arms, values: Values, task: LocalTask) -> Bases:
    """Find what is frozen around each candidate of a task."""
    if task.kind == MEDIATORS:
        return _gather_for_mediators(arms, values, task)
    if task.kind == UPPER_MEDIATORS:
        return _gather_for_upper_mediators(arms, values, task)
    if task.kind == RELOCATIONS:
        return _gather_for_relocations(arms, values, task)
    return _gather_for_star(arms, values, task)


@part
def _gather_for_mediators(arms: Arms, values: Values, task: LocalTask) -> Bases:
    """Bases of a hub without one of its arms and each of some others.

    Arms are excluded by halving: the product for a range of candidates holds all arms outside it.
    """
    hub, left, lo, hi = task.hub, task.arm, task.lo, task.hi
    first, last = arms.first[hub], arms.first[hub + 1]
    row, depth = padded(arms.width[first]), 2
    size = values.weights.shape[0] * row
    while (1 << (depth - 2)) < hi - lo:
        depth += 1
    products, constants = np.empty((depth, size)), np.zeros(depth)
    pending, result, constant = (
        np.zeros(depth, np.int64),
        np.empty((hi - lo, size)),
        np.zeros(hi - lo),
    )
    spread_prior(arms, values, hub, products[0], row)
    before, n_pending = gather_arms(arms, values, first, lo, left, products[0], row, np.int64(0))
    after, n_pending = gather_arms(arms, values, hi, last, left, products[0], row, n_pending)
    constants[0], pending[0] = before + after, n_pending
    # Ranges of candidates that wait: [level, from, to, and the arms to multiply first].
    stack, n_waiting = np.empty((2 * depth, 5), np.int64), 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 1, lo, hi, lo, lo
    while n_waiting > 0:
        n_waiting -= 1
        level, begin, end = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        is_one = end - begin == 1
        target = result[begin - lo] if is_one else products[level]
        source = products[level - 1]
        for i in range(size):
            target[i] = source[i]
        more, n_pending = gather_arms(
            arms,
            values,
            stack[n_waiting, 3],
            stack[n_waiting, 4],
            left,
            target,
            row,
            pending[level - 1],
        )
        constants[level], pending[level] = constants[level - 1] + more, n_pending
        if is_one:
            pair = constant_of(arms, values, left) + constant_of(arms, values, begin)
            constant[begin - lo] = constants[level] + pair
            continue
        middle = (begin + end) // 2
        for half in range(2):
            bounds = stack[n_waiting + half]
            bounds[0] = level + 1
            bounds[1], bounds[2] = (middle, end) if half == 0 else (begin, middle)
            bounds[3], bounds[4] = (begin, middle) if half == 0 else (middle, end)
        n_waiting += 2
    return Bases(result, constant, np.empty((0, 0)), np.empty((0, 0)))


@part
def _gather_for_upper_mediators(arms: Arms, values: Values, task: LocalTask) -> Bases:
    """The base of a hub's parent, and what is frozen below the hub for each of its arms.

    The region is rooted at the parent: the patterns below the mediator are then those below the
    hub, few, and the hub with its frozen arms is an arm of the region.
    """
    hub, upper = task.hub, task.arm
    first, last = arms.first[hub], arms.first[hub + 1]
    below, root, root_card = arms.reverse[upper], arms.source[upper], arms.card[upper]
    n_rows, n_patterns, row = values.weights.shape[0], arms.n_patterns[below], padded(root_card)
    base, constant = np.empty((1, n_rows * row)), np.zeros(last - first)
    _spread_beliefs(arms, values, upper, base[0])
    prior, tables, line = arms.prior[root], values.tables, base[0]
    for r in range(n_rows):
        for k in range(root_card):
            line[r * row + k] *= tables[prior + k]
    own = np.zeros((last - first, n_patterns * padded(arms.width[upper])))
    codes, weights = values.codes[arms.column[below]], values.weights
    for j in range(first, last):
        if task.marks[j - first] > 0:
            scales = np.zeros(n_patterns)
            left_out = multiply_patterns(arms, values, below, j, own[j - first], scales)
            for r in range(n_rows):
                if weights[r] > 0.0:
                    left_out += weights[r] * scales[codes[r]]
            left_out += values.constant[upper] + constant_of(arms, values, j)
            constant[j - first] = left_out
    return Bases(base, constant, own, np.empty((0, 0)))


@part
def _spread_beliefs(arms: Arms, values: Values, a: int, target: FloatArray) -> None:
    """Copy the belief of an arm for each row."""
    row, column, place = padded(arms.card[a]), arms.column[a], arms.belief[a]
    codes, beliefs = values.codes, values.beliefs
    for r in range(target.shape[0] // row):
        q = r if column == EACH_ROW else codes[column, r]
        for k in range(row):
            target[r * row + k] = beliefs[place + q * row + k]


@part
def _gather_for_relocations(arms: Arms, values: Values, task: LocalTask) -> Bases:
    """Bases of latent variables without an arm that was taken away somewhere.

    What is left is sent outward from where the arm was. The sum of each row's vector is the same at
    all targets: the probability of what is left.
    """
    moved, marks, ways, n_rows = task.arm, task.marks, task.ways, values.weights.shape[0]
    n_hubs, origin, moved_card = marks.shape[0], arms.hub[moved], arms.card[moved]
    widest, constant = np.int64(1), 0.0
    for h in range(n_hubs):
        widest = max(widest, arms.width[arms.first[h]])
    incoming = np.empty((n_hubs, n_rows * padded(widest)))
    result = np.empty((n_hubs, n_rows * padded(widest)))
    back_from = np.full(n_hubs, -1)  # the arm of a hub that leads back to the origin
    tables = np.empty((n_hubs, widest * moved_card))
    stack, n_waiting = np.empty(n_hubs, np.int64), 1
    stack[0] = origin
    while n_waiting > 0:
        n_waiting -= 1
        here = stack[n_waiting]
        first, last = arms.first[here], arms.first[here + 1]
        card, is_origin = arms.width[first], here == origin
        row, skip = padded(card), moved if is_origin else back_from[here]
        base = result[here]
        if is_origin:
            for k in range(card * moved_card):
                tables[here, k] = values.tables[arms.table[moved] + k]
        if is_origin or marks[here] > 0:
            base = base[: n_rows * row]
            spread_prior(arms, values, here, base, row)
            if not is_origin:
                for i in range(n_rows * row):
                    base[i] *= incoming[here, i]
            left_out, _ = gather_arms(arms, values, first, last, skip, base, row, np.int64(0))
            if is_origin:
                left_out += normalise_rows(base, row, values.weights, EVERY)
                constant = left_out + constant_of(arms, values, moved)
            else:
                divide_by_sums(base, row)
        for b in range(first, last):
            there = arms.source[b]
            if b == skip or there < 0 or ways[there] == 0:
                continue
            back_from[there] = arms.reverse[b]
            _send_outward(arms, values, is_origin, skip, b, incoming)
            width = arms.width[arms.first[there]]
            edge = arms.table[arms.reverse[b]]
            _follow(values.tables, edge, tables, here, there, card, width, moved_card)
            if arms.belief[moved] < LEAF_ARM:
                _follow_moments(values.tables, edge, tables, here, there, card, width)
            stack[n_waiting] = there
            n_waiting += 1
    return Bases(result, np.full(n_hubs, constant), np.empty((0, 0)), tables)


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
    _, n_pending = gather_arms(arms, values, first, lo, lo, belief, row, np.int64(0))
    _, n_pending = gather_arms(arms, values, lo, hi, lo, belief, row, n_pending)
    gather_arms(arms, values, hi, last, hi, belief, row, n_pending)
    divide_by_sums(belief, row)
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


@part
def _follow_moments(
    edges: FloatArray, edge: int, tables: FloatArray, here: int, there: int, card: int, width: int
) -> None:
    """Replace the mean of the variances by the variance of a mixture of Gaussians."""
    for y in range(width):
        mean, variance = tables[there, 2 * y], 0.0
        for z in range(card):
            away = tables[here, 2 * z] - mean
            variance += edges[edge + y * card + z] * (tables[here, 2 * z + 1] + away * away)
        tables[there, 2 * y + 1] = variance


@part
def _gather_for_star(arms: Arms, values: Values, task: LocalTask) -> Bases:
    """The base of a star.

    Without an arm of the hub, all its other arms are frozen. Around a hub, the belief of the
    neighbour at which the region is rooted; without such a neighbour there is no base.
    """
    region, hub, n_rows = task.region, task.hub, values.weights.shape[0]
    row, constant = padded(region.root_card), np.zeros(1)
    base = np.empty((1, n_rows * row if task.arm >= 0 else 0))
    if task.kind == STAR_WITHOUT:
        spread_prior(arms, values, hub, base[0], row)
        first, last = arms.first[hub], arms.first[hub + 1]
        left_out, _ = gather_arms(arms, values, first, last, task.arm, base[0], row, np.int64(0))
        constant[0] = left_out + normalise_rows(base[0], row, values.weights, EVERY)
    elif task.arm >= 0:
        _spread_beliefs(arms, values, task.arm, base[0])
        constant[0] = values.constant[task.arm]
    for i in range(region.arms.shape[0]):
        constant[0] += constant_of(arms, values, region.arms[i])
    return Bases(base, constant, np.empty((0, 0)), np.empty((0, 0)))
