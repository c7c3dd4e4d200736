"""EM on a forest: its E-step and M-step, for ``loop``.

Vectors hold parameters: rows of probabilities, mean and variance of Gaussians.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.addresses import address_of, caller
from latentforest.kernels.compilation import kernel, part, step
from latentforest.kernels.forest.climb import call_propagate, fetch_context
from latentforest.kernels.gaussian.leaves import N_ROWS, log_prior_of_gaussian, update_gaussian
from latentforest.kernels.hooks import call_step
from latentforest.kernels.layout import (
    LOG_PRIOR,
    MEASURE,
    N_TABLE_ENTRIES,
    N_TABLES,
    PROJECT,
    REVISE,
    TABLES,
    UPDATE,
    Families,
)
from latentforest.kernels.loop import LOWEST, Method
from latentforest.kernels.types import FloatArray


@part
def _revise(
    families: Families,
    f: int,
    action: float,
    prior: FloatArray,
    counts: FloatArray,
    theta: FloatArray,
) -> float:
    """Do one of the steps of ``block_updates``."""
    tasks, first = families.tasks, families.offset[f]
    return call_step(
        tasks[first + REVISE],
        first,
        action,
        families.offset,
        tasks,
        families.n_rows,
        prior,
        counts,
        theta,
    )


@kernel
def update(families: Families, prior: FloatArray, counts: FloatArray, theta: FloatArray) -> None:
    """Normalize counts plus pseudo-counts; a row without any keeps its probabilities.

    Gaussians get new means and variances.
    """
    for f in range(families.offset.shape[0]):
        n_states, sums = families.n_states[f], families.sums[f]
        if families.n_rows[f] == 0:
            _revise(families, f, UPDATE, prior, counts, theta)
        for r in range(families.n_rows[f]):
            start = families.offset[f] + r * n_states
            if sums >= 0:
                update_gaussian(start, sums + N_ROWS * r, counts, prior, theta)
                continue
            total = 0.0
            for i in range(start, start + n_states):
                total += counts[i] + prior[i]
            if total > 0.0:
                for i in range(start, start + n_states):
                    theta[i] = (counts[i] + prior[i]) / total


@kernel
def log_prior(families: Families, prior: FloatArray, theta: FloatArray) -> float:
    """Σ pseudo-count · log probability over the free tables, and the prior of the Gaussians."""
    result = 0.0
    for f in range(families.offset.shape[0]):
        start, n_states, sums = families.offset[f], families.n_states[f], families.sums[f]
        if families.n_rows[f] == 0:
            result += _revise(families, f, LOG_PRIOR, prior, prior, theta)
        elif sums >= 0:
            for r in range(families.n_rows[f]):
                result += log_prior_of_gaussian(start + 2 * r, sums + N_ROWS * r, prior, theta)
        else:
            for i in range(start, start + families.n_rows[f] * n_states):
                if prior[i] > 0.0:
                    result += prior[i] * math.log(theta[i]) if theta[i] > 0.0 else -np.inf
    return result


@step
def measure_block(
    families: Families,
    f: int,
    prior: FloatArray,
    first: FloatArray,
    second: FloatArray,
    third: FloatArray,
) -> tuple[float, float]:
    """Sum the squares of a block's differences."""
    tasks, r_square, v_square = families.tasks, 0.0, 0.0
    table = families.offset[f] + TABLES
    for _ in range(tasks[families.offset[f] + N_TABLES]):
        start, width, units = tasks[table], tasks[table + 1], tasks[table + 3]
        for n in range(width * tasks[table + 2]):
            i, column = start + n, n % width
            r = second[i] - first[i]
            v = third[i] - second[i] - r
            if column == 0:  # of a line, its height at the parents' means
                for j in range(1, width):
                    slope = second[i + j] - first[i + j]
                    r += prior[units + width + j] * slope
                    v += prior[units + width + j] * (third[i + j] - second[i + j] - slope)
            r_square += (r * prior[units + column]) ** 2
            v_square += (v * prior[units + column]) ** 2
        table += N_TABLE_ENTRIES
    return r_square, v_square


_call_measure_block = caller(measure_block)


@kernel
def measure(
    families: Families, prior: FloatArray, first: FloatArray, second: FloatArray, third: FloatArray
) -> tuple[float, float]:
    """Sum the squares of the differences of three iterates; Gaussians are in units of columns."""
    r_square, v_square = 0.0, 0.0
    for f in range(families.offset.shape[0]):
        start, sums, unit, power = families.offset[f], families.sums[f], 1.0, 1.0
        if families.n_rows[f] == 0:
            address = families.tasks[start + MEASURE]
            one, two = _call_measure_block(address, families, f, prior, first, second, third)
            r_square += one
            v_square += two
        elif sums >= 0:
            unit = 1.0 / math.sqrt(prior[sums + 1])
        for i in range(start, start + families.n_rows[f] * families.n_states[f]):
            r = second[i] - first[i]
            v = third[i] - second[i] - r
            power *= unit  # of a mean one over the column's deviation, of a variance its square
            r_square += (r * power) ** 2
            v_square += (v * power) ** 2
            if (i - start) & 1 == 1:
                power = 1.0
    return r_square, v_square


@kernel
def project(families: Families, prior: FloatArray, third: FloatArray, theta: FloatArray) -> None:
    """Bring extrapolated rows back into the simplex, variances above their bounds."""
    for f in range(families.offset.shape[0]):
        n_states, sums = families.n_states[f], families.sums[f]
        if families.n_rows[f] == 0:
            _revise(families, f, PROJECT, prior, third, theta)
        for row in range(families.n_rows[f]):
            start = families.offset[f] + row * n_states
            if sums >= 0:
                least = prior[sums + N_ROWS * row + 2]
                theta[start + 1] = max(theta[start + 1], LOWEST * third[start + 1], least)
                continue
            total = 0.0
            for i in range(start, start + n_states):
                theta[i] = max(theta[i], LOWEST * third[i])
                total += theta[i]
            if total > 0.0:
                for i in range(start, start + n_states):
                    theta[i] /= total


@step
def expect(
    context: int, theta: FloatArray, counts: FloatArray, is_judged: bool
) -> tuple[float, int]:
    """Fill the expected counts; return the log-likelihood and how many root patterns vanished."""
    here = fetch_context(context)
    nothing = theta[:0]
    found: tuple[float, int] = call_propagate(
        here.propagate, here.plan, here.work, theta, counts, nothing, 0.0, is_judged
    )
    return found


def find_method() -> Method:
    """Compile, or load, what EM does between E-steps."""
    return Method(*map(address_of, (log_prior, update, measure, project)))
