"""SD: a latent variable loses a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import xlogy

from latentforest.kernels.types import FloatArray
from latentforest.search.states import Around, merge_all
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.gaussians import merge_gaussians
from latentforest.search.trees.completion.scores import penalise
from latentforest.search.trees.states import CardCandidate
from latentforest.search.trees.tree import LatentTree, Rules


@dataclass(frozen=True)
class StateDeletion(CardCandidate):
    """``hub`` with ``card`` states, one less than it has."""

    operator: ClassVar[str] = "SD"
    step: ClassVar[int] = -1

    @classmethod
    def is_allowed(cls, tree: LatentTree, rules: Rules, hub: str, card: int) -> bool:
        return card >= 2 and all(tree.is_regular_after(z, hub, card) for z in tree.neighbours[hub])

    @classmethod
    def guess(cls, around: Around) -> list[Around]:
        return merge_all(around)

    @classmethod
    def score(cls, completion: Completion, candidates: Sequence[Self]) -> list[float]:
        """Expected BIC, less that of the current model, of the best merging of two states."""
        places = [[(c.hub, z, c.hub) for z in c.neighbours] for c in candidates]
        counted, summed = completion.split(place for here in places for place in here)
        counts, sums = completion.count_pairs(counted), completion.sum_pairs(summed)
        scores = []
        for c, here in zip(candidates, places, strict=True):
            tables = [counts[place] for place in here if place in counts]
            numbers = {place: sums[place] for place in here if place in sums}
            gains = compute_mergings(tables or [next(iter(numbers.values()))[:, 0][None]])
            for (_, name, _), table in numbers.items():
                gains += merge_gaussians(table, completion.mixed.column(name))
            scores.append(penalise(completion, c, float(gains.max())))
        return scores


def compute_mergings(tables: Sequence[FloatArray]) -> FloatArray:
    """By how much the expected log-likelihood grows if two states of a hub are merged.

    Parameters
    ----------
    tables
        Joint counts of each neighbour and the hub, ``(n_states, n_states of the hub)``.

    Returns
    -------
    gains
        ``(n_states, n_states)`` of the hub; minus infinity for a state with itself.
    """
    gains = (1 - len(tables)) * _merge(tables[0].sum(axis=0)[None])
    for table in tables:
        gains += _merge(table)
    np.fill_diagonal(gains, -np.inf)
    return gains


def _merge(table: FloatArray) -> FloatArray:
    """By how much Σ n log n grows if two columns are merged."""
    apart = xlogy(table, table).sum(axis=0)
    merged = table[:, :, None] + table[:, None, :]
    gains: FloatArray = xlogy(merged, merged).sum(axis=0) - apart[:, None] - apart
    return gains
