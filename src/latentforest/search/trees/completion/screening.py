"""Too many candidates: data completion picks those whose restricted likelihood is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from latentforest.search.trees.candidate import Candidate
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.mixed_screening import MIXED_JUDGES, Posteriors
from latentforest.search.trees.completion.scores import score_relocations
from latentforest.search.trees.model import Model
from latentforest.search.trees.operators import NodeIntroduction, NodeRelocation
from latentforest.search.trees.search import Rank
from latentforest.ties import sort_best_first

Judge = Callable[[Completion, Model, Sequence[Candidate], Rank], list[float]]


def screen(
    model: Model,
    candidates: Sequence[Candidate],
    rank: Rank,
    most: int | None,
    check: Callable[[], None],
) -> list[Candidate]:
    """Return at most so many candidates of each operator, the most promising ones.

    Only node introductions and relocations are that numerous. A relocation is judged by its
    expected BIC, an introduction by what the pair's dependence given the hub could gain at most.
    Where there are continuous columns, see ``mixed_screening``.

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
    groups: dict[type[Candidate], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(type(candidate), []).append(candidate)
    completion: Completion | None = None
    known: Posteriors | None = None
    for operator, group in groups.items():
        if most is None or len(group) <= most or operator not in JUDGES:
            continue
        if model.network.structure.continuous:
            known = known or Posteriors(model.messages, check)
            scores = MIXED_JUDGES[operator](known, model, group, rank)
        else:
            completion = completion or Completion(model.messages, check)
            scores = JUDGES[operator](completion, model, group, rank)
        best = sort_best_first(scores)[:most]
        groups[operator] = [group[i] for i in sorted(best)]
    return [candidate for group in groups.values() for candidate in group]


def judge_introductions(
    completion: Completion, model: Model, group: Sequence[Candidate], rank: Rank
) -> list[float]:
    """Rank of a model whose log-likelihood is higher by half of G²: all that the pair leaves."""
    hubs = (c.hub for c in group if isinstance(c, NodeIntroduction))
    completion.measure_dependence(hubs)
    scores = []
    for c in group:
        assert isinstance(c, NodeIntroduction)
        g2, _ = completion.measure_pair(c)
        scores.append(rank(model, model.log_likelihood + 0.5 * g2, c.change))
    return scores


def judge_relocations(
    completion: Completion, model: Model, group: Sequence[Candidate], rank: Rank
) -> list[float]:
    """Expected BIC, less that of the current model."""
    return score_relocations(completion, group)


JUDGES: dict[type[Candidate], Judge] = {
    NodeIntroduction: judge_introductions,
    NodeRelocation: judge_relocations,
}
