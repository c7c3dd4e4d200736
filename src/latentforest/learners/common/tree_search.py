"""What the learners that search for latent trees share: start, end, trace, checkpoint."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from dataclasses import replace
from typing import Any

from latentforest.data import Dataset
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.estimation.starts import random_starts
from latentforest.inference.engine import make_engine
from latentforest.learners.common.base import Learned, NetworkLearner, Work
from latentforest.learners.common.finish import finish
from latentforest.learners.common.interruption import conclude, make_late
from latentforest.learners.common.latent_tree import LatentTreeLearner
from latentforest.learners.common.progress import Progress, stay_silent
from latentforest.learners.common.starts import check_start, describe_start, find_start
from latentforest.model import Network, Structure
from latentforest.search.ended import SearchEnded
from latentforest.search.trees.evaluation import EVALUATIONS
from latentforest.search.trees.journal import Journal, fingerprint
from latentforest.search.trees.model import Model, fit_fully
from latentforest.search.trees.search import Search
from latentforest.search.trees.tree import Rules
from latentforest.ties import choose_best

MOST_RESERVES = 20  # by default
START_STARTS = 64  # starts of EM for the latent class model that a search begins with
NOT_SEARCHED = (  # settings that do not change the steps of a search
    "checkpoint",
    "max_steps",
    "n_jobs",
    "progress",
    "random_state",
    "resume",
    "prior",
    "smoothing",
    "time_limit",
)


class TreeSearch(LatentTreeLearner):
    """Base of the searches: gives them an initial model and makes an estimator of the result.

    The parameters are explained at ``EAST``.
    """

    mu: int
    nu: int
    evaluation: str
    n_winners: int
    n_reserves: int | None
    max_candidates: int | None
    n_runs: int
    any_mediator: bool
    start: Network | NetworkLearner | str | None
    max_states: int | None
    fixed: Any
    max_steps: int | None
    checkpoint: Any
    resume: bool

    def __init__(
        self,
        mu: int = 8,
        nu: int = 20,
        evaluation: str = "rl",
        n_winners: int = 4,
        n_reserves: int | None = None,
        max_candidates: int | None = 2000,
        n_runs: int = 1,
        any_mediator: bool = True,
        start: Network | NetworkLearner | str | None = None,
        max_states: int | None = None,
        fixed: Any = (),
        max_steps: int | None = None,
        max_iterations: int = 500,
        tolerance: float = 1e-6,
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

    @abstractmethod
    def _search(self, search: Search, m: Model) -> Model:
        """Search from an initial model."""

    def _learn_tree(self, work: Work) -> Learned:
        search = self._open(work)
        with search.journal:
            return self._run_all(work, search)

    def _run_all(self, work: Work, search: Search) -> Learned:
        was_interrupted, stopped = False, None
        try:
            found = [self._run(work, search, run) for run in range(self.n_runs)]
            search.trace.accept(choose_best(found, lambda model: model.bic))
        except SearchEnded as end:
            stopped = str(end)
        except KeyboardInterrupt:
            if search.best is None:
                raise
            was_interrupted = True
        return conclude(work, lambda work: self._describe(work, search, was_interrupted, stopped))

    def _describe(
        self, work: Work, search: Search, was_interrupted: bool, stopped: str | None
    ) -> Learned:
        assert search.best is not None  # for the type checker: the start always ends
        best = search.best
        result, network = finish(
            work,
            best.network,
            best.log_likelihood,
            self.prior,
            search.settings,
            was_interrupted,
        )
        attributes = {
            "interrupted": was_interrupted or result.monitor.was_interrupted,
            "stopped": stopped,
            "monitor": result.monitor,
            "phase_seconds": dict(search.seconds),
        }
        return Learned(network, result.log_likelihood, search.history, attributes)

    def _describe_columns(self, model: Model, began: float) -> Learned:
        return replace(super()._describe_columns(model, began), attributes={"phase_seconds": {}})

    def _run(self, work: Work, search: Search, run: int) -> Model:
        """Search once, with its own random numbers.

        New latent variables have as many states as in the papers; only when that leads no further,
        fewer are tried too. From the beginning, the cheap small ones would spoil the search.
        """
        initial = search.start(lambda: self._fit_start(work, search, run))
        work.check_interruptions()
        search.allow_any_mediator(False)
        found = self._search(search, initial)
        if self.any_mediator:
            search.allow_any_mediator(True)
            found = self._search(search, found)
        return found

    def _open(self, work: Work) -> Search:
        header = {
            "learner": type(self).__name__,
            "settings": self._describe_settings(),
            "seed": work.seed,
            "data": fingerprint(work.table),
        }
        return Search(
            data=work.data,
            evaluate=EVALUATIONS[self.evaluation],
            mu=int(self.mu),
            nu=int(self.nu),
            n_winners=int(self.n_winners),
            n_reserves=self._count_reserves(work.table),
            max_candidates=self.max_candidates,
            settings=EMSettings(self.max_iterations, self.tolerance),
            rules=Rules(self.max_states, frozenset(_read_names(self.fixed))),
            seed=work.seed,
            say=None if work.say is stay_silent else work.say,
            deadline=work.deadline,
            max_steps=self.max_steps,
            journal=Journal(self.checkpoint, header, self.resume),
        )

    def _describe_settings(self) -> dict[str, Any]:
        """Return the settings on which the steps of a search depend."""
        settings: dict[str, Any] = self.get_params(deep=False)
        for name in (*NOT_SEARCHED, "start"):
            settings.pop(name, None)
        settings["fixed"] = sorted(_read_names(self.fixed))
        if self.start is not None:
            settings["start"] = describe_start(self.start)
        return settings

    def _fit_start(self, work: Work, search: Search, run: int) -> Model:
        if self.start is not None:
            given = replace(work, seed=work.seed + run)
            initial = find_start(self.start, given, self.get_params(deep=False))
            if initial is not None:
                self._check_fixed(initial.structure)
                given = make_late(work) if work.interruptions else work
                return fit_fully(initial, work.data, search.settings, given.deadline)
        work.say("start: a latent class model with two classes")
        structure = self._make_start(work.table)
        assert structure is not None  # for the type checker: without one nothing is searched
        engine = make_engine(structure, work.data)
        seed = work.seed + run
        starts = random_starts(structure, work.data.dataset, START_STARTS, seed)
        result = fit(engine, starts, settings=search.settings, deadline=work.deadline)
        if result.monitor.was_interrupted:
            raise KeyboardInterrupt
        return Model(Network(structure, result.parameters), result.log_likelihood, work.data)

    def _count_reserves(self, table: Dataset) -> int:
        """By default half as many as columns: more columns, more places to look at."""
        if self.n_reserves is None:
            return min(table.n_columns // 2, MOST_RESERVES)
        return int(self.n_reserves)

    def _check_parameters(self, table: Dataset) -> None:
        for name, least in (
            ("mu", 1),
            ("nu", 1),
            ("n_winners", 1),
            ("n_reserves", 0),
            ("max_candidates", 1),
            ("n_runs", 1),
            ("max_states", 2),
            ("max_steps", 0),
        ):
            value = getattr(self, name)
            if value is None and (name.startswith("max") or name == "n_reserves"):
                continue
            if not isinstance(value, numbers.Integral) or value < least:
                raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
        if self.evaluation not in EVALUATIONS:
            known = ", ".join(map(repr, EVALUATIONS))
            raise ParameterError(f"evaluation must be one of {known}, got {self.evaluation!r}")
        pseudo_counts(Structure(table.variables, {}), self.prior)
        self._check_initial(table)

    def _check_initial(self, table: Dataset) -> None:
        """Refuse initial models that the search cannot begin with."""
        if self.start is not None:
            check_start(self.start, table)
        elif (initial := self._make_start(table)) is not None:
            self._check_fixed(initial)

    def _check_fixed(self, initial: Structure) -> None:
        unknown = [name for name in _read_names(self.fixed) if name not in initial.names]
        if unknown:
            names = ", ".join(map(repr, unknown))
            raise ParameterError(f"fixed names {names}, which the initial model does not have")


def _read_names(fixed: Any) -> list[str]:
    return [fixed] if isinstance(fixed, str) else list(fixed or ())
