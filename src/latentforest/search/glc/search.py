"""The three functions of Algorithm 1, and what they share: fits, clock, trace."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from latentforest.inference.forest import PatternedData
from latentforest.model.network import Network
from latentforest.scores.effective_dimension import compute_effective_dimension
from latentforest.search.ended import SearchEnded
from latentforest.search.glc.criteria import GlcCriterion
from latentforest.search.glc.draft import Draft, find_first_equivalent
from latentforest.search.glc.expected_families import ExpectedFamilies, Family
from latentforest.search.glc.fits import FitEffort, Fitter, GlcFit, describe_change, list_free
from latentforest.search.glc.link_climbing import climb_links, estimate_gain
from latentforest.search.glc.neighbours import (
    GlcRules,
    Neighbour,
    Screen,
    list_neighbours,
    put_latent_for_links,
)
from latentforest.search.glc.regularization import is_regular, regularize
from latentforest.search.trees.journal import Journal
from latentforest.ties import sort_best_first

SAME_P = 1e-3  # difference of p-values within the precision of EM
START_STARTS = 64  # random starts of EM for the model that a search begins with
LEAST_GAIN = 0.01  # of the score: less is within the precision of EM
EVALUATIONS = ("local", "full")
Pool = list[Neighbour]


class Evaluation(NamedTuple):
    """How candidates are judged: locally first (links, others), or all by full EM."""

    is_local: bool
    links: FitEffort
    local: FitEffort
    full: FitEffort
    n_winners: int
    n_links: int


@dataclass
class GlcSearch:
    """Runs the steps of the search for a generalized latent class model.

    Parameters
    ----------
    data
        The table, its columns in the order of their names.
    rules
        Structures that may be visited.
    regularization
        True: irregular candidates are replaced by regular ones; False: they stay; "discard".
    criterion
        What is raised.
    evaluation
        How candidates are judged.
    screen
        Finds what may be added to a model.
    seed
        Of all random starts.
    say, deadline, max_steps, journal
        As for all searches.
    """

    data: PatternedData
    rules: GlcRules
    regularization: bool | str
    criterion: GlcCriterion
    evaluation: Evaluation
    screen: Callable[[GlcFit], Screen]
    seed: int
    say: Callable[[str], None]
    journal: Journal
    deadline: float | None = None
    max_steps: int | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    best: GlcFit | None = None
    visited: dict[Hashable, GlcFit] = field(default_factory=dict)
    _expanded: set[Hashable] = field(default_factory=set)
    _regular: dict[Hashable, Draft | None] = field(default_factory=dict)
    _local: dict[Hashable, Network] = field(default_factory=dict)  # winners of local fits
    _gains: dict[Hashable, float] = field(default_factory=dict)  # of local fits, by the change
    _known: dict[Family, float] = field(default_factory=dict)  # scores of families of columns
    _expected: tuple[GlcFit, ExpectedFamilies] | None = None  # those of the last model
    _n_evaluated: int = 0
    _places: dict[Hashable, int] = field(default_factory=dict)  # of models in the trace
    _origins: list[int] = field(default_factory=list)  # row before each; -1: none

    def __post_init__(self) -> None:
        self.columns = self.data.dataset.variables
        self.fitter = Fitter(self.data, self.seed)
        self.cards = {each.name: len(each.states or ()) for each in self.columns}
        n_cells = math.prod(self.cards.values())
        self._most_parameters = n_cells - 1 if n_cells > 1 else math.inf  # if all are categorical
        self._began = time.monotonic()
        self.highest = find_highest(self.data)
        self._is_named = bool(self.rules.required or self.rules.forbidden)
        self._penalty = self.criterion.penalty or 0.5 * math.log(self.data.total_weight)
        self._is_categorical = all(each.is_categorical for each in self.columns)

    def change_links(self, m: GlcFit) -> GlcFit:
        """Change many links of columns at once, by structural EM, as long as that is better.

        Only where candidates are judged locally, and columns are categorical and complete.
        """
        while self.evaluation.is_local and self.highest is not None:
            draft = climb_links(m.draft, self.rules, self._expect(m), self._penalty)
            regular = self._regularize(draft)
            if regular is None or self._key(regular) == self._key(m.draft):
                return m
            ends = {name for link in draft.links ^ m.draft.links for name in link}
            step = Neighbour(regular, "structural EM", tuple(sorted(ends)))
            fitted = self._evaluate([step], m)
            if not fitted or not is_better(fitted[0][1], m):
                return m
            self._expanded.add(self._key(m.draft))  # nobody need come back
            self._note("climb", step, fitted[0][1], m, 1)
            m = fitted[0][1]
        return m

    def raise_complexity(self, m: GlcFit) -> Pool:
        """RaisingComplexity(m): all neighbours, each once; of links, the most promising."""
        self._expanded.add(self._key(m.draft))
        seen, pool = {m.draft.exact_key}, []
        for neighbour in list_neighbours(m.draft, self.rules, self.screen(m)):
            if neighbour.draft.exact_key not in seen:
                seen.add(neighbour.draft.exact_key)
                pool.append(neighbour)
        return self._shortlist(pool, m) if self.evaluation.is_local else pool

    def _shortlist(self, pool: Pool, m: GlcFit) -> Pool:
        """Leave out changes of links that expected counts do not speak for."""
        if not self._is_categorical:
            return pool
        places = [i for i, each in enumerate(pool) if each.draft.sizes == m.draft.sizes]
        families = self._expect(m)
        ranks = []
        for place in places:
            draft = pool[place].draft
            gain = estimate_gain(draft, m.draft, families, self._penalty)
            ranks.append(_rank(gain, draft.compute_dimension(self.cards) - m.dimension))
        order = sort_best_first(ranks) if ranks else []
        dropped = {places[i] for i in order[self.evaluation.n_links :]}
        return [each for place, each in enumerate(pool) if place not in dropped]

    def _expect(self, m: GlcFit) -> ExpectedFamilies:
        if self._expected is None or self._expected[0] is not m:
            self._expected = m, ExpectedFamilies(m.network, self.data, self._known)
        return self._expected[1]

    def regularize(self, pool: Pool, m: GlcFit) -> Pool:
        """Regularization(Σ, m): replace irregular candidates, or discard them, or let them be."""
        seen, regular = {self._key(m.draft)}, []
        for neighbour in pool:
            draft = self._regularize(neighbour.draft)
            if draft is not None and (key := self._key(draft)) not in seen:
                seen.add(key)
                regular.append(neighbour._replace(draft=draft))
        return regular

    def descend(self, pool: Pool, m: GlcFit) -> GlcFit:
        """GreedyDescending(Σ', m): the best improvement per parameter; m if there is none.

        Of better models that are no larger, the smallest is taken.
        """
        fitted = self._evaluate(pool, m)
        better = [each for each in fitted if is_better(each[1], m)]
        if not better:
            return m
        smaller = [each for each in better if each[1].dimension <= m.dimension]
        if smaller:
            least = min(each[1].dimension for each in smaller)
            smallest = [each for each in smaller if each[1].dimension == least]
            found = _choose(smallest, lambda model: model.score)
        else:
            found = _choose(
                better, lambda model: (model.score - m.score) / (model.dimension - m.dimension)
            )
        self._note("climb", found[0], found[1], m, len(pool))
        return found[1]

    def begin(self, structure: Any, origin: Network | None = None) -> GlcFit:
        """Fit the model that the search begins with."""
        draft = Draft.of(structure)
        m = self._fit(draft, origin)
        self._note("start", Neighbour(draft), m, None, 0)
        return m

    def begin_with_columns(self, network: Network, log_likelihood: float) -> GlcFit | None:
        """Put a latent variable in the place of links of a network over the columns alone."""
        draft, dimension = Draft.of(network.structure), network.dimension
        score = log_likelihood - self._penalty * dimension
        m = GlcFit(draft, network, log_likelihood, dimension, score)
        found = (each for each in put_latent_for_links(draft) if self.rules.allow(each.draft))
        fitted = self._evaluate(self.regularize(list(found), m), m)
        if not fitted:
            return None
        step, best = _choose(fitted, lambda model: model.score)
        self._note("start", step, best, None, len(fitted))
        return best

    def find_kick(self, n_best: int) -> GlcFit | None:
        """Return the best visited model with unknown neighbours, if it is among the best few."""
        ranked = sorted(self.visited.items(), key=lambda item: -item[1].score)
        for key, model in ranked[:n_best]:
            if key not in self._expanded:
                self._note("kick", Neighbour(model.draft), model, None, 0)
                return model
        return None

    def settle(self, m: GlcFit) -> GlcFit:
        """Return the same model with links in the directions that come first by name."""
        draft = m.draft if self._is_named else find_first_equivalent(m.draft)
        if draft.exact_key == m.draft.exact_key:
            return m
        structure = draft.build(self.columns)
        network, value = self.fitter.fit(structure, m.network, self.evaluation.full)
        same = GlcFit(
            draft, network, value, network.dimension, self.criterion.score(network, value)
        )
        return m if is_better(m, same) else same

    def is_settled(self, m: GlcFit) -> bool:
        """Whether the neighbours of a model have been looked at."""
        return self._key(m.draft) in self._expanded

    def _key(self, draft: Draft) -> Hashable:
        return draft.exact_key if self._is_named else draft.key

    def _regularize(self, draft: Draft) -> Draft | None:
        if self.regularization is False:
            return draft
        key = draft.exact_key
        if key not in self._regular:
            self._regular[key] = self._find_regular(draft)
        return self._regular[key]

    def _find_regular(self, draft: Draft) -> Draft | None:
        structure = draft.build(self.columns)
        if self.regularization == "discard":
            return draft if is_regular(structure) else None
        regular = regularize(structure)
        if regular is structure or regular == structure:
            return draft
        smaller = Draft.of(regular)
        return smaller if self.rules.allow(smaller) else None

    def _evaluate(self, pool: Pool, m: GlcFit) -> list[tuple[Neighbour, GlcFit]]:
        """Fit the candidates that can be better than a model; those of an earlier run are known."""
        pool = [each for each in pool if self._can_win(each.draft, m)]
        number, known = self._n_evaluated, self.journal.recall(self._n_evaluated)
        self._n_evaluated += 1
        if known is not None:
            return [self._recall(pool[place], *numbers) for place, *numbers in known["models"]]
        places = self._pick_winners(pool, m) if self.evaluation.is_local else range(len(pool))
        fitted = []
        for place in places:
            self._check_clock(f"step {len(self.rows)}: candidate {place + 1} of {len(pool)}")
            fitted.append((pool[place], self._fit(pool[place].draft, m.network)))
        models = [
            (place, model.log_likelihood, model.score, model.network.parameters.tolist())
            for place, (_, model) in zip(places, fitted, strict=True)
        ]
        self.journal.write({"step": number, "models": models})
        return fitted

    def _recall(
        self, neighbour: Neighbour, value: float, score: float, parameters: list[float]
    ) -> tuple[Neighbour, GlcFit]:
        """Take a fit from the journal."""
        key = self._key(neighbour.draft)
        if key not in self.visited:
            structure = neighbour.draft.build(self.columns)
            network = Network(structure, np.array(parameters))
            self._keep(key, GlcFit(neighbour.draft, network, value, network.dimension, score))
        return neighbour, self.visited[key]

    def _can_win(self, draft: Draft, m: GlcFit) -> bool:
        """Whether a structure could be better than a model, whatever its parameters.

        One that would not be better with the highest likelihood there is could not. Where the
        score has no penalty, models with more parameters than cells of the table are left out.
        """
        dimension = draft.compute_dimension(self.cards)
        if self.criterion.penalty is None:
            return dimension <= self._most_parameters
        if self.highest is None:
            return True
        return self.highest - self.criterion.penalty * dimension > m.score + LEAST_GAIN

    def _pick_winners(self, pool: Pool, m: GlcFit) -> list[int]:
        """Choose candidates by local fits, in which what is far from the change stays as it is."""
        ranks = []
        for number, neighbour in enumerate(pool):
            self._check_clock(f"step {len(self.rows)}: local fit {number + 1} of {len(pool)}")
            ranks.append(self._judge_locally(neighbour.draft, m))
        winners = sort_best_first(ranks)[: self.evaluation.n_winners] if ranks else []
        for place in winners:  # those that were judged in an earlier step need parameters
            self._judge_locally(pool[place].draft, m, is_new=True)
        return winners

    def _judge_locally(self, draft: Draft, m: GlcFit, is_new: bool = False) -> float:
        """Rank a candidate by a local fit, or by an earlier one of the same change."""
        known = self.visited.get(self._key(draft))
        if known is not None:
            return _rank(known.score - m.score, known.dimension - m.dimension)
        structure, old = draft.build(self.columns), m.network.structure
        free = list_free(structure, old)
        change = describe_change(structure, old, free)
        is_known = self._key(draft) in self._local if is_new else change in self._gains
        if not is_known:
            is_link = draft.sizes == m.draft.sizes
            effort = self.evaluation.links if is_link else self.evaluation.local
            network, value = self.fitter.fit(structure, m.network, effort, free)
            self._local[self._key(draft)] = network
            cost = self._penalty * (network.dimension - m.dimension)
            self._gains[change] = value - m.log_likelihood - cost
        return _rank(self._gains[change], draft.compute_dimension(self.cards) - m.dimension)

    def _fit(self, draft: Draft, origin: Network | None) -> GlcFit:
        key = self._key(draft)
        if key not in self.visited:
            structure = draft.build(self.columns)
            near, effort = self._local.pop(key, origin), self.evaluation.full
            if near is None:
                effort = replace(effort, n_random=max(effort.n_random, START_STARTS))
            network, value = self.fitter.fit(structure, near, effort)
            score = self.criterion.score(network, value)
            self._keep(key, GlcFit(draft, network, value, network.dimension, score))
        return self.visited[key]

    def _keep(self, key: Hashable, model: GlcFit) -> None:
        self.visited[key] = model
        if self.best is None or is_better(model, self.best):
            self.best = model

    def _check_clock(self, message: str) -> None:
        self.say(message)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise SearchEnded("the time limit was reached")
        n_steps = sum(row["phase"] == "climb" for row in self.rows)
        if self.max_steps is not None and n_steps >= self.max_steps:
            raise SearchEnded("the limit of steps was reached")

    def _note(
        self, phase: str, step: Neighbour, model: GlcFit, origin: GlcFit | None, n_candidates: int
    ) -> None:
        """Add a row to the trace; ``origin`` is the model that the step led away from."""
        self._origins.append(-1 if origin is None else self._places[origin.draft.exact_key])
        self._places.setdefault(model.draft.exact_key, len(self.rows))
        penalty = 0.5 * math.log(self.data.total_weight)
        self.rows.append(
            {
                "step": len(self.rows),
                "phase": phase,
                **step.change.to_columns(),
                "accepted": False,
                "log_likelihood": model.log_likelihood,
                "n_parameters": model.dimension,
                "bic": model.log_likelihood - penalty * model.dimension,
                "score": model.score,
                "n_latents": len(model.draft.sizes),
                "candidates": n_candidates,
                "fits": self.fitter.n_fits,
                "seconds": round(time.monotonic() - self._began, 3),
            }
        )

    def accept(self, model: GlcFit) -> None:
        """Take a model for the result, and mark the way that led to it."""
        if model.draft.exact_key not in self._places:
            self._note("result", Neighbour(model.draft), model, None, 0)
        place = self._places[model.draft.exact_key]
        while place >= 0 and not self.rows[place]["accepted"]:
            self.rows[place]["accepted"] = True
            place = self._origins[place]


def is_better(m1: GlcFit, m: GlcFit) -> bool:
    """Whether the score of a model is higher than that of another by more than EM's precision."""
    return m1.score > m.score + LEAST_GAIN


def find_highest(data: PatternedData) -> float | None:
    """Return the highest log-likelihood that any model can have; none if cells are missing."""
    table = data.dataset
    if not all(each.is_categorical for each in table.variables) or table.has_missing:
        return None
    rows = np.stack(table.columns, axis=1)
    _, places = np.unique(rows, axis=0, return_inverse=True)
    counts = np.bincount(places.ravel(), table.weights)
    return float(np.sum(counts * np.log(counts / counts.sum())))


def _rank(gain: float, change: int) -> float:
    """Rank by the gain per parameter; what costs none comes first."""
    if change > 0:
        return gain / change
    return gain * 2.0**100 if gain > LEAST_GAIN else min(gain, 0.0)


def _choose(
    found: Sequence[tuple[Neighbour, GlcFit]], value: Callable[[GlcFit], float]
) -> tuple[Neighbour, GlcFit]:
    """Return the model of the highest value; of equal ones, the first by its key."""
    highest = max(value(model) for _, model in found)
    margin = LEAST_GAIN * min(1.0, 1e-3 * abs(highest)) if math.isfinite(highest) else 0.0
    equal = [each for each in found if value(each[1]) >= highest - margin]
    return min(equal, key=lambda each: each[1].draft.key)


def choose_by_score(search: GlcSearch) -> GlcFit:
    """Return the visited model with the highest score; of equal ones, the simplest."""
    highest = max(model.score for model in search.visited.values())
    equal = [each for each in search.visited.values() if each.score >= highest - LEAST_GAIN]
    return min(equal, key=describe_simplicity)


def describe_simplicity(model: GlcFit) -> tuple[Any, ...]:
    """Sort models by parameters, latent variables and links."""
    return model.dimension, len(model.draft.sizes), len(model.draft.links), model.draft.key


def choose_by_p(search: GlcSearch) -> GlcFit:
    """Return the visited model with the highest p-value of G²; of equal ones, the simplest.

    Degrees of freedom are those of the effective dimension; models that leave none are not
    compared. If none leaves any, the best by score is returned.
    """
    n_cells, highest_possible = math.prod(search.cards.values()), search.highest or 0.0
    found = []
    for model in search.visited.values():
        df = n_cells - 1 - compute_effective_dimension(model.network.structure)
        if df > 0:
            g_squared = max(2.0 * (highest_possible - model.log_likelihood), 0.0)
            found.append((float(chdtrc(df, g_squared)), model))
    if not found:
        return choose_by_score(search)
    highest = max(p for p, _ in found)
    equal = [model for p, model in found if p >= highest - SAME_P]
    return min(equal, key=describe_simplicity)
