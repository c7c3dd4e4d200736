"""Recursive grouping of Choi, Tan, Anandkumar and Willsky (2011), and its Chow-Liu variant.

The shape of the tree comes from distances between the columns alone; EM follows.
"""

from __future__ import annotations

import numbers
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, Monitor, fit
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.inference.association.distances import Distances, compute_distances
from latentforest.inference.engine import make_engine
from latentforest.inference.rooting import reroot
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.finish import finish
from latentforest.learners.common.interruption import conclude, make_late, mark_interrupted
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.learners.common.progress import Progress
from latentforest.model import Network, Structure
from latentforest.search.distances.forest import grow_forest
from latentforest.search.distances.grouping import ComparisonRules
from latentforest.search.distances.joining import join_trees
from latentforest.search.distances.one_by_one import Stepwise, estimate_stepwise
from latentforest.search.distances.tree import build_structure
from latentforest.search.trees.model import Model
from latentforest.ties import choose_best

THRESHOLDS = (1.0, 2.0, 4.0)  # standard errors


@dataclass(frozen=True)
class _ThresholdModel:
    """The model for a threshold."""

    threshold: float
    structure: Structure
    model: Model
    monitor: Monitor
    seconds: float

    def describe(self, is_best: bool) -> dict[str, Any]:
        """Make the row of the trace."""
        return {
            "threshold": self.threshold,
            "accepted": is_best,
            "n_latents": len(self.model.network.latents),
            "log_likelihood": self.model.log_likelihood,
            "n_parameters": self.model.dimension,
            "bic": self.model.bic,
            "iterations": self.monitor.n_iterations,
            "converged": self.monitor.converged,
            "seconds": self.seconds,
        }


