"""The E-step of blocks, compiled only when there are some. See ``blocks``.

Patterns are sorted by their missing columns. With the missing columns first, the Cholesky factor of
the precision holds all that is needed: the marginal precision of the observed columns, the
determinant that integration leaves, and the moments of the missing columns given the others.

Sums for a state are its weight, then first and second moments around the center, in scaled units.
Patterns without any value are left out.
"""

from __future__ import annotations

import math

import numpy as np
from numba import carray

from latentforest.kernels.compilation import part
from latentforest.kernels.forest.layout import padded
from latentforest.kernels.gaussian.blocks import factorize, fill_tables, invert_factor
from latentforest.kernels.gaussian.leaves import LOG_2_PI
from latentforest.kernels.gaussian.messages import send_pattern
from latentforest.kernels.hooks import ANY_LENGTH, compile_step
from latentforest.kernels.layout import (
    BATCH,
    BELIEFS,
    CARD,
    COLUMN,
    COUNTS,
    GAP_COLUMNS,
    GAP_OBSERVED,
    GAP_PATTERNS,
    GAP_VALUES,
    GAPS,
    MESSAGES,
    N_GAPS,
    N_PATTERNS,
    PARAMETERS,
    SUMS,
    TABLE,
    WEIGHTS,
    WIDTH,
)
from latentforest.kernels.types import FloatArray, Int, LongArray
from latentforest.kernels.vector import LANES, load, splat, store, total

HALF = 0.5


@part
def _factorize_gap(
    tasks: LongArray, gap: int, d: int, tables: FloatArray, precisions: int, factor: FloatArray
) -> None:
    """Factorize a precision with the columns in the order of a gap."""
    columns = gap + GAP_COLUMNS
    for a in range(d):
        row = precisions + tasks[columns + a] * d
        for b in range(a + 1):
            factor[a * d + b] = tables[row + tasks[columns + b]]
    factorize(factor, 0, d)


@part
def evaluate(
    u: int, nodes: LongArray, tasks: LongArray, values: FloatArray, buffer: FloatArray
) -> None:
    """Compute the log potentials of all patterns and states from the tables, gaps integrated."""
    d, column, n_states = nodes[u + CARD], nodes[u + COLUMN], nodes[u + WIDTH]
    first, logs = nodes[u + PARAMETERS], nodes[u + BELIEFS] + padded(nodes[u + N_PATTERNS])
    factor, rows, shift = np.empty(d * d), np.empty(d * d), np.empty(d)
    spread, units = np.empty(BATCH), nodes[u + WEIGHTS] + nodes[u + N_PATTERNS] + d
    gap = first + tasks[first + GAPS]
    for _ in range(tasks[first + N_GAPS]):
        n, n_observed = tasks[gap + GAP_PATTERNS], tasks[gap + GAP_OBSERVED]
        n_missing, start = d - n_observed, tasks[gap + GAP_VALUES]
        height = (n + BATCH - 1) // BATCH * BATCH
        patterns = gap + GAP_COLUMNS + d
        for k in range(n_states):
            table = nodes[u + TABLE] + k * (1 + d + d * d)
            if n_observed == 0:
                for p in range(patterns, patterns + n):
                    buffer[logs + tasks[p] * column + k] = 0.0
                continue
            _factorize_gap(tasks, gap, d, buffer, table + 1 + d, factor)
            constant = buffer[table] + HALF * n_missing * LOG_2_PI
            for a in range(n_missing):
                constant -= math.log(factor[a * d + a])
            for a in range(n_observed):  # densities are those of the columns in their own units
                constant -= math.log(values[units + tasks[gap + GAP_COLUMNS + n_missing + a]])
                shift[a] = 0.0
                for b in range(a, n_observed):
                    value = factor[(n_missing + b) * d + n_missing + a]
                    rows[a * n_observed + b] = value
                    center = table + 1 + tasks[gap + GAP_COLUMNS + n_missing + b]
                    shift[a] -= value * buffer[center]
            for p in range(0, height, BATCH):
                s0, s1, s2, s3 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
                for a in range(n_observed):
                    y0, y1, y2, y3 = (
                        splat(shift[a]),
                        splat(shift[a]),
                        splat(shift[a]),
                        splat(shift[a]),
                    )
                    place = start + a * height + p
                    for b in range(a * n_observed + a, (a + 1) * n_observed):
                        weight = splat(rows[b])
                        y0 = y0 + weight * load(values, place)
                        y1 = y1 + weight * load(values, place + LANES)
                        y2 = y2 + weight * load(values, place + 2 * LANES)
                        y3 = y3 + weight * load(values, place + 3 * LANES)
                        place += height
                    s0 = s0 + y0 * y0
                    s1 = s1 + y1 * y1
                    s2 = s2 + y2 * y2
                    s3 = s3 + y3 * y3
                store(spread, 0, s0)
                store(spread, LANES, s1)
                store(spread, 2 * LANES, s2)
                store(spread, 3 * LANES, s3)
                for q in range(p, min(p + BATCH, n)):
                    value = constant - HALF * spread[q - p]
                    buffer[logs + tasks[patterns + q] * column + k] = value
        gap = patterns + n


