"""Blocks: continuous variables that are jointly Gaussian given the state of one variable.

Inside a block, columns are measured from their means in units of their deviations (*scaled*). The
log potential of a block given state ``k`` is ``c - (z - m)' P (z - m) / 2``: its tables are the
constant ``c``, the center ``m`` and the precision ``P``, one after another. Evaluation, and the
sums for new parameters, need no more than that; where the tables come from is another matter.

What the kernels must know of a block is a list of whole numbers (``tasks``; see
``inference.blocks``, which writes it) and one of scales. The record of a family, a pouch or a
single variable with its continuous parents, is: length of the record, kind, number of variables,
number of parents, whether it is estimated, whether it has a row for each state, whether states
share their covariance; then position in the block and offset in the parameter vector of each
variable; then positions of the parents.
"""

from __future__ import annotations

import math

from latentforest.kernels.compilation import part
from latentforest.kernels.gaussian.leaves import LOG_2_PI
from latentforest.kernels.layout import (
    FAMILIES,
    FAMILY_KIND,
    HAS_STATES,
    LENGTH,
    MEMBERS,
    N_COLUMNS,
    N_FAMILIES,
    N_MEMBERS,
    N_PARENTS,
    N_STATES,
    POUCH,
)
from latentforest.kernels.types import FloatArray, LongArray

TINY = 1e-300


@part
def factorize(a: FloatArray, start: int, n: int) -> None:
    """Replace a positive definite matrix, its lower half, by its Cholesky factor."""
    for i in range(n):
        row = start + i * n
        for j in range(i + 1):
            other = start + j * n
            value = a[row + j]
            for k in range(j):
                value -= a[row + k] * a[other + k]
            if i == j:
                a[row + i] = math.sqrt(value) if value > TINY else math.sqrt(TINY)
            else:
                a[row + j] = value / a[other + j]


@part
def invert_factor(a: FloatArray, start: int, n: int) -> None:
    """Replace a lower triangular matrix by its inverse."""
    for j in range(n):
        a[start + j * n + j] = 1.0 / a[start + j * n + j]
        for i in range(j + 1, n):
            value = 0.0
            for k in range(j, i):
                value -= a[start + i * n + k] * a[start + k * n + j]
            a[start + i * n + j] = value / a[start + i * n + i]


@part
def fill_tables(
    tasks: LongArray,
    first: int,
    scales: FloatArray,
    place: int,
    theta: FloatArray,
    tables: FloatArray,
    target: int,
    scratch: FloatArray,
) -> None:
    """Compute the tables of all states from means, slopes, variances and covariances.

    ``scales[place:]`` are means, then deviations of the columns.
    """
    d, n_states = tasks[first + N_COLUMNS], tasks[first + N_STATES]
    for k in range(n_states):
        start = target + k * (1 + d + d * d)
        for i in range(start, start + 1 + d + d * d):
            tables[i] = 0.0
        family = first + tasks[first + FAMILIES]
        for _ in range(tasks[first + N_FAMILIES]):
            if tasks[family + FAMILY_KIND] == POUCH:
                _add_pouch(tasks, family, d, k, scales, place, theta, tables, start, scratch)
            else:
                _add_line(tasks, family, d, k, scales, place, theta, tables, start)
            family += tasks[family + LENGTH]


@part
def _add_line(
    tasks: LongArray,
    family: int,
    d: int,
    k: int,
    scales: FloatArray,
    place: int,
    theta: FloatArray,
    tables: FloatArray,
    start: int,
) -> None:
    n_parents, i = tasks[family + N_PARENTS], tasks[family + MEMBERS]
    row = tasks[family + MEMBERS + 1] + k * tasks[family + HAS_STATES] * (2 + n_parents)
    unit, precisions = scales[place + d + i], start + 1 + d
    mean = theta[row] - scales[place + i]
    scale = unit * unit / theta[row + 1 + n_parents]  # precision around the line
    for a in range(n_parents):
        p = tasks[family + MEMBERS + 2 + a]
        slope = theta[row + 1 + a]
        mean += slope * (scales[place + p] + scales[place + d + p] * tables[start + 1 + p])
        slope *= scales[place + d + p] / unit
        for b in range(n_parents):
            q = tasks[family + MEMBERS + 2 + b]
            other = theta[row + 1 + b] * scales[place + d + q] / unit
            tables[precisions + p * d + q] += scale * slope * other
        tables[precisions + p * d + i] -= scale * slope
        tables[precisions + i * d + p] -= scale * slope
    tables[precisions + i * d + i] += scale
    tables[start + 1 + i] = mean / unit
    tables[start] -= 0.5 * (LOG_2_PI - math.log(scale))


@part
def _add_pouch(
    tasks: LongArray,
    family: int,
    d: int,
    k: int,
    scales: FloatArray,
    place: int,
    theta: FloatArray,
    tables: FloatArray,
    start: int,
    scratch: FloatArray,
) -> None:
    n = tasks[family + N_MEMBERS]
    step = k * tasks[family + HAS_STATES] * (1 + n)
    read_covariance(tasks, family, d, step, scales, place, theta, scratch)
    factorize(scratch, 0, n)
    tables[start] -= 0.5 * n * LOG_2_PI
    for a in range(n):
        tables[start] -= math.log(scratch[a * n + a])
        i = tasks[family + MEMBERS + 2 * a]
        mean = theta[tasks[family + MEMBERS + 2 * a + 1] + step]
        tables[start + 1 + i] = (mean - scales[place + i]) / scales[place + d + i]
    invert_factor(scratch, 0, n)
    for a in range(n):
        i = tasks[family + MEMBERS + 2 * a]
        for b in range(a + 1):
            j = tasks[family + MEMBERS + 2 * b]
            value = 0.0
            for c in range(a, n):
                value += scratch[c * n + a] * scratch[c * n + b]
            tables[start + 1 + d + i * d + j] = value
            tables[start + 1 + d + j * d + i] = value


@part
def read_covariance(
    tasks: LongArray,
    family: int,
    d: int,
    step: int,
    scales: FloatArray,
    place: int,
    theta: FloatArray,
    result: FloatArray,
) -> None:
    """Read the scaled covariance of a pouch, lower half."""
    n = tasks[family + N_MEMBERS]
    for a in range(n):
        i, row = tasks[family + MEMBERS + 2 * a], tasks[family + MEMBERS + 2 * a + 1] + step
        for b in range(a + 1):
            j = tasks[family + MEMBERS + 2 * b]
            value = theta[row + 1 + b] / scales[place + d + i]
            result[a * n + b] = value / scales[place + d + j]
