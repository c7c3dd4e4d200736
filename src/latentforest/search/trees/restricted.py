"""Evaluation by restricted likelihood: what is shared stays, what is new is fitted by local EM."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from latentforest.estimation.em import EMSettings
from latentforest.estimation.region import fit_region, make_region
from latentforest.estimation.starts import random_starts
from latentforest.inference.threads import map_threads
from latentforest.search.tables import soften
from latentforest.search.trees.candidate import Candidate, LocalEffort, Proposal
from latentforest.search.trees.local_fits import LocalFits, batch
from latentforest.search.trees.model import Model
from latentforest.search.trees.tree_candidate import TreeCandidate

Tell = Callable[[Sequence[Proposal] | LocalFits], None]


def evaluate_restricted(
    model: Model, candidates: Sequence[Candidate], effort: LocalEffort, tell: Tell
) -> list[Proposal]:
    """Compute the maximum restricted log-likelihood of every candidate.

    Parameters
    ----------
    model
        The current model; its messages are shared by all candidates.
    candidates
        Of any operators.
    effort
        Starts and iterations of local EM.
    tell
        Called with proposals as they come.
    """
    by_operator: dict[type[TreeCandidate], list[Candidate]] = {}
    for candidate in candidates:
        assert isinstance(candidate, TreeCandidate)
        by_operator.setdefault(type(candidate), []).append(candidate)
    messages = model.messages
    if not messages.agree_with(model.log_likelihood):
        return _fit_all_slowly(model, candidates, effort, tell)
    is_tree = len(model.network.structure.roots) == 1

    def plan() -> Iterator[LocalFits]:
        for operator, group in by_operator.items():
            for fit in operator.plan_fits(messages, group, effort):
                if not is_tree:
                    fit.rest = lambda root: messages.rest(root, model.log_likelihood)
                tell(())
                yield fit

    proposals: list[Proposal] = []
    for fits in batch(plan()):
        is_done = map_threads(lambda fit: fit.run(), fits, model.data.n_jobs)
        for fit, _ in zip(fits, is_done, strict=True):
            tell(fit)
        proposals += (proposal for fit in fits for proposal in fit)
    for i, proposal in enumerate(proposals):
        if not math.isfinite(proposal.log_likelihood):
            proposals[i] = fit_slowly(model, proposal.candidate, effort)
            tell(())
    return proposals


def _fit_all_slowly(
    model: Model, candidates: Sequence[Candidate], effort: LocalEffort, tell: Tell
) -> list[Proposal]:
    """Fit every region by the general way."""
    proposals = []
    for candidate in candidates:
        proposals.append(fit_slowly(model, candidate, effort))
        tell(proposals[-1:])
    return proposals


def fit_slowly(model: Model, candidate: Candidate, effort: LocalEffort) -> Proposal:
    """Fit a region by the general way, which copes with rows that vanish in the fast one.

    Starts are the operator's guess, then random ones.
    """
    edited = candidate.edit(model.network)
    region = make_region(edited, model.data, candidate.region)
    structure, dataset = region.network.structure, model.data.dataset
    guess = np.array(region.network.parameters)
    for name in set(candidate.region).difference(structure.continuous):
        table = structure.table_view(guess, name)
        table[...] = soften(table)
    seed = int(effort.generator(candidate.operator, str(candidate)).integers(2**31))
    random = random_starts(structure, dataset, effort.mu - 1, seed)
    starts = np.concatenate([guess[None], random])
    settings = EMSettings(max_iterations=effort.nu, tolerance=0.0, accelerate=False)
    result = fit_region(region, starts, settings=settings)
    tables = [structure.table_view(result.parameters, name) for name in candidate.region]
    joined = np.concatenate([table.ravel() for table in tables])
    return Proposal(candidate, result.log_likelihood, joined)
