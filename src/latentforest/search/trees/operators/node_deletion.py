"""ND: a latent variable is deleted; its other neighbours move to a latent neighbour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from latentforest.inference.messages import Messages
from latentforest.model.network import Network
from latentforest.search.tables import mix, pack, soften_unless
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.scores import compare_families
from latentforest.search.trees.local_fits import LocalFits
from latentforest.search.trees.random_tables import draw_tables
from latentforest.search.trees.star import bundle_moved
from latentforest.search.trees.tree import LatentTree, Rules, edge_dimension, node_dimension
from latentforest.search.trees.tree_candidate import TreeCandidate


@dataclass(frozen=True)
class NodeDeletion(TreeCandidate):
    """``node`` deleted, its neighbours ``moved`` tied to ``into``."""

    operator: ClassVar[str] = "ND"
    node: str
    into: str
    moved: tuple[str, ...]

    @classmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[NodeDeletion]:
        for node in tree.latents:
            around, card = tree.neighbours[node], tree.cards[node]
            if node in rules.fixed or any(z in rules.fixed for z in around):
                continue
            for into in tree.latent_neighbours(node):
                moved = tuple(z for z in around if z != into)
                kept = [z for z in tree.neighbours[into] if z != node]
                into_card, degree = tree.cards[into], len(kept) + 1
                if not tree.is_regular_with(into, into_card, (*kept, *moved)):
                    continue
                if not all(tree.is_regular_after(z, node, into_card) for z in moved):
                    continue
                change = (
                    sum(edge_dimension(into_card, tree.cards[z]) for z in moved)
                    - sum(edge_dimension(card, tree.cards[z]) for z in around)
                    - node_dimension(into_card, degree + len(moved) - 1)
                    + node_dimension(into_card, degree)
                    + node_dimension(card, len(around))
                )
                yield cls(change, node, into, moved)

    @property
    def root(self) -> str:
        return self.into

    @property
    def region(self) -> tuple[str, ...]:
        return self.moved

    @property
    def subject(self) -> str:
        return self.node

    @property
    def variables(self) -> tuple[str, ...]:
        return self.node, self.into

    def edit(self, network: Network) -> Network:
        network = network.rooted_at(self.into)
        shares, numbers = network.table_view(self.node), network.structure.continuous
        tables = {z: mix(shares, network.table_view(z), z in numbers) for z in self.moved}
        structure = network.structure.rewired(dict.fromkeys(self.moved, (self.into,)))
        return pack(structure.remove([self.node]), network, tables)

    @classmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Self], effort: LocalEffort
    ) -> Iterator[LocalFits]:
        return (_plan_fit(messages, candidate, effort) for candidate in candidates)

    @classmethod
    def score(cls, completion: Completion, candidates: Sequence[Self]) -> list[float]:
        """Expected BIC, less that of the current model.

        P(node | into) and P(moved | node) are replaced by P(moved | into).
        """
        gone = [
            [(c.into, c.node, c.into), *((c.node, z, c.node) for z in c.moved)] for c in candidates
        ]
        new = [[(c.node, z, c.into) for z in c.moved] for c in candidates]
        return compare_families(completion, candidates, gone, new)


def _plan_fit(messages: Messages, candidate: NodeDeletion, effort: LocalEffort) -> LocalFits:
    """Local fit; starts are the tables without the deleted variable, then random ones."""
    node, into, n_random = candidate.node, candidate.into, effort.mu - 1
    through, rng = messages.table(into, node), effort.generator(node, into, "ND")
    parts = [np.ones((effort.mu, len(through)))]
    moved, numbers = candidate.moved, messages.network.structure.continuous
    drawn = draw_tables(messages, node, moved, rng, n_random, len(through))
    for z in moved:
        guess = mix(through, messages.table(node, z), z in numbers)
        guess = soften_unless(z in numbers, guess)
        parts.append(np.concatenate([guess[None], drawn[z]]).reshape(effort.mu, -1))
    starts = np.concatenate(parts, axis=1)
    tasks = bundle_moved(messages, node, into, starts)
    n_before = [len(through)]
    return LocalFits(messages, effort.nu, [candidate], tasks, starts.shape[1], n_before)
