"""The M-step of Gaussian leaves with equal variances, compiled only when there are some.

Variances may be the same for all states, for all columns, or both. A task is: number of columns,
number of states, whether states and whether columns have equal variances; then of each column the
offset of its table and the place of its sums (see ``gaussian`` and ``em.Families``).
"""

from __future__ import annotations

import math

import numpy as np
from numba import carray

from latentforest.kernels.compilation import part
from latentforest.kernels.gaussian.leaves import N_ROWS, log_prior_of_gaussian
from latentforest.kernels.hooks import ANY_LENGTH, compile_step
from latentforest.kernels.layout import (
    COLUMNS,
    CORE,
    LOG_PRIOR,
    SAME_IN_COLUMNS,
    SAME_IN_STATES,
    TIED_COLUMNS,
    TIED_STATES,
    UPDATE,
)
from latentforest.kernels.types import FloatArray, LongArray


@part
def _update(
    tasks: LongArray, first: int, counts: FloatArray, prior: FloatArray, theta: FloatArray
) -> None:
    """New means; then variances from the squares around them, summed over what shares them."""
    n_columns, n_states = tasks[first + TIED_COLUMNS], tasks[first + TIED_STATES]
    squares, weights = np.zeros(n_columns * n_states), np.zeros(n_columns * n_states)
    for j in range(n_columns):
        for k in range(n_states):
            i = tasks[first + COLUMNS + 2 * j] + 2 * k
            s = tasks[first + COLUMNS + 2 * j + 1] + N_ROWS * k
            center, spread, mean, weight = prior[s], prior[s + 1], theta[i], counts[s]
            unit, step = math.sqrt(2.0 * theta[i + 1]), 0.0
            moment, square = unit * counts[s + 1], unit * unit * counts[s + 2]
            if weight + prior[i] > 0.0:
                step = (moment + prior[i] * (center - mean)) / (weight + prior[i])
                theta[i] = mean + step
            away = mean + step - center
            place = _group(tasks, first, j, k)
            squares[place] += square - 2.0 * step * moment + step * step * weight
            squares[place] += prior[i] * away * away + prior[i + 1] * spread
            weights[place] += weight + prior[i + 1]
    for j in range(n_columns):
        for k in range(n_states):
            place = _group(tasks, first, j, k)
            if weights[place] > 0.0:
                variance = squares[place] / weights[place]
                i = tasks[first + COLUMNS + 2 * j] + 2 * k
                theta[i + 1] = max(variance, _least(tasks, first, j, prior))


@part
def _group(tasks: LongArray, first: int, j: int, k: int) -> int:
    """Number of the variance that a column and state have."""
    state = 0 if tasks[first + SAME_IN_STATES] == 1 else k
    column = 0 if tasks[first + SAME_IN_COLUMNS] == 1 else j
    result: int = column * tasks[first + TIED_STATES] + state
    return result


@part
def _least(tasks: LongArray, first: int, j: int, prior: FloatArray) -> float:
    """Least variance of a column, or of all columns if they have the same."""
    if tasks[first + SAME_IN_COLUMNS] == 0:
        result: float = prior[tasks[first + COLUMNS + 2 * j + 1] + 2]
        return result
    result = prior[tasks[first + COLUMNS + 1] + 2]
    for i in range(tasks[first + TIED_COLUMNS]):
        result = max(result, prior[tasks[first + COLUMNS + 2 * i + 1] + 2])
    return result


def _revise_tied(  # type: ignore[no-untyped-def]
    first, action, offsets_, tasks_, rows_, prior_, counts_, theta_
):
    tasks, prior = carray(tasks_, (ANY_LENGTH,)), carray(prior_, (ANY_LENGTH,))
    counts, theta = carray(counts_, (ANY_LENGTH,)), carray(theta_, (ANY_LENGTH,))
    start, result = tasks[first + CORE], 0.0
    if action == UPDATE:
        _update(tasks, start, counts, prior, theta)
        return result
    for j in range(tasks[start + TIED_COLUMNS]):
        for k in range(tasks[start + TIED_STATES]):
            i = tasks[start + COLUMNS + 2 * j] + 2 * k
            s = tasks[start + COLUMNS + 2 * j + 1] + N_ROWS * k
            if action == LOG_PRIOR:
                result += log_prior_of_gaussian(i, s, prior, theta)
            else:  # of an extrapolated point
                theta[i + 1] = max(theta[i + 1], _least(tasks, start, j, prior))
    return result


# Update the parameters, or compute their log prior, or bring them above their bounds.
REVISE_ADDRESS = compile_step(_revise_tied)
