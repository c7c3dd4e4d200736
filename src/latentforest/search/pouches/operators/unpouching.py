"""UP: a column leaves its pouch and stays below the same latent variable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from latentforest.search.pouches.candidate import PouchCandidate
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.operators.pouching import gain_of_parts
from latentforest.search.pouches.tree import Limb, PouchTree
from latentforest.search.trees.tree import Rules


@dataclass(frozen=True)
class Unpouching(PouchCandidate):
    """``pouch``, a limb of the hub, is split in two."""

    operator: ClassVar[str] = "UP"
    pouch: Limb

    @classmethod
    def propose(cls, tree: PouchTree, rules: Rules) -> Iterator[Unpouching]:
        for hub, limbs in tree.limbs.items():
            for pouch in limbs:
                if len(pouch) == 1 or hub in rules.fixed or not rules.fixed.isdisjoint(pouch):
                    continue
                for name in pouch if len(pouch) > 2 else pouch[:1]:
                    yield split_pouch(tree, hub, pouch, (name,))

    def estimate(self, evidence: Evidence) -> float:
        return gain_of_parts(evidence, self.hub, self.pouch, self.limbs)

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.hub, *self.limbs[0])

    def __str__(self) -> str:
        return f"{self.hub}: {', '.join(self.limbs[0])} | {', '.join(self.limbs[1])}"


def split_pouch(tree: PouchTree, hub: str, pouch: Limb, part: Limb) -> Unpouching:
    """Take some columns out of a pouch of a latent variable."""
    rest = tuple(name for name in pouch if name not in part)
    limbs = [rest if z == pouch else z for z in tree.limbs[hub]]
    after = tree.with_limbs({hub: [*limbs, part]})
    change = after.dimension - tree.dimension
    return Unpouching(change, after, hub, (part, rest), pouch)
