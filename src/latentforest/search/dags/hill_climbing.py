"""Hill climbing over networks: the best arc to add, delete or turn around, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.search.dags.constraints import MOST_CELLS, ArcConstraints
from latentforest.search.dags.family_scores import FamilyScores


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
        self._gains = np.array([self._compute_gains(j) for j in range(n)])

    def step(self, last_first: bool) -> bool:
        """Take the best step, if there is one that raises the score."""
        gains = np.stack(self._judge())
        flat = gains.ravel()
        place = flat.size - 1 - flat[::-1].argmax() if last_first else flat.argmax()
        turned, child, parent = np.unravel_index(int(place), gains.shape)
        if not gains[turned, child, parent] > 0:
            return False
        self._toggle(int(child), int(parent))
        if turned:
            self._toggle(int(parent), int(child))
        return True

    def _judge(self) -> tuple[FloatArray, FloatArray]:
        """Return what adding or deleting, and what turning each arc around, adds to the score."""
        above = self._find_ancestors()
        detours = [_unite(above, parents) for parents in self._lists]
        is_arc, gains, n = self._is_arc, self._gains, len(above)
        may_toggle = np.where(is_arc, ~self._is_fixed, ~mark_bits(above, n).T)
        # An arc can be turned around if there is no other path from its parent to its child.
        may_turn = is_arc & ~self._is_fixed & ~mark_bits(detours, n)
        return (
            np.where(may_toggle, gains, -np.inf),
            np.where(may_turn, gains + gains.T, -np.inf),
        )

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
        self._gains[child] = self._compute_gains(child)

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
