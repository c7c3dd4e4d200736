"""The loop on a forest: one compiled call from Python, or from the fit of a region."""

from __future__ import annotations

from typing import Any, NamedTuple

from latentforest.kernels.addresses import address_of, caller, fetcher, spiller
from latentforest.kernels.compilation import kernel
from latentforest.kernels.forest.plan import Plan, Workspace
from latentforest.kernels.forest.propagation import propagate
from latentforest.kernels.layout import Families
from latentforest.kernels.loop import Climb, Limits, Method, climb
from latentforest.kernels.types import Flag, FloatArray, FloatTable


class ForestSteps(NamedTuple):
    """Addresses: the loop, message passing, the E-step and the rest of the method."""

    climb: int
    propagate: int
    expect: int
    method: Method


class ForestContext(NamedTuple):
    """What an E-step on a forest works on.

    ``potentials``, for VBEM only, holds those of the frozen families; the others are filled in.
    """

    propagate: int
    plan: Plan
    work: Workspace
    families: Families
    potentials: FloatArray


_spill, fetch_context = spiller(ForestContext), fetcher(ForestContext)
_call_climb, call_propagate = caller(climb), caller(propagate)


@kernel
def climb_forest(
    plan: Plan,
    work: Workspace,
    potentials: FloatArray,
    steps: ForestSteps,
    families: Families,
    prior: FloatArray,
    state: Climb,
    starts: FloatTable,
    limits: Limits,
    resumes: Flag,
    trajectory: FloatArray,
) -> tuple[int, float, bool]:
    """Fit from several starts; see ``loop.climb``.

    Where messages were scaled (``work.is_shifted``), the caller must check the result. A plan with
    a base computes objectives only where they are needed.
    """
    context = _spill(ForestContext(steps.propagate, plan, work, families, potentials))
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


def find_steps(expect: Any, method: Method) -> ForestSteps:
    """Compile, or load, all that a method needs on a forest."""
    return ForestSteps(address_of(climb), address_of(propagate), address_of(expect), method)
