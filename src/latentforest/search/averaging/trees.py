"""Averages over all trees of the columns, exactly (Meila and Jaakkola 2006).

The prior is uniform over the n^(n-2) undirected spanning trees; tables have Dirichlet priors that
are equal for trees with the same independences (BDeu).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from latentforest.data.dataset import Dataset
from latentforest.data.results.table import Table
from latentforest.errors import DataError
from latentforest.estimation.priors import check_sample_size
from latentforest.inference.association.information import pair_scores
from latentforest.inference.counts import CountingTable
from latentforest.inference.structures.tree_sums import TreeSum, add_up_tilted, add_up_trees
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.scores.edges import edge_score


class TreeAverage:
    """All spanning trees over the columns of a complete categorical table, and their posterior.

    Parameters
    ----------
    data
        Categorical columns without missing values, at least two.
    equivalent_sample_size
        Observations that the prior of the tables is worth.
    n_jobs
        Threads; the result does not depend on it.

    Attributes
    ----------
    names
        Of the columns.
    probabilities
        Posterior probability of each edge, ``(n_columns, n_columns)``.
    log_evidence
        Logarithm of the probability of the table: the mean over all trees.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> average = TreeAverage(load("role-conflict"))
    >>> print(average.edges)
    left  right  probability
       C      D        0.990
       B      D        0.987
       A      B        0.807
       A      D        0.170
       A      C        0.023
       B      C        0.022
    """

    def __init__(
        self, data: Any, equivalent_sample_size: float = 1.0, n_jobs: int | None = None
    ) -> None:
        data = data if isinstance(data, Dataset) else Dataset.from_table(data)
        data = data.with_seen_states()
        if data.n_columns < 2:
            raise DataError(f"a tree needs two columns or more, got {data.n_columns}")
        self.names, self._size = data.names, check_sample_size(equivalent_sample_size)
        self._table = CountingTable(data)
        score = edge_score("bde", data.total_weight, self._size)
        gains = pair_scores(data, score, n_jobs)
        self._gains: FloatArray = (gains + gains.T) / 2  # last bits may differ
        self._sum: TreeSum = add_up_trees(self._gains)
        self.probabilities: FloatArray = self._sum.probabilities
        n_trees = (data.n_columns - 2) * math.log(data.n_columns)
        self.log_evidence = float(self._measure_columns() + self._sum.log_total - n_trees)

    @property
    def edges(self) -> Table:
        """The edges, the most probable first."""
        left, right = np.triu_indices(len(self.names), 1)
        values = self.probabilities[left, right]
        order = np.argsort(-values, kind="stable")
        return Table(
            {
                "left": [self.names[i] for i in left[order]],
                "right": [self.names[j] for j in right[order]],
                "probability": values[order].tolist(),
            }
        )

    def score_samples(self, data: Dataset) -> FloatArray:
        """Return log P(row | table) of each row: parameters and trees are integrated out.

        Parameters
        ----------
        data
            The same columns with the same states, nothing missing.
        """
        if data.names != self.names or any(
            variable.n_states != card
            for variable, card in zip(data.variables, self._table.cards, strict=True)
        ):
            raise DataError("expected a table with the columns and states of the one averaged over")
        merged, places = data.merged()
        states = np.stack(merged.columns, axis=1).astype(np.int64)
        if (states < 0).any():
            raise DataError("expected a complete table, got missing values")
        states += self._offsets
        log_singles, log_factors = self._log_probabilities
        totals = add_up_tilted(self._gains, log_factors, states) - self._sum.log_total
        values: FloatArray = (totals + log_singles[states].sum(axis=1))[places]
        return values

    @property
    def _offsets(self) -> LongArray:
        cards = self._table.cards
        offsets: LongArray = np.cumsum(cards) - cards
        return offsets

    @cached_property
    def _log_probabilities(self) -> tuple[FloatArray, FloatArray]:
        """Logarithms of the expected probabilities of states, and of pairs less their states'."""
        cards, size = self._table.cards, self._size
        codes = self._table.codes.astype(np.int64) + self._offsets[:, None]
        marks = np.zeros((int(cards.sum()), codes.shape[1]))
        marks[codes, np.arange(codes.shape[1])] = 1.0
        per_state = np.repeat(1.0 / cards, cards)
        joint = (marks * self._table.weights) @ marks.T + size * np.outer(per_state, per_state)
        single = marks @ self._table.weights + size * per_state
        log_total = math.log(self._table.total + size)
        log_single: FloatArray = np.log(single) - log_total
        log_factors: FloatArray = np.log(joint) - log_total - np.add.outer(log_single, log_single)
        return log_single, log_factors

    def _measure_columns(self) -> float:
        """Logarithm of the evidence of independent columns."""
        value, size = 0.0, self._size
        for column, card in enumerate(self._table.cards):
            counts = self._table.count_family(column, ()).counts[0]
            prior = size / card
            value += float((gammaln(counts + prior) - gammaln(prior)).sum())
            value += float(gammaln(size) - gammaln(self._table.total + size))
        return value
