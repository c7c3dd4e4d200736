"""Generalized latent class models by search (Chen, Hua and Liu 2009).

``_climb`` is Algorithm 1 of the paper; its three functions are methods of ``GlcSearch``. There the
search ends where no neighbour is better. Here it goes on from the next best models that it has
visited, until the neighbours of the best few are known (``n_kicks``).
"""

from __future__ import annotations

import numbers
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any

from latentforest.data import Dataset
from latentforest.data.results.table import Table
from latentforest.errors import DataError, ParameterError
from latentforest.estimation.em import EMSettings
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.inference.forest import PatternedData
from latentforest.learners.common.base import Learned, NetworkLearner, Work
from latentforest.learners.common.finish import finish
from latentforest.learners.common.interruption import conclude
from latentforest.learners.common.latent_tree import LatentTreeLearner, find_varying
from latentforest.learners.common.progress import Progress
from latentforest.learners.common.starts import describe_start
from latentforest.learners.common.tree_search import NOT_SEARCHED
from latentforest.learners.parts.glc_settings import (
    Links,
    check_start,
    list_starts,
    put_back,
    read_links,
)
from latentforest.model import Network, Structure
from latentforest.scores.residuals import compute_bivariate_residuals
from latentforest.search.dags.best import BestNetwork, best_network
from latentforest.search.ended import SearchEnded
from latentforest.search.glc.criteria import CRITERIA, make_criterion, sort_rows
from latentforest.search.glc.fits import FitEffort, GlcFit, transfer
from latentforest.search.glc.neighbours import FAMILIES, GlcRules, Screen
from latentforest.search.glc.search import (
    EVALUATIONS,
    Evaluation,
    GlcSearch,
    choose_by_p,
    choose_by_score,
)
from latentforest.search.trees.journal import Journal, fingerprint
from latentforest.search.trees.model import Model
from latentforest.ties import sort_best_first

FEW_COLUMNS = 7  # up to so many, everything may be linked with everything
MANY_COLUMNS = 12  # up to so many, the search climbs from each of the usual starts
FEW_CELLS = 4_000  # numbers in the table, distinct rows only, up to which every candidate gets EM
KICKS = 30  # where candidates get full EM
LOCAL_KICKS = 20  # where candidates get local fits
CV_KICKS = 5  # where each score is five fits
N_STARTS = 18  # random ones, of full EM on small tables
LEAST_LINKS = 24  # changes of links that get a local fit in a step
FINAL_TOLERANCE = 1e-11
EXACT_COLUMNS = 12  # up to so many, the best network without latent variables is found


