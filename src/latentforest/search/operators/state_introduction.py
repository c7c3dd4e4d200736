"""SI: a latent variable gets one more state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.model.network import Network
from latentforest.search.candidate import Candidate, Effort, Task
from latentforest.search.states import (
    Around,
    CardCandidate,
    FitOfStates,
    change_of_card,
    with_states,
)
from latentforest.search.tree import Rules, Tree

APART = 0.5  # how far the halves of a split state are pushed apart


@dataclass(frozen=True)
class StateIntroduction(CardCandidate):
    """``hub`` with ``card`` states, one more than it has."""

    operator: ClassVar[str] = "SI"

    @classmethod
    def propose(cls, tree: Tree, rules: Rules) -> Iterator[StateIntroduction]:
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
        cls, messages: Messages, candidates: Sequence[Candidate], effort: Effort
    ) -> list[Task]:
        return [
            FitOfStates(messages, candidate, effort, split_all)
            for candidate in candidates
            if isinstance(candidate, cls)
        ]


def split_state(around: Around) -> Around:
    """Split the first state."""
    return split_all(around)[0]


def split_all(around: Around) -> Around:
    """Split each state in turn, in two halves that differ a little.

    Means of Gaussians move along the direction in which the rows of the state vary most.
    """
    n_states = len(around.prior)
    each = np.arange(n_states)
    source = np.concatenate([np.broadcast_to(each, (n_states, n_states)), each[:, None]], axis=1)
    priors = around.prior[source]
    priors[each, each] *= 0.5
    priors[:, -1] *= 0.5
    joined, beside = around.joined, around.beside
    signs = np.where(beside.position % 2, -APART, APART)
    split = joined[source]
    split[each, each] = beside.normalised(joined * (1 + signs))
    split[:, -1] = beside.normalised(joined * (1 - signs))
    numbers = {}
    for z, table in around.numbers.items():
        step = around.steps[z] if around.steps else APART * np.sqrt(table[:, 1])
        moved = table[source]
        moved[each, each, 0] += step
        moved[:, -1, 0] -= step
        moved[each, each, 1] -= step**2
        moved[:, -1, 1] -= step**2
        numbers[z] = moved
    return replace(around, prior=priors, joined=split, numbers=numbers)
