"""NI: a new latent variable mediates between a latent variable and two of its limbs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.model.covariances import log_determinant
from latentforest.search.naming import name_new_latent
from latentforest.search.pouches.candidate import PouchCandidate, guess_limbs
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.features import average, cluster, collect_features
from latentforest.search.pouches.tree import PouchTree, Tables
from latentforest.search.tables import soften
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.operators.node_introduction import introduce
from latentforest.search.trees.tree import Rules

RIDGE = 1e-3  # added to correlations of features


@dataclass(frozen=True)
class LimbIntroduction(PouchCandidate):
    """``name``, a new latent variable, between the hub and two of its limbs."""

    operator: ClassVar[str] = "NI"
    heeds_any_mediator: ClassVar[bool] = True
    name: str

    @classmethod
    def propose(cls, tree: PouchTree, rules: Rules) -> Iterator[LimbIntroduction]:
        name = name_new_latent({*tree.cards, *tree.variables})
        for hub, limbs in tree.limbs.items():
            if hub in rules.fixed or len(limbs) < 3:
                continue
            movable = [limb for limb in limbs if rules.fixed.isdisjoint(limb)]
            for pair in itertools.combinations(movable, 2):
                rest = [limb for limb in limbs if limb not in pair]
                moved = {z: tree.swap(z, hub, name) for (z, *_) in pair if z in tree.cards}
                shape = tree.with_limbs({hub: [*rest, (name,)], name: [(hub,), *pair], **moved})
                most = tree.cards[hub]
                for card in range(2 if rules.any_mediator else most, most + 1):
                    after = shape.with_card(name, card)
                    if rules.allows(card) and after.is_regular_around([name]):
                        change = after.dimension - tree.dimension
                        yield cls(change, after, hub, ((name,), *pair), name)

    def guess(self, evidence: Evidence, effort: LocalEffort) -> list[Tables]:
        posterior, card = evidence.posteriors[self.hub], self.after.cards[self.name]
        features = collect_features(evidence, self.limbs[1:])
        rest = features - posterior @ average(features, posterior, evidence.weights)
        rng = effort.generator(self.operator, self.hub, *self.region)
        found = [posterior @ introduce(posterior.shape[1], card)]
        for i in range(max(effort.mu // 2, 2)):
            found.append(cluster((rest, features)[i % 2], evidence.weights, card, rng))
        return [self._guess_from(evidence, posterior, shares) for shares in found]

    def _guess_from(self, evidence: Evidence, above: FloatArray, shares: FloatArray) -> Tables:
        counts = (above * evidence.weights[:, None]).T @ shares + 1e-3
        table = soften(counts / counts.sum(axis=1, keepdims=True))
        return {self.name: table, **guess_limbs(evidence, self.limbs[1:], shares)}

    def estimate(self, evidence: Evidence) -> float:
        """Information between the two limbs that the hub leaves, as if they were Gaussian."""
        posterior, (left, right) = evidence.posteriors[self.hub], self.limbs[1:]
        parts = []
        for limb in (left, right):
            x = collect_features(evidence, [limb])
            parts.append(x - posterior @ average(x, posterior, evidence.weights))
        x = np.concatenate(parts, axis=1)
        matrix = (x * evidence.weights[:, None]).T @ x / evidence.weights.sum()
        matrix += RIDGE * np.eye(len(matrix))
        n = parts[0].shape[1]
        logs = [log_determinant(m) for m in (matrix[:n, :n], matrix[n:, n:], matrix)]
        return float(0.5 * evidence.weights.sum() * (logs[0] + logs[1] - logs[2]))

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.hub, self.name, *self.limbs[1], *self.limbs[2])

    def __str__(self) -> str:
        left, right = (", ".join(limb) for limb in self.limbs[1:])
        return f"{self.hub} - {self.name} - {left} / {right}"
