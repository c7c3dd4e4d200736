"""The E-step of Gaussian leaves, compiled only when there are some. See ``gaussian``."""

from __future__ import annotations

import math

import numpy as np
from numba import carray

from latentforest.kernels.compilation import part
from latentforest.kernels.gaussian.leaves import LOG_2_PI, N_ROWS
from latentforest.kernels.gaussian.messages import send_pattern
from latentforest.kernels.hooks import ANY_LENGTH, compile_step
from latentforest.kernels.layout import (
    BELIEFS,
    CARD,
    COLUMN,
    COUNTS,
    MESSAGES,
    N_PATTERNS,
    PARAMETERS,
    TABLE,
    WEIGHTS,
    WIDTH,
)
from latentforest.kernels.types import FloatArray, Int, LongArray
from latentforest.kernels.vector import LANES, load, splat, store

CHUNK = 64  # patterns whose values stay in the cache from one column to the next


@part
def _fill_tables(
    nodes: LongArray, tables: LongArray, buffer: FloatArray, theta: FloatArray, u: int
) -> None:
    """For each column and state: minus the mean, 1 / (sqrt(2) · deviation), log of the factor."""
    column, place, entry = nodes[u + COLUMN], nodes[u + TABLE], nodes[u + PARAMETERS]
    for j in range(entry, entry + nodes[u + CARD]):
        start = tables[j]
        for k in range(nodes[u + WIDTH]):
            variance = theta[start + 2 * k + 1]
            buffer[place + k] = -theta[start + 2 * k]
            buffer[place + column + k] = math.sqrt(0.5 / variance)
            buffer[place + 2 * column + k] = -0.5 * (LOG_2_PI + math.log(variance))
        place += N_ROWS * column


@part
def fill_messages(
    u: int, floor: float, nodes: LongArray, measures: FloatArray, buffer: FloatArray
) -> float:
    n_columns, width, column = nodes[u + CARD], nodes[u + WIDTH], nodes[u + COLUMN]
    n, table, offsets = nodes[u + N_PATTERNS], nodes[u + TABLE], nodes[u + BELIEFS]
    weights, result = nodes[u + WEIGHTS], 0.0
    for p in range(n):
        place, first = nodes[u + MESSAGES] + p * column, weights + n + p * n_columns
        for k in range(0, column, LANES):
            logs, squares, row = splat(0.0), splat(0.0), table + k
            for j in range(first, first + n_columns):
                x = measures[j]
                if x == x:
                    y = (splat(x) + load(buffer, row)) * load(buffer, row + column)
                    logs = logs + load(buffer, row + 2 * column)
                    squares = squares + y * y
                row += N_ROWS * column
            store(buffer, place + k, logs + splat(-1.0) * squares)
        largest = send_pattern(buffer, place, place, column, width, floor)
        buffer[offsets + p] = largest
        result += measures[weights + p] * largest
    return result


@part
def _collect(
    u: int, outside: Int, nodes: LongArray, measures: FloatArray, buffer: FloatArray
) -> None:
    n_columns, column, n = nodes[u + CARD], nodes[u + COLUMN], nodes[u + N_PATTERNS]
    table, sums, values = nodes[u + TABLE], nodes[u + COUNTS], nodes[u + WEIGHTS] + n
    for i in range(sums, sums + N_ROWS * column * n_columns):
        buffer[i] = 0.0
    for begin in range(0, n, CHUNK):
        end = min(begin + CHUNK, n)
        for k in range(0, column, LANES):
            first = nodes[u + MESSAGES] + k
            for p in range(begin, end):  # the outside factors are not needed any more
                place = first + p * column
                share = load(buffer, place) * load(buffer, place + outside)
                store(buffer, place + outside, share)
            for j in range(n_columns):
                row, total = table + N_ROWS * column * j + k, sums + N_ROWS * column * j + k
                mean, factor = load(buffer, row), load(buffer, row + column)
                weight, moment = load(buffer, total), load(buffer, total + column)
                square = load(buffer, total + 2 * column)
                for p in range(begin, end):
                    x = measures[values + p * n_columns + j]
                    if x == x:
                        share = load(buffer, first + outside + p * column)
                        y = (splat(x) + mean) * factor
                        weight = weight + share
                        share = share * y
                        moment = moment + share
                        square = square + share * y
                store(buffer, total, weight)
                store(buffer, total + column, moment)
                store(buffer, total + 2 * column, square)


def _fill_densities(  # type: ignore[no-untyped-def]
    u, floor, nodes_, tables_, places_, evidence_, buffer_, theta_
):
    nodes, tables = carray(nodes_, (ANY_LENGTH,)), carray(tables_, (ANY_LENGTH,))
    measures, buffer = carray(evidence_, (ANY_LENGTH,)), carray(buffer_, (ANY_LENGTH,))
    _fill_tables(nodes, tables, buffer, carray(theta_, (ANY_LENGTH,)), u)
    return fill_messages(u, floor, nodes, measures, buffer)


def _collect_moments(  # type: ignore[no-untyped-def]
    u, outside, nodes_, tables_, places_, evidence_, buffer_, counts_
):
    nodes, places = carray(nodes_, (ANY_LENGTH,)), carray(places_, (ANY_LENGTH,))
    measures, buffer = carray(evidence_, (ANY_LENGTH,)), carray(buffer_, (ANY_LENGTH,))
    counts = carray(counts_, (ANY_LENGTH,))
    _collect(u, np.int64(outside), nodes, measures, buffer)
    entry, sums, column = nodes[u + PARAMETERS], nodes[u + COUNTS], nodes[u + COLUMN]
    for j in range(entry, entry + nodes[u + CARD]):
        for k in range(nodes[u + WIDTH]):
            for i in range(N_ROWS):
                counts[places[j] + N_ROWS * k + i] += buffer[sums + i * column + k]
        sums += N_ROWS * column
    return 0.0


# Compute the messages and offsets of a node; the result is the sum of weight times offset.
FILL_ADDRESS = compile_step(_fill_densities)
# Add the sums of all columns of a node to the counts; the number is `plan.OUTSIDE`.
COLLECT_ADDRESS = compile_step(_collect_moments)
