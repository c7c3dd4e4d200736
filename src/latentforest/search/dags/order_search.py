"""Best-order search: columns are moved within an order to where the network scores highest.

Andrews, Ramsey, Sánchez-Romero, Camchong and Kummerfeld (2023), "Fast scalable and accurate
discovery of DAGs using the best order score search and grow-shrink trees". An order stands for the
network in which each column gets parents from those before it, greedily. Where no move helps, hill
climbing goes on from that network, and the search from an order of what it finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.inference.patterns import Mask
from latentforest.inference.structures.growth_graph import GrowthGraph
from latentforest.kernels.types import LongArray
from latentforest.search.dags.constraints import ArcConstraints
from latentforest.search.dags.dag import mark_bits, sort_topologically
from latentforest.search.dags.family_scores import ScoredFamilies
from latentforest.search.dags.hill_climbing import climb
from latentforest.search.dags.watch import NOBODY, Watch
from latentforest.search.ended import SearchEnded

KICKED = 0.15  # share of the columns that a kick moves


@dataclass(frozen=True)
class OrderedNetwork:
    """A network that an order search ended at."""

    score: float
    parents: list[Mask]
    order: LongArray


class OrderSearch:
    """A search over orders of the columns, with one growth graph for all of them.

    Parameters
    ----------
    families, constraints
        Scores, and constraints on the arcs.
    n_jobs
        Threads that count families.
    watch
        Told of networks now and then; may end the work.
    """

    def __init__(
        self,
        families: ScoredFamilies,
        constraints: ArcConstraints,
        n_jobs: int = 1,
        watch: Watch = NOBODY,
    ) -> None:
        self._families, self._constraints, self._watch = families, constraints, watch
        self._graph = GrowthGraph(
            families,
            lambda child, parents: constraints.list_additions(families, child, parents),
            constraints.required,
            n_jobs,
        )
        n = families.n_columns
        self._is_above = mark_bits(constraints.find_required_ancestors(), n).T

    def climb(self, start: Sequence[Mask]) -> OrderedNetwork:
        """Search from an order of a given network."""
        return self._climb(sort_topologically(start))

    def climb_random(self, rng: np.random.Generator) -> OrderedNetwork:
        """Search from a random order."""
        return self._climb(self._repair(rng.permutation(self._families.n_columns)))

    def climb_kicked(self, best: OrderedNetwork, rng: np.random.Generator) -> OrderedNetwork:
        """Search from a good order in which some columns are moved elsewhere."""
        order = best.order.tolist()
        for _ in range(max(2, round(KICKED * len(order)))):
            place, target = rng.integers(0, len(order), 2).tolist()
            order.insert(target, order.pop(place))
        return self._climb(self._repair(np.array(order, np.int64)))

    def _climb(self, order: LongArray) -> OrderedNetwork:
        """Alternate between moves within the order and hill climbing, until neither helps."""
        best = self._settle(order)
        while True:
            parents = climb(self._families, self._constraints, best.parents, self._watch)
            if not self._sum(parents) > best.score:
                return best
            best = OrderedNetwork(self._sum(parents), parents, sort_topologically(parents))
            found = self._settle(best.order.copy())
            if not found.score > best.score:
                return best
            best = found

    def _settle(self, order: LongArray) -> OrderedNetwork:
        """Move columns as long as that helps."""
        try:
            score = -np.inf
            while self._graph.move(order, order.copy(), self._is_above, self._watch.check) > 0:
                before, score = score, self._sum(self._graph.find_parents(order))
                if not score > before:  # gains of rounding size could go on for ever
                    break
        except (SearchEnded, KeyboardInterrupt):
            self._watch.offer(self._graph.find_parents(order))
            raise
        parents = self._graph.find_parents(order)
        return OrderedNetwork(self._sum(parents), parents, order)

    def _sum(self, parents: Sequence[Mask]) -> float:
        return sum(map(self._families.score, range(len(parents)), parents))

    def _repair(self, order: LongArray) -> LongArray:
        """Put columns after those that they must stand below."""
        done, result = set[int](), list[int]()
        above = self._is_above

        def put(column: int) -> None:
            for other in order.tolist():
                if above[other, column] and other not in done:
                    put(other)
            if column not in done:
                done.add(column)
                result.append(column)

        if not above.any():
            return order
        for column in order.tolist():
            put(column)
        return np.array(result, np.int64)
