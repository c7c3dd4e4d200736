"""Hill climbing over networks: arcs are added, deleted or turned around while the score rises.

Tabu search takes the best step that leads to none of the last structures, also downward.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from latentforest.inference.patterns import Mask
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.search.dags.constraints import ArcConstraints
from latentforest.search.dags.dag import Dag, mark_bits
from latentforest.search.dags.family_scores import ScoredFamilies
from latentforest.search.dags.watch import NOBODY, Watch

Ints = Sequence[int] | LongArray


def climb(
    families: ScoredFamilies,
    constraints: ArcConstraints,
    start: Sequence[Mask] | None = None,
    watch: Watch = NOBODY,
    last_first: bool = False,
) -> list[Mask]:
    """Climb to a local maximum of the score.

    Of equally good steps the first is taken: an arc added or deleted, then one turned around, by
    child and then by parent in the order of the columns, or all that backwards.

    Parameters
    ----------
    families
        Scores.
    constraints
        On the arcs.
    start
        Parents of each variable; by default the required ones.
    watch
        Told of the network before each step; may end the work.
    last_first
        Whether the last of equally good steps is taken.

    Returns
    -------
    parents
        Of each variable.
    """
    walk = _Climb(families, constraints, constraints.required if start is None else start)
    return walk.climb(watch, last_first)


def climb_both_ways(
    families: ScoredFamilies,
    constraints: ArcConstraints,
    start: Sequence[Mask] | None = None,
    watch: Watch = NOBODY,
) -> list[Mask]:
    """Climb twice, with ties broken one way and the other, and return the better network.

    Most ties are directions of the first arcs, which decide where a climb can end. The second
    climb finds most of its families counted.
    """
    walk = _Climb(families, constraints, constraints.required if start is None else start)
    ends = [walk.copy().climb(watch, last_first) for last_first in (False, True)]
    return max(ends, key=lambda parents: sum(map(families.score, range(len(parents)), parents)))


def search_tabu(
    families: ScoredFamilies,
    constraints: ArcConstraints,
    start: Sequence[Mask] | None = None,
    n_tabu: int = 100,
    patience: int = 100,
    watch: Watch = NOBODY,
) -> list[Mask]:
    """Climb, and go on downward where no step is left, but never back to the last structures.

    Parameters
    ----------
    families, constraints, start, watch
        As for ``climb``.
    n_tabu
        How many structures are kept in mind.
    patience
        Ends after so many steps without a new best structure.

    Returns
    -------
    parents
        The best structure on the way.
    """
    walk = _Climb(families, constraints, constraints.required if start is None else start)
    recent = deque([tuple(walk.parents)], n_tabu)
    best, score, highest, idle = list(walk.parents), 0.0, 0.0, 0
    while idle < patience:
        watch.tell(walk.parents)
        gain = walk.step_to_new(recent)
        if gain is None:
            break
        recent.append(tuple(walk.parents))
        score, idle = score + gain, idle + 1
        if score > highest:
            best, highest, idle = list(walk.parents), score, 0
    return best


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
        self, families: ScoredFamilies, constraints: ArcConstraints, start: Sequence[Mask]
    ) -> None:
        n = families.n_columns
        self._families, self._constraints = families, constraints
        self._dag = Dag(start)
        self._is_fixed = mark_bits(constraints.required, n)
        self._is_arc = mark_bits(self._dag.parents, n)
        self._gains = np.array([self._compute_gains(j) for j in range(n)])

    @property
    def parents(self) -> list[Mask]:
        """Parents of each variable."""
        return self._dag.parents

    def copy(self) -> _Climb:
        """Return a climb from the same place, which need not look around again."""
        other = object.__new__(_Climb)
        other.__dict__.update(self.__dict__)
        other._dag = Dag(self.parents)
        other._is_arc, other._gains = self._is_arc.copy(), self._gains.copy()
        return other

    def climb(self, watch: Watch, last_first: bool) -> list[Mask]:
        """Take steps until none raises the score; returns where that is."""
        while True:
            watch.tell(self.parents)
            if not self.step(last_first):
                return self.parents

    def step(self, last_first: bool) -> bool:
        """Take the best step, if there is one that raises the score."""
        nothing = _ArcStep(0.0, -1, -1)
        toggle = next(self._list_toggles(last_first, 0.0), nothing)
        turn = next(self._list_turns(last_first, 0.0), nothing)
        if not max(toggle.gain, turn.gain) > 0:
            return False
        is_turn = turn.gain >= toggle.gain if last_first else turn.gain > toggle.gain
        self._take(turn if is_turn else toggle, is_turn)
        return True

    def step_to_new(self, recent: deque[tuple[Mask, ...]]) -> float | None:
        """Take the best step that leads to none of some structures; returns what it gains."""
        steps = [
            (next((s for s in listed if self._look_ahead(s, is_turn) not in recent), None), is_turn)
            for listed, is_turn in (
                (self._list_toggles(False, -np.inf), False),
                (self._list_turns(False, -np.inf), True),
            )
        ]
        found = [(step, is_turn) for step, is_turn in steps if step is not None]
        if not found:
            return None
        step, is_turn = max(found, key=lambda pair: pair[0].gain)
        self._take(step, is_turn)
        return step.gain

    def _look_ahead(self, step: _ArcStep, is_turn: bool) -> tuple[Mask, ...]:
        parents = list(self.parents)
        parents[step.child] ^= 1 << step.parent
        if is_turn:
            parents[step.parent] ^= 1 << step.child
        return tuple(parents)

    def _take(self, step: _ArcStep, is_turn: bool) -> None:
        self._toggle(step.child, step.parent)
        if is_turn:
            self._toggle(step.parent, step.child)

    def _list_toggles(self, last_first: bool, least: float) -> Iterator[_ArcStep]:
        """List the arcs that could be added or deleted, the best first, above a gain."""
        places = np.flatnonzero((self._gains > least) & ~self._is_arc.T)
        children, parents = np.divmod(places, len(self._gains))
        for step in _descend(self._gains.ravel()[places], children, parents, last_first, least):
            if self._is_arc[step.child, step.parent]:
                is_legal = not self._is_fixed[step.child, step.parent]
            else:
                is_legal = self._dag.can_add(step.child, step.parent)
            if is_legal:
                yield step

    def _list_turns(self, last_first: bool, least: float) -> Iterator[_ArcStep]:
        """List the arcs that could be turned around, the best first, above a gain."""
        lists = self._dag.lists
        children = [child for child, parents in enumerate(lists) for _ in parents]
        parents = [parent for parents in lists for parent in parents]
        gains = self._gains[children, parents] + self._gains[parents, children]
        for step in _descend(gains, children, parents, last_first, least):
            is_fixed = self._is_fixed[step.child, step.parent]
            if not is_fixed and self._dag.can_turn(step.child, step.parent):
                yield step

    def _toggle(self, child: int, parent: int) -> None:
        """Add an arc, or delete it."""
        self._is_arc[child, parent] = self._dag.toggle(child, parent)
        self._gains[child] = self._compute_gains(child)

    def _compute_gains(self, child: int) -> FloatArray:
        """Return what one parent more or less adds to a variable's score."""
        families, parents = self._families, self.parents[child]
        now = families.score(child, parents)
        gains = np.full(families.n_columns, -np.inf)
        if parents:
            gains[self._dag.lists[child]] = families.score_deletions(child, parents) - now
        added = self._constraints.list_additions(families, child, parents)
        if added:
            gains[added] = families.score_additions(child, parents, added) - now
        return gains


def _descend(
    gains: FloatArray, children: Ints, parents: Ints, last_first: bool, least: float
) -> Iterator[_ArcStep]:
    """Go through the steps above a gain from the best on; equal ones in their order."""
    places = np.flatnonzero(gains > least)[:: -1 if last_first else 1]
    for place in places[np.argsort(-gains[places], kind="stable")].tolist():
        yield _ArcStep(float(gains[place]), int(children[place]), int(parents[place]))
