"""How the winner among candidates is found: by restricted likelihood or by data completion."""

from __future__ import annotations

from collections.abc import Sequence

from latentforest.search.trees.candidate import Candidate, LocalEffort, Proposal
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.screening import screen
from latentforest.search.trees.model import Model
from latentforest.search.trees.restricted import evaluate_restricted
from latentforest.search.trees.search import Rank, Tell
from latentforest.search.trees.tree_candidate import by_operator


def pick_by_restricted_likelihood(
    model: Model,
    candidates: Sequence[Candidate],
    effort: LocalEffort,
    rank: Rank,
    n_winners: int,
    tell: Tell,
) -> list[Proposal]:
    """Return the candidates of highest rank; their likelihood is the maximum restricted one.

    All of them get full EM, also those that seem far behind: leaving these out made results worse.
    """
    candidates = screen(model, candidates, rank, effort.max_candidates, lambda: tell(()))
    proposals = evaluate_restricted(model, candidates, effort, tell)
    proposals.sort(key=lambda p: -rank(model, p.log_likelihood, p.candidate.change))
    return proposals[:n_winners]


def pick_by_data_completion(
    model: Model,
    candidates: Sequence[Candidate],
    effort: LocalEffort,
    rank: Rank,
    n_winners: int,
    tell: Tell,
) -> list[Proposal]:
    """Return the best candidate of each operator, its new tables fitted by local EM.

    Scores of different operators cannot be compared; whoever calls ranks the winners after full
    EM. ``rank`` and ``n_winners`` are of no use here.
    """
    completion = Completion(model.messages, check=lambda: tell(()))
    winners = []
    for operator, group in by_operator(candidates).items():
        scores = operator.score(completion, group)
        winners.append(max(zip(scores, group, strict=True), key=lambda scored: scored[0])[1])
    return evaluate_restricted(model, winners, effort, tell)


EVALUATIONS = {"rl": pick_by_restricted_likelihood, "dc": pick_by_data_completion}