@part
def send(u: int, floor: float, nodes: LongArray, measures: FloatArray, buffer: FloatArray) -> float:
    """Turn log potentials into messages and offsets."""
    n, column, width = nodes[u + N_PATTERNS], nodes[u + COLUMN], nodes[u + WIDTH]
    offsets, weights, result = nodes[u + BELIEFS], nodes[u + WEIGHTS], 0.0
    logs = offsets + padded(n)
    for p in range(n):
        place, source = nodes[u + MESSAGES] + p * column, logs + p * column
        largest = send_pattern(buffer, source, place, column, width, floor)
        buffer[offsets + p] = largest
        result += measures[weights + p] * largest
    return result


@part
def _impute(
    tasks: LongArray, gap: int, d: int, factor: FloatArray, gains: FloatArray, inverse: FloatArray
) -> None:
    """Regressions of the missing columns on the observed ones.

    The factor is replaced by the covariance of the missing columns given the others.
    """
    n_observed = tasks[gap + GAP_OBSERVED]
    m = d - n_observed
    for a in range(m):
        for b in range(a + 1):
            inverse[a * m + b] = factor[a * d + b]
    invert_factor(inverse, 0, m)
    for a in range(m):
        for b in range(n_observed):
            value = 0.0
            for c in range(a, m):
                value -= inverse[c * m + a] * factor[(m + b) * d + c]
            gains[a * n_observed + b] = value
    for a in range(m):
        for b in range(a + 1):
            value = 0.0
            for c in range(a, m):
                value += inverse[c * m + a] * inverse[c * m + b]
            factor[a * m + b] = value


@part
def gather(
    u: int,
    outside: Int,
    nodes: LongArray,
    tasks: LongArray,
    values: FloatArray,
    buffer: FloatArray,
    counts: FloatArray,
) -> None:
    """Add the sums of all patterns to the counts, or those of one pattern, number -1 - outside.

    The shares of a single pattern's states lie at the node's place for counts.
    """
    d, n_states = nodes[u + CARD], nodes[u + WIDTH]
    first = nodes[u + PARAMETERS]
    factor, gains, inverse = np.empty(d * d), np.empty(d * d), np.empty(d * d)
    share, away = np.empty(BATCH), np.empty(d * BATCH)
    gap = first + tasks[first + GAPS]
    for _ in range(tasks[first + N_GAPS]):
        n, n_observed = tasks[gap + GAP_PATTERNS], tasks[gap + GAP_OBSERVED]
        if n_observed > 0:
            for k in range(n_states):
                if n_observed < d:
                    precisions = nodes[u + TABLE] + k * (1 + d + d * d) + 1 + d
                    _factorize_gap(tasks, gap, d, buffer, precisions, factor)
                    _impute(tasks, gap, d, factor, gains, inverse)
                for p in range(0, n, BATCH):
                    if _read_shares(u, outside, nodes, tasks, gap, p, k, buffer, share):
                        _find_distances(u, nodes, tasks, gap, p, k, values, buffer, gains, away)
                        _add_sums(u, nodes, tasks, gap, k, share, away, factor, counts)
        gap += GAP_COLUMNS + d + n


@part
def _read_shares(
    u: int,
    outside: Int,
    nodes: LongArray,
    tasks: LongArray,
    gap: int,
    p: int,
    k: int,
    buffer: FloatArray,
    share: FloatArray,
) -> bool:
    """Read the expected weights of one state in a batch of patterns; tell whether there are any."""
    column, n = nodes[u + COLUMN], tasks[gap + GAP_PATTERNS]
    patterns, found = gap + GAP_COLUMNS + nodes[u + CARD], False
    for q in range(BATCH):
        share[q] = 0.0
        if p + q < n:
            pattern = tasks[patterns + p + q]
            if outside >= 0:
                place = nodes[u + MESSAGES] + pattern * column + k
                share[q] = buffer[place] * buffer[place + outside]
            elif pattern == -1 - outside:
                share[q] = buffer[nodes[u + COUNTS] + k]
            found = found or share[q] > 0.0
    return found


