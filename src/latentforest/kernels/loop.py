"""The loop of EM and VBEM: judging, acceleration and the pyramid of starts.

It knows neither models nor engines. An iteration is made of *steps*, which are called by their
addresses: the E-step, which finds what it works on in a context of its own, and what a method (EM,
VBEM) does with the counts. ``climb`` runs all starts and iterations without the interpreter lock.
Whoever has an E-step that is not compiled as one calls ``advance`` with its result.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentforest.kernels.addresses import caller
from latentforest.kernels.compilation import kernel, part, step
from latentforest.kernels.layout import Families
from latentforest.kernels.types import FloatArray, FloatTable, Int, LongArray
from latentforest.ties import SAME

WARM_UP = 6  # plain iterations before acceleration starts
LOWEST = 0.01  # an extrapolated number is at least this share of the one it starts from

REST, UPDATE, LEAP = 0, 1, 2  # what follows judgement: nothing, an update, one and a leap


class Method(NamedTuple):
    """Addresses of what EM or VBEM does between E-steps. A vector holds what it fits."""

    penalize: int
    update: int
    measure: int
    project: int


def _penalize(families: Families, prior: FloatArray, vector: FloatArray) -> float:  # type: ignore[empty-body]
    """Return what the objective has beside the value of the E-step."""


def _update(families: Families, prior: FloatArray, counts: FloatArray, vector: FloatArray) -> None:
    """Replace the vector by the one that the counts of its E-step lead to."""


def _measure(  # type: ignore[empty-body]
    families: Families, prior: FloatArray, first: FloatArray, second: FloatArray, third: FloatArray
) -> tuple[float, float]:
    """Sum the squares of the first and of the second differences of three iterates."""


def _project(families: Families, prior: FloatArray, third: FloatArray, vector: FloatArray) -> None:
    """Bring a vector that was extrapolated from the third iterate back where vectors may be."""


def _expect(  # type: ignore[empty-body]
    context: int, vector: FloatArray, counts: FloatArray, is_judged: bool
) -> tuple[float, int]:
    """Fill the counts, unless they are empty; return a value and how many rows vanished.

    If it is not to be judged, the value is not needed.
    """


_call_penalize, _call_update = caller(_penalize), caller(_update)
_call_measure, _call_project = caller(_measure), caller(_project)
_call_expect = caller(_expect)


class Limits(NamedTuple):
    """When to stop: iterations, smallest gain of the objective, whether to accelerate."""

    max_iterations: int
    least_gain: float
    accelerate: bool
    pause: int  # iterations after which to return, to be resumed


class Climb(NamedTuple):
    """The state of one run between iterations."""

    first: FloatArray  # the last iterates
    second: FloatArray
    third: FloatArray
    flags: LongArray  # [phase, iterations done, converged]
    values: FloatArray  # [objective, longest extrapolation]
    counts: FloatArray


class Run(NamedTuple):
    """What ``climb`` is told of a fit, whatever the engine."""

    families: Families
    prior: FloatArray
    state: Climb
    starts: FloatTable
    limits: Limits
    resumes: bool
    trajectory: FloatArray


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
def restart(state: Climb) -> None:
    """Set the state to that before the first iteration."""
    state.flags[PHASE] = 0
    state.flags[N_DONE] = 0
    state.flags[CONVERGED] = 0
    state.values[OBJECTIVE] = -np.inf
    state.values[LONGEST] = 4.0


@part
def copy(source: FloatArray, target: FloatArray) -> None:
    """Copy one vector over another."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel
def judge(
    state: Climb, vector: FloatArray, objective: float, limits: Limits, trajectory: FloatArray
) -> int:
    """Judge a vector by its objective and tell what follows; it is kept as one of the iterates.

    ``trajectory[n]`` gets the objective before the n-th update. A cycle of the accelerated loop is
    two plain steps (phases 0 and 1) and an extrapolated point (phase 2), which is kept only if its
    objective is at least that of the second step: the trajectory never falls.
    """
    flags, values = state.flags, state.values
    phase, last, n = flags[PHASE], values[OBJECTIVE], flags[N_DONE]
    flags[N_DONE] = n + 1
    is_last = n + 1 >= limits.max_iterations
    if phase == 2 and not objective >= last:  # fall back to the safe point
        copy(state.third, vector)
        values[LONGEST] = max(1.0, values[LONGEST] / 4.0)
        flags[PHASE] = 0
        trajectory[n] = last
        return REST
    trajectory[n] = objective
    values[OBJECTIVE] = objective
    if phase != 2 and objective - last <= limits.least_gain:
        flags[CONVERGED] = 1
        return REST
    if phase == 0:
        copy(vector, state.first)
    elif phase == 1:
        copy(vector, state.second)
    if not limits.accelerate or is_last or n + 1 < WARM_UP or phase == 2:
        flags[PHASE] = 0
        return UPDATE
    flags[PHASE] = phase + 1
    return UPDATE if phase == 0 else LEAP


