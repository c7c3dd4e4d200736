"""ND: a latent variable is deleted; its other limbs move to a latent neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from latentforest.search.pouches.candidate import PouchCandidate
from latentforest.search.pouches.tree import PouchTree
from latentforest.search.trees.tree import Rules


@dataclass(frozen=True)
class LimbDeletion(PouchCandidate):
    """The limbs of ``node``, which goes, become limbs of the hub, its neighbour."""

    operator: ClassVar[str] = "ND"
    node: str

    @classmethod
    def propose(cls, tree: PouchTree, rules: Rules) -> Iterator[LimbDeletion]:
        for node in tree.cards:
            for hub in tree.latents_around(node):
                if node in rules.fixed or hub in rules.fixed:
                    continue
                moved = [limb for limb in tree.limbs[node] if limb != (hub,)]
                kept = [limb for limb in tree.limbs[hub] if limb != (node,)]
                changes = {hub: [*kept, *moved]}
                for limb in moved:
                    if tree.is_latent(limb):
                        changes[limb[0]] = list(tree.swap(limb[0], node, hub))
                after = tree.with_limbs(changes).without(node)
                if moved and after.is_regular_around([hub]):
                    yield cls(after.dimension - tree.dimension, after, hub, tuple(moved), node)

    @property
    def variables(self) -> tuple[str, ...]:
        return self.node, self.hub
