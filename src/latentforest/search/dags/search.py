"""Searches for the best network over the columns: one function for each method, restarts, a trace.

All methods share one cache of families, constraints, and a ``Watch`` that keeps the best network.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from latentforest.inference.patterns import Mask
from latentforest.search.dags.annealing import anneal
from latentforest.search.dags.constraints import ArcConstraints
from latentforest.search.dags.exact import find_best_parents
from latentforest.search.dags.family_scores import ScoredFamilies
from latentforest.search.dags.hill_climbing import climb_both_ways, search_tabu
from latentforest.search.dags.order_search import OrderedNetwork, OrderSearch
from latentforest.search.dags.starts import draw_random_parents
from latentforest.search.dags.watch import Watch
from latentforest.search.ended import SearchEnded


@dataclass(frozen=True)
class DagSearchSettings:
    """How to search.

    Parameters
    ----------
    method
        One of ``METHODS``.
    n_restarts
        Further runs from random structures or orders, and from changed ones of the best.
    n_tabu
        Structures that tabu search keeps in mind.
    seed
        Of everything random.
    n_jobs
        Threads that count families.
    """

    method: str = "order"
    n_restarts: int = 10
    n_tabu: int = 100
    seed: int = 0
    n_jobs: int = 1


@dataclass
class DagSearch:
    """A search in progress.

    Parameters
    ----------
    families, constraints, settings
        What is searched, and how.
    start
        Parents of each variable with which the first run begins.
    is_late
        Whether the time is up.
    say
        Told what goes on.

    Attributes
    ----------
    watch
        Has the best network so far.
    rows
        The trace: one row for each run.
    ends
        Different networks at which runs ended, with their scores.
    is_optimal
        Whether no network has a higher score.
    stopped, was_interrupted
        Why the search ended early, if it did; whether that was Ctrl-C.
    """

    families: ScoredFamilies
    constraints: ArcConstraints
    settings: DagSearchSettings
    start: Sequence[Mask]
    is_late: Callable[[], bool] = lambda: False
    say: Callable[[str], None] = lambda message: None
    rows: list[dict[str, Any]] = field(default_factory=list)
    ends: dict[tuple[Mask, ...], float] = field(default_factory=dict)
    is_optimal: bool = False
    stopped: str | None = None
    was_interrupted: bool = False

    def __post_init__(self) -> None:
        self.watch = Watch(self.sum, self.is_late)
        self._began = time.monotonic()
        self._rng = np.random.default_rng(self.settings.seed)

    def sum(self, parents: Sequence[Mask]) -> float:
        """Score of a network."""
        return sum(map(self.families.score, range(len(parents)), parents))

    def run(self) -> list[Mask]:
        """Search; returns the parents of each variable in the best network."""
        self.watch.offer(self.start)
        try:
            METHODS[self.settings.method](self)
        except SearchEnded as end:
            self.stopped = str(end)
            self.watch.stop()
        except KeyboardInterrupt:
            self.was_interrupted = True
            self.watch.stop()
        assert self.watch.best is not None  # for the type checker: the start was offered
        return self.watch.best

    def record(self, begin: str, parents: Sequence[Mask]) -> None:
        """Add a run to the trace."""
        self.watch.offer(parents)
        self.ends[tuple(parents)] = self.sum(parents)
        self.rows.append(
            {
                "run": len(self.rows) + 1,
                "start": begin,
                "score": self.sum(parents),
                "best": self.watch.highest,
                "n_arcs": sum(mask.bit_count() for mask in parents),
                "n_counted": self.families.n_counted,
                "seconds": time.monotonic() - self._began,
            }
        )
        self.say(
            f"run {len(self.rows)}: from {begin}, {self.rows[-1]['score']:,.2f}; "
            f"best {self.watch.highest:,.2f}, {self.families.n_counted:,} sets of columns counted"
        )

    def draw_parents(self) -> list[Mask]:
        """Draw a random network that meets the constraints."""
        return draw_random_parents(self.families, self.constraints, self._rng)


def _search_orders(search: DagSearch) -> None:
    """From an order of the start; then by turns from random ones and changed ones of the best."""
    orders = OrderSearch(search.families, search.constraints, search.settings.n_jobs, search.watch)
    best: OrderedNetwork | None = None
    for run in range(1 + search.settings.n_restarts):
        if best is None:
            begin, found = "the start", orders.climb(search.start)
        elif run % 2:
            begin, found = "a random order", orders.climb_random(search._rng)
        else:
            begin, found = "the best, changed", orders.climb_kicked(best, search._rng)
        search.record(begin, found.parents)
        if best is None or found.score > best.score:
            best = found


def _search_repeatedly(search: DagSearch, climb: Callable[[Sequence[Mask]], list[Mask]]) -> None:
    search.record("the start", climb(search.start))
    for _ in range(search.settings.n_restarts):
        search.record("a random network", climb(search.draw_parents()))


def _climb_hills(search: DagSearch) -> None:
    _search_repeatedly(
        search,
        lambda start: climb_both_ways(search.families, search.constraints, start, search.watch),
    )


def _search_tabu(search: DagSearch) -> None:
    n_tabu = search.settings.n_tabu
    _search_repeatedly(
        search,
        lambda start: search_tabu(
            search.families, search.constraints, start, n_tabu, n_tabu, search.watch
        ),
    )


def _anneal(search: DagSearch) -> None:
    _search_repeatedly(
        search,
        lambda start: anneal(
            search.families, search.constraints, search._rng, start, watch=search.watch
        ),
    )


def _search_exactly(search: DagSearch) -> None:
    search.say(f"all networks over {search.families.n_columns} columns")
    parents, search.is_optimal = find_best_parents(search.families, search.constraints)
    search.record("all networks", parents)


METHODS: dict[str, Callable[[DagSearch], None]] = {
    "order": _search_orders,
    "hill-climbing": _climb_hills,
    "tabu": _search_tabu,
    "annealing": _anneal,
    "exact": _search_exactly,
}
