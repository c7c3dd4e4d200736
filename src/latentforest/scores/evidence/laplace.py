"""Laplace's approximation: a Gaussian around the most probable parameters, softmax coordinates.

    log P(D | theta) + log p(phi) + d/2 log 2 pi - 1/2 log |A|

with phi the coordinates, p their prior density, A minus the Hessian of log P(D | theta) + log p.
A row of a table has the gradient ``n_j + alpha_j - theta_j * sum(n + alpha)`` with the expected
counts n. The Hessian is exact (``information``) unless there are too many completions; then it
comes from central differences of the gradient, of the fourth order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky

from latentforest.inference.engine import Engine
from latentforest.kernels.types import FloatArray
from latentforest.scores.evidence.coordinates import TableRows, list_rows, move
from latentforest.scores.evidence.information import find_information
from latentforest.scores.evidence.maximum import (
    Maximum,
    Question,
    find_maximum,
    log_density,
    take_point,
)
from latentforest.scores.evidence.units import find_openings

STEP = 2e-3  # of a coordinate; differences are then exact to about eleven digits
FLAT = 1e-10  # a curvature below this share of the largest is not told from zero
N_NEWTON = 20  # most steps that make the maximum of EM precise
PRECISE = 1e-11  # step of a coordinate that is not worth it
SAME = 1e-7  # change of a probability, in proportion, that does not matter to the curvature


class Laplace(NamedTuple):
    """The approximation, where it was taken, and whether that is a maximum."""

    value: float
    point: Maximum
    is_negative_definite: bool
    least_curvature: float  # where it is not


def approximate(question: Question) -> Laplace:
    """Approximate the evidence; not a number where the Hessian is not negative definite."""
    found, rows = find_maximum(question), list_rows(question.structure)
    openings = find_openings(question.structure, question.table)

    def find_curvature(theta: FloatArray) -> FloatArray:
        if openings is None:
            return differentiate(found.engine, question.prior, theta, rows)
        return find_information(question.prior, theta, openings, rows)

    curvature = find_curvature(found.theta)
    point = _climb_to_the_top(question, found, curvature, rows)
    if np.abs(np.log(point.theta / found.theta)).max() > SAME:
        curvature = find_curvature(point.theta)
    return _measure(question, point, curvature)


def _measure(question: Question, point: Maximum, curvature: FloatArray) -> Laplace:
    d, root = len(curvature), _find_root(curvature)
    density = log_density(question.structure, question.prior, point.theta)
    value = point.log_likelihood + density + 0.5 * d * math.log(2 * math.pi)
    if root is None:
        least = float(np.linalg.eigvalsh(curvature)[0])
        return Laplace(math.nan, point, False, least)
    return Laplace(value - float(np.log(np.diag(root)).sum()), point, True, math.nan)


def _find_root(curvature: FloatArray) -> FloatArray | None:
    """Cholesky root of the curvature; none if it is not positive, as far as can be told."""
    try:
        root: FloatArray = cholesky(curvature, lower=True, check_finite=False)
    except LinAlgError:
        return None
    sizes = np.diag(root) ** 2
    return root if np.all(sizes > FLAT * sizes.max(initial=0.0)) else None


def differentiate(
    engine: Engine, prior: FloatArray, theta: FloatArray, rows: TableRows
) -> FloatArray:
    """Minus the Hessian of the log-posterior by differences of its gradient, ``(d, d)``."""
    curvature = np.empty((len(rows.free), len(rows.free)))
    for i, cell in enumerate(rows.free):

        def follow(step: float, cell: int = int(cell)) -> FloatArray:
            moved = move(theta, rows, np.array([cell]), np.array([step]))
            return find_gradient(engine, prior, moved, rows)

        near, far = follow(STEP) - follow(-STEP), follow(2 * STEP) - follow(-2 * STEP)
        curvature[i] = (far - 8.0 * near) / (12.0 * STEP)
    return 0.5 * (curvature + curvature.T)


def find_gradient(
    engine: Engine, prior: FloatArray, theta: FloatArray, rows: TableRows
) -> FloatArray:
    """Gradient of the log-posterior in softmax coordinates."""
    counts = np.zeros(engine.n_counts)
    engine.expected_counts(theta, counts)
    total = counts[: len(prior)] + prior
    gradient: FloatArray = (total - theta * rows.spread(total))[rows.free]
    return gradient


def _climb_to_the_top(
    question: Question, point: Maximum, curvature: FloatArray, rows: TableRows
) -> Maximum:
    """Make the maximum of EM precise: steps of Newton's method with one and the same curvature."""
    root = _find_root(curvature)
    if root is None or not len(root):
        return point
    theta, last = point.theta, np.inf
    for _ in range(N_NEWTON):
        gradient = find_gradient(point.engine, question.prior, theta, rows)
        step = np.asarray(cho_solve((root, True), gradient), np.float64)
        size = float(np.abs(step).max())
        if size < PRECISE or size > min(1.0, last):
            break
        theta, last = move(theta, rows, rows.free, step), size
    moved = take_point(point.engine, theta, point.converged)
    before, after = (
        each.log_likelihood + log_density(question.structure, question.prior, each.theta)
        for each in (point, moved)
    )
    return moved if after >= before else point
