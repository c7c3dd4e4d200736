"""Operators on latent trees whose columns are leaves of their own.

An operator is a class in a file of its own. All that a search asks of it is a method: which
candidates there are, their local fits, their scores by data completion, and, if it has many
candidates, which of them are promising.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from latentforest.inference.messages import Messages
from latentforest.search.trees.candidate import Candidate, LocalEffort
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.posteriors import Posteriors
from latentforest.search.trees.local_fits import LocalFits
from latentforest.search.trees.model import Model
from latentforest.search.trees.search import Rank
from latentforest.search.trees.tree import LatentTree, Rules


@dataclass(frozen=True)
class TreeCandidate(Candidate):
    """One way to apply an operator to a latent tree whose columns are leaves of their own.

    ``is_numerous`` says whether there may be so many candidates that they have to be screened.
    """

    is_numerous: ClassVar[bool] = False

    @classmethod
    def view(cls, model: Model) -> LatentTree:
        return model.tree

    @classmethod
    @abstractmethod
    def propose(cls, tree: LatentTree, rules: Rules) -> Iterator[TreeCandidate]:
        """Yield the candidates of this operator, regular models only."""

    @classmethod
    @abstractmethod
    def plan_fits(
        cls, messages: Messages, candidates: Sequence[Self], effort: LocalEffort
    ) -> Iterable[LocalFits]:
        """Plan local fits of all candidates, to be run in any order; says which kernel runs."""

    @classmethod
    @abstractmethod
    def score(cls, completion: Completion, candidates: Sequence[Self]) -> list[float]:
        """Score candidates by data completion; scores of other operators mean something else."""

    @classmethod
    def judge(
        cls, completion: Completion, model: Model, candidates: Sequence[Self], rank: Rank
    ) -> list[float]:
        """Say how promising candidates are, where all columns are categorical."""
        return cls.score(completion, candidates)

    @classmethod
    def judge_mixed(
        cls, known: Posteriors, model: Model, candidates: Sequence[Self], rank: Rank
    ) -> list[float]:
        """Say how promising candidates are, where there are continuous columns."""
        return cls.score(Completion(known.messages, known.check), candidates)


def by_operator(candidates: Iterable[Candidate]) -> dict[type[TreeCandidate], list[TreeCandidate]]:
    """Put the candidates of each operator together."""
    groups: dict[type[TreeCandidate], list[TreeCandidate]] = {}
    for candidate in candidates:
        assert isinstance(candidate, TreeCandidate)  # for the type checker
        groups.setdefault(type(candidate), []).append(candidate)
    return groups
