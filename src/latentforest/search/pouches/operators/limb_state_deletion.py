"""SD: a latent variable with limbs loses a state."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from latentforest.kernels.types import FloatArray
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.features import average, collect_features
from latentforest.search.pouches.operators.limb_states import LimbStates
from latentforest.search.states import merge_shares
from latentforest.search.trees.candidate import LocalEffort

N_MERGES = 10  # most pairs of states that are tried to be merged


@dataclass(frozen=True)
class LimbStateDeletion(LimbStates):
    """The hub with one state less: two that are close to each other are merged."""

    operator: ClassVar[str] = "SD"
    step: ClassVar[int] = -1

    def share(self, evidence: Evidence, effort: LocalEffort) -> list[FloatArray]:
        posterior = evidence.posteriors[self.hub]
        means = average(collect_features(evidence, self.limbs[1:]), posterior)
        pairs = list(itertools.combinations(range(posterior.shape[1]), 2))
        pairs.sort(key=lambda pair: float(((means[pair[0]] - means[pair[1]]) ** 2).sum()))
        return [merge_shares(posterior, i, j) for i, j in pairs[:N_MERGES]]
