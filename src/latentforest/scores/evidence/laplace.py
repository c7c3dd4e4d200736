"""Laplace's approximation: a Gaussian around the most probable parameters, softmax coordinates.

    log P(D | theta) + log p(phi) + d/2 log 2 pi - 1/2 log |A|

with phi the coordinates, p their prior density, A minus the Hessian of log P(D | theta) + log p.
A row of a table has the gradient ``n_j + alpha_j - theta_j * sum(n + alpha)`` with the expected
counts n. Its derivatives are central differences of the fourth order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentforest.inference.engine import Engine
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.structure import Structure
from latentforest.scores.evidence.maximum import (
    Maximum,
    Question,
    find_maximum,
    log_density,
    take_point,
)

STEP = 2e-3  # of a coordinate; differences are then exact to about eleven digits
FLAT = 1e-10  # a curvature below this share of the largest is not told from zero
N_NEWTON = 3  # steps that make the maximum of EM precise


class TableRows(NamedTuple):
    """Cells of all rows of all tables: the row of each, and which of them have a coordinate."""

    row_of: LongArray
    n_rows: int
    free: LongArray

    def spread(self, values: FloatArray) -> FloatArray:
        """Sum of each row, for each of its cells."""
        sums = np.bincount(self.row_of, values, self.n_rows)[self.row_of]
        return np.asarray(sums, np.float64)


class Laplace(NamedTuple):
    """The approximation, where it was taken, and whether that is a maximum."""

    value: float
    point: Maximum
    is_negative_definite: bool
    least_curvature: float


def approximate(question: Question) -> Laplace:
    """Approximate the evidence; not a number where the Hessian is not negative definite."""
    point = find_maximum(question)
    rows = _list_rows(question.structure)
    for _ in range(N_NEWTON):
        curvature = find_curvature(point.engine, question.prior, point.theta, rows)
        better = _take_newton_step(question, point, curvature, rows)
        if better is None:
            break
        point = better
    else:
        curvature = find_curvature(point.engine, question.prior, point.theta, rows)
    return _measure(question, point, curvature)


def _measure(question: Question, point: Maximum, curvature: FloatArray) -> Laplace:
    d = len(curvature)
    values = np.linalg.eigvalsh(curvature) if d else np.ones(1)
    is_maximum = bool(values[0] > FLAT * values[-1])
    density = log_density(question.structure, question.prior, point.theta)
    value = point.log_likelihood + density + 0.5 * d * math.log(2 * math.pi)
    value -= 0.5 * float(np.log(values).sum()) if is_maximum else math.nan
    return Laplace(value, point, is_maximum, float(values[0]))


def find_curvature(
    engine: Engine, prior: FloatArray, theta: FloatArray, rows: TableRows | None = None
) -> FloatArray:
    """Minus the Hessian of the log-posterior in softmax coordinates, ``(d, d)``."""
    rows = _list_rows(engine.structure) if rows is None else rows
    curvature = np.empty((len(rows.free), len(rows.free)))
    for i, cell in enumerate(rows.free):

        def follow(step: float, cell: int = int(cell)) -> FloatArray:
            moved = _move(theta, rows, np.array([cell]), np.array([step]))
            return find_gradient(engine, prior, moved, rows)

        near, far = follow(STEP) - follow(-STEP), follow(2 * STEP) - follow(-2 * STEP)
        curvature[i] = (far - 8.0 * near) / (12.0 * STEP)
    return 0.5 * (curvature + curvature.T)


def find_gradient(
    engine: Engine, prior: FloatArray, theta: FloatArray, rows: TableRows | None = None
) -> FloatArray:
    """Gradient of the log-posterior in softmax coordinates."""
    rows = _list_rows(engine.structure) if rows is None else rows
    counts = np.zeros(engine.n_counts)
    engine.expected_counts(theta, counts)
    total = counts[: len(prior)] + prior
    gradient: FloatArray = (total - theta * rows.spread(total))[rows.free]
    return gradient


def _take_newton_step(
    question: Question, point: Maximum, curvature: FloatArray, rows: TableRows
) -> Maximum | None:
    """Go where the Gaussian has its peak, if there is one and the log-posterior rises."""
    if not len(rows.free) or np.linalg.eigvalsh(curvature)[0] <= 0:
        return None
    gradient = find_gradient(point.engine, question.prior, point.theta, rows)
    step = np.asarray(np.linalg.solve(curvature, gradient), np.float64)
    if np.abs(step).max() < 1e-9 or np.abs(step).max() > 1.0:
        return None
    moved = take_point(point.engine, _move(point.theta, rows, rows.free, step), point.converged)
    before, after = (
        each.log_likelihood + log_density(question.structure, question.prior, each.theta)
        for each in (point, moved)
    )
    return moved if after >= before - 1e-12 * abs(before) else None


def _move(theta: FloatArray, rows: TableRows, cells: LongArray, steps: FloatArray) -> FloatArray:
    """Add to some coordinates."""
    moved = theta.copy()
    moved[cells] *= np.exp(steps)
    moved /= rows.spread(moved)
    return moved


def _list_rows(structure: Structure) -> TableRows:
    """Number the rows of all tables; the last state of each has no coordinate."""
    row_of, n_rows = np.empty(structure.n_values, np.int64), 0
    is_free = np.ones(structure.n_values, bool)
    for name in structure.names:
        start, shape = structure.offset(name), structure.shape(name)
        size, card = math.prod(shape), shape[-1]
        row_of[start : start + size] = n_rows + np.arange(size) // card
        is_free[start + card - 1 : start + size : card] = False
        n_rows += size // card
    return TableRows(row_of, n_rows, np.flatnonzero(is_free))