class RecursiveGrouping(LatentLearner):
    """Latent trees from information distances between columns, by recursive grouping (RG).

    Columns whose distances to all others differ by a constant are siblings and get a hidden
    parent, which then takes their place; and so on. Columns, or groups of them, that do not depend
    on each other become trees of their own, without latent variables if there is none to find;
    trees are joined again if that raises BIC.
    With exact distances the tree is exact; with many rows it tends to the right one, if all
    latent variables have as many states as the smallest column or as ``n_states``, whichever is
    less (see ``inference/association/distances.py``).

    Parameters
    ----------
    n_states
        Number of states of every latent variable (fewer where so many could not be told apart);
        default: chosen for each by BIC, and distances by their numerical rank.
    max_states
        Most states that BIC may choose.
    threshold
        Differences of distances of at most so many standard errors are none. With several numbers,
        each gives a tree, and that of highest BIC is taken.
    reach
        Distances above it are not compared; default: those with a standard error above one.
    leaves_only
        Observed variables are leaves. Otherwise one of them may be the parent of others, where
        there is no sign of a latent variable in its place: the paper's minimal latent trees. Not
        for tables with continuous columns, which are always leaves. Two columns that depend on each
        other alone get an arc in any case.
    n_starts
        Random starts for each latent variable, which are estimated one after another before EM on
        the whole.
    max_iterations, tolerance
        Of EM.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the parameters: a number
        for each cell, "laplace", or arrays by variable.
    n_jobs
        Threads; results do not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, what is not grouped yet becomes one family.

    Attributes
    ----------
    network_, bic_, log_likelihood_, n_parameters_
        The model.
    history_
        One row for each threshold.
    distances_, distance_errors_
        Distances between the columns, and their standard errors.
    rank_
        Number of singular values that they are made of.
    threshold_
        That of the best tree.
    monitor_, interrupted_
        How EM went; whether Ctrl-C ended it.

    Examples
    --------
    >>> from latentforest.datasets import generate, random_latent_tree
    >>> truth = random_latent_tree(depth=2, width=3, random_state=0)
    >>> model = RecursiveGrouping(random_state=0).fit(generate(truth, 2000, random_state=0))
    >>> from latentforest import tree_distance
    >>> len(model.network_.latents), tree_distance(model.network_, truth)
    (4, 0.0)
    """

    _along_spanning_tree: ClassVar[bool] = False

    interrupted_: bool
    monitor_: Monitor

    n_states: int | None
    max_states: int
    threshold: float | Sequence[float]
    reach: float | None
    leaves_only: bool
    n_starts: int

    def __init__(
        self,
        n_states: int | None = None,
        max_states: int = 10,
        threshold: float | Sequence[float] = THRESHOLDS,
        reach: float | None = None,
        leaves_only: bool = True,
        n_starts: int = 16,
        max_iterations: int = 500,
        tolerance: float = 1e-6,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _learn(self, work: Work) -> Learned:
        thresholds = self._check(work)
        work.say(f"distances: {work.table.n_columns:,} columns")
        distances = compute_distances(work.data.dataset, self.n_states)
        candidates: list[_ThresholdModel] = []
        was_interrupted = False
        for threshold in thresholds:
            try:
                candidates += self._fit_candidate(work, distances, threshold, candidates)
            except KeyboardInterrupt:
                if not candidates:
                    raise
                was_interrupted = True
            if was_interrupted or work.is_late():
                break
        given = make_late(work) if was_interrupted else work
        learned = conclude(given, lambda work: self._describe(work, distances, candidates))
        return mark_interrupted(learned) if was_interrupted else learned

    def _describe(
        self, work: Work, distances: Distances, candidates: list[_ThresholdModel]
    ) -> Learned:
        best = choose_best(candidates, lambda candidate: candidate.model.bic)
        settings = EMSettings(self.max_iterations, self.tolerance)
        found, score = best.model.network, best.model.log_likelihood
        result, network = finish(work, found, score, self.prior, settings)
        return Learned(
            network,
            result.log_likelihood,
            history=Table.from_rows([each.describe(each is best) for each in candidates]),
            attributes={
                "distances": distances.values,
                "distance_errors": distances.errors,
                "rank": distances.rank,
                "threshold": best.threshold,
                "monitor": result.monitor,
                "interrupted": result.monitor.was_interrupted,
            },
        )

    def _fit_candidate(
        self, work: Work, distances: Distances, threshold: float, earlier: Sequence[_ThresholdModel]
    ) -> list[_ThresholdModel]:
        """Group, estimate the latent variables, run EM; nothing if the shape is known already."""
        began = time.monotonic()
        what = f"threshold {threshold:g}"
        work.say(f"{what}: grouping")
        reach = np.inf if self.reach is None else float(self.reach)
        variables = work.data.dataset.variables
        has_numbers = not all(variable.is_categorical for variable in variables)
        tree = grow_forest(
            distances.values,
            distances.errors,
            along_spanning_tree=self._along_spanning_tree,
            leaves_only=bool(self.leaves_only) or has_numbers,
            grouping=ComparisonRules(threshold, reach, work.is_late),
        )
        structure = build_structure(tree, variables)
        if any(structure == candidate.structure for candidate in earlier):
            return []
        settings = EMSettings(self.max_iterations, self.tolerance)
        stepwise = Stepwise(
            self.n_states, self.max_states, self.n_starts, settings, work.seed, work.deadline
        )
        network = estimate_stepwise(
            structure, work.data, stepwise, lambda message: work.say(f"{what}: {message}")
        )
        model, monitor = self._fit_forest(work, network, what)
        if len(network.structure.roots) > 1 and not monitor.was_interrupted:
            joined = join_trees(model.network, work.data, work.table)
            if joined is not model.network:
                other = self._fit_forest(work, joined, what)
                model, monitor = choose_best([(model, monitor), other], lambda each: each[0].bic)
        if monitor.was_interrupted and earlier:
            raise KeyboardInterrupt
        work.say(f"{what}: BIC {model.bic:,.2f}, latent variables {len(structure.latents)}")
        seconds = time.monotonic() - began
        return [_ThresholdModel(threshold, structure, model, monitor, seconds)]

    def _fit_forest(self, work: Work, network: Network, what: str) -> tuple[Model, Monitor]:
        """EM on the whole."""

        def tell(monitor: Monitor) -> None:
            work.say(f"{what}: EM, iteration {monitor.n_iterations}")

        network = reroot(network, work.data)
        engine = make_engine(network.structure, work.data)
        settings = EMSettings(self.max_iterations, self.tolerance)
        result = fit(engine, network.parameters, None, settings, tell, work.deadline)
        fitted = network.with_parameters(result.parameters)
        return Model(fitted, result.log_likelihood, work.data), result.monitor

    def _check(self, work: Work) -> list[float]:
        """Refuse settings that make no sense, and list the thresholds."""
        for name, least in (("n_states", 2), ("max_states", 2), ("n_starts", 1)):
            value = getattr(self, name)
            if name == "n_states" and value is None:
                continue
            if not isinstance(value, numbers.Integral) or value < least:
                raise ParameterError(f"{name} must be a whole number from {least}, got {value!r}")
        if self.reach is not None and not (
            isinstance(self.reach, numbers.Real) and float(self.reach) > 0
        ):
            raise ParameterError(f"reach must be a positive number or None, got {self.reach!r}")
        pseudo_counts(Structure(work.table.variables, {}), self.prior)
        return _read_thresholds(self.threshold)


class ChowLiuRecursiveGrouping(RecursiveGrouping):
    """Latent trees from information distances, by grouping along a Chow-Liu tree (CLRG).

    A minimum spanning tree joins columns that are near each other. Each of its inner nodes is
    grouped with its neighbours, as in ``RecursiveGrouping``, and the little tree takes their place.
    Faster than grouping all columns at once, and better for long chains; worse where many
    columns are equally near.

    The parameters and attributes are explained at ``RecursiveGrouping``.

    Examples
    --------
    >>> from latentforest.datasets import generate, random_latent_tree
    >>> truth = random_latent_tree(depth=2, width=3, random_state=0)
    >>> data = generate(truth, 10_000, random_state=0)
    >>> len(ChowLiuRecursiveGrouping(random_state=0).fit(data).network_.latents)
    4
    """

    _along_spanning_tree: ClassVar[bool] = True


def _read_thresholds(threshold: Any) -> list[float]:
    try:
        values = [float(value) for value in np.atleast_1d(threshold)]
    except (TypeError, ValueError):
        values = []
    if not values or not all(0 < value < np.inf for value in values):
        raise ParameterError(f"threshold must be a positive number or several, got {threshold!r}")
    return values
