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

from latentforest.kernels.compilation import part
from latentforest.kernels.forest.plan import Plan
from latentforest.kernels.layout import (
    BELIEFS,
    CARD,
    COLUMN,
    N_PATTERNS,
    PARAMETERS,
    TABLE,
    WEIGHTS,
)
from latentforest.kernels.types import FloatArray

N_ROWS = 3  # of a column's tables and of its sums
LOG_2_PI = math.log(2.0 * math.pi)


@part
def log_density(plan: Plan, buffer: FloatArray, u: int, p: int, k: int) -> float:
    """Logarithm of one entry of a message that ``fill_densities`` has prepared."""
    nodes, measures, column = plan.nodes, plan.evidence, plan.nodes[u + COLUMN]
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
    nodes, measures, places = plan.nodes, plan.evidence, plan.slot_index
    column, n_columns, row = nodes[u + COLUMN], nodes[u + CARD], nodes[u + TABLE] + k
    first, entry = nodes[u + WEIGHTS] + nodes[u + N_PATTERNS], nodes[u + PARAMETERS]
    for j in range(first + p * n_columns, first + (p + 1) * n_columns):
        if measures[j] == measures[j]:
            y = (measures[j] + buffer[row]) * buffer[row + column]
            place = places[entry] + N_ROWS * k
            counts[place] += share
            counts[place + 1] += share * y
            counts[place + 2] += share * y * y
        row += N_ROWS * column
        entry += 1


@part
def update_gaussian(
    i: int, s: int, counts: FloatArray, prior: FloatArray, theta: FloatArray
) -> None:
    """New mean and variance, at ``theta[i]``, from the sums at ``counts[s]``.

    A state without any weight keeps its own. Pseudo-observations have the mean and variance of the
    column, ``prior[s]`` and ``prior[s + 1]``; the variance does not fall below ``prior[s + 2]``.
    """
    center, spread, mean, weight = prior[s], prior[s + 1], theta[i], counts[s]
    unit, step = math.sqrt(2.0 * theta[i + 1]), 0.0
    first, second = unit * counts[s + 1], unit * unit * counts[s + 2]
    if weight + prior[i] > 0.0:
        step = (first + prior[i] * (center - mean)) / (weight + prior[i])
        theta[i] = mean + step
    if weight + prior[i + 1] > 0.0:
        away = mean + step - center
        squares = second - 2.0 * step * first + step * step * weight
        squares += prior[i] * away * away + prior[i + 1] * spread
        theta[i + 1] = max(squares / (weight + prior[i + 1]), prior[s + 2])


@part
def log_prior_of_gaussian(i: int, s: int, prior: FloatArray, theta: FloatArray) -> float:
    """Logarithm of the prior density of one Gaussian, in units of the column's deviation."""
    spread, away, variance = prior[s + 1], theta[i] - prior[s], theta[i + 1]
    result: float = -0.5 * prior[i] * away * away / variance
    result -= 0.5 * prior[i + 1] * (math.log(variance / spread) + spread / variance)
    return result
