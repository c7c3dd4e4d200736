"""SI: a latent variable gets one more state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.model.network import Network
from latentforest.search.candidate import Candidate, Effort, Task
from latentforest.search.states import Around, FitOfStates, change_of_card, with_states
from latentforest.search.tree import Rules, Tree

APART = 0.5  # how far the halves of a split state are pushed apart


@dataclass(frozen=True)
class StateIntroduction(Candidate):
    """``hub`` with ``card`` states, one more than it has."""

    operator: ClassVar[str] = "SI"
    hub: str
    card: int
    neighbours: tuple[str, ...]

    @classmethod
    def propose(cls, tree: Tree, rules: Rules) -> Iterator[StateIntroduction]:
        for hub in tree.latents:
            around, card = tree.neighbours[hub], tree.cards[hub] + 1
            if hub in rules.fixed or not rules.allows(card):
                continue
            if tree.is_regular_with(hub, card, around):
                yield cls(change_of_card(tree, hub, card), hub, card, around)

    @property
    def root(self) -> str:
        return self.hub

    @property
    def region(self) -> tuple[str, ...]:
        return self.hub, *self.neighbours

    def __str__(self) -> str:
        return f"{self.hub} with {self.card} states"

    def edit(self, network: Network) -> Network:
        return with_states(network, self.hub, self.card, split_state)

    @classmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Candidate], effort: Effort
    ) -> list[Task]:
        return [
            FitOfStates(messages, candidate, candidate.hub, candidate.card, effort, split_all)
            for candidate in candidates
            if isinstance(candidate, cls)
        ]


def split_state(around: Around, s: int = 0) -> Around:
    """Split one state in two halves that differ a little."""
    n_states = len(around.prior)
    source = [*range(n_states), s]
    prior = around.prior[source]
    prior[[s, n_states]] *= 0.5
    tables = {}
    for z, table in around.tables.items():
        tables[z] = table[source]
        signs = np.where(np.arange(table.shape[1]) % 2 == 0, APART, -APART)
        halves = np.stack([table[s] * (1 + signs), table[s] * (1 - signs)])
        tables[z][[s, n_states]] = halves / halves.sum(axis=1, keepdims=True)
    return Around(prior, tables)


def split_all(around: Around) -> list[Around]:
    """Split each state in turn."""
    return [split_state(around, s) for s in range(len(around.prior))]
