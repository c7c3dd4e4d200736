"""A network's arcs while a search changes them one by one, and which changes are legal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import BoolArray, LongArray
from latentforest.search.dags.constraints import union


class Dag:
    """The parents of each variable, and its ancestors.

    Parameters
    ----------
    parents
        Of each variable, as bit masks.
    """

    def __init__(self, parents: Sequence[Mask]) -> None:
        self.parents = list(parents)
        self.lists = [list_bits(mask) for mask in self.parents]
        self.above = self._find_ancestors()

    def can_add(self, child: int, parent: int) -> bool:
        """Whether a new arc makes no cycle."""
        return not self.above[parent] >> child & 1

    def can_turn(self, child: int, parent: int) -> bool:
        """Whether an arc can be turned around: no other path leads from its parent to its child."""
        return not any(self.above[j] >> parent & 1 for j in self.lists[child])

    def toggle(self, child: int, parent: int) -> bool:
        """Add an arc, or delete it; returns whether it was added."""
        self.parents[child] ^= 1 << parent
        self.lists[child] = list_bits(self.parents[child])
        is_added = bool(self.parents[child] >> parent & 1)
        if is_added:
            self._put_above(child, self.above[parent] | 1 << parent)
        else:
            self.above = self._find_ancestors()
        return is_added

    def _find_ancestors(self) -> list[Mask]:
        """Find the ancestors of each variable; parents come before their children."""
        above: list[Mask] = [-1] * len(self.parents)
        waiting = list(range(len(above)))
        while waiting:
            child = waiting[-1]
            missing = [j for j in self.lists[child] if above[j] < 0]
            if missing:
                waiting += missing
            else:
                above[waiting.pop()] = self.parents[child] | union(
                    above[j] for j in self.lists[child]
                )
        return above

    def _put_above(self, child: int, more: Mask) -> None:
        """Add ancestors to a variable and all below it."""
        self.above = [
            mask | more if j == child or mask >> child & 1 else mask
            for j, mask in enumerate(self.above)
        ]


def sort_topologically(parents: Sequence[Mask]) -> LongArray:
    """Order variables so that parents come before their children; otherwise by number."""
    left, order = (1 << len(parents)) - 1, list[int]()
    while left:
        free = [j for j in list_bits(left) if not parents[j] & left]
        order += free
        left &= ~union(1 << j for j in free)
    return np.array(order, np.int64)


def name_parents(
    names: Sequence[str], parents: Sequence[Mask], order: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Give each column the names of its parents, both in the order of the data's columns."""
    named = {
        name: {names[j] for j in list_bits(mask)} for name, mask in zip(names, parents, strict=True)
    }
    return {name: tuple(each for each in order if each in named[name]) for name in order}


def mark_bits(masks: Sequence[Mask], n: int) -> BoolArray:
    """Turn masks of n bits into rows of flags."""
    width = (n + 7) // 8
    packed = b"".join(mask.to_bytes(width, "little") for mask in masks)
    bits = np.frombuffer(packed, np.uint8).reshape(len(masks), width)
    return np.unpackbits(bits, axis=1, count=n, bitorder="little").astype(np.bool_)