class GeneralizedLatentClass(LatentTreeLearner):
    """Generalized latent class models: latent variables, and direct links between columns.

    Columns may depend on several latent variables and on each other; parents of latent variables
    are latent. Continuous columns are Gaussian given their parents and have no children. Where
    fewer than three columns vary, the result is independent columns, as no latent variable is
    needed.

    Parameters
    ----------
    regularize
        Whether irregular candidates are replaced by regular ones that dominate them; False fits
        them as they are; "discard" leaves them out, by which the search gets stuck.
    family
        "glc"; "ls" (latent structure models): no links between columns; "hlc" (hierarchical latent
        class models): trees; "lc": one latent variable.
    attached
        Whether every column keeps a latent parent.
    max_latent_parents
        Most latent parents of a column; by default any number.
    max_states
        Most states of a latent variable.
    required, forbidden
        Links that all models have, or none: pairs (parent, child), or text "A -> B". Names of
        columns, or of latent variables of ``start``.
    start
        Initial model: a network, a learner or the name of one such as "east" or "bridged-islands";
        default a latent class model with two classes; for tables that are not small, also one with
        more classes, a tree by "bridged-islands", and the best network over the columns with a
        latent variable in the place of some links (from each of them up to 12 columns, otherwise
        from the best).
    criterion
        What the search raises: "bic", "aic", or "cv" (the log-likelihood of held-out rows).
    select
        "score": the best model by the criterion; "p": of the models visited, the one with the
        highest p-value of G².
    evaluation
        How candidates are judged: "full" runs EM on each, as the paper does; "local" fits the
        families around the change and runs EM on the most promising; by default "full" for small
        tables.
    n_winners
        So many candidates get full EM in a step of local evaluation.
    n_pairs
        So many pairs of columns, those with the largest bivariate residuals, may be linked in a
        step, or get a latent parent; by default all where columns are few, otherwise as many as
        columns.
    n_kicks
        The search goes on until the neighbours of so many of the best models have been looked at;
        by default 30 with full evaluation, 20 with local evaluation, and with cross-validation 5
        and 1 (which is Algorithm 1).
    n_starts
        Random starts of full EM, beside those from the current model.
    max_steps
        End after so many steps.
    max_iterations, tolerance
        Of EM; the last model is fitted more closely.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the last model's
        parameters: a number for each cell, "laplace", or arrays by variable.
    checkpoint, resume
        File that keeps every step; go on with the steps in it.
    n_jobs, random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, the best model so far is returned.

    Attributes
    ----------
    network_, bic_, log_likelihood_, n_parameters_
        The best model.
    history_
        One row for each step: phase, operator, variables, whether it led to the result, scores,
        candidates, fits of EM so far, seconds.
    n_fits_
        Runs of EM, local ones included.
    n_visited_
        Different models among them.
    without_latents_
        The best network over the columns alone: ``network``, ``bic``, and ``is_optimal`` (otherwise
        a lower bound). None for tables with missing values or continuous columns, or when the time
        is up.
    interrupted_, stopped_
        True after Ctrl-C; why the search ended early, if it did.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = GeneralizedLatentClass(random_state=0).fit(datasets.load("hiv-tests"))
    >>> round(model.bic_, 3), model.n_parameters_
    (-653.657, 9)
    >>> round(model.without_latents_.bic, 3)
    -653.657
    """

    _enough_with_numbers = 3

    def __init__(
        self,
        regularize: bool | str = True,
        family: str = "glc",
        attached: bool = False,
        max_latent_parents: int | None = None,
        max_states: int | None = None,
        required: Links = (),
        forbidden: Links = (),
        start: Network | NetworkLearner | str | None = None,
        criterion: str = "bic",
        select: str = "score",
        evaluation: str | None = None,
        n_winners: int = 4,
        n_pairs: int | None = None,
        n_kicks: int | None = None,
        n_starts: int = N_STARTS,
        max_steps: int | None = None,
        max_iterations: int = 1000,
        tolerance: float = 1e-8,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        checkpoint: Any = None,
        resume: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _climb(self, search: GlcSearch, start: GlcFit) -> GlcFit:
        """GLC_LEARNING(D), from an initial model; ends where another climb has been."""
        m = search.change_links(start)
        while not search.is_settled(m):
            pool = search.raise_complexity(m)
            regular = search.regularize(pool, m)
            better = search.descend(regular, m)
            m = search.change_links(better)
        return m

    def _search(self, search: GlcSearch, start: GlcFit, n_kicks: int) -> None:
        """Climb, and go on from the next best models."""
        kick: GlcFit | None = start
        while kick is not None:
            self._climb(search, kick)
            kick = search.find_kick(n_kicks)

    def _learn_tree(self, work: Work) -> Learned:
        rules = self._make_rules(work.table)
        search = self._open(work, rules)
        with search.journal:
            return self._search_all(work, rules, search)

    def _search_all(self, work: Work, rules: GlcRules, search: GlcSearch) -> Learned:
        was_interrupted, stopped, without = False, None, None
        try:
            is_local = search.evaluation.is_local
            found = list_starts(self.start, work, search.columns, rules, is_local)
            starts = [search.begin(*start) for start in found]
            work.check_interruptions()
            if is_local and self.start is None:
                without = self._find_without_latents(work)
                starts += self._begin_with_columns(work, search, without)
            order = sort_best_first([model.score for model in starts])
            n_climbs = len(starts) if len(search.columns) <= MANY_COLUMNS else 1
            for place in order[:n_climbs]:
                self._search(search, starts[place], self._count_kicks(search))
        except SearchEnded as end:
            stopped = str(end)
        except KeyboardInterrupt:
            if search.best is None:
                raise
            was_interrupted = True
        if without is None and not was_interrupted:
            with suppress(KeyboardInterrupt):
                without = self._find_without_latents(work)
        return conclude(
            work, lambda work: self._describe(work, search, was_interrupted, stopped, without)
        )

    def _describe_columns(self, model: Model, began: float) -> Learned:
        none = {"n_fits": 0, "n_visited": 0, "without_latents": None}
        return replace(super()._describe_columns(model, began), attributes=none)

    def _begin_with_columns(
        self, work: Work, search: GlcSearch, without: BestNetwork | None
    ) -> list[GlcFit]:
        """Begin with the best network over the columns, too, if there is one."""
        if without is None:
            return []
        gone = set(work.table.names) - {each.name for each in search.columns}
        old = without.network
        structure = old.structure.remove(gone)
        network = Network(structure, transfer(structure, old.structure, old.parameters))
        start = search.begin_with_columns(network, without.log_likelihood)
        return [] if start is None else [start]

    def _describe(
        self,
        work: Work,
        search: GlcSearch,
        was_interrupted: bool,
        stopped: str | None,
        without: BestNetwork | None,
    ) -> Learned:
        best = choose_by_p(search) if self.select == "p" else choose_by_score(search)
        search.accept(best)
        if not was_interrupted and stopped is None:
            best = search.settle(best)
        network = put_back(best.network, work.table, keeps_names=self.start is not None)
        result, network = finish(
            work,
            network,
            best.log_likelihood,
            self.prior,
            EMSettings(self.max_iterations, min(self.tolerance, FINAL_TOLERANCE)),
            was_interrupted,
            keeps_roots=True,
        )
        attributes = {
            "interrupted": was_interrupted or result.monitor.was_interrupted,
            "stopped": stopped,
            "monitor": result.monitor,
            "n_fits": search.fitter.n_fits,
            "n_visited": len(search.visited),
            "without_latents": without,
        }
        history = Table.from_rows(search.rows)
        return Learned(network, result.log_likelihood, history, attributes)

    def _open(self, work: Work, rules: GlcRules) -> GlcSearch:
        table = sort_rows(work.table.select(sorted(find_varying(work.table))).merged()[0])
        data = PatternedData(table, work.data.n_jobs)
        evaluation = self._plan_evaluation(data, work.deadline)
        header = {
            "learner": type(self).__name__,
            "settings": self._describe_settings(),
            "seed": work.seed,
            "data": fingerprint(table),
        }
        return GlcSearch(
            data=data,
            rules=rules,
            regularization=self.regularize,
            criterion=make_criterion(self.criterion, data),
            evaluation=evaluation,
            screen=self._make_screen(data, evaluation.is_local),
            seed=work.seed,
            say=work.say,
            journal=Journal(self.checkpoint, header, self.resume),
            deadline=work.deadline,
            max_steps=self.max_steps,
        )

    def _plan_evaluation(self, data: PatternedData, deadline: float | None) -> Evaluation:
        table = data.dataset
        is_small = table.n_columns <= FEW_COLUMNS and table.n_rows * table.n_columns <= FEW_CELLS
        is_local = self.evaluation == "local" or (self.evaluation is None and not is_small)
        settings = EMSettings(self.max_iterations, self.tolerance)
        quick = EMSettings(min(30, self.max_iterations), max(self.tolerance, 1e-6))
        n_random = int(self.n_starts) if is_small or not is_local else 0
        return Evaluation(
            is_local,
            FitEffort(0, 2, quick, deadline),
            FitEffort(2, 4, quick, deadline),
            FitEffort(n_random, 2, settings, deadline),
            int(self.n_winners),
            max(LEAST_LINKS, table.n_columns),
        )

    def _make_screen(self, data: PatternedData, is_local: bool) -> Any:
        """Return what finds the pairs of columns that may be linked."""
        names = data.dataset.names
        n_pairs = self.n_pairs
        if n_pairs is None and len(names) <= FEW_COLUMNS:
            pairs = list(combinations(names, 2))
            return lambda model: Screen.of_pairs(names, pairs) if is_local else Screen.open(names)
        n_used = len(names) if n_pairs is None else int(n_pairs)

        def screen(model: GlcFit) -> Screen:
            found = compute_bivariate_residuals(model.network, data)
            pairs = list(zip(found["first"], found["second"], strict=True))
            return Screen.of_pairs(names, pairs[:n_used])

        return screen

    def _count_kicks(self, search: GlcSearch) -> int:
        if self.n_kicks is not None:
            return int(self.n_kicks)
        if self.criterion == "cv":
            return 1 if search.evaluation.is_local else CV_KICKS
        return LOCAL_KICKS if search.evaluation.is_local else KICKS

    def _make_rules(self, table: Dataset) -> GlcRules:
        names = (*table.names, *self._latents())
        required = read_links("required", self.required, names)
        forbidden = read_links("forbidden", self.forbidden, names)
        if required & forbidden:
            link = " -> ".join(min(required & forbidden))
            raise ParameterError(f"the link {link} is both required and forbidden")
        numbers_ = frozenset(each.name for each in table.variables if not each.is_categorical)
        return GlcRules(
            self.family,
            self.attached,
            self.max_latent_parents,
            self.max_states,
            required,
            forbidden,
            numbers_,
        )

    def _describe_settings(self) -> dict[str, Any]:
        """Return the settings on which the steps of a search depend."""
        settings: dict[str, Any] = self.get_params(deep=False)
        for name in (*NOT_SEARCHED, "start", "select", "n_kicks"):
            settings.pop(name, None)
        for name in ("required", "forbidden"):
            settings[name] = [str(link) for link in settings[name]]
        if self.start is not None:
            settings["start"] = describe_start(self.start)
        return settings

    def _check_parameters(self, table: Dataset) -> None:
        for name, known in (
            ("regularize", (True, False, "discard")),
            ("family", FAMILIES),
            ("attached", (True, False)),
            ("criterion", CRITERIA),
            ("select", ("score", "p")),
            ("evaluation", (None, *EVALUATIONS)),
        ):
            if getattr(self, name) not in known:
                listed = ", ".join(map(repr, known))
                raise ParameterError(f"{name} must be one of {listed}, got {getattr(self, name)!r}")
        for name, least in (
            ("max_latent_parents", 1),
            ("max_states", 2),
            ("n_winners", 1),
            ("n_pairs", 1),
            ("n_kicks", 0),
            ("n_starts", 1),
            ("max_steps", 0),
        ):
            value = getattr(self, name)
            is_number = isinstance(value, numbers.Integral) and int(value) >= least
            if not is_number and (value is not None or name in ("n_winners", "n_starts")):
                raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
        if self.select == "p" and (table.has_missing or not _is_categorical(table)):
            raise DataError('select="p" needs categorical columns without missing values')
        pseudo_counts(Structure(table.variables, {}), self.prior)
        check_start(self.start, table)
        self._make_rules(table)

    def _find_without_latents(self, work: Work) -> BestNetwork | None:
        """Find the best network over the columns alone, which may be as good."""
        table = work.table
        if table.has_missing or not _is_categorical(table) or work.is_late():
            return None
        work.say("without latent variables")
        known = set(table.names)
        links = [
            [
                link
                for link in read_links(name, getattr(self, name), known | set(self._latents()))
                if known.issuperset(link)
            ]
            for name in ("required", "forbidden")
        ]
        try:
            return best_network(
                table,
                required=links[0],
                forbidden=links[1],
                exact_columns=EXACT_COLUMNS,
                check=lambda: _check_clock(work),
            )
        except SearchEnded:
            return None

    def _latents(self) -> tuple[str, ...]:
        """Names of latent variables that links may have."""
        return self.start.latents if isinstance(self.start, Network) else ()


def _check_clock(work: Work) -> None:
    if work.is_late():
        raise SearchEnded("the time limit was reached")


def _is_categorical(table: Dataset) -> bool:
    return all(variable.is_categorical for variable in table.variables)
