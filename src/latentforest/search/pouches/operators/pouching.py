"""PO: two pouches below one latent variable become one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from latentforest.model.covariances import log_determinant
from latentforest.search.pouches.candidate import PouchCandidate
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.tree import Limb, PouchTree
from latentforest.search.trees.tree import Rules


@dataclass(frozen=True)
class Pouching(PouchCandidate):
    """``left`` and ``right``, limbs of the hub, are merged."""

    operator: ClassVar[str] = "PO"
    left: Limb
    right: Limb

    @classmethod
    def propose(cls, tree: PouchTree, rules: Rules) -> Iterator[Pouching]:
        for hub, limbs in tree.limbs.items():
            pouches = [z for z in limbs if tree.is_pouch(z) and rules.fixed.isdisjoint(z)]
            for left, right in itertools.combinations(pouches, 2):
                if hub not in rules.fixed:
                    yield merge_pouches(tree, hub, left, right)

    def estimate(self, evidence: Evidence) -> float:
        return -gain_of_parts(evidence, self.hub, self.limbs[0], (self.left, self.right))

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.hub, *self.left, *self.right)

    def __str__(self) -> str:
        return f"{self.hub}: {', '.join(self.left)} + {', '.join(self.right)}"


def merge_pouches(tree: PouchTree, hub: str, left: Limb, right: Limb) -> Pouching:
    """Merge two pouches of a latent variable."""
    both = {*left, *right}
    merged = tuple(name for name in tree.variables if name in both)
    limbs = [merged if z == left else z for z in tree.limbs[hub] if z != right]
    after = tree.with_limbs({hub: limbs})
    change = after.dimension - tree.dimension
    return Pouching(change, after, hub, (merged,), left, right)


def gain_of_parts(evidence: Evidence, hub: str, pouch: Limb, parts: tuple[Limb, ...]) -> float:
    """What completed rows lose or gain if a pouch is taken apart: minus their information."""
    weights, _, covariances = evidence.state_moments[hub]

    def log_volume(limb: Limb) -> float:
        places = [evidence.place[name] for name in limb]
        return float(weights @ log_determinant(covariances[:, places][:, :, places]))

    return 0.5 * (log_volume(pouch) - sum(map(log_volume, parts)))
