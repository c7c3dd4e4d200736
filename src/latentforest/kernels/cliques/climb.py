"""The loop of EM on a junction tree: one compiled call from Python."""

from __future__ import annotations

import math
from typing import NamedTuple

from latentforest.kernels.addresses import address_of, caller, fetcher, spiller
from latentforest.kernels.cliques.propagation import LOG_SCALE, CliquePlan, ascend, descend
from latentforest.kernels.compilation import kernel, step
from latentforest.kernels.layout import Families
from latentforest.kernels.loop import Climb, Limits, Method, climb
from latentforest.kernels.types import Flag, FloatArray, FloatTable, IntArray


class CliqueContext(NamedTuple):
    """What an E-step on a junction tree works on.

    ``known`` are the counts of families without open members, which no iteration changes.
    """

    ascend: int
    descend: int
    plan: CliquePlan
    buffer: FloatArray
    shifts: IntArray
    weights: FloatArray
    known: FloatArray


class CliqueSteps(NamedTuple):
    """Addresses: the loop, the E-step and its two ways, and the rest of the method."""

    method: Method
    climb: int
    expect: int
    ascend: int
    descend: int


_spill, _fetch = spiller(CliqueContext), fetcher(CliqueContext)
_call_climb, _call_ascend, _call_descend = caller(climb), caller(ascend), caller(descend)


@step
def expect(
    context: int, theta: FloatArray, counts: FloatArray, is_judged: bool
) -> tuple[float, int]:
    """Fill the expected counts; return the log-likelihood and how many root patterns vanished."""
    here = _fetch(context)
    plan, buffer, shifts, known = here.plan, here.buffer, here.shifts, here.known
    for i in range(theta.shape[0]):
        buffer[i] = theta[i]
    _call_ascend(here.ascend, plan, buffer, shifts, False, 0.0)
    value, n_vanished, roots, weights = 0.0, 0, plan.roots, plan.weights
    for r in range(roots.shape[0]):
        if weights[r] > 0.0:
            likelihood = buffer[roots[r]]
            if likelihood <= 0.0:
                n_vanished += 1
            else:
                logarithm = math.log(likelihood) - LOG_SCALE * shifts[roots[r]]
                value += weights[r] * logarithm
    for i in range(known.shape[0]):
        if known[i] > 0.0:
            if theta[i] <= 0.0:
                n_vanished += 1
            else:
                value += known[i] * math.log(theta[i])
    if n_vanished == 0 and counts.shape[0] > 0:
        _call_descend(here.descend, plan, buffer, shifts, here.weights)
        for i in range(counts.shape[0]):
            counts[i] = here.weights[i] + known[i]
    return value, n_vanished


@kernel
def climb_cliques(
    plan: CliquePlan,
    buffer: FloatArray,
    shifts: IntArray,
    weights: FloatArray,
    known: FloatArray,
    steps: CliqueSteps,
    families: Families,
    prior: FloatArray,
    state: Climb,
    starts: FloatTable,
    limits: Limits,
    resumes: Flag,
    trajectory: FloatArray,
) -> tuple[int, float, bool]:
    """Fit from several starts; see ``loop.climb``.

    Where messages were scaled (``shifts[-1]``), the caller must check the result.
    """
    context = _spill(
        CliqueContext(steps.ascend, steps.descend, plan, buffer, shifts, weights, known)
    )
    found: tuple[int, float, bool] = _call_climb(
        steps.climb,
        steps.expect,
        context,
        steps.method,
        families,
        prior,
        state,
        starts,
        limits,
        resumes,
        trajectory,
    )
    return found


def find_steps(method: Method) -> CliqueSteps:
    """Compile, or load, all that a method needs on a junction tree."""
    addresses = map(address_of, (expect, ascend, descend))
    return CliqueSteps(method, address_of(climb), *addresses)
