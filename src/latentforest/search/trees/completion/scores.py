"""Scores of data completion, one for each operator, and the candidates that they pick.

Relocations and deletions are judged by expected BIC, introductions by what the current model leaves
unexplained (section 4 of Chen, Zhang and Wang 2008).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import xlogy

from latentforest.kernels.types import FloatArray
from latentforest.search.trees.candidate import Candidate, LocalEffort, Proposal
from latentforest.search.trees.completion.counts import Completion, Place
from latentforest.search.trees.completion.gaussians import merge_gaussians
from latentforest.search.trees.model import Model
from latentforest.search.trees.operators import (
    NodeDeletion,
    NodeIntroduction,
    NodeRelocation,
    StateDeletion,
    StateIntroduction,
)
from latentforest.search.trees.restricted import evaluate_restricted
from latentforest.search.trees.search import Rank, Tell
from latentforest.ties import find_best


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
    by_operator: dict[type[Candidate], list[Candidate]] = {}
    for candidate in candidates:
        by_operator.setdefault(type(candidate), []).append(candidate)
    winners = []
    for operator, group in by_operator.items():
        winners.append(group[find_best(SCORES[operator](completion, group))])
    return evaluate_restricted(model, winners, effort, tell)


def score_relocations(completion: Completion, group: Sequence[Candidate]) -> list[float]:
    """Expected BIC, less that of the current model, of neighbours tied to other variables.

    P(moved | origin) is replaced by P(moved | target). An origin that is dissolved between two
    neighbours makes no difference: it is summed out, which changes no probability, whereas counting
    the families without it would leave its entropy out of the likelihood.
    """
    gone: list[list[Place]] = []
    new: list[list[Place]] = []
    for c in group:
        assert isinstance(c, NodeRelocation)
        gone.append([(c.origin, c.moved, c.origin)])
        new.append([(c.origin, c.moved, c.target)])
    return _compare_families(completion, group, gone, new)


def score_node_deletions(completion: Completion, group: Sequence[Candidate]) -> list[float]:
    """Expected BIC, less that of the current model, without a latent variable.

    P(node | into) and P(moved | node) are replaced by P(moved | into).
    """
    gone: list[list[Place]] = []
    new: list[list[Place]] = []
    for c in group:
        assert isinstance(c, NodeDeletion)
        gone.append([(c.into, c.node, c.into), *((c.node, z, c.node) for z in c.moved)])
        new.append([(c.node, z, c.into) for z in c.moved])
    return _compare_families(completion, group, gone, new)


def _compare_families(
    completion: Completion,
    group: Sequence[Candidate],
    gone: Sequence[Sequence[Place]],
    new: Sequence[Sequence[Place]],
) -> list[float]:
    """Expected BIC of candidates whose families are new for others that are gone."""
    fits = completion.fit_pairs(itertools.chain(*gone, *new))
    gains = (
        sum(fits[place] for place in after) - sum(fits[place] for place in before)
        for before, after in zip(gone, new, strict=True)
    )
    return [penalise(completion, c, gain) for c, gain in zip(group, gains, strict=True)]


def penalise(completion: Completion, candidate: Candidate, gain: float) -> float:
    """Take what BIC asks for more parameters off a gain of log-likelihood."""
    return gain - 0.5 * candidate.change * math.log(completion.total_weight)


def score_state_deletions(completion: Completion, group: Sequence[Candidate]) -> list[float]:
    """Expected BIC, less that of the current model, of the best merging of two states."""
    around = {c.hub: c.neighbours for c in group if isinstance(c, StateDeletion)}
    places = ((hub, z, hub) for hub in around for z in around[hub])
    counted, summed = completion.split(places)
    counts, sums = completion.count_pairs(counted), completion.sum_pairs(summed)
    scores = []
    for c in group:
        assert isinstance(c, StateDeletion)
        here = [(c.hub, z, c.hub) for z in c.neighbours]
        tables = [counts[place] for place in here if place in counts]
        numbers = {place: sums[place] for place in here if place in sums}
        gains = compute_mergings(tables or [next(iter(numbers.values()))[:, 0][None]])
        for (_, name, _), table in numbers.items():
            gains += merge_gaussians(table, completion.mixed.column(name))
        scores.append(penalise(completion, c, float(gains.max())))
    return scores


def compute_mergings(tables: Sequence[FloatArray]) -> FloatArray:
    """By how much the expected log-likelihood grows if two states of a hub are merged.

    Parameters
    ----------
    tables
        Joint counts of each neighbour and the hub, ``(n_states, n_states of the hub)``.

    Returns
    -------
    gains
        ``(n_states, n_states)`` of the hub; minus infinity for a state with itself.
    """
    gains = (1 - len(tables)) * _merge(tables[0].sum(axis=0)[None])
    for table in tables:
        gains += _merge(table)
    np.fill_diagonal(gains, -np.inf)
    return gains


def _merge(table: FloatArray) -> FloatArray:
    """By how much Σ n log n grows if two columns are merged."""
    apart = xlogy(table, table).sum(axis=0)
    merged = table[:, :, None] + table[:, None, :]
    gains: FloatArray = xlogy(merged, merged).sum(axis=0) - apart[:, None] - apart
    return gains


def score_node_introductions(completion: Completion, group: Sequence[Candidate]) -> list[float]:
    """G² of the two neighbours given the hub.

    It does not depend on the number of states: all mediators but the largest are ruled out.
    """
    hubs = (c.hub for c in group if isinstance(c, NodeIntroduction))
    completion.measure_dependence(hubs)
    largest: dict[tuple[str, str, str], int] = {}
    for c in group:
        assert isinstance(c, NodeIntroduction)
        pair = c.hub, c.left, c.right
        largest[pair] = max(largest.get(pair, 0), c.card)
    scores = []
    for c in group:
        assert isinstance(c, NodeIntroduction)
        is_largest = c.card == largest[c.hub, c.left, c.right]
        scores.append(completion.measure_pair(c)[0] if is_largest else -math.inf)
    return scores


def score_state_introductions(completion: Completion, group: Sequence[Candidate]) -> list[float]:
    """Divergence between completed data and model, the mean over all pairs of neighbours."""
    hubs = [c.hub for c in group if isinstance(c, StateIntroduction)]
    measures = completion.measure_dependence(hubs)
    return [float(np.mean([kl for _, kl in measures[hub].values()])) for hub in hubs]


Score = Callable[[Completion, Sequence[Candidate]], list[float]]

SCORES: dict[type[Candidate], Score] = {
    NodeDeletion: score_node_deletions,
    NodeIntroduction: score_node_introductions,
    NodeRelocation: score_relocations,
    StateDeletion: score_state_deletions,
    StateIntroduction: score_state_introductions,
}
