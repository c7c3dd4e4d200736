"""Another number of states for a latent variable with limbs: what SI and SD share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from latentforest.kernels.types import FloatArray
from latentforest.search.pouches.candidate import PouchCandidate, guess_limbs
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.tree import PouchTree, Tables
from latentforest.search.tables import soften
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.tree import Rules


@dataclass(frozen=True)
class LimbStates(PouchCandidate):
    """The hub with ``step`` more states; all tables around it are free."""

    step: ClassVar[int]

    @classmethod
    def propose(cls, tree: PouchTree, rules: Rules) -> Iterator[Self]:
        for hub, limbs in tree.limbs.items():
            card = tree.cards[hub] + cls.step
            if hub in rules.fixed or card < 2 or (cls.step > 0 and not rules.allows(card)):
                continue
            after = tree.with_card(hub, card)
            if after.is_regular_around([hub]):
                yield cls(after.dimension - tree.dimension, after, hub, ((hub,), *limbs))

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.hub,)

    @property
    def n_states(self) -> int:
        return self.after.cards[self.hub]

    def guess(self, evidence: Evidence, effort: LocalEffort) -> list[Tables]:
        return [self._guess_from(evidence, shares) for shares in self.share(evidence, effort)]

    @abstractmethod
    def share(self, evidence: Evidence, effort: LocalEffort) -> list[FloatArray]:
        """Divide the rows among the states, in one or more ways: ``(n_rows, n_states)`` each."""

    def _guess_from(self, evidence: Evidence, shares: FloatArray) -> Tables:
        prior = evidence.weights @ shares
        tables = guess_limbs(evidence, self.limbs[1:], shares)
        return {self.hub: soften(prior / prior.sum()), **tables}