@part
def _find_distances(
    u: int,
    nodes: LongArray,
    tasks: LongArray,
    gap: int,
    p: int,
    k: int,
    values: FloatArray,
    buffer: FloatArray,
    gains: FloatArray,
    away: FloatArray,
) -> None:
    """Distances of a batch of patterns from a center, those of missing values expected ones."""
    d, n_observed, start = nodes[u + CARD], tasks[gap + GAP_OBSERVED], tasks[gap + GAP_VALUES]
    height = (tasks[gap + GAP_PATTERNS] + BATCH - 1) // BATCH * BATCH
    centers, columns = nodes[u + TABLE] + k * (1 + d + d * d) + 1, gap + GAP_COLUMNS
    n_missing = d - n_observed
    for b in range(n_observed):
        i = tasks[columns + n_missing + b]
        center = splat(-buffer[centers + i])
        for q in range(0, BATCH, LANES):
            store(away, i * BATCH + q, load(values, start + b * height + p + q) + center)
    for a in range(n_missing):
        target = tasks[columns + a] * BATCH
        for q in range(0, BATCH, LANES):
            value = splat(0.0)
            for b in range(n_observed):
                source = tasks[columns + n_missing + b] * BATCH
                value = value + splat(gains[a * n_observed + b]) * load(away, source + q)
            store(away, target + q, value)


@part
def _add_sums(
    u: int,
    nodes: LongArray,
    tasks: LongArray,
    gap: int,
    k: int,
    share: FloatArray,
    away: FloatArray,
    rest: FloatArray,
    counts: FloatArray,
) -> None:
    """Add a batch of patterns to the sums of one state."""
    d = nodes[u + CARD]
    place = tasks[nodes[u + PARAMETERS] + SUMS] + k * (1 + d + d * d)
    w0, w1, w2, w3 = (
        load(share, 0),
        load(share, LANES),
        load(share, 2 * LANES),
        load(share, 3 * LANES),
    )
    weight = total((w0 + w1) + (w2 + w3))
    counts[place] += weight
    for i in range(d):
        row, target = i * BATCH, place + 1 + d + i * d
        y0, y1 = w0 * load(away, row), w1 * load(away, row + LANES)
        y2, y3 = w2 * load(away, row + 2 * LANES), w3 * load(away, row + 3 * LANES)
        counts[place + 1 + i] += total((y0 + y1) + (y2 + y3))
        for j in range(i + 1):
            other = j * BATCH
            z0 = y0 * load(away, other) + y1 * load(away, other + LANES)
            z1 = y2 * load(away, other + 2 * LANES) + y3 * load(away, other + 3 * LANES)
            counts[target + j] += total(z0 + z1)
    m, columns = d - tasks[gap + GAP_OBSERVED], gap + GAP_COLUMNS
    for a in range(m):
        for b in range(a + 1):
            i, j = tasks[columns + a], tasks[columns + b]
            counts[place + 1 + d + max(i, j) * d + min(i, j)] += weight * rest[a * m + b]


def _fill_block(  # type: ignore[no-untyped-def]
    u, floor, nodes_, tables_, places_, evidence_, buffer_, theta_
):
    nodes, tasks = carray(nodes_, (ANY_LENGTH,)), carray(tables_, (ANY_LENGTH,))
    measures, buffer = carray(evidence_, (ANY_LENGTH,)), carray(buffer_, (ANY_LENGTH,))
    theta, d = carray(theta_, (ANY_LENGTH,)), nodes[u + CARD]
    scales = nodes[u + WEIGHTS] + nodes[u + N_PATTERNS]
    fill_tables(
        tasks,
        nodes[u + PARAMETERS],
        measures,
        scales,
        theta,
        buffer,
        nodes[u + TABLE],
        np.empty(d * d),
    )
    evaluate(u, nodes, tasks, measures, buffer)
    return send(u, floor, nodes, measures, buffer)


def _collect_block(  # type: ignore[no-untyped-def]
    u, outside, nodes_, tables_, places_, evidence_, buffer_, counts_
):
    nodes, tasks = carray(nodes_, (ANY_LENGTH,)), carray(tables_, (ANY_LENGTH,))
    measures, buffer = carray(evidence_, (ANY_LENGTH,)), carray(buffer_, (ANY_LENGTH,))
    counts = carray(counts_, (ANY_LENGTH,))
    gather(u, np.int64(outside), nodes, tasks, measures, buffer, counts)
    return 0.0


# Compute the messages and offsets of a block; the result is the sum of weight times offset.
FILL_ADDRESS = compile_step(_fill_block)
# Add the sums of a block to the counts; the number is `plan.OUTSIDE`, or -1 - a pattern.
COLLECT_ADDRESS = compile_step(_collect_block)
