"""SD: a latent variable loses a state."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.model.network import Network
from latentforest.search.tables import mix
from latentforest.search.trees.candidate import Candidate, LocalEffort
from latentforest.search.trees.local_fits import LocalFits
from latentforest.search.trees.states import (
    Around,
    CardCandidate,
    change_of_card,
    plan_fit,
    with_states,
)
from latentforest.search.trees.tree import LatentTree, Rules


@dataclass(frozen=True)
class StateDeletion(CardCandidate):
    """``hub`` with ``card`` states, one less than it has."""

    operator: ClassVar[str] = "SD"

    @classmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[StateDeletion]:
        for hub in tree.latents:
            around, card = tree.neighbours[hub], tree.cards[hub] - 1
            if hub in rules.fixed or card < 2:
                continue
            if all(tree.is_regular_after(z, hub, card) for z in around):
                yield cls(change_of_card(tree, hub, card), hub, card, around)

    def edit(self, network: Network) -> Network:
        return with_states(network, self.hub, self.card, merge_states)

    @classmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Candidate], effort: LocalEffort
    ) -> Iterator[LocalFits]:
        for candidate in candidates:
            if isinstance(candidate, cls):
                yield plan_fit(messages, candidate, effort, merge_all)


def merge_states(around: Around, i: int = 0, j: int = 1) -> Around:
    """Merge two states, ``i`` before ``j``, into one with their probability."""
    prior = around.prior
    weights = prior[[i, j]]
    shares = weights / weights.sum() if weights.sum() > 0 else np.array([0.5, 0.5])
    kept = [s for s in range(len(prior)) if s != j]
    merged = prior[kept]
    merged[i] = weights.sum()
    tables = {}
    for z, table in around.tables.items():
        tables[z] = table[kept]
        tables[z][i] = mix(shares[None], table[[i, j]], z in around.continuous)[0]
    return replace(around, prior=merged, tables=tables)


def merge_all(around: Around) -> list[Around]:
    """Merge each pair of states in turn."""
    pairs = itertools.combinations(range(len(around.prior)), 2)
    return [merge_states(around, i, j) for i, j in pairs]
