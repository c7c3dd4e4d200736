"""BIN: greedy learning of binary latent trees (Harmeling and Williams 2010).

Pairs of variables are joined below a new latent variable, again and again. ``_join_greedily``
follows the paper's listing; ``_join_by_clustering`` takes the pairs from a hierarchical
clustering of the columns.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage

from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, FitResult, Monitor, fit
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.estimation.two_way import TwoWayClasses, choose_classes, fit_classes
from latentforest.inference.association.mixed_information import measure_dependence
from latentforest.inference.engine import make_engine
from latentforest.inference.rooting import reroot
from latentforest.kernels.types import FloatArray
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.finish import finish
from latentforest.learners.common.interruption import hurry, make_late
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.learners.common.progress import Progress
from latentforest.model import Network, Structure
from latentforest.search.greedy.growing import BottomUpForest
from latentforest.search.greedy.mixed_pairs import choose_pair_classes
from latentforest.search.trees.model import Model, fit_fully
from latentforest.ties import find_best, is_higher

LINKAGES = ("greedy", "average", "complete", "single")
STEP = ("latent", "left", "right", "n_states", "information")  # columns of the history


@dataclass
class _JoinedForest:
    """A forest with the trace of its joins."""

    forest: BottomUpForest
    n_states: int | str
    steps: list[dict[str, Any]] = field(default_factory=list)
    was_interrupted: bool = False


class BinaryForest(LatentLearner):
    """A forest of latent variables with two children each.

    Parameters
    ----------
    linkage
        "greedy": the pair with the highest mutual information is joined, latent variables
        included (BIN-G). "average", "complete" or "single": the pairs come from a hierarchical
        clustering of the columns by their mutual information (BIN-A and its kin).
    n_states
        States of a latent variable: "bic" chooses for each pair; a number is for all, and
        "global" is the number for all that gives the whole model the highest BIC (Wang, Zhang and
        Chen 2008).
    max_states
        Most states of a latent variable.
    n_starts
        Random starts of the latent class model of a pair.
    max_iterations, tolerance
        Of EM on the whole forest.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the final parameters: a
        number for each cell, "laplace", or arrays by variable.
    n_jobs
        Threads; the result does not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, no more pairs are joined.

    Attributes
    ----------
    network_, log_likelihood_, n_parameters_, bic_
        As for every learner.
    history_
        One row for each pair that was joined.
    interrupted_
        True after Ctrl-C.
    monitor_
        How the last EM went.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = BinaryForest(random_state=0).fit(datasets.load("hiv-tests"))
    >>> model.history_["left"], model.history_["right"]
    (['A', 'Y1', 'Y2'], ['D', 'C', 'B'])
    """

    interrupted_: bool
    monitor_: Monitor

    linkage: str
    n_states: int | str
    max_states: int
    n_starts: int

    def __init__(
        self,
        linkage: str = "greedy",
        n_states: int | str = "bic",
        max_states: int = 10,
        n_starts: int = 8,
        max_iterations: int = 1000,
        tolerance: float = 1e-7,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _learn(self, work: Work) -> Learned:
        self._check(work)
        if self.n_states == "global":
            grown, network = self._choose_globally(work)
        else:
            grown = self._grow(work, self.n_states)
            network = grown.forest.network()
        given, found = make_late(work) if grown.was_interrupted else work, network
        (result, network), is_over = hurry(given, lambda work: self._finish(work, found))
        attributes = {
            "interrupted": grown.was_interrupted or is_over or result.monitor.was_interrupted,
            "monitor": result.monitor,
        }
        history = Table({name: [step[name] for step in grown.steps] for name in STEP})
        return Learned(network, result.log_likelihood, history, attributes)

    def _grow(self, work: Work, n_states: int | str) -> _JoinedForest:
        """Join pairs until the paper's loop ends, the time is up, or Ctrl-C."""
        grown = _JoinedForest(BottomUpForest(work.data.dataset), n_states)
        join = self._join_greedily if self.linkage == "greedy" else self._join_by_clustering
        try:
            if work.is_late():
                return grown
            work.say(f"mutual information of {work.table.n_columns} columns")
            join(work, grown, measure_dependence(work.data.dataset, self.n_jobs))
        except KeyboardInterrupt:
            grown.was_interrupted = True
        return grown

    def _join_greedily(self, work: Work, grown: _JoinedForest, information: FloatArray) -> None:
        """Lines 3 to 19 of the listing; a new variable takes the place of its first child."""
        v = list(grown.forest.roots)
        np.fill_diagonal(information, -np.inf)
        while len(grown.forest.roots) > 1 and not work.is_late():
            i, j = sorted(divmod(find_best(information.ravel()), len(v)))
            z = self._join(work, grown, v[i], v[j], float(information[i, j]))
            if z is None:
                break
            v[i] = z
            information[j, :] = information[:, j] = -np.inf
            rest = np.flatnonzero(information[i] > -np.inf)
            if len(rest):
                values = grown.forest.information(z, [v[k] for k in rest])
                information[i, rest] = information[rest, i] = values

    def _join_by_clustering(
        self, work: Work, grown: _JoinedForest, information: FloatArray
    ) -> None:
        """Join the pairs that a hierarchical clustering joins, where that makes two classes."""
        v: list[str | None] = list(grown.forest.roots)
        if len(v) < 2:
            return
        pairs = information[np.triu_indices(len(v), 1)]
        highest = float(pairs.max())
        for i, j, distance, _ in linkage(highest - pairs, self.linkage):
            if work.is_late():
                break
            a, b, z = v[int(i)], v[int(j)], None
            if a is not None and b is not None:
                z = self._join(work, grown, a, b, highest - float(distance))
            v.append(z)

    def _join(
        self, work: Work, grown: _JoinedForest, a: str, b: str, information: float
    ) -> str | None:
        """Put a latent variable above a pair; nothing if it would have a single state."""
        classes = self._fit_pair(grown, a, b, work.seed + len(grown.steps))
        if classes.n_states == 1:
            return None
        z = grown.forest.join(a, b, classes)
        grown.steps.append(dict(zip(STEP, (z, a, b, classes.n_states, information), strict=True)))
        work.say(f"{z}: {a} and {b}, {classes.n_states} states; {len(grown.forest.roots)} trees")
        return z

    def _fit_pair(self, grown: _JoinedForest, a: str, b: str, seed: int) -> TwoWayClasses:
        """LearnLCM of the listing, for a pair."""
        forest = grown.forest
        if forest.is_continuous(a) or forest.is_continuous(b):
            return choose_pair_classes(
                forest.shares(a),
                forest.shares(b),
                forest.data.weights,
                n_states=None if isinstance(grown.n_states, str) else grown.n_states,
                max_states=self.max_states,
                n_starts=self.n_starts,
                seed=seed,
            )
        counts = forest.joint_counts(a, b)
        if isinstance(grown.n_states, str):
            return choose_classes(counts, self.max_states, self.n_starts, seed)
        return fit_classes(counts, min(grown.n_states, counts.size), self.n_starts, seed)

    def _choose_globally(self, work: Work) -> tuple[_JoinedForest, Network]:
        """One more state for all, as long as BIC rises."""
        best: tuple[_JoinedForest, Model] | None = None
        settings = EMSettings(self.max_iterations, self.tolerance)
        for n_states in range(2, self.max_states + 1):
            grown = self._grow(work, n_states)
            network = grown.forest.network()

            def fit_whole(work: Work, network: Network = network) -> Model:
                return fit_fully(network, work.data, settings, work.deadline)

            given = make_late(work) if grown.was_interrupted else work
            model, is_over = hurry(given, fit_whole)
            grown.was_interrupted |= is_over
            work.say(f"{n_states} states: BIC {model.bic:,.2f}")
            if best is not None and not is_higher(model.bic, best[1].bic):
                best[0].was_interrupted |= grown.was_interrupted
                break
            best = grown, model
            if grown.was_interrupted or work.is_late():
                break
        assert best is not None  # for the type checker: max_states is at least two
        return best[0], best[1].network

    def _finish(self, work: Work, network: Network) -> tuple[FitResult, Network]:
        """Line 20: refine the tables by EM on the whole forest."""
        settings = EMSettings(self.max_iterations, self.tolerance)
        work.say(f"EM on {len(network.latents)} latent variables")
        network = reroot(network, work.data)
        engine = make_engine(network.structure, work.data)
        result = fit(engine, network.parameters, None, settings, deadline=work.deadline)
        network = network.with_parameters(result.parameters)
        if result.monitor.was_interrupted:
            return result, network
        score = result.log_likelihood
        return finish(work, network, score, self.prior, settings)

    def _check(self, work: Work) -> None:
        if self.linkage not in LINKAGES:
            known = ", ".join(map(repr, LINKAGES))
            raise ParameterError(f"linkage must be one of {known}, got {self.linkage!r}")
        _check_count("max_states", self.max_states, 2)
        _check_count("n_starts", self.n_starts, 1)
        if self.n_states not in ("bic", "global"):
            _check_count("n_states", self.n_states, 2, "'bic', 'global' or ")
        EMSettings(self.max_iterations, self.tolerance)
        pseudo_counts(Structure(work.table.variables, {}), self.prior)


def _check_count(name: str, value: Any, least: int, words: str = "") -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ParameterError(f"{name} must be {words}a whole number from {least}, got {value!r}")
