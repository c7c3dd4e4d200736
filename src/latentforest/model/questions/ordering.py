"""The order in which elimination removes variables: the smallest table first."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from latentforest.errors import ModelError

# Largest table that elimination may build, in cells (256 MiB of float64).
MAX_CELLS = 2**25


class InteractionGraph:
    """Which variables share a factor, kept up to date while variables are removed.

    The weight of a variable is the logarithm of the number of cells of the table that its
    removal multiplies: its own states times those of its neighbours. On a tree the variable
    of least weight never needs a table larger than a family's.
    """

    def __init__(self, cards: Mapping[str, int], scopes: Iterable[tuple[str, ...]]) -> None:
        self._log_cards = {name: math.log(card) for name, card in cards.items()}
        self._rank = {name: position for position, name in enumerate(cards)}
        self._neighbours: dict[str, set[str]] = {name: set() for name in cards}
        self._weights = dict(self._log_cards)
        self._heap: list[tuple[float, int, str]] = []
        for scope in scopes:
            self._connect(scope)

    def removals(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the names, lightest first; each is removed from the graph when yielded."""
        waiting = set(names)
        self._heap = [(self._weights[name], self._rank[name], name) for name in waiting]
        heapq.heapify(self._heap)
        while waiting:
            weight, _, name = heapq.heappop(self._heap)
            # Every change of weight pushes a new entry; the old ones are skipped.
            if name in waiting and weight == self._weights[name]:
                waiting.discard(name)
                check_size(weight, name)
                self._remove(name)
                yield name

    def _connect(self, scope: Iterable[str]) -> None:
        for a, b in combinations(scope, 2):
            if b not in self._neighbours[a]:
                self._neighbours[a].add(b)
                self._neighbours[b].add(a)
                self._change_weight(a, self._log_cards[b])
                self._change_weight(b, self._log_cards[a])

    def _remove(self, name: str) -> None:
        neighbours = self._neighbours.pop(name)
        for other in neighbours:
            self._neighbours[other].discard(name)
            self._change_weight(other, -self._log_cards[name])
        self._connect(sorted(neighbours, key=self._rank.__getitem__))

    def _change_weight(self, name: str, change: float) -> None:
        self._weights[name] += change
        heapq.heappush(self._heap, (self._weights[name], self._rank[name], name))


def check_size(log_cells: float, *names: str) -> None:
    """Refuse a table that would not fit into memory."""
    if log_cells > math.log(MAX_CELLS) + 1e-6:
        raise ModelError(
            f"the answer needs a table of about 10^{log_cells / math.log(10):.0f} cells "
            f"around {', '.join(map(repr, names[:5]))}; at most {MAX_CELLS} are supported"
        )
