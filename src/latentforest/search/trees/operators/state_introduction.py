"""SI: a latent variable gets one more state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.kernels.regions.types import APART
from latentforest.model.network import Network
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
class StateIntroduction(CardCandidate):
    """``hub`` with ``card`` states, one more than it has."""

    operator: ClassVar[str] = "SI"

    @classmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[StateIntroduction]:
        for hub in tree.latents:
            around, card = tree.neighbours[hub], tree.cards[hub] + 1
            if hub in rules.fixed or not rules.allows(card):
                continue
            if tree.is_regular_with(hub, card, around):
                yield cls(change_of_card(tree, hub, card), hub, card, around)

    def edit(self, network: Network) -> Network:
        return with_states(network, self.hub, self.card, split_state)

    @classmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Candidate], effort: LocalEffort
    ) -> Iterator[LocalFits]:
        for candidate in candidates:
            if isinstance(candidate, cls):
                yield plan_fit(messages, candidate, effort, split_all)


def split_state(around: Around, k: int = 0) -> Around:
    """Split a state in two halves that differ a little; the second comes last.

    Means of Gaussians move along the direction in which the rows of the state vary most.
    """
    source = [*range(len(around.prior)), k]
    halves = [k, -1]
    prior = around.prior[source]
    prior[halves] *= 0.5
    tables = {}
    for z, table in around.tables.items():
        tables[z] = table[source]
        if z in around.continuous:
            step = around.steps[z][k] if around.steps else APART * np.sqrt(table[k, 1])
            tables[z][halves, 0] += step, -step
            tables[z][halves, 1] -= step**2
        else:
            signs = np.where(np.arange(table.shape[1]) % 2, -APART, APART)
            tables[z][halves] *= 1 + signs, 1 - signs
            tables[z][halves] /= tables[z][halves].sum(axis=1, keepdims=True)
    return replace(around, prior=prior, tables=tables)


def split_all(around: Around) -> list[Around]:
    """Split each state in turn."""
    return [split_state(around, k) for k in range(len(around.prior))]
