"""Maximized log-likelihood less a price for each free parameter: BIC, AIC and no price at all.

A family of a variable with r states and parents with q configurations has q (r - 1) free
parameters. All q are counted, whether they occur or not, as other programs do.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.inference.counts import CountingTable, JointCounts
from latentforest.kernels.counts.subsets import measure_subsets
from latentforest.kernels.counts.terms import sum_terms, tabulate_terms
from latentforest.kernels.types import FloatArray
from latentforest.scores.families.set_score import SetScore, multiply_out

MOST_TERMS = 1 << 20  # terms of whole counts that are kept in a table


class PenalizedLikelihood(SetScore):
    """Log-likelihood less a price for each parameter.

    The value of a set is the sum of n log n over its configurations, less the price times their
    number: with Q = q r, q (r - 1) = Q - q. The log-likelihood of a family is -N times the entropy
    of the variable given its parents.

    Parameters
    ----------
    table
        What is counted.
    price
        Of a free parameter.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> score = PenalizedLikelihood.bic(CountingTable(load("role-conflict")))
    >>> round(2 * score.price, 6) == round(math.log(216), 6)
    True
    """

    def __init__(self, table: CountingTable, price: float) -> None:
        super().__init__(table)
        self.price = self.round(price)
        n_terms = table.total + 1 if table.is_whole else 0
        self._terms = tabulate_terms(int(min(n_terms, MOST_TERMS)), self.scale)

    @classmethod
    def plain(cls, table: CountingTable) -> PenalizedLikelihood:
        """Maximized log-likelihood."""
        return cls(table, 0.0)

    @classmethod
    def bic(cls, table: CountingTable) -> PenalizedLikelihood:
        """BIC, log L - d/2 log N."""
        return cls(table, 0.5 * math.log(table.total))

    @classmethod
    def aic(cls, table: CountingTable) -> PenalizedLikelihood:
        """AIC, log L - d."""
        return cls(table, 1.0)

    def measure(self, joints: JointCounts, kind: int = 0) -> FloatArray:
        """Return the value of each set of columns by its counts."""
        sums = np.empty(len(joints.ends))
        sum_terms(joints.counts, joints.ends, self._terms, self.scale, sums)
        values: FloatArray = sums / self.scale - self.price * joints.n_cells
        return values

    def measure_subsets(self, most_cells: float, most_columns: int, kind: int = 0) -> FloatArray:
        """Return the values of all subsets of the columns, by bit masks; -inf beyond the bounds."""
        table = self._table
        sums = np.full(1 << table.n_columns, -np.inf)
        measure_subsets(
            table.codes,
            table.cards,
            table.weights,
            self._terms,
            self.scale,
            float(most_cells),
            most_columns,
            sums,
        )
        sums /= self.scale
        sums -= self.price * multiply_out(table.cards.tolist())
        return sums

    def limit_cells(self, variable: int, score: float, n_configurations: float) -> float:
        """Return a bound on the cells of a family that could be better than a smaller one.

        No likelihood is above one: the price of more than ``-score / price`` parameters is too
        high, whatever they explain. For two states this is about log2(2N / log N) parents.
        """
        if self.price <= 0:
            return math.inf
        card = int(self._table.cards[variable])
        if card == 1:  # has no parameters, and nothing to gain
            return n_configurations
        return -score / self.price / (card - 1) * card
