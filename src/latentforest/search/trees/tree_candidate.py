"""Operators on latent trees whose columns are leaves of their own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from latentforest.inference.messages import Messages
from latentforest.search.trees.candidate import Candidate, LocalEffort
from latentforest.search.trees.local_fits import LocalFits
from latentforest.search.trees.tree import LatentTree, Rules


@dataclass(frozen=True)
class TreeCandidate(Candidate):
    """One way to apply an operator to a latent tree whose columns are leaves of their own."""

    @classmethod
    @abstractmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[TreeCandidate]:
        """Yield the candidates of this operator, regular models only."""

    @classmethod
    @abstractmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Candidate], effort: LocalEffort
    ) -> Iterable[LocalFits]:
        """Plan local fits of all candidates, to be run in any order."""
