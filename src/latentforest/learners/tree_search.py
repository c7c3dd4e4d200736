"""What the learners that search for latent trees share: start, end, trace, checkpoint."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from typing import Any

from latentforest.data import Dataset, Variable
from latentforest.errors import DataError, ModelError, ParameterError
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.estimation.starts import random_starts
from latentforest.inference.forest import Forest
from latentforest.inference.messages import check_latent_forest
from latentforest.inference.rooting import reroot
from latentforest.learners.base import LatentLearner, Learned, Work
from latentforest.model import Network, Structure
from latentforest.model.document import to_document
from latentforest.search.evaluation import EVALUATIONS
from latentforest.search.journal import Journal, fingerprint
from latentforest.search.model import Model, fit_fully
from latentforest.search.regularity import find_irregular, most_states
from latentforest.search.search import Search, SearchEnded
from latentforest.search.tree import Rules

START_STARTS = 64  # starts of EM for the latent class model that a search begins with
FINAL_TOLERANCE = 1e-9
NOT_SEARCHED = (  # settings that do not change the steps of a search
    "checkpoint",
    "max_steps",
    "n_jobs",
    "progress",
    "random_state",
    "resume",
    "smoothing",
    "time_limit",
)


class TreeSearch(LatentLearner):
    """Base of the searches: gives them an initial model and makes an estimator of the result."""

    mu: int
    nu: int
    evaluation: str
    n_winners: int
    any_mediator: bool
    start: Network | None
    max_states: int | None
    fixed: Any
    max_steps: int | None
    max_iterations: int
    tolerance: float
    smoothing: Smoothing
    checkpoint: Any
    resume: bool

    interrupted_: bool

    @abstractmethod
    def _search(self, search: Search, m: Model) -> Model:
        """Search from an initial model."""

    def _learn(self, work: Work) -> Learned:
        self._check_parameters(work.table)
        search = self._open(work)
        was_interrupted = False
        try:
            initial = search.start(lambda: self._fit_start(work, search))
            self._search(search, initial)
        except SearchEnded:
            pass
        except KeyboardInterrupt:
            if search.best is None:
                raise
            was_interrupted = True
        assert search.best is not None  # for the type checker: the start always ends
        return self._finish(work, search, was_interrupted)

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
            mu=self.mu,
            nu=self.nu,
            n_winners=self.n_winners,
            settings=EMSettings(self.max_iterations, self.tolerance),
            rules=Rules(self.max_states, frozenset(_read_names(self.fixed)), self.any_mediator),
            seed=work.seed,
            say=work.say,
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
            settings["start"] = to_document(self.start)
        return settings

    def _fit_start(self, work: Work, search: Search) -> Model:
        if self.start is not None:
            check_start(self.start, work.table)
            return fit_fully(self.start, work.data, search.settings, work.deadline)
        work.say("start: a latent class model with two classes")
        structure = make_start(work.table)
        forest = Forest(structure, work.data)
        starts = random_starts(structure, work.data.dataset, START_STARTS, work.seed)
        result = fit(forest, starts, settings=search.settings, deadline=work.deadline)
        return Model(Network(structure, result.parameters), result.log_likelihood, work.data)

    def _finish(self, work: Work, search: Search, was_interrupted: bool) -> Learned:
        """Run EM to the end on the best model, with pseudo-counts if asked for."""
        best = search.best
        assert best is not None
        network, log_likelihood = best.network, best.log_likelihood
        prior = pseudo_counts(network.structure, self.smoothing)
        if not was_interrupted and not work.is_late():
            network = reroot(network, work.data)
            prior = pseudo_counts(network.structure, self.smoothing)
            settings = EMSettings(10 * self.max_iterations, min(self.tolerance, FINAL_TOLERANCE))
            forest = Forest(network.structure, work.data)
            result = fit(forest, network.parameters, prior, settings, deadline=work.deadline)
            network = network.with_parameters(result.parameters)
            log_likelihood = result.log_likelihood
        attributes = {"interrupted": was_interrupted, "seconds": dict(search.seconds)}
        return Learned(network, log_likelihood, search.history, attributes)

    def _check_parameters(self, table: Dataset) -> None:
        for name, least in (
            ("mu", 1),
            ("nu", 1),
            ("n_winners", 1),
            ("max_states", 2),
            ("max_steps", 0),
        ):
            value = getattr(self, name)
            if value is None and name.startswith("max"):
                continue
            if not isinstance(value, numbers.Integral) or value < least:
                raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
        if self.evaluation not in EVALUATIONS:
            known = ", ".join(map(repr, EVALUATIONS))
            raise ParameterError(f"evaluation must be one of {known}, got {self.evaluation!r}")
        pseudo_counts(Structure(table.variables, {}), self.smoothing)


def _read_names(fixed: Any) -> list[str]:
    return [fixed] if isinstance(fixed, str) else list(fixed or ())


def make_start(table: Dataset) -> Structure:
    """A latent class model with two classes; columns of a single state stay alone."""
    names = [variable.name for variable in table.variables if variable.n_states > 1]
    cards = [variable.n_states for variable in table.variables if variable.n_states > 1]
    if len(names) < 3 or most_states(cards) < 2:
        raise DataError(
            "a latent tree needs at least three columns with two or more states, "
            f"found {len(names)}"
        )
    latent = "Y1"
    while latent in table.names:
        latent += "_"
    variables = [Variable.hidden(latent, 2), *table.variables]
    return Structure(variables, dict.fromkeys(names, latent))


def check_start(start: Network, table: Dataset) -> None:
    """Refuse initial models that do not fit the table or are not regular."""
    if not isinstance(start, Network):
        raise ParameterError(f"start must be a Network, got {type(start).__name__}")
    check_latent_forest(start.structure)
    missing = set(table.names) ^ set(start.observed)
    if missing:
        raise ModelError(f"the initial model and the table differ in {sorted(missing)[:10]}")
    irregular = find_irregular(start.structure)
    if irregular:
        raise ModelError(f"the initial model is not regular at {', '.join(irregular)}")
