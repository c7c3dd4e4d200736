"""How the winner among candidates is found: by restricted likelihood or by data completion."""

from __future__ import annotations

from latentforest.search.trees.candidate import Proposal
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.completion.screening import screen
from latentforest.search.trees.restricted import evaluate_restricted
from latentforest.search.trees.search import Selection
from latentforest.search.trees.tree_candidate import by_operator
from latentforest.ties import find_best, sort_best_first


def pick_by_restricted_likelihood(asked: Selection) -> list[Proposal]:
    """Return the candidates of highest rank; their likelihood is the maximum restricted one.

    All of them get full EM, also those that seem far behind: leaving these out made results worse.
    """
    model, candidates, effort, rank, n_winners, tell = asked
    candidates = screen(model, candidates, rank, effort.max_candidates, lambda: tell(()))
    proposals = evaluate_restricted(model, candidates, effort, tell)
    ranks = [rank(model, p.log_likelihood, p.candidate.change) for p in proposals]
    return [proposals[i] for i in sort_best_first(ranks)[:n_winners]]


def pick_by_data_completion(asked: Selection) -> list[Proposal]:
    """Return the best candidate of each operator, its new tables fitted by local EM.

    Scores of different operators cannot be compared; whoever calls ranks the winners after full
    EM, so what rank they have here does not matter.
    """
    completion = Completion(asked.model.messages, check=lambda: asked.tell(()))
    winners = []
    for operator, group in by_operator(asked.candidates).items():
        winners.append(group[find_best(operator.score(completion, group))])
    return evaluate_restricted(asked.model, winners, asked.effort, asked.tell)


EVALUATIONS = {"rl": pick_by_restricted_likelihood, "dc": pick_by_data_completion}
