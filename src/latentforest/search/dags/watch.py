"""Who keeps the best network of a search over networks, and ends it when the time is up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from latentforest.inference.patterns import Mask
from latentforest.search.ended import SearchEnded


class Watch:
    """Keeps the best network that it is told of.

    Parameters
    ----------
    score
        Score of a network, given the parents of each variable.
    is_late
        Whether the time is up.

    Attributes
    ----------
    best, highest
        Parents of each variable in the best network so far, and its score.
    """

    def __init__(
        self,
        score: Callable[[Sequence[Mask]], float] | None = None,
        is_late: Callable[[], bool] | None = None,
    ) -> None:
        self._score, self._is_late = score, is_late
        self._latest: Sequence[Mask] | None = None
        self.best: list[Mask] | None = None
        self.highest = float("-inf")

    def offer(self, parents: Sequence[Mask]) -> None:
        """Keep a network if it is the best so far."""
        if self._score is not None:
            score = self._score(parents)
            if score > self.highest:
                self.best, self.highest = list(parents), score

    def check(self) -> None:
        """End the search if the time is up."""
        if self._is_late is not None and self._is_late():
            raise SearchEnded("the time limit was reached")

    def tell(self, parents: Sequence[Mask]) -> None:
        """Remember where a search is, and end it if the time is up.

        A list that changes later is remembered as it will be then.
        """
        self._latest = parents
        self.check()

    def stop(self) -> None:
        """Keep the network at which a search was last, if it is the best so far."""
        if self._latest is not None:
            self.offer(self._latest)


NOBODY = Watch()
