"""SI: a latent variable gets one more state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from latentforest.search.states import Around, split_all
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.states import CardCandidate
from latentforest.search.trees.tree import LatentTree, Rules


@dataclass(frozen=True)
class StateIntroduction(CardCandidate):
    """``hub`` with ``card`` states, one more than it has."""

    operator: ClassVar[str] = "SI"
    step: ClassVar[int] = 1

    @classmethod
    def is_allowed(cls, tree: LatentTree, rules: Rules, hub: str, card: int) -> bool:
        return rules.allows(card) and tree.is_regular_with(hub, card, tree.neighbours[hub])

    @classmethod
    def guess(cls, around: Around) -> list[Around]:
        return split_all(around)

    @classmethod
    def score(cls, completion: Completion, candidates: Sequence[Self]) -> list[float]:
        """Divergence between completed data and model, the mean over all pairs of neighbours."""
        hubs = [c.hub for c in candidates]
        measures = completion.measure_dependence(hubs)
        return [float(np.mean([kl for _, kl in measures[hub].values()])) for hub in hubs]
