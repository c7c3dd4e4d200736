"""Hill climbing over networks: the best arc to add, delete or turn around, again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import BoolArray, FloatArray, LongArray
from latentforest.search.dags.constraints import MOST_CELLS, ArcConstraints
from latentforest.search.dags.family_scores import FamilyScores

Ints = Sequence[int] | LongArray


def climb(
    scores: FamilyScores,
    constraints: ArcConstraints,
    start: Sequence[Mask] | None = None,
    check: Callable[[], None] | None = None,
    last_first: bool = False,
) -> list[Mask]:
    """Climb to a local maximum of the score.

    Of equally good steps the first is taken: an arc added or deleted, then one turned around, by
    child and then by parent in the order of the columns, or all that backwards.

    Parameters
    ----------
    scores
        Of families.
    constraints
        On the arcs.
    start
        Parents of each variable; by default the required ones.
    check
        Called before each step; what it raises ends the work.
    last_first
        Whether the last of equally good steps is taken.

    Returns
    -------
    parents
        Of each variable.
    """
    walk = _Climb(scores, constraints, constraints.required if start is None else start)
    while True:
        if check is not None:
            check()
        if not walk.step(last_first):
            return walk.parents


def climb_both_ways(
    scores: FamilyScores, constraints: ArcConstraints, check: Callable[[], None] | None = None
) -> list[Mask]:
    """Climb twice, with ties broken one way and the other, and return the better network.

    Most ties are directions of the first arcs, which decide where a climb can end. The second
    climb finds most of its families counted.
    """
    ends = [climb(scores, constraints, None, check, last_first) for last_first in (False, True)]
    return max(ends, key=lambda parents: sum(map(scores.score, range(len(parents)), parents)))


class _ArcStep(NamedTuple):
    """The arc that a step changes, and what this adds to the score."""

    gain: float
    child: int
    parent: int


class _Climb:
    """A network, and what the change of each arc would add to its score.

    Rows of all matrices are children, columns are parents.
    """

    def __init__(
        self, scores: FamilyScores, constraints: ArcConstraints, start: Sequence[Mask]
    ) -> None:
        n = scores.n_columns
        self._scores, self._constraints = scores, constraints
        self.parents = list(start)
        self._lists = [list_bits(mask) for mask in self.parents]
        self._cards = scores.table.cards.tolist()
        self._is_fixed = mark_bits(constraints.required, n)
        self._is_arc = mark_bits(self.parents, n)
        self._above = self._find_ancestors()
        self._gains = np.array([self._compute_gains(j) for j in range(n)])

    def step(self, last_first: bool) -> bool:
        """Take the best step, if there is one that raises the score."""
        toggle, turn = self._find_toggle(last_first), self._find_turn(last_first)
        if not max(toggle.gain, turn.gain) > 0:
            return False
        is_turn = turn.gain >= toggle.gain if last_first else turn.gain > toggle.gain
        _, child, parent = turn if is_turn else toggle
        self._toggle(child, parent)
        if is_turn:
            self._toggle(parent, child)
        return True

    def _find_toggle(self, last_first: bool) -> _ArcStep:
        """Find the best arc to add or to delete."""
        places = np.flatnonzero((self._gains > 0) & ~self._is_arc.T)
        children, parents = np.divmod(places, len(self._gains))
        for step in _descend(self._gains.ravel()[places], children, parents, last_first):
            if self._is_arc[step.child, step.parent]:
                is_legal = not self._is_fixed[step.child, step.parent]
            else:
                is_legal = not self._above[step.parent] >> step.child & 1
            if is_legal:
                return step
        return _ArcStep(0.0, -1, -1)

    def _find_turn(self, last_first: bool) -> _ArcStep:
        """Find the best arc to turn around: with no other path from its parent to its child."""
        children = [child for child, parents in enumerate(self._lists) for _ in parents]
        parents = [parent for parents in self._lists for parent in parents]
        gains = self._gains[children, parents] + self._gains[parents, children]
        for step in _descend(gains, children, parents, last_first):
            detours = (self._above[j] >> step.parent & 1 for j in self._lists[step.child])
            if not self._is_fixed[step.child, step.parent] and not any(detours):
                return step
        return _ArcStep(0.0, -1, -1)

    def _find_ancestors(self) -> list[Mask]:
        """Find the ancestors of each variable; parents come before their children."""
        above: list[Mask] = [-1] * len(self.parents)
        waiting = list(range(len(above)))
        while waiting:
            child = waiting[-1]
            missing = [j for j in self._lists[child] if above[j] < 0]
            if missing:
                waiting += missing
            else:
                above[waiting.pop()] = self.parents[child] | _unite(above, self._lists[child])
        return above

    def _toggle(self, child: int, parent: int) -> None:
        """Add an arc, or delete it."""
        self.parents[child] ^= 1 << parent
        self._lists[child] = list_bits(self.parents[child])
        self._is_arc[child, parent] ^= True
        if self._is_arc[child, parent]:
            self._put_above(child, self._above[parent] | 1 << parent)
        else:
            self._above = self._find_ancestors()
        self._gains[child] = self._compute_gains(child)

    def _put_above(self, child: int, more: Mask) -> None:
        """Add ancestors to a variable and all below it."""
        self._above = [
            mask | more if j == child or mask >> child & 1 else mask
            for j, mask in enumerate(self._above)
        ]

    def _compute_gains(self, child: int) -> FloatArray:
        """Return what one parent more or less adds to a variable's score."""
        parents = self.parents[child]
        now = self._scores.score(child, parents)
        gains = np.full(self._scores.n_columns, -np.inf)
        if parents:
            gains[self._lists[child]] = self._scores.score_deletions(child, parents) - now
        added = self._list_additions(child)
        if added:
            gains[added] = self._scores.score_additions(child, parents, added) - now
        return gains

    def _list_additions(self, child: int) -> list[int]:
        parents = self.parents[child]
        if parents.bit_count() >= self._constraints.max_parents:
            return []
        most = MOST_CELLS / self._scores.table.count_cells(parents | 1 << child)
        allowed = self._constraints.allowed[child] & ~parents
        return [j for j in list_bits(allowed) if self._cards[j] <= most]


def _descend(
    gains: FloatArray, children: Ints, parents: Ints, last_first: bool
) -> Iterator[_ArcStep]:
    """Go through the steps that raise the score from the best on; equal ones in their order."""
    places = np.flatnonzero(gains > 0)[:: -1 if last_first else 1]
    for place in places[np.argsort(-gains[places], kind="stable")].tolist():
        yield _ArcStep(float(gains[place]), int(children[place]), int(parents[place]))


def _unite(sets: Sequence[Mask], which: Sequence[int]) -> Mask:
    """Unite some sets."""
    union = 0
    for j in which:
        union |= sets[j]
    return union


def mark_bits(masks: Sequence[Mask], n: int) -> BoolArray:
    """Turn masks of n bits into rows of flags."""
    width = (n + 7) // 8
    packed = b"".join(mask.to_bytes(width, "little") for mask in masks)
    bits = np.frombuffer(packed, np.uint8).reshape(len(masks), width)
    return np.unpackbits(bits, axis=1, count=n, bitorder="little").astype(np.bool_)
