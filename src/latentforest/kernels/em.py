"""The M-step, the EM loop and the pyramid of starts, compiled as one.

``iterate`` is the only EM loop of the library. Compiled, it runs on one block of rows without the
interpreter lock; uncompiled (``iterate.py_func``), the same lines run over many blocks whose
expected counts are summed by threads.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload

from latentforest.kernels.plan import Plan, make_workspace
from latentforest.kernels.propagation import expected_counts, log_likelihood
from latentforest.kernels.types import FloatArray, LongArray

LOG_IMPOSSIBLE = -1e4  # what a row of probability zero adds, so that objectives can be compared
WARM_UP = 6  # plain iterations before acceleration starts
LOWEST = 0.01  # an extrapolated probability is at least this share of the one it starts from


class Families(NamedTuple):
    """The free tables: offset in the parameter vector, number of rows, length of a row."""

    offset: LongArray
    n_rows: LongArray
    n_states: LongArray


class Limits(NamedTuple):
    """When to stop: iterations, smallest gain of the objective, whether to accelerate."""

    max_iterations: int
    least_gain: float
    accelerate: bool


class Outcome(NamedTuple):
    """What a run of EM did."""

    n_iterations: int
    converged: bool
    objective: float
    impossible: float  # weight of the rows of probability zero


@njit(nogil=True, cache=True)
def update(families: Families, counts: FloatArray, prior: FloatArray, theta: FloatArray) -> None:
    """Normalize counts plus pseudo-counts; a row without any keeps its probabilities."""
    for f in range(families.offset.shape[0]):
        n_states = families.n_states[f]
        for r in range(families.n_rows[f]):
            start = families.offset[f] + r * n_states
            total = 0.0
            for i in range(start, start + n_states):
                total += counts[i] + prior[i]
            if total > 0.0:
                for i in range(start, start + n_states):
                    theta[i] = (counts[i] + prior[i]) / total


@njit(nogil=True, cache=True)
def log_prior(families: Families, prior: FloatArray, theta: FloatArray) -> float:
    """Σ pseudo-count · log probability over the free tables."""
    result = 0.0
    for f in range(families.offset.shape[0]):
        start = families.offset[f]
        for i in range(start, start + families.n_rows[f] * families.n_states[f]):
            if prior[i] > 0.0:
                result += prior[i] * math.log(theta[i]) if theta[i] > 0.0 else -np.inf
    return result


@njit(nogil=True, cache=True)
def extrapolate(
    families: Families,
    first: FloatArray,
    second: FloatArray,
    third: FloatArray,
    longest: float,
    result: FloatArray,
) -> float:
    """SQUAREM's step through three EM iterates (Varadhan and Roland 2008), kept inside the simplex.

    Returns the length of the step; one is the plain EM iterate.
    """
    r_square, v_square = 0.0, 0.0
    for i in range(first.shape[0]):
        r = second[i] - first[i]
        v = third[i] - second[i] - r
        r_square += r * r
        v_square += v * v
    length = math.sqrt(r_square / v_square) if v_square > 0.0 else 1.0
    length = min(max(length, 1.0), longest)
    for f in range(families.offset.shape[0]):
        n_states = families.n_states[f]
        for row in range(families.n_rows[f]):
            start = families.offset[f] + row * n_states
            total = 0.0
            for i in range(start, start + n_states):
                r = second[i] - first[i]
                v = third[i] - second[i] - r
                value = first[i] + 2.0 * length * r + length * length * v
                result[i] = max(value, LOWEST * third[i])
                total += result[i]
            if total > 0.0:
                for i in range(start, start + n_states):
                    result[i] /= total
    return length


def expect(source: Any, theta: FloatArray, counts: FloatArray) -> tuple[float, float]:
    """Fill ``counts``; compiled, the source is a plan and its workspace."""
    result: tuple[float, float] = source.expected_counts(theta, counts)
    return result


@overload(expect)
def _expect_block(source, theta, counts):  # type: ignore[no-untyped-def]
    return lambda source, theta, counts: expected_counts(source[0], source[1], theta, counts)


@njit(nogil=True, cache=True)
def iterate(
    source: Any,
    families: Families,
    theta: FloatArray,
    prior: FloatArray,
    limits: Limits,
    trajectory: FloatArray,
) -> Outcome:
    """Run EM on ``theta`` in place until the gain is small or the iterations are used up.

    ``trajectory[n]`` gets the objective (log-likelihood plus log prior) before the n-th update.
    A cycle of the accelerated loop is two EM steps and an extrapolated point, which is kept only
    if its objective is at least that of the second step: the trajectory never falls.
    """
    counts = np.empty_like(theta)
    first, second, third = theta.copy(), theta.copy(), theta.copy()
    phase, longest = 0, 4.0  # phase 2: theta is an extrapolated point, `third` the safe one
    last, impossible = -np.inf, 0.0
    n, converged = 0, False
    while n < limits.max_iterations:
        log_likelihood_now, impossible = expect(source, theta, counts)
        objective = log_likelihood_now + log_prior(families, prior, theta)
        objective += impossible * LOG_IMPOSSIBLE
        if phase == 2 and not objective >= last:
            theta[:] = third
            longest = max(1.0, longest / 4.0)
            phase = 0
            trajectory[n] = last
            n += 1
            continue
        trajectory[n] = objective
        n += 1
        if phase != 2 and objective - last <= limits.least_gain:
            converged = True
            last = objective
            break
        last = objective
        if phase == 0:
            first[:] = theta
        elif phase == 1:
            second[:] = theta
        update(families, counts, prior, theta)
        if not limits.accelerate or n < WARM_UP or phase == 2:
            phase = 0
        elif phase == 0:
            phase = 1
        else:
            third[:] = theta
            length = extrapolate(families, first, second, third, longest, theta)
            if length == longest:
                longest *= 4.0
            phase = 2
    return Outcome(n, converged, last, impossible)


@njit(nogil=True, cache=True)
def fit_block(
    plan: Plan,
    families: Families,
    theta: FloatArray,
    prior: FloatArray,
    limits: Limits,
    trajectory: FloatArray,
) -> Outcome:
    """Run EM on one block of rows."""
    source = (plan, make_workspace(plan))
    return iterate(source, families, theta, prior, limits, trajectory)


@njit(nogil=True, cache=True)
def climb_pyramid(
    plan: Plan,
    families: Families,
    starts: FloatArray,
    prior: FloatArray,
    limits: Limits,
    trajectory: FloatArray,
) -> tuple[int, Outcome]:
    """Fit from several starts (rows of ``starts``, changed in place); return the best row.

    One iteration each, the better half goes on for two, and so on until one is left, which runs
    to ``limits.max_iterations`` in all. Its objective is that of the parameters returned.
    """
    source = (plan, make_workspace(plan))
    alive = np.arange(starts.shape[0])
    objectives = np.empty(starts.shape[0])
    n_done, n_next = 0, 1
    while alive.shape[0] > 1:
        level = Limits(n_next, -np.inf, False)
        for i in alive:
            outcome = iterate(source, families, starts[i], prior, level, trajectory)
            objectives[i] = outcome.objective
        order = np.argsort(-objectives[alive], kind="mergesort")
        alive = alive[order[: (alive.shape[0] + 1) // 2]]
        n_done += n_next
        n_next *= 2
    best = alive[0]
    rest = Limits(
        max(limits.max_iterations - n_done, 1), limits.least_gain, limits.accelerate
    )
    theta = starts[best]
    outcome = iterate(source, families, theta, prior, rest, trajectory)
    value, impossible = log_likelihood(plan, source[1], theta)
    value += log_prior(families, prior, theta) + impossible * LOG_IMPOSSIBLE
    n_iterations = n_done + outcome.n_iterations
    return best, Outcome(n_iterations, outcome.converged, value, impossible)
