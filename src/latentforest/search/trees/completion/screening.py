"""Too many candidates: data completion picks those whose restricted likelihood is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from latentforest.search.trees.candidate import Candidate
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.posteriors import Posteriors
from latentforest.search.trees.model import Model
from latentforest.search.trees.search import Rank
from latentforest.search.trees.tree_candidate import by_operator
from latentforest.ties import sort_best_first


def screen(
    model: Model,
    candidates: Sequence[Candidate],
    rank: Rank,
    most: int | None,
    check: Callable[[], None],
) -> list[Candidate]:
    """Return at most so many candidates of each operator, the most promising ones.

    Only operators that are numerous are screened; they say themselves what is promising.

    Parameters
    ----------
    model
        The current model.
    candidates
        Of any operators.
    rank
        What decides between candidates.
    most
        Candidates of an operator; none: no limit.
    check
        Called now and then; may raise an exception to end the work.
    """
    groups = by_operator(candidates)
    completion: Completion | None = None
    known: Posteriors | None = None
    for operator, group in groups.items():
        if most is None or len(group) <= most or not operator.is_numerous:
            continue
        if model.network.structure.continuous:
            known = known or Posteriors(model.messages, check)
            scores = operator.judge_mixed(known, model, group, rank)
        else:
            completion = completion or Completion(model.messages, check)
            scores = operator.judge(completion, model, group, rank)
        best = sort_best_first(scores)[:most]
        groups[operator] = [group[i] for i in sorted(best)]
    return [candidate for group in groups.values() for candidate in group]
