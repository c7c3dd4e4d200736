"""Chow-Liu: the tree, or forest, over the columns that has the greatest score.

Chow and Liu (1968): a tree's score is a sum over its edges, so that the best tree is a maximum
spanning tree. With missing values, the counts are expected ones (EM). Continuous columns are
Gaussian given a categorical one, or linear given a continuous one. They cannot be above categorical
columns, so the best tree is a spanning tree of these, with the continuous ones hung below it.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentforest.data import Dataset
from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, FitResult, Monitor, fit
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.estimation.starts import random_starts
from latentforest.inference.association.expected_pairs import expected_pairs
from latentforest.inference.association.information import pair_scores
from latentforest.inference.counts import count_tables, normalize_tables
from latentforest.inference.engine import make_engine
from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.learners.common.base import Learned, NetworkLearner, Work
from latentforest.learners.common.finish import warn_of_bounds
from latentforest.learners.common.interruption import hurry, mark_interrupted
from latentforest.learners.common.progress import Progress
from latentforest.model import Network, Structure
from latentforest.model.spanning import Edge, direct, layered_forest, spanning_forest
from latentforest.scores.edges import EDGE_CRITERIA, continuous_scores, edge_score

START_COUNT = 0.1  # pseudo-count with which EM starts, so that no cell is ruled out


@dataclass(frozen=True)
class _Round:
    """A forest with its parameters."""

    edges: list[Edge]
    gains: list[float]
    network: Network
    result: FitResult


class ChowLiu(NetworkLearner):
    """The best tree over the columns themselves, without latent variables.

    Parameters
    ----------
    criterion
        "likelihood": the tree of the highest likelihood. "bic", "aic" or "bde": the forest of the
        highest score, without the edges that do not raise it. "bde" is for categorical columns.
    equivalent_size
        Observations that the prior of "bde" is worth.
    root
        Column at the root of its tree, or several; other trees are rooted at their first column,
        a categorical one if there is one.
    n_rounds
        Only with missing values: so many times the forest is chosen, first by pairs of columns on
        the rows that have both, then by expected counts under the last one, as long as it
        changes. One, if there are continuous columns.
    max_iterations, tolerance
        Of EM, with missing values.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts: a number for each table cell,
        "none", "laplace", or arrays by column.
    n_jobs
        Threads; the result does not depend on it.
    random_state
        Taken for the sake of a common interface.
    time_limit, progress
        As for all learners.

    Attributes
    ----------
    network_, log_likelihood_, n_parameters_, bic_
        As for every learner.
    edges_
        The edges with what each adds to the score, greatest first.
    history_
        One row for each round.
    monitor_
        How EM went.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = ChowLiu().fit(datasets.load("role-conflict"))
    >>> model.edges_["left"], model.edges_["right"], round(model.log_likelihood_, 2)
    (['C', 'B', 'A'], ['D', 'D', 'B'], -512.72)
    """

    monitor_: Monitor

    criterion: str
    equivalent_size: float
    root: str | Sequence[str] | None
    n_rounds: int

    def __init__(
        self,
        criterion: str = "likelihood",
        equivalent_size: float = 1.0,
        root: str | Sequence[str] | None = None,
        n_rounds: int = 1,
        max_iterations: int = 1000,
        tolerance: float = 1e-9,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self._keep(locals())

    def _learn(self, work: Work) -> Learned:
        self._check(work.table)
        data = work.data.dataset
        work.say(f"{self.criterion} of all pairs of {data.n_columns} columns")
        gains = self._measure(data)
        first, was_interrupted = hurry(work, lambda work: self._span(work, gains))
        rounds = [first]
        was_interrupted |= first.result.monitor.was_interrupted
        try:
            if not was_interrupted:
                self._repeat(work, rounds)
        except KeyboardInterrupt:
            was_interrupted = True
        learned, is_over = hurry(work, lambda _: self._describe(data, rounds))
        return mark_interrupted(learned) if was_interrupted or is_over else learned

    def _learn_simplest(self, work: Work) -> Learned:
        """Learn independent columns."""
        self._check(work.table)
        structure = Structure(work.data.dataset.variables, {})
        result = self._estimate(work, structure)
        only = _Round([], [], Network(structure, result.parameters), result)
        return self._describe(work.data.dataset, [only])

    def _repeat(self, work: Work, rounds: list[_Round]) -> None:
        """Choose again by expected counts, if values are missing."""
        data = work.data.dataset
        while data.has_missing and len(rounds) < self.n_rounds and not work.is_late():
            work.say(f"round {len(rounds) + 1}: expected counts of all pairs")
            expected = self._expect(rounds[-1].network, data)
            edges, _ = self._choose(data, expected)
            if edges == rounds[-1].edges:
                break
            rounds.append(self._span(work, expected))

    def _describe(self, data: Dataset, rounds: list[_Round]) -> Learned:
        last = rounds[-1]
        return Learned(
            last.network,
            last.result.log_likelihood,
            history=Table(
                {
                    "round": list(range(1, len(rounds) + 1)),
                    "n_edges": [len(each.edges) for each in rounds],
                    "log_likelihood": [each.result.log_likelihood for each in rounds],
                }
            ),
            attributes={"edges": _list_edges(data, last), "monitor": last.result.monitor},
        )

    def _check(self, table: Dataset) -> None:
        edge_score(self.criterion, 1.0)
        EMSettings(self.max_iterations, self.tolerance)
        if not (isinstance(self.n_rounds, numbers.Integral) and self.n_rounds >= 1):
            raise ParameterError(f"n_rounds must be at least 1, got {self.n_rounds!r}")
        if not (isinstance(self.equivalent_size, numbers.Real) and self.equivalent_size > 0):
            raise ParameterError(f"equivalent_size must be positive, got {self.equivalent_size!r}")
        for name in self._roots():
            table.index(name)
        if self.n_rounds > 1 and _mark_continuous(table).any():
            raise ParameterError(
                f"n_rounds must be 1 where columns are continuous, got {self.n_rounds!r}"
            )

    def _roots(self) -> list[str]:
        return [self.root] if isinstance(self.root, str) else list(self.root or ())

    def _score(self, data: Dataset) -> Any:
        return edge_score(self.criterion, data.total_weight, float(self.equivalent_size))

    def _measure(self, data: Dataset) -> FloatArray:
        """Return the gains of all edges."""
        is_number = _mark_continuous(data)
        if not is_number.any():
            return pair_scores(data, self._score(data), self.n_jobs)
        gains = continuous_scores(data, self.criterion, self.n_jobs)
        others = np.flatnonzero(~is_number)
        if len(others):
            table = data.select([data.names[j] for j in others])
            gains[np.ix_(others, others)] = pair_scores(table, self._score(data), self.n_jobs)
        return gains

    def _choose(self, data: Dataset, gains: FloatArray) -> tuple[list[Edge], list[float]]:
        """Choose the edges: all that a tree needs, or those that raise the score."""
        is_tree = self.criterion == EDGE_CRITERIA[0]
        least, is_number = -np.inf if is_tree else 0.0, _mark_continuous(data)
        if is_number.any():
            edges = layered_forest(gains, is_number, least)
        else:
            edges = spanning_forest(gains, least)
        return edges, [float(gains[edge]) for edge in edges]

    def _span(self, work: Work, gains: FloatArray) -> _Round:
        data = work.data.dataset
        edges, kept = self._choose(data, gains)
        roots, is_number = [data.index(name) for name in self._roots()], _mark_continuous(data)
        parents = direct(edges, data.n_columns, [*roots, *np.flatnonzero(~is_number).tolist()])
        if any(parents[root] >= 0 for root in roots):
            raise ParameterError(f"root names two columns of one tree: {self.root!r}")
        if any(j >= 0 and is_number[j] and not is_number[i] for i, j in enumerate(parents)):
            raise ParameterError(
                f"root {self.root!r}: a continuous column cannot be above categorical ones"
            )
        structure = Structure(
            data.variables,
            {data.names[i]: data.names[j] for i, j in enumerate(parents) if j >= 0},
        )
        result = self._estimate(work, structure)
        return _Round(edges, kept, Network(structure, result.parameters), result)

    def _estimate(self, work: Work, structure: Structure) -> FitResult:
        """Frequencies of the pairs; with missing values, EM from there."""
        data = work.data.dataset
        prior = pseudo_counts(structure, self.prior)
        if structure.continuous:
            work.say("EM")
            settings = EMSettings(self.max_iterations, self.tolerance)
            start = random_starts(structure, data, 1, work.seed)
            engine = make_engine(structure, work.data)
            result = fit(engine, start, prior, settings, deadline=work.deadline)
            warn_of_bounds(result)
            return result
        counts = count_tables(structure, data)
        if not data.has_missing:
            parameters = normalize_tables(structure, counts + prior)
            some = counts > 0
            value = float(counts[some] @ np.log(parameters[some]))
            monitor = Monitor(converged=True, reason="nothing is missing: counts are exact")
            return FitResult(parameters, value, value, monitor)
        work.say("missing values: EM")
        start = normalize_tables(structure, counts + START_COUNT)
        settings = EMSettings(self.max_iterations, self.tolerance)
        return fit(
            make_engine(structure, work.data), start, prior, settings, deadline=work.deadline
        )

    def _expect(self, network: Network, data: Dataset) -> FloatArray:
        """Return the gains of all edges by expected counts."""
        score = self._score(data)
        gains = np.zeros((data.n_columns, data.n_columns))
        for i, j, counts in expected_pairs(network, data):
            gains[i, j] = gains[j, i] = score(counts[:, None, :, None])[0, 0]
        return gains


def _mark_continuous(data: Dataset) -> BoolArray:
    return np.array([not variable.is_categorical for variable in data.variables])


def _list_edges(data: Dataset, found: _Round) -> Table:
    return Table(
        {
            "left": [data.names[i] for i, _ in found.edges],
            "right": [data.names[j] for _, j in found.edges],
            "gain": found.gains,
        }
    )
