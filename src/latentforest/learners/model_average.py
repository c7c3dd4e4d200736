"""Averages over the models that runs of a search find, or that bootstrap samples lead to."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from latentforest.data import Dataset
from latentforest.data.columns.findings import Origin
from latentforest.data.results.table import Table
from latentforest.errors import LatentForestWarning, ParameterError
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import AveragedRows, Rows
from latentforest.kernels.types import FloatArray
from latentforest.learners.common.base import Learned, NetworkLearner, Work, draw_seed
from latentforest.learners.common.interruption import conclude, make_late, mark_interrupted
from latentforest.learners.common.posterior_means import ParameterPrior, estimate_means
from latentforest.learners.common.progress import Progress
from latentforest.model import Network, Structure
from latentforest.model.state_edits import add_states
from latentforest.model.state_order import order_states
from latentforest.scores.edge_strengths import draw_edges, find_threshold, measure_edges
from latentforest.search.averaging.identity import describe_model
from latentforest.ties import find_best

WEIGHTS = ("score", "bootstrap")


@dataclass(frozen=True)
class _Run:
    """A model that was found: its network, or its structure alone, and its score."""

    structure: Structure
    network: Network | None
    score: float


class ModelAverage(NetworkLearner):
    """Several models of one table, each with a weight; predictions are averages over them.

    Every model has posterior-mean parameters. Where nothing is missing or latent these are counts
    plus the prior's, so that a row's probability under a model is the ratio of the evidences with
    and without it. Otherwise they come from EM with these pseudo-counts.

    Parameters
    ----------
    learner
        Any learner of networks; clones of it are fitted. If it has a method ``best_networks(data,
        n)``, which lists the best networks with their scores, ``weights="score"`` asks that once
        instead of running the learner several times.
    n_models
        Runs, each with a seed of its own, or bootstrap samples.
    weights
        "score": distinct models, with weights proportional to exp(score), where the score is the
        learner's ``score_`` or else its BIC; that is the posterior under a uniform prior over the
        models found. "bootstrap": the learner is fitted to bootstrap samples of the rows, and all
        samples count the same.
    prior
        Of the parameters. "bdeu": ``equivalent_sample_size`` observations for each table,
        shared out evenly to its cells. Otherwise pseudo-counts as for other learners.
    equivalent_sample_size
        Observations that the prior of a table is worth.
    n_jobs
        Threads of predictions; the learner has its own.
    random_state
        Seed of the runs or samples. It replaces that of the learner.
    time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, the models so far are averaged.

    Attributes
    ----------
    models_, weights_
        Distinct networks, and their weights, the greatest first. Structures that differ only in
        names of latent variables, or in arcs that the independences leave open, are one model.
    edges_
        Probabilities of edges, arcs, and common latent neighbours: a row for each pair of columns.
    threshold_
        Edges of a higher probability are significant (Scutari and Nagarajan 2013); meant for
        bootstrap samples.
    network_, log_likelihood_, n_parameters_, bic_
        Of the model with the greatest weight.
    history_
        One row for each run: its score, its size, and the number of its model in ``models_``.
    interrupted_
        True after Ctrl-C.

    Examples
    --------
    >>> from latentforest import ChowLiu, datasets
    >>> data = datasets.load("role-conflict")
    >>> model = ModelAverage(ChowLiu(), 20, "bootstrap", random_state=0).fit(data)
    >>> print(f"{model.edges_['probability'][0]:.2f}", len(model.models_))
    0.95 6
    """

    learner: NetworkLearner
    n_models: int
    weights: str
    equivalent_sample_size: float

    models_: list[Network]
    weights_: FloatArray
    edges_: Table

    def __init__(
        self,
        learner: NetworkLearner,
        n_models: int = 10,
        weights: str = "score",
        prior: Any = "bdeu",
        equivalent_sample_size: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _learn(self, work: Work) -> Learned:
        prior = self._check(work.table)
        runs, was_interrupted = self._collect(work)
        given = make_late(work) if was_interrupted else work
        learned = conclude(given, lambda work: self._describe(work, runs, prior))
        return mark_interrupted(learned) if was_interrupted else learned

    def _describe(self, work: Work, runs: list[_Run], prior: ParameterPrior) -> Learned:
        numbers_, first, weights = self._weigh(runs)
        work.say(f"parameters of {len(first)} models")
        models = [_estimate(runs[place], work, prior) for place in first]
        edges = measure_edges(models, weights)
        attributes = {
            "models": models,
            "weights": weights,
            "edges": edges,
            "threshold": find_threshold(edges["probability"]),
            "interrupted": False,
        }
        log_likelihood = Rows(models[0], work.data).log_likelihood()
        history = _list_runs(runs, numbers_)
        return Learned(models[0], log_likelihood, history, attributes)

    def _check(self, table: Dataset) -> ParameterPrior:
        if not isinstance(self.learner, NetworkLearner):
            raise ParameterError(f"learner must be a learner of networks, got {self.learner!r}")
        if not (isinstance(self.n_models, numbers.Integral) and self.n_models >= 1):
            raise ParameterError(f"n_models must be a whole number from 1, got {self.n_models!r}")
        if self.weights not in WEIGHTS:
            known = ", ".join(map(repr, WEIGHTS))
            raise ParameterError(f"weights must be one of {known}, got {self.weights!r}")
        prior = ParameterPrior(self.prior, self.equivalent_sample_size)
        prior.check(Structure(table.variables, {}))
        return prior

    def _collect(self, work: Work) -> tuple[list[_Run], bool]:
        """Run the learner until there are enough models, the time is up, or on Ctrl-C."""
        if self.weights == "score" and hasattr(self.learner, "best_networks"):
            found = clone(self.learner).best_networks(work.table, int(self.n_models))
            return [_Run(each.structure, None, each.score) for each in found], False
        runs: list[_Run] = []
        try:
            for run, is_last in self._run(work):
                runs.append(run)
                if is_last:
                    return runs, True
        except KeyboardInterrupt:
            if not runs:
                raise
            return runs, True
        return runs, False

    def _run(self, work: Work) -> Iterator[tuple[_Run, bool]]:
        for number in range(int(self.n_models)):
            if number and work.is_late():
                return
            work.say(f"run {number + 1} of {self.n_models}")
            generator = np.random.default_rng([work.seed, number])
            learner = self._prepare(work, generator, int(self.n_models) - number)
            table = work.table if self.weights == "score" else _resample(work.table, generator)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LatentForestWarning)  # told once, of all rows
                learner.fit(table)
            network = add_states(learner.network_, work.table.variables)
            yield (
                _Run(network.structure, network, _read_score(learner)),
                bool(getattr(learner, "interrupted_", False)),
            )

    def _prepare(self, work: Work, generator: np.random.Generator, n_left: int) -> Any:
        """Clone the learner with a seed, and with its share of the time."""
        learner = clone(self.learner)
        known = learner.get_params(deep=False)
        if "smoothing" in known:
            learner.set_params(smoothing=0)  # nothing is predicted with a single model
        if "random_state" in known:
            learner.set_params(random_state=int(generator.integers(2**31 - 1)))
        left = work.seconds_left()
        if left is not None and known.get("time_limit", 0.0) is None:
            learner.set_params(time_limit=left / n_left)
        return learner

    def _weigh(self, runs: list[_Run]) -> tuple[list[int], list[int], FloatArray]:
        """Return the model of each run, the run that stands for each model, and the weights.

        Networks that an exact search lists are weighed one by one, and the weights of those with
        the same independences are added; what several runs find again is one model.
        """
        scores = np.array([run.score for run in runs])
        is_listed = runs[0].network is None
        shares = (
            np.ones(len(runs)) if self.weights == "bootstrap" else np.exp(scores - scores.max())
        )
        groups: dict[Any, list[int]] = {}
        for place, run in enumerate(runs):
            groups.setdefault(describe_model(run.structure), []).append(place)
        adds_up = is_listed or self.weights == "bootstrap"
        found = []
        for places in groups.values():
            best = places[find_best(scores[places])]
            found.append((float(shares[places].sum() if adds_up else shares[best]), best, places))
        found.sort(key=lambda each: (-round(each[0], 12), each[1]))
        numbers_ = [0] * len(runs)
        for number, (_, _, places) in enumerate(found):
            for place in places:
                numbers_[place] = number
        weights = np.array([weight for weight, _, _ in found])
        return numbers_, [best for _, best, _ in found], weights / weights.sum()

    def _arrange(self, learned: Learned, origin: Origin | None) -> Learned:
        declared = frozenset[str]() if origin is None else origin.ordered
        models = learned.attributes["models"]
        models[:] = [order_states(each, declared) for each in models]
        return replace(learned, network=models[0])

    def _complete(self, work: Work, learned: Learned) -> Network:
        """Give all models the states that were declared, with the prior's share for new rows."""
        found: list[Network] = learned.attributes["models"]
        models = [add_states(each, work.given.variables) for each in found]
        if models[0].structure != found[0].structure:
            data = PatternedData(work.given.take(work.given.weights > 0), self.n_jobs)
            prior = ParameterPrior(self.prior, self.equivalent_sample_size)
            models = [
                each.with_predictive(estimate_means(each, data, prior, work.deadline).parameters)
                for each in models
            ]
        found[:] = models
        return models[0]

    def _rows(self, dataset: Dataset) -> Rows:
        return AveragedRows(self.models_, self.weights_, PatternedData(dataset, self.n_jobs))

    def _predictive_rows(self, dataset: Dataset) -> Rows:
        models = [each.predictive for each in self.models_]
        return AveragedRows(models, self.weights_, PatternedData(dataset, self.n_jobs))

    def predict_column(self, X: Any, name: str) -> FloatArray:
        """Return the probabilities of a categorical column's states given the rest of each row.

        What the column holds is not looked at.

        Returns
        -------
        ndarray of shape (n_rows, n_states)
            In the order of the states of ``variables_``.
        """
        dataset = self._encode(X)
        if not dataset.variable(name).is_categorical:
            raise ParameterError(f"predict_column predicts categorical columns; {name!r} is not")
        columns = list(dataset.columns)
        columns[dataset.index(name)] = np.full(dataset.n_rows, -1)
        hidden = Dataset(dataset.variables, columns, dataset.weights)
        return self._find_posteriors(hidden, [name])[0][0]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Dataset:
        """Draw rows: a model for each by the weights, then the row from the model.

        Examples
        --------
        >>> from latentforest import ChowLiu, datasets
        >>> model = ModelAverage(ChowLiu(), 3, random_state=0).fit(datasets.load("hiv-tests"))
        >>> model.sample(5, random_state=0).n_rows
        5
        """
        check_is_fitted(self, "network_")
        generator = np.random.default_rng(draw_seed(random_state))
        numbers_ = generator.choice(len(self.models_), n_samples, p=self.weights_)
        names = [variable.name for variable in self.variables_]
        columns = [np.empty(n_samples, _find_type(variable)) for variable in self.variables_]
        for number in np.unique(numbers_):
            rows = np.flatnonzero(numbers_ == number)
            drawn = self.models_[number].sample(len(rows), generator).select(names)
            for column, values in zip(columns, drawn.columns, strict=True):
                column[rows] = values
        return Dataset(self.variables_, columns)

    def to_dot(self, least: float = 0.5) -> str:
        """Describe the edges of at least this probability in the DOT language.

        Examples
        --------
        >>> from latentforest import ChowLiu, datasets
        >>> model = ModelAverage(ChowLiu(), 3, random_state=0).fit(datasets.load("hiv-tests"))
        >>> print(model.to_dot().splitlines()[0])
        digraph {
        """
        check_is_fitted(self, "network_")
        return draw_edges(self.edges_, least)

    def __str__(self) -> str:
        if not hasattr(self, "network_"):
            return super().__str__()
        listed = " ".join(f"{weight:.2f}" for weight in self.weights_[:10])
        return (
            f"ModelAverage: {len(self.models_)} distinct, weights {listed}"
            f"{' …' if len(self.models_) > 10 else ''}; the first:\n{self.network_}"
        )