@kernel
def goes_on(state: Climb, limits: Limits) -> bool:
    """Whether the run has neither converged nor reached its limits."""
    n_done = state.flags[N_DONE]
    is_within: bool = n_done < min(limits.max_iterations, limits.pause)
    return is_within and state.flags[CONVERGED] == 0


@kernel
def advance(
    method: Method,
    families: Families,
    prior: FloatArray,
    state: Climb,
    vector: FloatArray,
    value: float,
    limits: Limits,
    trajectory: FloatArray,
) -> bool:
    """Do all of an iteration but its E-step: judge the vector and replace it by the next.

    Returns false when the run is over.
    """
    objective = value + _call_penalize(method.penalize, families, prior, vector)
    action = judge(state, vector, objective, limits, trajectory)
    if action != REST:
        _call_update(method.update, families, prior, state.counts, vector)
    if action == LEAP:
        extrapolate(method, families, prior, state, vector)
    return goes_on(state, limits)


@kernel
def extrapolate(
    method: Method, families: Families, prior: FloatArray, state: Climb, vector: FloatArray
) -> float:
    """Leap through the vector and the two iterates before it (SQUAREM, Varadhan and Roland 2008).

    Returns the length of the step; one is the plain iterate.
    """
    first, second, third, longest = state.first, state.second, state.third, state.values[LONGEST]
    copy(vector, third)
    r_square, v_square = _call_measure(method.measure, families, prior, first, second, third)
    length: float = math.sqrt(r_square / v_square) if v_square > 0.0 else 1.0
    length = min(max(length, 1.0), longest)
    for i in range(vector.shape[0]):
        r = second[i] - first[i]
        v = third[i] - second[i] - r
        vector[i] = first[i] + 2.0 * length * r + length * length * v
    _call_project(method.project, families, prior, third, vector)
    if length == longest:
        state.values[LONGEST] = 4.0 * longest
    return length


@kernel
def leave_unjudged(state: Climb, vector: FloatArray) -> None:
    """Go back from an extrapolated point that was not judged, if a run stops at one."""
    if state.flags[PHASE] == 2:
        copy(state.third, vector)
        state.flags[PHASE] = 0


@step
def climb(
    expect: int,
    context: int,
    method: Method,
    families: Families,
    prior: FloatArray,
    state: Climb,
    starts: FloatTable,
    limits: Limits,
    resumes: bool,
    trajectory: FloatArray,
) -> tuple[int, float, bool]:
    """Fit from several starts, the rows of ``starts``, which are changed in place.

    After one iteration each, the better half goes on for two, and so on until one is left, which
    runs to ``limits.max_iterations`` in all. Vectors are judged by the E-step that follows their
    last iteration, which is not wasted: its update follows too. ``trajectory`` and ``state`` are
    those of the last level. Returns the best row, the objective of its vector, and whether all went
    well: the climb stops as soon as a row vanishes, which the caller must look into. With a gain of
    minus infinity and no acceleration, objectives are needed only at the end of a level.
    ``resumes`` goes on with a single start where ``state`` was left.
    """
    n_alive, n_done, n_next = starts.shape[0], 0, 1
    alive, objectives = np.arange(n_alive), np.empty(n_alive)
    watches = limits.accelerate or limits.least_gain > -np.inf
    while n_alive > 0:
        level = Limits(n_next + 1, -np.inf, False, n_next + 1)
        if n_alive == 1:
            n_next = max(limits.max_iterations - n_done, 1)
            level = Limits(n_next, limits.least_gain, limits.accelerate, limits.pause)
        for i in range(n_alive):
            vector, is_on = starts[alive[i]], True
            if not resumes:
                restart(state)
            while is_on:
                is_judged = watches or (n_alive > 1 and state.flags[N_DONE] + 1 == n_next + 1)
                value, n_vanished = _call_expect(expect, context, vector, state.counts, is_judged)
                if n_vanished > 0:
                    return alive[i], value, False
                is_on = advance(method, families, prior, state, vector, value, level, trajectory)
            objectives[i] = state.values[OBJECTIVE]
        put_best_first(alive, objectives, n_alive)
        n_alive = (n_alive + 1) // 2 if n_alive > 1 else 0
        n_done += n_next + 1
        n_next *= 2
    vector = starts[alive[0]]
    value, n_vanished = _call_expect(expect, context, vector, state.counts[:0], True)
    objective = value + _call_penalize(method.penalize, families, prior, vector)
    return alive[0], objective, n_vanished == 0


@part
def is_above(objective: float, other: float) -> bool:
    """Whether an objective is higher by more than rounding; the twin of ``ties.is_higher``."""
    return objective > other + SAME * max(1.0, abs(objective))


@part
def put_best_first(alive: LongArray, objectives: FloatArray, n_alive: Int) -> None:
    """Sort starts by decreasing objective; those that are equal but for rounding keep their order.

    So the same one wins on every processor where several arrive at the same place.
    """
    for i in range(1, n_alive):
        for j in range(i, 0, -1):
            if is_above(objectives[j], objectives[j - 1]):
                objectives[j], objectives[j - 1] = objectives[j - 1], objectives[j]
                alive[j], alive[j - 1] = alive[j - 1], alive[j]
