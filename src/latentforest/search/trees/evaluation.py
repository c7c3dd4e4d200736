"""How the winner among candidates is found: by restricted likelihood or by data completion."""

from __future__ import annotations

from collections.abc import Sequence

from latentforest.search.trees.candidate import Candidate, LocalEffort, Proposal
from latentforest.search.trees.completion.scores import pick_by_data_completion
from latentforest.search.trees.completion.screening import screen
from latentforest.search.trees.model import Model
from latentforest.search.trees.restricted import evaluate_restricted
from latentforest.search.trees.search import Rank, Tell
from latentforest.ties import sort_best_first


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
    ranks = [rank(model, p.log_likelihood, p.candidate.change) for p in proposals]
    return [proposals[i] for i in sort_best_first(ranks)[:n_winners]]


EVALUATIONS = {"rl": pick_by_restricted_likelihood, "dc": pick_by_data_completion}
