"""How the winner among candidates on trees with pouches is found.

Completed rows tell which candidates of an operator are worth a local fit; these get one, and are
ranked by their restricted likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence

from latentforest.inference.forest import PatternedData
from latentforest.inference.threads import map_threads
from latentforest.search.pouches.candidate import PouchCandidate, fit_locally, name_rests
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.trees.candidate import Candidate, LocalEffort, Proposal
from latentforest.search.trees.model import Model
from latentforest.search.trees.search import Rank, Tell
from latentforest.ties import sort_best_first


class PouchEvaluation:
    """Judges candidates; what their models share is computed once."""

    def __init__(self, data: PatternedData) -> None:
        self._local = data.with_rows(name_rests(len(data.bits) + 1))
        self._local.n_jobs = 1  # threads take whole candidates
        self._evidence: tuple[Model, Evidence] | None = None

    def __call__(
        self,
        model: Model,
        candidates: Sequence[Candidate],
        effort: LocalEffort,
        rank: Rank,
        n_winners: int,
        tell: Tell,
    ) -> list[Proposal]:
        """Return the candidates of highest rank, best first."""
        evidence = self._find_evidence(model)
        chosen = _screen(model, evidence, candidates, effort, rank)
        proposals: list[Proposal] = []
        fits = map_threads(
            lambda each: fit_locally(evidence, self._local, each, effort), chosen, model.data.n_jobs
        )
        for proposal in fits:
            proposals.append(proposal)
            tell([proposal])
        ranks = [rank(model, p.log_likelihood, p.candidate.change) for p in proposals]
        return [proposals[i] for i in sort_best_first(ranks)[:n_winners]]

    def _find_evidence(self, model: Model) -> Evidence:
        if self._evidence is None or self._evidence[0] is not model:
            self._evidence = model, Evidence(model.network, model.data)
        return self._evidence[1]


def _screen(
    model: Model,
    evidence: Evidence,
    candidates: Sequence[Candidate],
    effort: LocalEffort,
    rank: Rank,
) -> list[PouchCandidate]:
    """Keep the most promising candidates of each operator."""
    most = effort.max_candidates
    by_operator: dict[str, list[PouchCandidate]] = {}
    for candidate in candidates:
        assert isinstance(candidate, PouchCandidate)
        by_operator.setdefault(candidate.operator, []).append(candidate)
    chosen: list[PouchCandidate] = []
    for group in by_operator.values():
        if most is not None and len(group) > most:
            promises = [
                rank(model, model.log_likelihood + c.estimate(evidence), c.change) for c in group
            ]
            group = [group[i] for i in sort_best_first(promises)]
        chosen += group[:most]
    return chosen
