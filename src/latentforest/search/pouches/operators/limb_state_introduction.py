"""SI: a latent variable with limbs gets one more state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from latentforest.kernels.types import FloatArray
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.features import average, cluster, collect_features
from latentforest.search.pouches.operators.limb_states import LimbStates
from latentforest.search.states import split_shares
from latentforest.search.trees.candidate import LocalEffort


@dataclass(frozen=True)
class LimbStateIntroduction(LimbStates):
    """The hub with one more state: one of its states split, or rows clustered anew."""

    operator: ClassVar[str] = "SI"
    step: ClassVar[int] = 1

    def share(self, evidence: Evidence, effort: LocalEffort) -> list[FloatArray]:
        posterior = evidence.posteriors[self.hub]
        features = collect_features(evidence, self.limbs[1:])
        rng = effort.generator(self.operator, self.hub)
        means = average(features, posterior)
        split = [split_shares(posterior, k, features - mean) for k, mean in enumerate(means)]
        card, weights = self.after.cards[self.hub], evidence.weights
        return split + [cluster(features, weights, card, rng) for _ in range(effort.mu)]
