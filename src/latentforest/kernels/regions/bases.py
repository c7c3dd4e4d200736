"""What is frozen around the candidates of a search: the bases of their regions.

There is a step for each kind of tasks; ``tasks`` calls it by its address.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import part, step
from latentforest.kernels.forest.layout import padded
from latentforest.kernels.regions.arms import (
    EVERY,
    constant_of,
    divide_by_sums,
    gather_arms,
    multiply_patterns,
    normalise_rows,
    spread_prior,
)
from latentforest.kernels.regions.types import (
    EACH_ROW,
    STAR_WITHOUT,
    Arms,
    Bases,
    LocalTask,
    Values,
)
from latentforest.kernels.types import FloatArray


@step
def gather_for_mediators(arms: Arms, values: Values, task: LocalTask) -> Bases:
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


@step
def gather_for_upper_mediators(arms: Arms, values: Values, task: LocalTask) -> Bases:
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


@step
def gather_for_relocations(arms: Arms, values: Values, task: LocalTask) -> Bases:
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
            if arms.facts[moved] >= 0:
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


@step
def gather_for_star(arms: Arms, values: Values, task: LocalTask) -> Bases:
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
