"""Local fits of several tables around one latent variable, for SI, SD and ND."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.inference.patterns import Mask
from latentforest.kernels.arms import EACH_ROW, LEAF_ARM
from latentforest.kernels.bases import EMPTY, STAR_AROUND, STAR_WITHOUT, Region, Task
from latentforest.kernels.em import Limits
from latentforest.kernels.regions import run_task
from latentforest.kernels.types import FloatArray, IntArray

NO_ARM = -1


def choose_pivot(messages: Messages, hub: str) -> str | None:
    """Return the latent neighbour with the most patterns behind it, if there is one.

    All tables around the hub are free. Rooted at this neighbour, whose beliefs are frozen, the
    other arms have the fewest patterns together.
    """
    structure = messages.network.structure
    latents = [z for z in messages.neighbours(hub) if z in structure.latents]
    if not latents:
        return None
    return max(latents, key=lambda z: messages.arms.n_patterns[messages.arm(hub, z)])


def fit_around(
    messages: Messages,
    hub: str,
    pivot: str | None,
    card: int,
    starts: FloatArray,
    limits: Limits,
) -> tuple[float, FloatArray]:
    """Fit all tables around a hub with another number of states.

    Parameters lie in the order: root, hub (if the pivot is the root), other neighbours.
    """
    others = [z for z in messages.neighbours(hub) if z != pivot]
    root_card = card if pivot is None else messages.network.structure.shape(pivot)[-1]
    middle_card = 0 if pivot is None else card
    arms = [messages.arm(hub, z) for z in others]
    region = _group(messages, others, arms, pivot is not None)
    region = region._replace(root_card=root_card, is_prior_free=True, middle_card=middle_card)
    arm = NO_ARM if pivot is None else messages.arm(hub, pivot)
    task = EMPTY._replace(kind=STAR_AROUND, hub=messages.number[hub], arm=arm, region=region)
    return _run(messages, task, starts, limits)


def fit_moved(
    messages: Messages, node: str, into: str, starts: FloatArray, limits: Limits
) -> tuple[float, FloatArray]:
    """Fit the tables of all neighbours of a latent variable when they are moved to another."""
    moved = [z for z in messages.neighbours(node) if z != into]
    region = _group(messages, moved, [messages.arm(node, z) for z in moved], True)
    region = region._replace(root_card=messages.network.structure.shape(into)[-1])
    hub, arm = messages.number[into], messages.arm(into, node)
    task = EMPTY._replace(kind=STAR_WITHOUT, hub=hub, arm=arm, region=region)
    return _run(messages, task, starts, limits)


def _run(
    messages: Messages, task: Task, starts: FloatArray, limits: Limits
) -> tuple[float, FloatArray]:
    scores, results = np.empty(1), np.empty((1, starts.shape[1]))
    task = task._replace(starts=np.ascontiguousarray(starts))
    run_task(messages.arms, messages.values, task, limits, scores, results)
    return float(scores[0]), results[0]


def _group(messages: Messages, names: Sequence[str], arms: Sequence[int], has_base: bool) -> Region:
    """Put product nodes above the arms, down to one if that has to meet a base.

    Continuous leaves come together first: these groups will be one node, of which only the last
    needs patterns.
    """
    data = messages.data
    numbers = [i for i, arm in enumerate(arms) if messages.arms.belief[arm] < LEAF_ARM]
    with_patterns = [
        i
        for i, arm in enumerate(arms)
        if messages.arms.column[arm] != EACH_ROW and i not in numbers
    ]
    masks = [messages.masks[names[i]] for i in with_patterns]
    member: dict[Mask, int] = dict(zip(masks, with_patterns, strict=True))
    pairs: list[tuple[int, int]] = []
    columns: list[int] = []
    counts: list[int] = []
    codes: list[IntArray] = []

    def merge(left: Mask, right: Mask) -> None:
        found = data.whole.column(left | right, [left, right])
        pairs.append((member[left], member[right]))
        columns.append(len(codes))
        counts.append(found.n_patterns)
        codes.append(found.codes)
        member[left | right] = len(arms) + len(pairs) - 1

    if numbers:
        masks.append(_bundle(messages, [names[i] for i in numbers]))
        member[masks[-1]] = numbers[0]
        for i in numbers[1:]:
            pairs.append((member[masks[-1]], i))
            columns.append(EACH_ROW)
            counts.append(0)
            member[masks[-1]] = len(arms) + len(pairs) - 1
        if len(numbers) > 1:
            found = data.whole.column(masks[-1])
            columns[-1], counts[-1] = len(codes), found.n_patterns
            codes.append(found.codes)
    left = list(masks)
    if len(masks) > 2:
        grouping = data.group(tuple(masks))
        for pair in grouping.merges:
            merge(*pair)
        left = list(grouping.tops)
    while has_base and len(left) > 1:
        merge(left[0], left[1])
        left[:2] = [left[0] | left[1]]
    tops = [member[mask] for mask in left]
    for i, arm in enumerate(arms):
        if messages.arms.column[arm] == EACH_ROW:
            if has_base and tops:
                pairs.append((tops.pop(), i))
                columns.append(EACH_ROW)
                counts.append(data.n_rows)
                tops.append(len(arms) + len(pairs) - 1)
            else:
                tops.append(i)
    return Region(
        root_card=0,
        is_prior_free=False,
        middle_card=0,
        arms=np.array(arms, np.int64),
        tops=np.array(tops, np.int64),
        groups=np.array(pairs, np.int64).reshape(-1, 2),
        columns=np.array(columns, np.int64),
        n_patterns=np.array(counts, np.int64),
        codes=np.stack(codes) if codes else np.empty((0, data.n_rows), np.int32),
        own=np.empty(0),
    )


def _bundle(messages: Messages, names: Sequence[str]) -> Mask:
    """The set of some columns."""
    mask = 0
    for name in names:
        mask |= messages.masks[name]
    return mask
