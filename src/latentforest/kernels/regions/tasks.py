"""Local fits around latent variables, many in one compiled call.

A region is a small tree. Its root has a *base*: one vector for each row, the probability of all
that was observed in the frozen part, given each state of the root (times the frozen probability of
that state, where the root's table is not free). Below the root lie arms with free tables, or a
*middle* variable with arms below it. Each region becomes a plan for the general kernels.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest.em import OBJECTIVE, Climb, Limits, climb_pyramid
from latentforest.kernels.forest.patterns import join
from latentforest.kernels.regions.arms import EACH_ROW, LEAF_ARM, Arms, Values
from latentforest.kernels.regions.bases import (
    MEDIATORS,
    RELOCATIONS,
    STAR_AROUND,
    UPPER_MEDIATORS,
    Bases,
    LocalTask,
    LocalTasks,
    RegionShape,
    gather_bases,
    pick_task,
)
from latentforest.kernels.regions.plan import make_scratch, plan_region
from latentforest.kernels.regions.star_starts import read_star, start_star
from latentforest.kernels.types import FloatArray, IntArray

INSIDE = 0.01  # share of the uniform distribution in a start: no probability may be zero


@part
def _make_climb(n_values: int, n_counts: int) -> Climb:
    climb = Climb(
        np.empty(n_values),
        np.empty(n_values),
        np.empty(n_values),
        np.zeros(3, np.int64),
        np.zeros(2),
        np.empty(n_counts),
    )
    climb.values[OBJECTIVE] = -np.inf
    return climb


@part
def _join_arms(
    arms: Arms, codes: IntArray, n_rows: int, left: int, right: int
) -> tuple[IntArray, int, int]:
    """Number the pairs of patterns of two arms: codes, how many, and the column they make."""
    a, b = arms.column[left], arms.column[right]
    if a == EACH_ROW or b == EACH_ROW:
        return np.empty(n_rows, np.int32), n_rows, EACH_ROW
    joined, first = join(codes[a], arms.n_patterns[left], codes[b], arms.n_patterns[right])
    return joined, first.shape[0], 0


@kernel
def run_tasks(
    arms: Arms,
    values: Values,
    tasks: LocalTasks,
    limits: Limits,
    scores: FloatArray,
    results: FloatArray,
) -> None:
    """Fit all candidates of some tasks, one after another.

    Fills their log-likelihoods and parameters (root, middle, arms; those around a hub as if it were
    the root). A log-likelihood is minus infinity if rows vanish or messages had to be scaled.
    """
    n_done = 0
    for t in range(tasks.arm.shape[0]):
        task = pick_task(arms, tasks, t)
        bases = gather_bases(arms, values, task)
        scratch = make_scratch(arms, values.weights.shape[0], _find_widest(arms, task))
        for c in range(task.marks.shape[0]):
            if task.marks[c] == 0:
                continue
            region = _make_region(arms, values, task, bases, c)
            starts = _make_starts(arms, values, task, region, bases, c)
            base, n_values = bases.base[min(c, bases.base.shape[0] - 1)], starts.shape[1]
            plan, work, families, prior = plan_region(arms, values, region, base, scratch, n_values)
            best, value, is_sound = climb_pyramid(
                plan,
                work,
                _make_climb(n_values, prior.shape[0]),
                families,
                starts,
                prior,
                limits,
                np.bool_(False),
                np.empty(limits.max_iterations + 2 * starts.shape[0] + 2),
            )
            scores[n_done] = value + bases.constant[c] if is_sound else -np.inf
            if task.kind == STAR_AROUND:
                lo, hi = arms.first[task.hub], arms.first[task.hub + 1]
                read_star(arms.card, lo, hi, task.arm, task.marks[0], starts, best, results, n_done)
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


@part
def _make_region(arms: Arms, values: Values, task: LocalTask, bases: Bases, c: int) -> RegionShape:
    """Describe the region of one candidate."""
    n_rows, region = values.weights.shape[0], task.region
    if task.kind == MEDIATORS or task.kind == UPPER_MEDIATORS:
        pair, column, n_patterns = (
            np.empty(2, np.int64),
            np.zeros(1, np.int64),
            np.empty(1, np.int64),
        )
        top, group = np.full(1, 2), np.arange(2).reshape((1, 2))
        if task.kind == MEDIATORS:
            pair[0], pair[1], root_card = task.arm, task.lo + c, arms.width[task.arm]
            codes, n_joined, column[0] = _join_arms(arms, values.codes, n_rows, pair[0], pair[1])
            n_patterns[0], own = n_joined, np.empty(0)
        else:
            below, root_card = arms.reverse[task.arm], arms.card[task.arm]
            pair[0], pair[1] = below, arms.first[task.hub] + c
            codes, n_patterns[0] = values.codes[arms.column[below]], arms.n_patterns[below]
            own = bases.own[c]
        codes = codes.reshape((1, n_rows))
        region = RegionShape(
            root_card, False, task.marks[c], pair, top, group, column, n_patterns, codes, own
        )
    elif task.kind == RELOCATIONS:
        one = np.full(1, task.arm)
        root_card = arms.width[arms.first[c]]
        region = RegionShape(
            root_card,
            False,
            0,
            one,
            np.zeros(1, np.int64),
            region.groups,
            region.columns,
            region.n_patterns,
            region.codes,
            region.own,
        )
    return region


@part
def _make_starts(
    arms: Arms, values: Values, task: LocalTask, region: RegionShape, bases: Bases, c: int
) -> FloatArray:
    """Put the starts of one candidate together."""
    if task.kind == STAR_AROUND:
        return start_star(arms, values, task)
    if task.kind == MEDIATORS:
        return _pick_starts(arms, task, region, arms.first[task.hub] - 1, 0)
    if task.kind == UPPER_MEDIATORS:
        return _pick_starts(arms, task, region, arms.first[task.hub] - 2, 1)
    if task.kind == RELOCATIONS:
        root_card, card = region.root_card, arms.card[task.arm]
        inside = INSIDE if arms.belief[task.arm] >= LEAF_ARM else 0.0
        starts = np.ones((1, root_card * (1 + card)))
        for k in range(root_card * card):
            starts[0, root_card + k] = (1.0 - inside) * bases.tables[c, k] + inside / card
        return starts
    return task.starts.copy()


@part
def _pick_starts(
    arms: Arms, task: LocalTask, region: RegionShape, before: int, n_special: int
) -> FloatArray:
    """Starts of a mediator: of its own table, of the hub below it, of neighbours.

    ``places[0]`` is where those of its own table begin, ``places[i]`` those of a hub below it, and
    ``places[a - before]`` those of arm ``a``. Rows of tables that lose states are normalised again.
    """
    drafts, places, most = task.drafts, task.places, task.most
    root_card, card, n_arms = region.root_card, region.middle_card, region.arms.shape[0]
    n_values = root_card + root_card * card
    for i in range(n_arms):
        n_values += card * arms.card[region.arms[i]]
    starts = np.ones((task.n_starts, n_values))
    for s in range(task.n_starts):
        taken = root_card
        source = places[0] + s * root_card * most
        for y in range(root_card):
            total = 0.0
            for z in range(card):
                total += drafts[source + y * most + z]
            for z in range(card):
                starts[s, taken] = drafts[source + y * most + z] / total
                taken += 1
        for i in range(n_arms):
            a = region.arms[i]
            place = places[1 + i] if i < n_special else places[a - before]
            source = place + s * most * arms.card[a]
            for k in range(card * arms.card[a]):
                starts[s, taken] = drafts[source + k]
                taken += 1
    return starts
