"""Gaussian leaves: their messages, and the sums that their new parameters are made of.

All continuous children of a variable are one ``GAUSSIAN`` node. The message of a pattern is the
product of the densities of its values given each state of the parent, over the largest of these,
whose logarithm (the *offset* of the pattern) is kept: densities of any size neither overflow nor
underflow, and a state is lost only if it is 1e308 times less likely than the best one. A missing
value (nan) adds no factor. See ``plan`` for the legend; ``j`` is a column of the node.

With ``y = (x - mean) / (sqrt(2) · deviation)`` under the parameters of the E-step, the sums for a
column and state are those of ``share``, ``share · y`` and ``share · y²`` over the patterns, where
``share`` is the expected weight of the state. Around the current mean, nothing cancels.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.compilation import part
from latentforest.kernels.plan import (
    BELIEFS,
    CARD,
    COLUMN,
    COUNTS,
    MESSAGES,
    N_PATTERNS,
    OUTSIDE,
    PARAMETERS,
    TABLE,
    WEIGHTS,
    WIDTH,
    Plan,
)
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.kernels.vector import LANES, load, splat, store

N_ROWS = 3  # of a column's tables and of its sums
LOG_2_PI = math.log(2.0 * math.pi)


@part
def _fill_tables(plan: Plan, buffer: FloatArray, theta: FloatArray, u: int) -> None:
    """For each column and state: minus the mean, 1 / (sqrt(2) · deviation), log of the factor."""
    nodes, columns, column = plan.nodes, plan.columns, plan.nodes[u + COLUMN]
    place, entry = nodes[u + TABLE], nodes[u + PARAMETERS]
    for _ in range(nodes[u + CARD]):
        start = columns[entry]
        for k in range(nodes[u + WIDTH]):
            variance = theta[start + 2 * k + 1]
            buffer[place + k] = -theta[start + 2 * k]
            buffer[place + column + k] = math.sqrt(0.5 / variance)
            buffer[place + 2 * column + k] = -0.5 * (LOG_2_PI + math.log(variance))
        place += N_ROWS * column
        entry += 2


@part
def fill_densities(
    plan: Plan, buffer: FloatArray, theta: FloatArray, u: int, floor: float
) -> float:
    """Compute the messages and offsets of a node; return the sum of weight times offset."""
    nodes, measures = plan.nodes, plan.measures
    n_columns, width, column = nodes[u + CARD], nodes[u + WIDTH], nodes[u + COLUMN]
    n, table, offsets = nodes[u + N_PATTERNS], nodes[u + TABLE], nodes[u + BELIEFS]
    weights, result = nodes[u + WEIGHTS], 0.0
    _fill_tables(plan, buffer, theta, u)
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
        largest = -np.inf
        for k in range(place, place + width):
            largest = max(largest, buffer[k])
        is_possible = largest > -np.inf  # false only if squares overflow
        buffer[offsets + p] = largest if is_possible else 0.0
        result += measures[weights + p] * buffer[offsets + p]
        for k in range(place, place + column):
            value = 0.0
            if is_possible and k < place + width:
                value = max(math.exp(buffer[k] - largest), floor)
            buffer[k] = value
    return result


@part
def collect_moments(plan: Plan, buffer: FloatArray, counts: FloatArray, u: int) -> None:
    """Compute the sums of all columns of a node."""
    nodes, measures, columns = plan.nodes, plan.measures, plan.columns
    n_columns, width, column = nodes[u + CARD], nodes[u + WIDTH], nodes[u + COLUMN]
    n, table, sums = nodes[u + N_PATTERNS], nodes[u + TABLE], nodes[u + COUNTS]
    outside, values = plan.sizes[OUTSIDE], nodes[u + WEIGHTS] + n
    for i in range(sums, sums + N_ROWS * column * n_columns):
        buffer[i] = 0.0
    for p in range(n):
        place, first = nodes[u + MESSAGES] + p * column, values + p * n_columns
        for k in range(0, column, LANES):
            share = load(buffer, place + k) * load(buffer, place + outside + k)
            row, total = table + k, sums + k
            for j in range(first, first + n_columns):
                x = measures[j]
                if x == x:
                    y = (splat(x) + load(buffer, row)) * load(buffer, row + column)
                    store(buffer, total, load(buffer, total) + share)
                    y_share, second = y * share, total + column
                    store(buffer, second, load(buffer, second) + y_share)
                    third = second + column
                    store(buffer, third, load(buffer, third) + y * y_share)
                row += N_ROWS * column
                total += N_ROWS * column
    entry = nodes[u + PARAMETERS] + 1
    for _ in range(n_columns):
        for k in range(width):
            for i in range(N_ROWS):
                counts[columns[entry] + N_ROWS * k + i] += buffer[sums + i * column + k]
        sums += N_ROWS * column
        entry += 2


@part
def log_density(plan: Plan, buffer: FloatArray, u: int, p: int, k: int) -> float:
    """Logarithm of one entry of a message that ``fill_densities`` has prepared."""
    nodes, measures, column = plan.nodes, plan.measures, plan.nodes[u + COLUMN]
    n_columns, row = nodes[u + CARD], nodes[u + TABLE] + k
    first = nodes[u + WEIGHTS] + nodes[u + N_PATTERNS] + p * n_columns
    result: float = -buffer[nodes[u + BELIEFS] + p]
    for j in range(first, first + n_columns):
        if measures[j] == measures[j]:
            y = (measures[j] + buffer[row]) * buffer[row + column]
            result += buffer[row + 2 * column] - y * y
        row += N_ROWS * column
    return result


@part
def add_moments(
    plan: Plan, buffer: FloatArray, counts: FloatArray, u: int, p: int, k: int, share: float
) -> None:
    """Add one pattern and state to the sums of all columns of a node."""
    nodes, measures, columns = plan.nodes, plan.measures, plan.columns
    column, n_columns, row = nodes[u + COLUMN], nodes[u + CARD], nodes[u + TABLE] + k
    first, entry = nodes[u + WEIGHTS] + nodes[u + N_PATTERNS], nodes[u + PARAMETERS] + 1
    for j in range(first + p * n_columns, first + (p + 1) * n_columns):
        if measures[j] == measures[j]:
            y = (measures[j] + buffer[row]) * buffer[row + column]
            place = columns[entry] + N_ROWS * k
            counts[place] += share
            counts[place + 1] += share * y
            counts[place + 2] += share * y * y
        row += N_ROWS * column
        entry += 2


@part
def update_gaussians(
    means: LongArray,
    sums: LongArray,
    scales: FloatArray,
    counts: FloatArray,
    prior: FloatArray,
    theta: FloatArray,
) -> None:
    """New means and variances from the sums; a state without any weight keeps its own.

    Pseudo-observations have the mean and variance of the column, ``scales[g, 0]`` and ``[g, 1]``;
    no variance falls below ``scales[g, 2]``.
    """
    for g in range(means.shape[0]):
        i, s = means[g], sums[g]
        center, spread, least = scales[g, 0], scales[g, 1], scales[g, 2]
        mean, weight = theta[i], counts[s]
        unit = math.sqrt(2.0 * theta[i + 1])
        first, second = unit * counts[s + 1], unit * unit * counts[s + 2]
        step = 0.0
        if weight + prior[i] > 0.0:
            step = (first + prior[i] * (center - mean)) / (weight + prior[i])
            theta[i] = mean + step
        if weight + prior[i + 1] > 0.0:
            away = mean + step - center
            squares = second - 2.0 * step * first + step * step * weight
            squares += prior[i] * away * away + prior[i + 1] * spread
            theta[i + 1] = max(squares / (weight + prior[i + 1]), least)


@part
def log_prior_of_gaussians(
    means: LongArray, scales: FloatArray, prior: FloatArray, theta: FloatArray
) -> float:
    """Logarithm of the prior densities, in units of the columns' deviations."""
    result = 0.0
    for g in range(means.shape[0]):
        i, spread = means[g], scales[g, 1]
        away, variance = theta[i] - scales[g, 0], theta[i + 1]
        result -= 0.5 * prior[i] * away * away / variance
        result -= 0.5 * prior[i + 1] * (math.log(variance / spread) + spread / variance)
    return result
