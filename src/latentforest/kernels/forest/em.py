"""The M-step, the EM loop and the pyramid of starts, compiled as one.

``climb_pyramid`` runs all starts and iterations of a fit on one chunk of rows without the
interpreter lock. A fit over many chunks calls ``advance`` itself, with the sum of their counts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.forest.propagation import propagate
from latentforest.kernels.gaussian.leaves import N_ROWS, log_prior_of_gaussian, update_gaussian
from latentforest.kernels.hooks import call_step
from latentforest.kernels.types import Flag, FloatArray, LongArray
from latentforest.ties import SAME

WARM_UP = 6  # plain iterations before acceleration starts
LOWEST = 0.01  # an extrapolated probability is at least this share of the one it starts from
ADDRESS, N_TABLES, TABLES, N_TABLE_ENTRIES = 2, 3, 4, 4  # of a block's tasks
UPDATE, LOG_PRIOR, PROJECT = 0.0, 1.0, 2.0  # what to do with a block, see `block_updates`


class Families(NamedTuple):
    """The free tables: offset in the parameter vector, number of rows, length of a row.

    A row of a Gaussian is mean and variance. In place of its length stands minus the place of the
    sums of the first row in the vector of counts. At the same place in the prior lie mean and
    variance of the column and the least variance.

    A block of continuous variables has no rows. Its offset is that of its tasks behind the lengths:
    two numbers for the M-step (see ``block_updates``), the address of that, and the number of its
    free tables; then for each its offset, length and number of rows and the place, in the prior, of
    the units of a row. Behind the units lie the means that slopes are multiplied with.
    """

    offset: LongArray
    n_rows: LongArray
    n_states: LongArray


class Limits(NamedTuple):
    """When to stop: iterations, smallest gain of the objective, whether to accelerate."""

    max_iterations: int
    least_gain: float
    accelerate: bool
    pause: int  # iterations after which to return, to be resumed


@part
def copy(source: FloatArray, target: FloatArray) -> None:
    """Copy one vector over another."""
    for i in range(source.shape[0]):
        target[i] = source[i]


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
    tasks, first = families.n_states, families.offset[f]
    return call_step(
        tasks[first + ADDRESS],
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
def update(families: Families, counts: FloatArray, prior: FloatArray, theta: FloatArray) -> None:
    """Normalize counts plus pseudo-counts; a row without any keeps its probabilities.

    Gaussians get new means and variances.
    """
    for f in range(families.offset.shape[0]):
        n_states = families.n_states[f]
        if families.n_rows[f] == 0:
            _revise(families, f, UPDATE, prior, counts, theta)
        for r in range(families.n_rows[f]):
            if n_states < 0:
                place = families.offset[f] + 2 * r
                update_gaussian(place, N_ROWS * r - n_states, counts, prior, theta)
                continue
            start = families.offset[f] + r * n_states
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
        start, n_states = families.offset[f], families.n_states[f]
        if families.n_rows[f] == 0:
            result += _revise(families, f, LOG_PRIOR, prior, prior, theta)
        elif n_states < 0:
            for r in range(families.n_rows[f]):
                place = N_ROWS * r - n_states
                result += log_prior_of_gaussian(start + 2 * r, place, prior, theta)
        else:
            for i in range(start, start + families.n_rows[f] * n_states):
                if prior[i] > 0.0:
                    result += prior[i] * math.log(theta[i]) if theta[i] > 0.0 else -np.inf
    return result


@kernel
def extrapolate(
    families: Families,
    first: FloatArray,
    second: FloatArray,
    third: FloatArray,
    prior: FloatArray,
    longest: float,
    result: FloatArray,
) -> float:
    """SQUAREM's step through three EM iterates (Varadhan and Roland 2008), kept inside the simplex.

    Variances stay above their bound, too. Returns the length of the step; one is the plain EM
    iterate.
    """
    r_square, v_square = 0.0, 0.0
    for f in range(families.offset.shape[0]):
        n_states, start, unit, power = families.n_states[f], families.offset[f], 1.0, 1.0
        if families.n_rows[f] == 0:
            one, two = _extrapolate_block(families, f, first, second, third, prior, 0.0, result)
            r_square += one
            v_square += two
        elif n_states < 0:
            n_states, unit = 2, 1.0 / math.sqrt(prior[1 - n_states])
        for i in range(start, start + families.n_rows[f] * n_states):
            r = second[i] - first[i]
            v = third[i] - second[i] - r
            power *= unit  # of a mean one over the column's deviation, of a variance its square
            r_square += (r * power) ** 2
            v_square += (v * power) ** 2
            if (i - start) & 1 == 1:
                power = 1.0
    length = math.sqrt(r_square / v_square) if v_square > 0.0 else 1.0
    length = min(max(length, 1.0), longest)
    for f in range(families.offset.shape[0]):
        n_states = families.n_states[f]
        width = n_states if n_states > 0 else 2
        if families.n_rows[f] == 0:
            _extrapolate_block(families, f, first, second, third, prior, length, result)
            _revise(families, f, PROJECT, prior, third, result)
        for row in range(families.n_rows[f]):
            start = families.offset[f] + row * width
            total = 0.0
            for i in range(start, start + width):
                r = second[i] - first[i]
                v = third[i] - second[i] - r
                value = first[i] + 2.0 * length * r + length * length * v
                if n_states > 0 or i > start:
                    value = max(value, LOWEST * third[i])
                result[i] = value
                total += value
            if n_states < 0:
                result[start + 1] = max(result[start + 1], prior[N_ROWS * row - n_states + 2])
            elif total > 0.0:
                for i in range(start, start + n_states):
                    result[i] /= total
    return length


@part
def _extrapolate_block(
    families: Families,
    f: int,
    first: FloatArray,
    second: FloatArray,
    third: FloatArray,
    prior: FloatArray,
    length: float,
    result: FloatArray,
) -> tuple[float, float]:
    """Step through the iterates of a block, or measure their differences if the length is zero."""
    tasks, r_square, v_square = families.n_states, 0.0, 0.0
    table = families.offset[f] + TABLES
    for _ in range(tasks[families.offset[f] + N_TABLES]):
        start, width, units = tasks[table], tasks[table + 1], tasks[table + 3]
        for n in range(width * tasks[table + 2]):
            i, column = start + n, n % width
            r = second[i] - first[i]
            v = third[i] - second[i] - r
            if length > 0.0:
                result[i] = first[i] + 2.0 * length * r + length * length * v
                continue
            if column == 0:  # of a line, its height at the parents' means
                for j in range(1, width):
                    slope = second[i + j] - first[i + j]
                    r += prior[units + width + j] * slope
                    v += prior[units + width + j] * (third[i + j] - second[i + j] - slope)
            r_square += (r * prior[units + column]) ** 2
            v_square += (v * prior[units + column]) ** 2
        table += N_TABLE_ENTRIES
    return r_square, v_square


class Climb(NamedTuple):
    """The state of one run of EM between iterations."""

    first: FloatArray  # the last iterates
    second: FloatArray
    third: FloatArray
    flags: LongArray  # [phase, iterations done, converged]
    values: FloatArray  # [objective, longest extrapolation]
    counts: FloatArray


PHASE, N_DONE, CONVERGED = 0, 1, 2
OBJECTIVE, LONGEST = 0, 1


def make_climb(n_values: int, n_counts: int | None = None) -> Climb:
    """Allocate the state of a run; there are more counts than values if there are Gaussians."""
    first, second, third = (np.empty(n_values) for _ in range(3))
    counts = np.empty(n_values if n_counts is None else n_counts)
    climb = Climb(first, second, third, np.zeros(3, np.int64), np.zeros(2), counts)
    climb.values[OBJECTIVE], climb.values[LONGEST] = -np.inf, 4.0
    return climb


@part
def restart(climb: Climb) -> None:
    """Set the state to that before the first iteration."""
    climb.flags[PHASE] = 0
    climb.flags[N_DONE] = 0
    climb.flags[CONVERGED] = 0
    climb.values[OBJECTIVE] = -np.inf
    climb.values[LONGEST] = 4.0


@kernel
def advance(
    climb: Climb,
    families: Families,
    theta: FloatArray,
    log_likelihood: float,
    prior: FloatArray,
    limits: Limits,
    trajectory: FloatArray,
) -> bool:
    """Do all of an EM iteration but its E-step: judge ``theta`` and replace it by the next.

    ``trajectory[n]`` gets the objective (log-likelihood plus log prior) before the n-th update.
    A cycle of the accelerated loop is two EM steps (phases 0 and 1) and an extrapolated point
    (phase 2), which is kept only if its objective is at least that of the second step: the
    trajectory never falls. Returns false when the run is over.
    """
    flags, values = climb.flags, climb.values
    phase, last = flags[PHASE], values[OBJECTIVE]
    objective = log_likelihood + log_prior(families, prior, theta)
    n = flags[N_DONE]
    flags[N_DONE] = n + 1
    goes_on: bool = n + 1 < min(limits.max_iterations, limits.pause)
    is_last = n + 1 >= limits.max_iterations
    if phase == 2 and not objective >= last:  # fall back to the safe point
        copy(climb.third, theta)
        values[LONGEST] = max(1.0, values[LONGEST] / 4.0)
        flags[PHASE] = 0
        trajectory[n] = last
        return goes_on
    trajectory[n] = objective
    values[OBJECTIVE] = objective
    if phase != 2 and objective - last <= limits.least_gain:
        flags[CONVERGED] = 1
        return False
    if phase == 0:
        copy(theta, climb.first)
    elif phase == 1:
        copy(theta, climb.second)
    update(families, climb.counts, prior, theta)
    if not limits.accelerate or is_last or n + 1 < WARM_UP or phase == 2:
        flags[PHASE] = 0
    elif phase == 0:
        flags[PHASE] = 1
    else:
        copy(theta, climb.third)
        longest = values[LONGEST]
        length = extrapolate(
            families, climb.first, climb.second, climb.third, prior, longest, theta
        )
        if length == longest:
            values[LONGEST] = 4.0 * longest
        flags[PHASE] = 2
    return goes_on


@kernel
def leave_unjudged(climb: Climb, theta: FloatArray) -> None:
    """Go back from an extrapolated point that was not judged, if a run stops at one."""
    if climb.flags[PHASE] == 2:
        copy(climb.third, theta)
        climb.flags[PHASE] = 0


@kernel
def climb_pyramid(
    plan: Plan,
    work: Workspace,
    climb: Climb,
    families: Families,
    starts: FloatArray,
    prior: FloatArray,
    limits: Limits,
    resumes: Flag,
    trajectory: FloatArray,
) -> tuple[int, float, bool]:
    """Fit from several starts, the rows of ``starts``, which are changed in place.

    After one iteration each, the better half goes on for two, and so on until one is left, which
    runs to ``limits.max_iterations`` in all. Parameters are judged by the E-step that follows
    their last iteration, which is not wasted: its M-step follows too. ``trajectory`` and ``climb``
    are those of the last level. Returns the best row, the objective of its parameters, and whether
    all went well: the climb stops as soon as a row vanishes, which the caller must look into. Where
    messages were scaled (``work.is_shifted``), the caller must check the result. With a gain of
    minus infinity and no acceleration, objectives are needed only at the end of a level, and a plan
    with a base computes no others. ``resumes`` goes on with a single start where ``climb`` was
    left.
    """
    n_alive, n_done, n_next = starts.shape[0], 0, 1
    alive, objectives, nothing = np.arange(n_alive), np.empty(n_alive), np.empty(0)
    watches = limits.accelerate or limits.least_gain > -np.inf
    while n_alive > 0:
        level = Limits(n_next + 1, -np.inf, False, n_next + 1)
        if n_alive == 1:
            n_next = max(limits.max_iterations - n_done, 1)
            level = Limits(n_next, limits.least_gain, limits.accelerate, limits.pause)
        for i in range(n_alive):
            theta, goes_on = starts[alive[i]], True
            if not resumes:
                restart(climb)
            while goes_on:
                is_judged = watches or (n_alive > 1 and climb.flags[N_DONE] + 1 == n_next + 1)
                value, n_vanished = propagate(
                    plan, work, theta, climb.counts, nothing, 0.0, is_judged
                )
                if n_vanished > 0:
                    return alive[i], value, False
                goes_on = advance(climb, families, theta, value, prior, level, trajectory)
            objectives[i] = climb.values[OBJECTIVE]
        put_best_first(alive, objectives, n_alive)
        n_alive = (n_alive + 1) // 2 if n_alive > 1 else 0
        n_done += n_next + 1
        n_next *= 2
    theta = starts[alive[0]]
    value, n_vanished = propagate(plan, work, theta, nothing, nothing, 0.0, np.bool_(True))
    return alive[0], value + log_prior(families, prior, theta), n_vanished == 0


@part
def is_above(objective: float, other: float) -> bool:
    """Whether an objective is higher by more than rounding; the twin of ``ties.is_higher``."""
    return objective > other + SAME * max(1.0, abs(objective))


@part
def put_best_first(alive: LongArray, objectives: FloatArray, n_alive: int) -> None:
    """Sort starts by decreasing objective; those that are equal but for rounding keep their order.

    So the same one wins on every processor where several arrive at the same place.
    """
    for i in range(1, n_alive):
        for j in range(i, 0, -1):
            if is_above(objectives[j], objectives[j - 1]):
                objectives[j], objectives[j - 1] = objectives[j - 1], objectives[j]
                alive[j], alive[j - 1] = alive[j - 1], alive[j]
