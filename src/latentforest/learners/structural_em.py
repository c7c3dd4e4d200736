"""Structural EM (Friedman 1997): a network from a table with missing cells and latent variables.

``_climb`` is the algorithm. Parameters are improved by EM, rows are completed by the posterior of
what they leave open, and the structure is improved by a search on the completed table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from latentforest.data import Dataset, Variable
from latentforest.errors import DataError
from latentforest.estimation.em import EMSettings, FitResult, Monitor
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.inference.counts import count_tables, normalize_tables
from latentforest.inference.forest import PatternedData
from latentforest.inference.patterns import Mask
from latentforest.inference.posterior_completions import warn_of_left_out
from latentforest.kernels.types import FloatArray
from latentforest.learners.bayesian_network import BayesianNetworkSearch
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.finish import finish
from latentforest.learners.common.interruption import conclude
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.learners.common.progress import Progress
from latentforest.learners.parts.structural_settings import check_settings, read_latents
from latentforest.model import Network, Structure
from latentforest.scores.families import FamilyPrior
from latentforest.search.changes import Change
from latentforest.search.dags.family_scores import Arc
from latentforest.search.dags.search import DagSearchSettings
from latentforest.search.ended import SearchEnded
from latentforest.search.glc.criteria import sort_rows
from latentforest.search.glc.fits import transfer
from latentforest.search.structural.arcs import perturb, to_masks
from latentforest.search.structural.fits import NetworkFits, ScoredNetwork, count_completed
from latentforest.search.structural.hidden import HiddenCandidate, find_idle, list_candidates
from latentforest.search.structural.restoring import number_latents, put_back
from latentforest.search.structural.search import StructuralSearch
from latentforest.search.structural.starts import (
    draw_below,
    draw_parameters,
    hang_columns,
    obey_in_turn,
    span_columns,
)
from latentforest.search.structural.steps import StepSettings, StructureSteps, Tiers
from latentforest.ties import choose_best, sort_best_first

FEW_COLUMNS = 12  # up to so many, there are by default
MANY_RESTARTS = 10  # restarts; one for more columns
AUTO_FIRSTS = 2  # first hidden variables from which "auto" goes on, by default
N_WINNERS = 3  # hidden variables of a round from which structural EM climbs


class StructuralEM(LatentLearner):
    """A Bayesian network over columns with missing cells, and over latent variables.

    Where cells are missing, or variables latent, the score of a structure is not a sum over
    families. Structural EM completes each row by all that may stand in its open cells, weighted by
    the posterior under the current network; on the completed table, scores are sums again. A step
    is taken if the score of the observed cells rises. Columns are categorical; continuous ones are
    taken only where nothing is missing or latent, and the result is that of
    `BayesianNetworkSearch`.

    Parameters
    ----------
    latents
        Latent variables: None; names with numbers of states, ``{"H": 3}``; or "auto": where the
        network has semi-cliques, latent variables are tried and kept if the score rises.
    method
        How a completed table is searched: "order", "hill-climbing", "tabu", "annealing" or "exact",
        as by `BayesianNetworkSearch`.
    criterion
        Score of structures on the completed table: "bic", "mdl", "aic", "likelihood", "k2", "ch" or
        "bdeu". Which steps are taken is decided by the observed cells: by the same score, or by
        BIC if it is one of the last three, which have no value for incomplete rows.
    equivalent_sample_size
        Observations that the prior of "bdeu" is worth.
    required, forbidden
        Arcs that all structures have, or none: pairs (parent, child). Names of columns, or of
        latent variables that are given.
    tiers
        Lists of columns; no arc leads from a column to one of an earlier list.
    max_parents
        At most so many parents of a variable.
    n_restarts
        So many further climbs, from changed copies of the best network and from the empty one; with
        latent variables, also from random sets of columns below them. By default ten for up to
        twelve columns, one for more. None where nothing is missing or latent.
    search_restarts
        Further runs of each search on a completed table.
    structure_step
        "search": a whole search on the completed table. "one": the best single arc to add, delete
        or reverse.
    evaluation
        "expected": by the completed table. "full": EM on each structure that differs in one arc,
        which takes long; up to 12 variables.
    max_states
        Most states of a latent variable of "auto".
    n_starts
        Random starts of EM for new latent variables.
    epsilon
        A step must raise the score by more than this.
    max_steps
        End after so many steps.
    max_iterations, tolerance
        Of EM for each structure; the last one is fitted more closely.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the last network's
        parameters: a number for each cell, "laplace", or arrays by variable.
    n_jobs, random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, the best network so far is returned.

    Attributes
    ----------
    network_, log_likelihood_, n_parameters_, bic_
        The best network; states that do not occur are not counted.
    score_
        The criterion's value on the observed cells; BIC if it has none.
    cpdag_
        The equivalence class of its structure.
    history_
        One row for each network that was fitted: run, phase, operator, variables, whether it is on
        the way to the result, scores, runs of EM and seconds so far.
    n_fits_
        Runs of EM.
    left_out_share_
        Largest share of the rows' weight whose completions were left out in a step; above 1% there
        is a warning.
    monitor_, interrupted_, stopped_
        How the last EM went; true after Ctrl-C; why the search ended early, if it did.

    Examples
    --------
    >>> from latentforest import datasets
    >>> data = datasets.load("role-conflict")
    >>> model = StructuralEM(latents={"H": 2}, random_state=0).fit(data)
    >>> round(model.bic_, 2), round(StructuralEM(random_state=0).fit(data).bic_, 2)
    (-528.66, -531.3)
    >>> print(model.history_["phase"][0], model.n_fits_ > 0)
    start True
    """

    monitor_: Monitor
    interrupted_: bool
    stopped_: str | None

    latents: Mapping[str, int] | str | None
    method: str
    criterion: str
    equivalent_sample_size: float
    required: Sequence[Arc]
    forbidden: Sequence[Arc]
    tiers: Tiers | None
    max_parents: int | None
    n_restarts: int | None
    search_restarts: int
    structure_step: str
    evaluation: str
    max_states: int
    n_starts: int
    epsilon: float
    max_steps: int | None

    def __init__(
        self,
        latents: Mapping[str, int] | str | None = None,
        method: str = "order",
        criterion: str = "bic",
        equivalent_sample_size: float = 1.0,
        required: Sequence[Arc] = (),
        forbidden: Sequence[Arc] = (),
        tiers: Tiers | None = None,
        max_parents: int | None = None,
        n_restarts: int | None = None,
        search_restarts: int = 10,
        structure_step: str = "search",
        evaluation: str = "expected",
        max_states: int = 8,
        n_starts: int = 16,
        epsilon: float = 0.01,
        max_steps: int | None = None,
        max_iterations: int = 200,
        tolerance: float = 1e-6,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _climb(self, search: StructuralSearch, start: ScoredNetwork) -> ScoredNetwork:
        """Structural EM from a network whose parameters were improved by EM.

        A step completes the data by (S, θ), finds the structure of the highest expected score, and
        improves its parameters by EM.
        """
        s = start
        while True:
            better = search.improve_structure(s)
            if better is None:
                return s
            s = better

    def _search(self, search: StructuralSearch, seed: int) -> None:
        """Find a network without latent variables, or with given ones, or with new ones."""
        latents = read_latents(self.latents, search.fits.table)
        columns = search.fits.table.variables
        if isinstance(self.latents, str):
            self._add_hidden(search, self._search_columns(search, columns, seed), seed)
        elif latents:
            self._search_given(search, (*columns, *latents), seed)
        else:
            self._search_columns(search, columns, seed)

    def _search_columns(
        self, search: StructuralSearch, columns: Sequence[Variable], seed: int
    ) -> ScoredNetwork:
        """Climb from a forest, from the empty network, and from changed copies of the best."""
        fits, constraints = search.fits, search.steps.read_constraints(tuple(columns))
        if not fits.table.has_missing:
            return self._climb(
                search, search.begin(columns, constraints.required, Change("no arcs"))
            )
        forest = span_columns(fits.table, constraints, fits.data.n_jobs)
        found = [self._climb(search, search.begin(columns, forest, Change("forest")))]
        for restart in range(self._count_restarts(search)):
            best = choose_best(found, lambda model: model.score)
            if restart == 1:
                start = search.begin(columns, constraints.required, Change("no arcs"))
            else:
                start = self._perturb(search, best, np.random.default_rng([seed, restart]))
            found.append(self._climb(search, start))
        return choose_best(found, lambda model: model.score)

    def _count_restarts(self, search: StructuralSearch) -> int:
        """By default many where climbs are quick."""
        if self.n_restarts is not None:
            return int(self.n_restarts)
        return MANY_RESTARTS if len(search.fits.table.variables) <= FEW_COLUMNS else 1

    def _perturb(
        self, search: StructuralSearch, model: ScoredNetwork, generator: np.random.Generator
    ) -> ScoredNetwork:
        """Change some arcs of a network at random."""
        variables, names, structure = model.network.variables, model.network.names, model.structure
        parents = to_masks(names, {name: structure.parents(name) for name in names})
        constraints = search.steps.read_constraints(variables)
        changed = perturb(parents, constraints, max(3, len(names) // 3), generator)
        completed = search.fits.complete(model.network)
        return search.begin(
            variables,
            changed,
            Change("changed arcs"),
            lambda structure: count_completed(structure, completed),
            model,
        )

    def _search_given(
        self, search: StructuralSearch, variables: Sequence[Variable], seed: int
    ) -> ScoredNetwork:
        """Climb from latent variables above all columns, and above random sets of columns."""
        table, constraints = search.fits.table, search.steps.read_constraints(tuple(variables))
        latents = [variable.name for variable in variables if variable.latent]
        nothing = (0,) * len(variables)
        forest = span_columns(table, constraints, search.fits.data.n_jobs)
        found: list[ScoredNetwork] = []
        for restart in range(self._count_restarts(search) + 1):
            generator = np.random.default_rng([seed, restart])
            if restart == 0:
                below, arcs = {name: list(table.names) for name in latents}, nothing
            elif restart % 3 == 2:
                best = choose_best(found, lambda model: model.score)
                found.append(self._climb(search, self._perturb(search, best, generator)))
                continue
            else:
                below, arcs = draw_below(latents, table.names, generator), forest
            parents = hang_columns(arcs, variables, below, constraints)
            what = Change("latents above columns", latents)
            start = self._begin_hidden(search, variables, parents, what, seed + restart)
            found.append(self._climb(search, start))
        return choose_best(found, lambda model: model.score)

    def _begin_hidden(
        self,
        search: StructuralSearch,
        variables: Sequence[Variable],
        parents: Sequence[Mask],
        what: Change,
        seed: int,
        origin: ScoredNetwork | None = None,
    ) -> ScoredNetwork:
        """Fit a start with latent variables by EM from random parameters."""
        network = None if origin is None else origin.network

        def draw(structure: Structure) -> FloatArray:
            return draw_parameters(structure, network, search.fits.table, self.n_starts, seed)

        return search.begin(variables, parents, what, draw, origin)

    def _add_hidden(
        self, search: StructuralSearch, model: ScoredNetwork, seed: int
    ) -> ScoredNetwork:
        """Add latent variables; begin with each of the best few first ones."""
        n_firsts = AUTO_FIRSTS if self.n_restarts is None else 1 + self.n_restarts
        firsts = self._try_hidden(search, model, seed)[:n_firsts]
        ends = [self._grow(search, first, seed) for first in firsts]
        return choose_best([model, *ends], lambda each: each.score)

    def _grow(self, search: StructuralSearch, model: ScoredNetwork, seed: int) -> ScoredNetwork:
        """Add latent variables, or states of them, as long as the score rises."""
        while True:
            tried = self._try_hidden(search, model, seed)
            if not tried or not search.is_better(tried[0], model):
                return model
            model = tried[0]

    def _try_hidden(
        self, search: StructuralSearch, model: ScoredNetwork, seed: int
    ) -> list[ScoredNetwork]:
        """Fit all candidates, climb from the best few, and return where that led, best first."""
        starts = list(self._fit_candidates(search, model, seed))
        order = sort_best_first([start.score for start in starts])[:N_WINNERS]
        ends = [self._drop_idle(search, self._climb(search, starts[i])) for i in order]
        return [ends[i] for i in sort_best_first([end.score for end in ends])]

    def _fit_candidates(
        self, search: StructuralSearch, model: ScoredNetwork, seed: int
    ) -> Iterator[ScoredNetwork]:
        for number, candidate in enumerate(list_candidates(model.structure, self.max_states)):
            parents = _obey(search, candidate)
            yield self._begin_hidden(
                search, candidate.variables, parents, candidate.change, seed + number, model
            )

    def _drop_idle(self, search: StructuralSearch, model: ScoredNetwork) -> ScoredNetwork:
        """Remove latent variables that no two columns have in common, and climb again."""
        idle = find_idle(model.structure)
        if not idle:
            return model
        structure = model.structure.remove(idle)
        parents = to_masks(structure.names, {n: structure.parents(n) for n in structure.names})
        start = search.begin(
            structure.variables,
            parents,
            Change("node deletion", tuple(idle)),
            lambda new: transfer(new, model.structure, model.network.parameters),
            model,
        )
        return self._drop_idle(search, self._climb(search, start))

    def _learn(self, work: Work) -> Learned:
        self._check(work.table)
        if self._is_plain(work.table):
            return self._learn_complete(work)
        search = self._open(work)
        was_interrupted, stopped = False, None
        try:
            self._search(search, work.seed)
        except SearchEnded as end:
            stopped = str(end)
        except KeyboardInterrupt:
            if search.best is None:
                raise
            was_interrupted = True
        return conclude(work, lambda work: self._describe(work, search, was_interrupted, stopped))

    def _is_plain(self, table: Dataset) -> bool:
        """Whether a single search does all: nothing is missing or latent."""
        is_search = self.structure_step == "search" and self.evaluation == "expected"
        return is_search and self.latents is None and not table.has_missing

    def _learn_complete(self, work: Work) -> Learned:
        """Search the table itself, which is complete: one step, and no EM."""
        learner = BayesianNetworkSearch(
            self.method,
            self.criterion,
            self.equivalent_sample_size,
            required=self.required,
            forbidden=self.forbidden,
            tiers=self.tiers,
            max_parents=self.max_parents,
            n_restarts=self.search_restarts,
            prior=self.prior,
        )
        found = learner._learn(work)
        monitor = Monitor(converged=True, reason="nothing is missing: counts are exact")
        more = {"n_fits": 0, "left_out_share": 0.0, "monitor": monitor}
        return replace(found, attributes=found.attributes | more)

    def _open(self, work: Work) -> StructuralSearch:
        named = work.table.select(sorted(work.table.names))
        table = sort_rows(named.merged()[0])
        data = PatternedData(table, self.n_jobs)
        settings = EMSettings(self.max_iterations, self.tolerance)
        fits = NetworkFits(data, self.criterion, settings, work.deadline)
        how = DagSearchSettings(
            self.method, int(self.search_restarts), seed=work.seed, n_jobs=data.n_jobs
        )
        use = StepSettings(
            how,
            self.criterion,
            FamilyPrior(self.equivalent_sample_size),
            tuple(self.required),
            tuple(self.forbidden),
            self.tiers,
            self.max_parents,
        )
        steps = StructureSteps(fits, use, self.structure_step == "one", self.evaluation == "full")
        return StructuralSearch(fits, steps, self.epsilon, self.max_steps, work.say, work.deadline)

    def _describe(
        self, work: Work, search: StructuralSearch, was_interrupted: bool, stopped: str | None
    ) -> Learned:
        warn_of_left_out(search.fits.left_out)
        best = search.best
        assert best is not None  # for the type checker: a search begins with a network
        network = put_back(best.network, work.table)
        if isinstance(self.latents, str):
            network = number_latents(network, work.table)
        result, network = self._finish(work, network, best, was_interrupted)
        value, dimension = result.log_likelihood, best.network.dimension  # of states that occur
        score = value - search.fits.price * dimension
        attributes = {
            "score": -score if self.criterion == "mdl" else score,
            "n_parameters": dimension,
            "bic": value - search.fits.bic_price * dimension,
            "cpdag": network.structure.cpdag(),
            "n_fits": search.fits.n_fits,
            "left_out_share": search.fits.left_out,
            "monitor": result.monitor,
            "interrupted": was_interrupted or result.monitor.was_interrupted,
            "stopped": stopped,
        }
        return Learned(network, result.log_likelihood, search.history, attributes)

    def _finish(
        self, work: Work, network: Network, best: ScoredNetwork, was_interrupted: bool
    ) -> tuple[FitResult, Network]:
        """Fit the last network more closely; without open cells, by counts."""
        structure = network.structure
        if structure.latents or work.table.has_missing:
            settings = EMSettings(self.max_iterations, self.tolerance)
            return finish(
                work,
                network,
                best.log_likelihood,
                self.prior,
                settings,
                was_interrupted,
                keeps_roots=True,
            )
        return self._count(work, network)

    def _count(self, work: Work, network: Network) -> tuple[FitResult, Network]:
        structure = network.structure
        counts = count_tables(structure, work.table)
        parameters = normalize_tables(structure, counts + pseudo_counts(structure, self.prior))
        some = counts > 0
        value = float(counts[some] @ np.log(parameters[some]))
        monitor = Monitor(converged=True, reason="nothing is missing: counts are exact")
        return FitResult(parameters, value, value, monitor), network.with_parameters(parameters)

    def _check(self, table: Dataset) -> None:
        """Refuse tables and settings that make no sense."""
        for variable in table.variables:
            if not (variable.is_categorical or self._is_plain(table)):
                raise DataError(
                    f"column {variable.name!r} is continuous; StructuralEM takes categorical "
                    "columns where cells are missing or variables latent"
                )
        latents = read_latents(self.latents, table)
        check_settings(self, table, latents)
        pseudo_counts(Structure((*table.variables, *latents), {}), self.prior)


def _obey(search: StructuralSearch, candidate: HiddenCandidate) -> tuple[Mask, ...]:
    """Return the parents of a candidate as far as constraints allow; those latent first."""
    names = [variable.name for variable in candidate.variables]
    hidden = {variable.name for variable in candidate.variables if variable.latent}
    constraints = search.steps.read_constraints(candidate.variables)
    first = {
        name: [parent for parent in parents if parent in hidden]
        for name, parents in candidate.parents.items()
    }
    return obey_in_turn(to_masks(names, first), to_masks(names, candidate.parents), constraints)
