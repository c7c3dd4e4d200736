"""Hill climbing with some operators: the phase that searches are composed of."""

from __future__ import annotations

from collections.abc import Iterable

from latentforest.search.trees.candidate import Candidate
from latentforest.search.trees.model import Model, is_better
from latentforest.search.trees.search import Rank, Search, by_bic
from latentforest.search.trees.tree import Rules


def propose(m: Model, rules: Rules, operators: Iterable[type[Candidate]]) -> list[Candidate]:
    """List the candidates of some operators, each of which has its own view of the tree."""
    return [each for operator in operators for each in operator.propose(operator.view(m), rules)]


def climb(
    search: Search,
    phase: str,
    m: Model,
    *operators: type[Candidate],
    rank: Rank = by_bic,
    has_reserves: bool = True,
) -> Model:
    """Apply operators again and again, as long as BIC rises.

    A model from which this led nowhere is not tried a second time.

    Parameters
    ----------
    search
        Takes the steps.
    phase
        Name of the phase in the trace.
    m
        Where to begin.
    operators
        All of them compete in each step.
    rank
        What decides between candidates.
    has_reserves
        Whether more candidates get full EM where no winner is better.
    """
    while (m, operators) not in search.settled:
        candidates = propose(m, search.rules, operators)
        m1 = search.step(phase, m, candidates, rank, has_reserves=has_reserves)
        if m1 is None or not is_better(m1, m):
            search.settled.add((m, operators))
        else:
            m = m1
    return m
