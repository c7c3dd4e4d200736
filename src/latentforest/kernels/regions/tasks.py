"""Local fits around latent variables, many in one compiled call.

A region is a small tree. Its root has a *base*: one vector for each row, the probability of all
that was observed in the frozen part, given each state of the root (times the frozen probability of
that state, where the root's table is not free). Below the root lie arms with free tables, or a
*middle* variable with arms below it. Each region becomes a plan for the general kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.addresses import address_of, caller
from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest import em
from latentforest.kernels.forest.climb import ForestSteps, climb_forest, find_steps
from latentforest.kernels.loop import OBJECTIVE, Climb, Limits
from latentforest.kernels.regions import bases as B
from latentforest.kernels.regions import candidates as C
from latentforest.kernels.regions.plan import make_scratch, plan_region
from latentforest.kernels.regions.star_starts import read_star
from latentforest.kernels.regions.types import (
    MEDIATORS,
    RELOCATIONS,
    STAR_AROUND,
    STAR_WITHOUT,
    UPPER_MEDIATORS,
    Arms,
    LocalTask,
    LocalTasks,
    Values,
)
from latentforest.kernels.types import FloatArray

NO_STEP = 0
_STEPS = {
    MEDIATORS: (B.gather_for_mediators, C.prepare_mediator),
    UPPER_MEDIATORS: (B.gather_for_upper_mediators, C.prepare_upper_mediator),
    RELOCATIONS: (B.gather_for_relocations, C.prepare_relocation),
    STAR_WITHOUT: (B.gather_for_star, C.prepare_star_without),
    STAR_AROUND: (B.gather_for_star, C.prepare_star_around),
}


class LocalSteps(NamedTuple):
    """Addresses of what tasks of one kind are made of."""

    gather: int
    prepare: int
    plan: int
    climb: int
    read: int
    forest: ForestSteps


def find_local_steps(kind: int) -> LocalSteps:
    """Compile, or load, all that tasks of one kind need."""
    gather, prepare = map(address_of, _STEPS[kind])
    read = address_of(read_star) if kind == STAR_AROUND else NO_STEP
    forest = find_steps(em.expect, em.find_method())
    return LocalSteps(
        gather, prepare, address_of(plan_region), address_of(climb_forest), read, forest
    )


_call_gather, _call_prepare = caller(B.gather_for_star), caller(C.prepare_star_around)
_call_plan, _call_climb, _call_read = caller(plan_region), caller(climb_forest), caller(read_star)


@part
def _make_climb(n_values: int, n_counts: int) -> Climb:
    state = Climb(
        np.empty(n_values),
        np.empty(n_values),
        np.empty(n_values),
        np.zeros(3, np.int64),
        np.zeros(2),
        np.empty(n_counts),
    )
    state.values[OBJECTIVE] = -np.inf
    return state


@part
def pick_task(arms: Arms, tasks: LocalTasks, t: int) -> LocalTask:
    """Return one of several tasks; mediators reach from the first mark to the last."""
    common, marks, lo, hi = tasks.common, tasks.marks[t], 0, tasks.marks.shape[1]
    if common.kind == MEDIATORS:
        while marks[lo] == 0:
            lo += 1
        while marks[hi - 1] == 0:
            hi -= 1
    first = arms.first[common.hub]
    return LocalTask(
        common.kind,
        common.hub,
        tasks.arm[t],
        first + lo,
        first + hi,
        marks[lo:hi].copy(),
        tasks.ways[t],
        common.region,
        common.starts,
        common.most,
        common.drafts,
        common.places,
        common.n_starts,
    )


@kernel
def run_tasks(
    arms: Arms,
    values: Values,
    tasks: LocalTasks,
    steps: LocalSteps,
    limits: Limits,
    scores: FloatArray,
    results: FloatArray,
) -> None:
    """Fit all candidates of some tasks, one after another.

    Fills their log-likelihoods and parameters (root, middle, arms; those around a hub as if it were
    the root). A log-likelihood is minus infinity if rows vanish or messages had to be scaled.
    """
    n_done, nothing = 0, np.empty(0)
    for t in range(tasks.arm.shape[0]):
        task = pick_task(arms, tasks, t)
        bases = _call_gather(steps.gather, arms, values, task)
        scratch = make_scratch(arms, values.weights.shape[0], _find_widest(arms, task))
        for c in range(task.marks.shape[0]):
            if task.marks[c] == 0:
                continue
            prepared = _call_prepare(steps.prepare, arms, values, task, bases, c)
            starts = prepared.starts
            base, n_values = bases.base[min(c, bases.base.shape[0] - 1)], starts.shape[1]
            plan, work, families, prior = _call_plan(
                steps.plan, arms, values, prepared.region, base, scratch, n_values
            )
            best, value, is_sound = _call_climb(
                steps.climb,
                plan,
                work,
                nothing,
                steps.forest,
                families,
                prior,
                _make_climb(n_values, prior.shape[0]),
                starts,
                limits,
                False,
                np.empty(limits.max_iterations + 2 * starts.shape[0] + 2),
            )
            scores[n_done] = value + bases.constant[c] if is_sound else -np.inf
            if steps.read != NO_STEP:
                _call_read(steps.read, arms, task, starts, best, results, n_done)
            else:
                for i in range(n_values):
                    results[n_done, i] = starts[best, i]
            n_done += 1


@part
def _find_widest(arms: Arms, task: LocalTask) -> int:
    """Most states of a root of the task's regions."""
    widest = max(task.region.root_card, 1)
    for i in range(arms.width.shape[0]):
        widest = max(widest, arms.width[i])
    return widest
