"""NR: a limb of one latent variable is tied to another instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from latentforest.model.covariances import log_determinant
from latentforest.search.pouches.candidate import PouchCandidate
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.tree import Limb, PouchTree
from latentforest.search.trees.tree import Rules


@dataclass(frozen=True)
class LimbRelocation(PouchCandidate):
    """A limb of ``old`` becomes one of the hub."""

    operator: ClassVar[str] = "NR"
    old: str

    @classmethod
    def propose(cls, tree: PouchTree, rules: Rules) -> Iterator[LimbRelocation]:
        for old, limbs in tree.limbs.items():
            for limb in limbs:
                yield from cls.between(tree, rules, limb, old, tree.cards)

    @classmethod
    def between(
        cls, tree: PouchTree, rules: Rules, limb: Limb, old: str, hubs: Iterable[str]
    ) -> Iterator[LimbRelocation]:
        """Yield the candidates that move a limb of one latent variable to some others."""
        limbs = tree.limbs[old]
        if len(limbs) < 3 or old in rules.fixed or not rules.fixed.isdisjoint(limb):
            return
        behind: Collection[str] = tree.side_of(limb[0], old) if tree.is_latent(limb) else ()
        rest = [z for z in limbs if z != limb]
        for hub in hubs:
            if hub == old or hub in behind or hub in rules.fixed:
                continue
            changes = {old: rest, hub: [*tree.limbs[hub], limb]}
            if tree.is_latent(limb):
                changes[limb[0]] = list(tree.swap(limb[0], old, hub))
            after = tree.with_limbs(changes)
            if after.is_regular_around([old, hub]):
                yield cls(after.dimension - tree.dimension, after, hub, (limb,), old)

    def estimate(self, evidence: Evidence) -> float:
        (limb,) = self.limbs
        new = _complete(evidence, limb, self.hub)
        return new - _complete(evidence, limb, self.old)

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.old, self.hub, *self.limbs[0])


def _complete(evidence: Evidence, limb: Limb, hub: str) -> float:
    """Log-likelihood of a limb below a latent variable, in completed rows."""
    if evidence.tree.is_pouch(limb):
        weights, _, covariances = evidence.state_moments[hub]
        places = [evidence.place[name] for name in limb]
        logs = log_determinant(covariances[:, places][:, :, places])
        return -0.5 * float(weights @ logs)
    shares = evidence.posteriors[hub] * evidence.weights[:, None]
    if evidence.tree.is_latent(limb):
        counts = shares.T @ evidence.posteriors[limb[0]]
    else:
        column = evidence.data.dataset.column(limb[0])
        n_states = evidence.tree.variables[limb[0]].n_states
        counts = shares.T @ (column[:, None] == np.arange(n_states))
    counts = counts + 1e-9
    return float((counts * np.log(counts / counts.sum(axis=1, keepdims=True))).sum())
