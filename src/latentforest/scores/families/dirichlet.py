"""Marginal likelihoods under Dirichlet priors (Cooper and Herskovits 1992): K2, CH and BDeu.

The prior of a row of a table is a Dirichlet distribution with the same count for each of its cells.
With counts n and prior counts a of cells, the value of a set is the sum of log Γ(a + n) - log Γ(a)
over its cells; empty cells add nothing.

- K2 and CH: a is given for the cells of a family; the parents alone have r times as much, for a
  variable of r states.
- BDeu: a is the equivalent sample size divided by the number of cells, for any set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from latentforest.inference.counts import CountingTable, JointCounts
from latentforest.kernels.counts.subsets import measure_dirichlet_subsets
from latentforest.kernels.counts.terms import sum_gamma_terms
from latentforest.kernels.types import FloatArray
from latentforest.scores.families.set_score import SetScore, multiply_out


class PriorCount(NamedTuple):
    """Prior count of each cell of a set: the amount, or the amount divided by the cells."""

    amount: float
    is_shared: bool


class DirichletScore(SetScore):
    """Log marginal likelihood, a Dirichlet prior for each row of a table.

    Parameters
    ----------
    table
        What is counted.
    kinds
        For each column, the prior counts of it with its parents, and of the parents.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> table = CountingTable(load("role-conflict"))
    >>> score = DirichletScore.bdeu(table, 1.0)
    >>> score.n_kinds, DirichletScore.constant(table, 1.0).n_kinds
    (1, 2)
    """

    def __init__(
        self, table: CountingTable, kinds: Sequence[tuple[PriorCount, PriorCount]]
    ) -> None:
        super().__init__(table)
        self._priors = list(dict.fromkeys(prior for pair in kinds for prior in pair))
        self.n_kinds = len(self._priors)
        numbers = {prior: number for number, prior in enumerate(self._priors)}
        self._kinds = [(numbers[family], numbers[above]) for family, above in kinds]

    @classmethod
    def constant(cls, table: CountingTable, count: float) -> DirichletScore:
        """CH with the same prior count for each cell; K2 if that is one."""
        return cls(
            table,
            [(PriorCount(count, False), PriorCount(count * card, False)) for card in table.cards],
        )

    @classmethod
    def bdeu(cls, table: CountingTable, size: float | Sequence[float]) -> DirichletScore:
        """BDeu, with an equivalent sample size for all columns or for each one."""
        sizes = np.broadcast_to(np.asarray(size, np.float64), table.n_columns).tolist()
        return cls(table, [(PriorCount(each, True),) * 2 for each in sizes])

    def find_kinds(self, variable: int) -> tuple[int, int]:
        """Return the kinds of value of a variable with its parents, and of the parents alone."""
        return self._kinds[variable]

    def measure(self, joints: JointCounts, kind: int) -> FloatArray:
        """Return the value of each set of columns by its counts."""
        amount, is_shared = self._priors[kind]
        priors = amount / joints.n_cells if is_shared else np.full(len(joints.ends), amount)
        sums = np.empty(len(joints.ends))
        sum_gamma_terms(joints.counts, joints.ends, priors, self.scale, sums)
        values: FloatArray = sums / self.scale
        return values

    def measure_subsets(self, most_cells: float, most_columns: int, kind: int) -> FloatArray:
        """Return the values of all subsets of the columns, by bit masks; -inf beyond the bounds."""
        table = self._table
        weights, sizes = np.unique(table.weights, return_inverse=True)
        values = np.full(1 << table.n_columns, -np.inf)
        measure_dirichlet_subsets(
            table.codes,
            table.cards,
            sizes.astype(np.int64).ravel(),
            weights,
            *self._priors[kind],
            self.scale,
            most_columns,
            values,
        )
        values[multiply_out(table.cards.tolist()) > most_cells] = -np.inf
        values /= self.scale
        return values
