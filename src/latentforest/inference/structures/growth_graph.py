"""The sets of parents that grow-shrink searches can reach, shared by all orders of the columns.

See ``kernels.orders.insertion`` for what the graph is. It grows where walks need it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from latentforest.inference.patterns import Mask, single_bits
from latentforest.inference.threads import map_threads
from latentforest.kernels.orders.insertion import (
    UNKNOWN,
    Growth,
    find_nodes,
    move_columns,
)
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray, LongArray

FIRST_CAPACITY = 1 << 10

Item = TypeVar("Item")
Result = TypeVar("Result")


class GrowingFamilies(Protocol):
    """Scores of columns given their parents, and which parents may be added."""

    @property
    def n_columns(self) -> int: ...

    def score(self, variable: int, parents: Mask) -> float: ...

    def score_additions(self, variable: int, parents: Mask, added: Sequence[int]) -> FloatArray: ...

    def score_deletions(self, variable: int, parents: Mask) -> FloatArray: ...


class GrowthGraph:
    """A graph of sets of parents for each column.

    Parameters
    ----------
    families
        Scores.
    list_additions
        Gives the parents that may be added to a column with some parents.
    required
        Parents that each column must have.
    n_jobs
        Threads that count families.
    """

    def __init__(
        self,
        families: GrowingFamilies,
        list_additions: Callable[[int, Mask], list[int]],
        required: Sequence[Mask],
        n_jobs: int = 1,
    ) -> None:
        self._families, self._list_additions = families, list_additions
        self._required, self._n_jobs = required, n_jobs
        self._columns: list[int] = []  # of each node
        self._parents: list[Mask] = []
        self._finals: list[Mask] = []  # parents that are left after shrinking
        self._numbers: dict[tuple[int, Mask], int] = {}
        self._slot_nodes: list[int] = []  # the node that each slot belongs to
        self._growth = _make_growth(families.n_columns)
        self._n_slots = 0
        n = families.n_columns
        self._wanted = np.empty(3 * n + 3, np.int64)
        grown = self._map(lambda j: self._grow(j, required[j]), range(n))
        for column, candidates in enumerate(grown):
            self._growth.roots[column] = self._add(column, required[column], candidates)

    @property
    def n_nodes(self) -> int:
        """Number of sets of parents in the graph."""
        return len(self._parents)

    def find_parents(self, order: LongArray) -> list[Mask]:
        """Find the parents of each column in an order."""
        found = np.empty(len(order), np.int64)
        while n_wanted := find_nodes(self._growth, order, found, self._wanted):
            self._supply(n_wanted)
        return [self._finals[node] for node in found.tolist()]

    def move(
        self,
        order: LongArray,
        schedule: LongArray,
        is_above: BoolArray,
        check: Callable[[], None],
    ) -> float:
        """Move columns to where they fit best, one after the other; returns what that gains."""
        gains = np.zeros(len(schedule))
        above, done = is_above.astype(np.int64), 0
        while done < len(schedule):
            done, n_wanted = move_columns(
                self._growth, order, schedule, done, above, gains, self._wanted
            )
            self._supply(n_wanted)
            check()
        return float(gains.sum())

    def _supply(self, n_wanted: int) -> None:
        """Add the nodes and the final scores that walks asked for."""
        wanted = self._wanted[:n_wanted].tolist()
        try:
            self._add_wanted(wanted)
        except BaseException:  # so that later walks ask for it again
            self._growth.nodes[[each for each in wanted if each >= 0]] = UNKNOWN
            self._growth.is_asked[[~each for each in wanted if each < 0]] = 0
            raise

    def _add_wanted(self, wanted: list[int]) -> None:
        slots = [each for each in wanted if each >= 0]
        sets = [self._follow(slot) for slot in slots]
        new = list(dict.fromkeys(key for key in sets if key not in self._numbers))
        for key, candidates in zip(new, self._map(lambda k: self._grow(*k), new), strict=True):
            self._add(*key, candidates)
        self._growth.nodes[slots] = [self._numbers[key] for key in sets]
        ended = [~each for each in wanted if each < 0]
        for node, (parents, score) in zip(ended, self._map(self._shrink, ended), strict=True):
            self._finals[node], self._growth.final[node] = parents, score

    def _map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        return list(map_threads(function, items, self._n_jobs))

    def _follow(self, slot: int) -> tuple[int, Mask]:
        node = self._slot_nodes[slot]
        added = 1 << int(self._growth.candidates[slot])
        return self._columns[node], self._parents[node] | added

    def _grow(self, column: int, parents: Mask) -> list[int]:
        """List the further parents that raise the score, the best first."""
        now, added = self._families.score(column, parents), self._list_additions(column, parents)
        if not added:
            return []
        values = self._families.score_additions(column, parents, added)
        order = np.argsort(-values, kind="stable")
        better = order[: np.count_nonzero(values > now)]
        return list(np.array(added)[better].tolist())

    def _shrink(self, node: int) -> tuple[Mask, float]:
        """Take away the parent whose loss raises the score most, as long as there is one."""
        column, parents = self._columns[node], self._parents[node]
        score = self._families.score(column, parents)
        while free := parents & ~self._required[column]:
            scores = self._families.score_deletions(column, parents)
            bits = single_bits(parents)
            is_free = np.array([bool(bit & free) for bit in bits])
            best = int(np.argmax(np.where(is_free, scores, -np.inf)))
            if not scores[best] > score:
                break
            parents, score = parents ^ bits[best], float(scores[best])
        return parents, score

    def _add(self, column: int, parents: Mask, candidates: list[int]) -> int:
        node, first = len(self._parents), self._n_slots
        self._reserve(node + 1, first + len(candidates))
        growth = self._growth
        growth.firsts[node], growth.lasts[node] = first, first + len(candidates)
        growth.candidates[first : first + len(candidates)] = candidates
        self._n_slots += len(candidates)
        self._slot_nodes += [node] * len(candidates)
        self._columns.append(column)
        self._parents.append(parents)
        self._finals.append(parents)
        self._numbers[column, parents] = node
        return node

    def _reserve(self, n_nodes: int, n_slots: int) -> None:
        """Make room."""
        growth = self._growth
        if n_nodes > len(growth.final):
            growth = growth._replace(
                final=_double(growth.final, np.nan),
                is_asked=_double(growth.is_asked, 0),
                firsts=_double(growth.firsts, 0),
                lasts=_double(growth.lasts, 0),
            )
        while n_slots > len(growth.nodes):
            growth = growth._replace(
                candidates=_double(growth.candidates, 0), nodes=_double(growth.nodes, UNKNOWN)
            )
        self._growth = growth


def _make_growth(n_columns: int) -> Growth:
    size = FIRST_CAPACITY
    return Growth(
        np.zeros(n_columns, np.int64),
        np.full(size, np.nan),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.full(size, UNKNOWN, np.int64),
    )


def _double(array: AnyArray, fill: float) -> Any:
    return np.concatenate([array, np.full(len(array), fill, array.dtype)])
