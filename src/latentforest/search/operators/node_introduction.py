"""NI: a new latent variable mediates between a latent variable and two of its neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from latentforest.data.variable import Variable
from latentforest.inference.messages import Messages
from latentforest.kernels.regions import fit_mediators
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.search.candidate import Candidate, Effort, Proposal, Task
from latentforest.search.naming import name_new_latent
from latentforest.search.regularity import most_states
from latentforest.search.tables import pack, soften
from latentforest.search.tree import Rules, Tree, edge_dimension, node_dimension

PIECE_ROWS = 1_000_000  # rows times candidates of one task


@dataclass(frozen=True)
class NodeIntroduction(Candidate):
    """``name``, a new latent variable with ``card`` states, between ``hub`` and two neighbours.

    It gets as many states as the hub, or as many as are regular.
    """

    operator: ClassVar[str] = "NI"
    hub: str
    left: str
    right: str
    card: int
    name: str

    @classmethod
    def propose(cls, tree: Tree, rules: Rules) -> Iterator[NodeIntroduction]:
        name = name_new_latent(tree.neighbours)
        for hub in tree.latents:
            around = tree.neighbours[hub]
            if hub in rules.fixed or len(around) < 4:  # with three, the hub would keep two
                continue
            movable = [z for z in around if z not in rules.fixed]
            hub_card, degree = tree.cards[hub], len(around)
            product = math.prod(tree.cards_of(around))
            widest = sorted(around, key=lambda z: -tree.cards[z])[:3]
            for left, right in itertools.combinations(movable, 2):
                a, b = tree.cards[left], tree.cards[right]
                card = min(hub_card, most_states([hub_card, a, b]))
                if not rules.allows(card):
                    continue
                rest = next(tree.cards[z] for z in widest if z not in (left, right))
                if hub_card > product // (a * b) * card // max(rest, card):
                    continue  # the hub would have more states than are regular
                change = (
                    edge_dimension(hub_card, card)
                    + edge_dimension(card, a)
                    + edge_dimension(card, b)
                    - edge_dimension(hub_card, a)
                    - edge_dimension(hub_card, b)
                    - node_dimension(card, 3)
                    - node_dimension(hub_card, degree - 1)
                    + node_dimension(hub_card, degree)
                )
                yield cls(change, hub, left, right, card, name)

    @property
    def root(self) -> str:
        return self.hub

    @property
    def region(self) -> tuple[str, ...]:
        return self.name, self.left, self.right

    def __str__(self) -> str:
        return f"{self.hub} - {self.name} - {self.left}, {self.right}"

    def edit(self, network: Network) -> Network:
        network = network.rooted_at(self.hub)
        structure = network.structure.add(
            [Variable.hidden(self.name, self.card)],
            {self.name: self.hub, self.left: self.name, self.right: self.name},
        )
        hub_card = network.structure.shape(self.hub)[-1]
        tables = {
            self.name: soften(introduce(hub_card, self.card)),
            self.left: network.cpd(self.left)[: self.card],
            self.right: network.cpd(self.right)[: self.card],
        }
        return pack(structure, network, tables)

    @classmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Candidate], effort: Effort
    ) -> list[Task]:
        groups: dict[tuple[str, str], list[NodeIntroduction]] = {}
        for candidate in candidates:
            assert isinstance(candidate, NodeIntroduction)
            groups.setdefault((candidate.hub, candidate.left), []).append(candidate)
        starts: dict[str, _Starts] = {}
        tasks = []
        for (hub, _), group in groups.items():
            if hub not in starts:
                most = max(c.card for c in candidates if isinstance(c, cls) and c.hub == hub)
                starts[hub] = _Starts(messages, hub, most, effort)
            step = max(1, PIECE_ROWS // messages.data.n_rows)
            for i in range(0, len(group), step):
                tasks.append(_Fit(messages, group[i : i + step], starts[hub], effort))
        return tasks


def introduce(hub_card: int, card: int) -> FloatArray:
    """P(new | hub) of a copy of the hub; states without a partner are spread evenly."""
    table = np.zeros((hub_card, card))
    for y in range(hub_card):
        table[y, y % card] = 1.0
    return table


class _Starts:
    """Starts of all mediators around a hub: a copy of the hub, then random ones.

    The starts of a neighbour's table are the same in all candidates of the hub.
    """

    def __init__(self, messages: Messages, hub: str, card: int, effort: Effort) -> None:
        structure, n_random = messages.network.structure, effort.mu - 1
        hub_card = structure.shape(hub)[-1]
        guess = soften(introduce(hub_card, card))[None]
        parts = [np.concatenate([guess, effort.draw(n_random, (hub_card, card), hub, "NI")])]
        for z in messages.neighbours(hub):
            table = messages.table(hub, z)
            base = messages.table(hub) @ table
            if z in structure.latents:
                base = np.full(len(base), 1.0 / len(base))
            random = effort.draw_around(base, n_random, card, hub, z, "NI")
            parts.append(np.concatenate([soften(table[None, :card]), random]))
        sizes = np.array([part.size for part in parts], np.int64)
        self.card = card
        self.places = np.cumsum(sizes) - sizes
        self.blocks = np.concatenate([part.ravel() for part in parts])


class _Fit:
    """Local fits of the mediators of a hub, one of its neighbours and each of some others."""

    def __init__(
        self,
        messages: Messages,
        group: Sequence[NodeIntroduction],
        starts: _Starts,
        effort: Effort,
    ) -> None:
        self.messages, self.group, self.starts, self.effort = messages, group, starts, effort

    def __call__(self) -> list[Proposal]:
        messages, hub = self.messages, self.group[0].hub
        arms = [messages.arm(hub, candidate.right) for candidate in self.group]
        left = messages.arm(hub, self.group[0].left)
        lo, hi = min(arms), max(arms) + 1
        cards = np.zeros(hi - lo, np.int64)
        for arm, candidate in zip(arms, self.group, strict=True):
            cards[arm - lo] = candidate.card
        hub_card = int(messages.arms.width[left])
        widest = int(messages.arms.card[lo:hi].max() + messages.arms.card[left])
        n_values = hub_card + self.starts.card * (hub_card + widest)
        scores, results = np.empty(hi - lo), np.empty((hi - lo, n_values))
        fit_mediators(
            messages.arms,
            messages.values,
            messages.number[hub],
            left,
            lo,
            hi,
            cards,
            self.starts.card,
            self.starts.blocks,
            self.starts.places,
            self.effort.limits,
            self.effort.mu,
            scores,
            results,
        )
        return [
            Proposal(candidate, float(scores[arm - lo]), results[arm - lo, hub_card:])
            for arm, candidate in zip(arms, self.group, strict=True)
        ]
