"""The best few networks over a few columns, given the scores of all families.

The second best network differs from the best one in the parents of some variable. So all others
fall into parts: those in which the first variables have the same parents and the next one has not.
The best of each part is found; the best of these is next, and its part falls into parts again
(Murty 1968, Lawler 1972).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.kernels.averaging.best import raise_to_subsets, total_best_networks
from latentforest.kernels.types import FloatArray


@dataclass(frozen=True)
class _Part:
    """Networks in which some variables have given parents, and others not those excluded."""

    fixed: dict[int, Mask] = field(default_factory=dict)
    excluded: dict[int, frozenset[Mask]] = field(default_factory=dict)

    def split(self, parents: list[Mask]) -> Iterator[_Part]:
        """Yield parts that together are all networks of this one but one."""
        fixed = dict(self.fixed)
        for v, chosen in enumerate(parents):
            if v not in self.fixed:
                without = self.excluded.get(v, frozenset()) | {chosen}
                left = {u: sets for u, sets in self.excluded.items() if u not in fixed}
                yield _Part(dict(fixed), {**left, v: without})
                fixed[v] = chosen


def rank_networks(scores: FloatArray) -> Iterator[tuple[float, list[Mask]]]:
    """Yield networks from the best on, with their scores and the parents of each variable.

    Parameters
    ----------
    scores
        Of each variable with each set of parents, ``(n, 2^n)``, by bit masks; -inf for those that
        are ruled out, sets with the variable itself among them.

    Examples
    --------
    >>> scores = np.array([[0.0, -np.inf, 3.0, -np.inf], [0.0, 1.0, -np.inf, -np.inf]])
    >>> list(rank_networks(scores))
    [(3.0, [2, 0]), (1.0, [0, 1]), (0.0, [0, 0])]
    """
    solver = _Solver(scores)
    heap = [(*solver.solve(_Part()), 0, _Part())]
    number = 0  # of equally good parts, the one found first
    while heap:
        negative, parents, _, part = heapq.heappop(heap)
        if negative == np.inf:
            return
        yield -negative, parents
        for smaller in part.split(parents):
            number += 1
            heapq.heappush(heap, (*solver.solve(smaller), number, smaller))


class _Solver:
    """Finds the best network of a part."""

    def __init__(self, scores: FloatArray) -> None:
        self._scores = scores
        self._sets = np.arange(scores.shape[1])
        self._best = scores.copy()
        for v, row in enumerate(self._best):
            raise_to_subsets(row, v)
        self._sizes = np.array([int(members).bit_count() for members in self._sets])

    def solve(self, part: _Part) -> tuple[float, list[Mask]]:
        """Return the score, negative, and the parents of each variable."""
        local, best = self._scores.copy(), self._best.copy()
        for v, chosen in part.fixed.items():
            local[v] = -np.inf
            local[v, chosen] = self._scores[v, chosen]
            has_them = (self._sets & chosen) == chosen
            best[v] = np.where(has_them, self._scores[v, chosen], -np.inf)
        for v, without in part.excluded.items():
            local[v, list(without)] = -np.inf
            best[v] = local[v]
            raise_to_subsets(best[v], v)
        totals = np.empty(len(self._sets))
        total_best_networks(best, totals)
        if totals[-1] == -np.inf:
            return np.inf, []
        return -float(totals[-1]), self._trace(local, best, totals)

    def _trace(self, local: FloatArray, best: FloatArray, totals: FloatArray) -> list[Mask]:
        """Take sinks off, from the last variable; of equally good parents, take the fewest."""
        parents, left = [0] * len(local), len(totals) - 1
        while left:
            sink = next(
                v
                for v in reversed(list_bits(left))
                if totals[left] == totals[left ^ 1 << v] + best[v, left ^ 1 << v]
            )
            left ^= 1 << sink
            equal = ((self._sets & ~left) == 0) & (local[sink] == best[sink, left])
            ways = self._sets[equal]
            parents[sink] = int(ways[np.argmin(self._sizes[ways])])
        return parents
