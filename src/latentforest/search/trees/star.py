"""Local fits of several tables around one latent variable, for SI, SD and ND."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.inference.patterns import Mask
from latentforest.kernels.regions.types import (
    EACH_ROW,
    EMPTY,
    STAR_AROUND,
    STAR_WITHOUT,
    LocalTask,
    LocalTasks,
    RegionShape,
)
from latentforest.kernels.types import FloatArray, IntArray

NO_ARM = -1
KEY_BYTES = 128  # for each entry of a key
NO_WAYS = np.empty((1, 0), np.int64)


def bundle_around(
    messages: Messages, hub: str, card: int, noise: FloatArray, n_random: int
) -> LocalTasks:
    """Return the task to fit all tables around a hub with another number of states.

    All of them are free. The region is rooted at the latent neighbour with the most patterns behind
    it, if there is one: its beliefs are frozen, and the other arms have the fewest patterns
    together. For ``noise`` see `star_starts.start_star`.
    """
    arms, number = messages.arms, messages.number[hub]
    names, first = messages.neighbours(hub), int(arms.first[number])
    latents = [i for i, z in enumerate(names) if z in messages.number]
    pivot = max(latents, key=lambda i: arms.n_patterns[first + i], default=NO_ARM)
    others = [i for i in range(len(names)) if i != pivot]
    region = _group(
        messages, [names[i] for i in others], [first + i for i in others], bool(latents)
    )
    root_card = messages.card(names[pivot]) if latents else card
    task = EMPTY._replace(
        kind=STAR_AROUND,
        hub=number,
        region=region._replace(
            root_card=root_card, is_prior_free=True, middle_card=card if latents else 0
        ),
        drafts=noise,
        n_starts=n_random,
    )
    return _bundle(task, first + pivot if latents else NO_ARM, card)


def bundle_moved(messages: Messages, node: str, into: str, starts: FloatArray) -> LocalTasks:
    """Return the task to fit all neighbours of a latent variable when they move to another."""
    moved = [z for z in messages.neighbours(node) if z != into]
    region = _group(messages, moved, [messages.arm(node, z) for z in moved], True)
    region = region._replace(root_card=messages.network.structure.shape(into)[-1])
    hub, arm = messages.number[into], messages.arm(into, node)
    return _bundle(EMPTY._replace(kind=STAR_WITHOUT, hub=hub, region=region, starts=starts), arm, 1)


def _bundle(task: LocalTask, arm: int, mark: int) -> LocalTasks:
    return LocalTasks(np.array([arm]), np.array([[mark]]), NO_WAYS, task)


class _Groups:
    """Product nodes above some arms; members are numbers, the arms first."""

    def __init__(self, messages: Messages, n_arms: int) -> None:
        self.store, self.n_arms = messages.data.whole, n_arms
        self.pairs: list[tuple[int, int]] = []
        self.columns: list[int] = []
        self.counts: list[int] = []
        self.codes: list[IntArray] = []

    def pair(self, left: int, right: int, n_patterns: int = 0) -> int:
        """Multiply two members, row by row."""
        self.pairs.append((left, right))
        self.columns.append(EACH_ROW)
        self.counts.append(n_patterns)
        return self.n_arms + len(self.pairs) - 1

    def use_patterns(self, mask: Mask, parts: Sequence[Mask] = ()) -> None:
        """Let the last group be one for each pattern of some columns."""
        found = self.store.column(mask, parts)
        self.columns[-1], self.counts[-1] = len(self.codes), found.n_patterns
        self.codes.append(found.codes)

    def region(self, arms: Sequence[int], tops: Sequence[int]) -> RegionShape:
        """Lay the groups out."""
        nothing = np.empty((0, self.store.n_rows), np.int32)
        return RegionShape(
            root_card=0,
            is_prior_free=False,
            middle_card=0,
            arms=np.array(arms, np.int64),
            tops=np.array(tops, np.int64),
            groups=np.array(self.pairs, np.int64).reshape(-1, 2),
            columns=np.array(self.columns, np.int64),
            n_patterns=np.array(self.counts, np.int64),
            codes=np.stack(self.codes) if self.codes else nothing,
            own=np.empty(0),
        )


def _group(
    messages: Messages, names: Sequence[str], arms: Sequence[int], has_base: bool
) -> RegionShape:
    """Put product nodes above the arms, down to one if that has to meet a base.

    They depend on the columns behind each arm and on its kind only, so that they are found once for
    a table.
    """
    column, facts, known = messages.arms.column, messages.arms.facts, messages.data.regions
    key = [int(has_base)]
    for name, arm in zip(names, arms, strict=True):
        is_by_row, is_number = column[arm] == EACH_ROW, facts[arm] >= 0
        key += (2 * is_by_row + is_number, messages.masks[name])
    region = known.find(tuple(key))
    if region is None:
        region = _find_groups(messages, names, arms, has_base)
        known.keep(tuple(key), region, region.codes.nbytes + KEY_BYTES * len(key))
    return region._replace(arms=np.array(arms, np.int64))


def _find_groups(
    messages: Messages, names: Sequence[str], arms: Sequence[int], has_base: bool
) -> RegionShape:
    """Find the product nodes above some arms.

    Continuous leaves come together first: these groups will be one node, of which only the last
    needs patterns.
    """
    groups, facts = _Groups(messages, len(arms)), messages.arms
    numbers = [i for i, arm in enumerate(arms) if facts.facts[arm] >= 0]
    by_row = [i for i, arm in enumerate(arms) if facts.column[arm] == EACH_ROW]
    member = {
        messages.masks[name]: i
        for i, name in enumerate(names)
        if i not in by_row and i not in numbers
    }
    if numbers:
        bundle, last = _join_masks(messages, [names[i] for i in numbers]), numbers[0]
        for i in numbers[1:]:
            last = groups.pair(last, i)
        if len(numbers) > 1:
            groups.use_patterns(bundle)
        member[bundle] = last

    def merge(left: Mask, right: Mask) -> None:
        member[left | right] = groups.pair(member[left], member[right])
        groups.use_patterns(left | right, [left, right])

    tops = list(member)
    if len(tops) > 2:
        grouping = messages.data.group(tuple(tops))
        for pair in grouping.merges:
            merge(*pair)
        tops = list(grouping.tops)
    while has_base and len(tops) > 1:
        merge(tops[0], tops[1])
        tops[:2] = [tops[0] | tops[1]]
    left = [member[mask] for mask in tops]
    for i in by_row:
        left.append(groups.pair(left.pop(), i, messages.data.n_rows) if has_base and left else i)
    return groups.region(arms, left)


def _join_masks(messages: Messages, names: Sequence[str]) -> Mask:
    """The set of some columns."""
    mask = 0
    for name in names:
        mask |= messages.masks[name]
    return mask
