"""GS: several independent clusterings of the rows (Galimberti and Soffritti 2007).

The columns are partitioned. Each group has a latent class model of its own, and the groups are
independent of each other. Groups are merged from single columns upwards, as long as BIC rises.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, Monitor
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.inference.threads import map_threads
from latentforest.kernels.types import FloatArray
from latentforest.learners.common.base import Learned, Work
from latentforest.learners.common.finish import finish
from latentforest.learners.common.interruption import conclude, make_late
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.learners.common.progress import Progress
from latentforest.model import Structure
from latentforest.search.greedy.groups import (
    COVARIANCES,
    GroupFits,
    GroupModel,
    GroupSettings,
    put_together,
)
from latentforest.search.greedy.merger_screening import MergerScreen
from latentforest.search.trees.model import LEAST_GAIN
from latentforest.ties import is_higher, sort_best_first

Pair = tuple[GroupModel, GroupModel]

STEP = ("step", "left", "right", "n_states", "gain", "bic", "n_groups")  # columns of the history


class IndependentClusterings(LatentLearner):
    """A forest of latent class models over a partition of the columns, not connected (GS).

    Every column begins as a group of its own. In each step those two groups are merged whose common
    model, with the number of classes that is best for it, raises BIC most.

    Parameters
    ----------
    covariance
        Of the continuous columns of a group in each class: "diagonal" (independent columns), "full"
        (one joint Gaussian), or "best", which is chosen for each group by BIC.
    max_states
        Most classes of a group.
    n_starts
        Random starts of models with two classes. Those with more start from the classes of one
        less, one of them split, and from up to four random points.
    candidate_pairs
        Mergers that are fitted anew in each step, for wide tables: those that promise most, after a
        few iterations of EM from the classes of one of the two groups, or for two columns by their
        mutual information. If none of them raises BIC, the next ones follow, so that the search
        ends only where no merger does. None: all mergers in each step.
    max_iterations, tolerance
        Of EM; the last model is fitted more closely.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts of the final parameters: a
        number for each cell, "laplace", or arrays by variable. The search itself is by maximum
        likelihood.
    n_jobs
        Threads; the result does not depend on it.
    random_state, time_limit, progress
        As for all learners. When the time is up, or on Ctrl-C, no more groups are merged.

    Attributes
    ----------
    network_, log_likelihood_, n_parameters_, bic_
        As for every learner.
    groups_
        Names of the columns of each group, in the order of the latent variables, then groups
        without any.
    history_
        One row for each merger.
    interrupted_, stopped_
        True after Ctrl-C; why learning ended early, if it did.
    monitor_
        How the last EM went.

    Examples
    --------
    >>> from latentforest.datasets import generate, random_latent_forest
    >>> truth = random_latent_forest(2, depth=1, width=4, random_state=0)
    >>> model = IndependentClusterings(random_state=0).fit(generate(truth, 1000, random_state=0))
    >>> sorted(len(group) for group in model.groups_)
    [4, 4]
    """

    groups_: tuple[tuple[str, ...], ...]
    interrupted_: bool
    stopped_: str | None
    monitor_: Monitor

    covariance: str
    max_states: int
    n_starts: int
    candidate_pairs: int | None

    def __init__(
        self,
        covariance: str = "diagonal",
        max_states: int = 20,
        n_starts: int = 8,
        candidate_pairs: int | None = None,
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

    def _learn(self, work: Work) -> Learned:
        self._check(work)
        settings = EMSettings(self.max_iterations, self.tolerance)
        fits = GroupFits(
            work.data,
            GroupSettings(
                self.covariance,
                int(self.max_states),
                int(self.n_starts),
                settings,
                work.seed,
                work.deadline,
            ),
        )
        screen = None if self.candidate_pairs is None else MergerScreen(fits)
        groups = [fits.best([name]) for name in work.table.names]
        steps: list[dict[str, Any]] = []
        was_interrupted, stopped = False, None
        try:
            while (merger := self._find_merger(work, fits, screen, groups)) is not None:
                left, right, merged = merger
                rest = [group for group in groups if group not in (left, right)]
                groups = [*rest, merged]
                steps.append(_describe_merger(len(steps), left, right, merged, groups))
        except KeyboardInterrupt:
            was_interrupted = True
        if work.is_late():
            stopped = "the time limit was reached"
        ends = {"interrupted": was_interrupted, "stopped": stopped}
        given = make_late(work) if was_interrupted else work
        return conclude(given, lambda work: self._describe(work, groups, steps, settings, ends))

    def _describe(
        self,
        work: Work,
        groups: list[GroupModel],
        steps: list[dict[str, Any]],
        settings: EMSettings,
        ends: dict[str, Any],
    ) -> Learned:
        groups = sorted(groups, key=lambda group: group.n_states == 1)
        network = put_together(groups, work.table.variables)
        value = sum(group.log_likelihood for group in groups)
        result, network = finish(work, network, value, self.prior, settings)
        attributes = {
            "groups": tuple(group.columns for group in groups),
            "interrupted": ends["interrupted"] or result.monitor.was_interrupted,
            "stopped": ends["stopped"],
            "monitor": result.monitor,
        }
        history = Table({name: [step[name] for step in steps] for name in STEP})
        return Learned(network, result.log_likelihood, history, attributes)

    def _find_merger(
        self, work: Work, fits: GroupFits, screen: MergerScreen | None, groups: list[GroupModel]
    ) -> tuple[GroupModel, GroupModel, GroupModel] | None:
        """Return the two groups whose merger raises BIC most, with their model; none if none."""
        total = sum(group.bic for group in groups)

        def judge(pair: Pair) -> GroupModel | None:
            a, b = pair
            return None if work.is_late() else fits.best(a.columns + b.columns)

        for pairs in self._list_pairs(work, fits, screen, list(combinations(groups, 2))):
            most = LEAST_GAIN
            found: tuple[GroupModel, GroupModel, GroupModel] | None = None
            for n_done, merged in enumerate(map_threads(judge, pairs, work.data.n_jobs)):
                pair = pairs[n_done]
                if merged is None:
                    return None
                gain = merged.bic - pair[0].bic - pair[1].bic
                if is_higher(total + gain, total + most):
                    most, found = gain, (*pair, merged)
                work.say(
                    f"{len(groups)} groups, BIC {total:,.1f}: "
                    f"{n_done + 1:,} of {len(pairs):,} mergers, best gain {most:,.1f}"
                )
            if found is not None:
                return found
        return None

    def _list_pairs(
        self, work: Work, fits: GroupFits, screen: MergerScreen | None, pairs: list[Pair]
    ) -> Iterator[list[Pair]]:
        """Yield all pairs at once; with a screen the most promising first, for as long as asked.

        Pairs whose mergers were fitted before are among the first.
        """
        if screen is None or self.candidate_pairs is None:
            yield pairs
            return
        is_known = [fits.has(a.columns + b.columns) for a, b in pairs]
        first = [i for i, known in enumerate(is_known) if known]
        new = [i for i, known in enumerate(is_known) if not known]
        if len(new) > self.candidate_pairs:
            gains = self._screen(work, screen, [pairs[i] for i in new])
            new = [new[k] for k in sort_best_first(gains)]
        for start in range(0, max(len(new), 1), self.candidate_pairs):
            some = sorted(first + new[start : start + self.candidate_pairs])
            yield [pairs[i] for i in some]
            first = []

    def _screen(self, work: Work, screen: MergerScreen, pairs: list[Pair]) -> FloatArray:
        """Estimate the gains of mergers."""

        def estimate(pair: Pair) -> float:
            return -np.inf if work.is_late() else screen.estimate(*pair)

        gains = np.empty(len(pairs))
        for n_done, gain in enumerate(map_threads(estimate, pairs, work.data.n_jobs)):
            gains[n_done] = gain
            work.say(f"{n_done + 1:,} of {len(pairs):,} mergers screened")
        return gains

    def _check(self, work: Work) -> None:
        if self.covariance not in COVARIANCES:
            known = ", ".join(map(repr, COVARIANCES))
            raise ParameterError(f"covariance must be one of {known}, got {self.covariance!r}")
        for name in ("max_states", "n_starts", "candidate_pairs"):
            value = getattr(self, name)
            if value is None and name == "candidate_pairs":
                continue
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
                raise ParameterError(f"{name} must be a whole number from 1, got {value!r}")
        pseudo_counts(Structure(work.table.variables, {}), self.prior)


def _describe_merger(
    number: int, left: GroupModel, right: GroupModel, merged: GroupModel, groups: list[GroupModel]
) -> dict[str, Any]:
    """Make the row of the trace."""
    values = (
        number + 1,
        list(left.columns),
        list(right.columns),
        merged.n_states,
        merged.bic - left.bic - right.bic,
        sum(group.bic for group in groups),
        len(groups),
    )
    return dict(zip(STEP, values, strict=True))
