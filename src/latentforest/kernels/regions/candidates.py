"""The region and the starts of each candidate of a task.

There is a step for each kind of tasks; ``tasks`` calls it by its address.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import part, step
from latentforest.kernels.forest.patterns import join
from latentforest.kernels.regions.star_starts import start_star
from latentforest.kernels.regions.types import (
    EACH_ROW,
    Arms,
    Bases,
    LocalTask,
    RegionShape,
    Values,
)
from latentforest.kernels.types import FloatArray, FloatTable, IntArray, IntTable, LongArray

INSIDE = 0.01  # share of the uniform distribution in a start: no probability may be zero


class Prepared(NamedTuple):
    """A candidate that can be fitted: its region, and parameters in the order of the region."""

    region: RegionShape
    starts: FloatTable


@part
def _draw_mediator(
    task: LocalTask,
    c: int,
    root_card: int,
    pair: LongArray,
    column: int,
    n_patterns: int,
    codes: IntArray,
    own: FloatArray,
) -> RegionShape:
    """Describe a root, a mediator and two arms below it."""
    return RegionShape(
        root_card,
        False,
        task.marks[c],
        pair,
        np.full(1, 2),
        np.arange(2).reshape((1, 2)),
        np.full(1, column),
        np.full(1, n_patterns),
        codes.reshape((1, codes.shape[0])),
        own,
    )


@step
def prepare_mediator(arms: Arms, values: Values, task: LocalTask, bases: Bases, c: int) -> Prepared:
    """A mediator below a hub."""
    pair, n_rows = np.empty(2, np.int64), values.weights.shape[0]
    pair[0], pair[1] = task.arm, task.lo + c
    codes, n_joined, column = _join_arms(arms, values.codes, n_rows, pair[0], pair[1])
    root_card, own = arms.width[task.arm], np.empty(0)
    region = _draw_mediator(task, c, root_card, pair, column, n_joined, codes, own)
    return Prepared(region, _pick_starts(arms, task, region, arms.first[task.hub] - 1, 0))


@step
def prepare_upper_mediator(
    arms: Arms, values: Values, task: LocalTask, bases: Bases, c: int
) -> Prepared:
    """A mediator between a hub and its parent."""
    pair, below = np.empty(2, np.int64), arms.reverse[task.arm]
    pair[0], pair[1], root_card = below, arms.first[task.hub] + c, arms.card[task.arm]
    codes, n_patterns = values.codes[arms.column[below]], arms.n_patterns[below]
    region = _draw_mediator(task, c, root_card, pair, 0, n_patterns, codes, bases.own[c])
    return Prepared(region, _pick_starts(arms, task, region, arms.first[task.hub] - 2, 1))


@step
def prepare_relocation(
    arms: Arms, values: Values, task: LocalTask, bases: Bases, c: int
) -> Prepared:
    """A neighbour below another latent variable."""
    shape, root_card, card = task.region, arms.width[arms.first[c]], arms.card[task.arm]
    region = RegionShape(
        root_card,
        False,
        0,
        np.full(1, task.arm),
        np.zeros(1, np.int64),
        shape.groups,
        shape.columns,
        shape.n_patterns,
        shape.codes,
        shape.own,
    )
    inside = INSIDE if arms.facts[task.arm] < 0 else 0.0
    starts = np.ones((1, root_card * (1 + card)))
    for k in range(root_card * card):
        starts[0, root_card + k] = (1.0 - inside) * bases.tables[c, k] + inside / card
    return Prepared(region, starts)


@step
def prepare_star_without(
    arms: Arms, values: Values, task: LocalTask, bases: Bases, c: int
) -> Prepared:
    """The neighbours of a latent variable below another."""
    return Prepared(task.region, task.starts.copy())


@step
def prepare_star_around(
    arms: Arms, values: Values, task: LocalTask, bases: Bases, c: int
) -> Prepared:
    """All tables around a hub."""
    return Prepared(task.region, start_star(arms, values, task))


@part
def _join_arms(
    arms: Arms, codes: IntTable, n_rows: int, left: int, right: int
) -> tuple[IntArray, int, int]:
    """Number the pairs of patterns of two arms: codes, how many, and the column they make."""
    a, b = arms.column[left], arms.column[right]
    if a == EACH_ROW or b == EACH_ROW:
        return np.empty(n_rows, np.int32), n_rows, EACH_ROW
    joined, first = join(codes[a], arms.n_patterns[left], codes[b], arms.n_patterns[right])
    return joined, first.shape[0], 0


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