def _estimate(run: _Run, work: Work, prior: ParameterPrior) -> Network:
    return estimate_means(run.network or run.structure, work.data, prior, work.deadline)


def _read_score(learner: Any) -> float:
    """Return the learner's own score, so that higher is better."""
    score = float(getattr(learner, "score_", learner.bic_))
    return -score if getattr(learner, "criterion", None) == "mdl" else score


def _resample(data: Dataset, generator: np.random.Generator) -> Dataset:
    """Draw as many rows as there are, or observations if weights are counts.

    Rows are sorted first, so that their order, and that of the columns, does not matter.
    """
    is_counted = bool(np.all(data.weights == np.floor(data.weights)))
    table = data.merged()[0] if is_counted else data
    keys = [table.weights, *(table.column(name) for name in sorted(table.names, reverse=True))]
    table = table.take(np.lexsort(keys))
    shares = table.weights if is_counted else (table.weights > 0).astype(np.float64)
    drawn = generator.multinomial(int(shares.sum()), shares / shares.sum())
    return table.with_weights(drawn * (1.0 if is_counted else table.weights))


def _find_type(variable: Any) -> Any:
    return np.int64 if variable.is_categorical else np.float64


def _list_runs(runs: list[_Run], numbers_: list[int]) -> Table:
    return Table(
        {
            "run": list(range(1, len(runs) + 1)),
            "score": [run.score for run in runs],
            "n_parameters": [run.structure.dimension for run in runs],
            "n_latents": [len(run.structure.latents) for run in runs],
            "model": numbers_,
        }
    )
