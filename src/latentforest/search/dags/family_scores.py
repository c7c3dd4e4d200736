"""Scores of families of columns, each counted once and kept for all searches over one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.inference.counts import CountingTable, list_bits
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import FloatArray
from latentforest.scores.families import SetScore, make_family_score


class FamilyScores:
    """Scores of variables given their parents.

    The score of a family is the value of the set of variable and parents less that of the
    parents. Values are kept by set, so each variable of a set shares them, and for a set with each
    further column. Sets of columns are bit masks.

    Parameters
    ----------
    table
        What is counted.
    criterion
        One of ``FAMILY_CRITERIA``.

    Attributes
    ----------
    n_counted
        How many sets of columns have been counted.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> scores = FamilyScores(CountingTable(load("role-conflict")), "bic")
    >>> round(scores.score(0, 0b0110), 2)
    -113.17
    """

    def __init__(self, table: CountingTable, criterion: str) -> None:
        self.table = table
        self.set_score: SetScore = make_family_score(criterion, table)
        self.n_counted = 0
        self._values: dict[Mask, float] = {0: self.set_score.measure_empty()}
        self._extended: dict[Mask, FloatArray] = {}  # values with each further column, if known

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.table.n_columns

    def score(self, variable: int, parents: Mask) -> float:
        """Score of a variable with these parents."""
        return self.value(parents | 1 << variable) - self.value(parents)

    def score_additions(self, variable: int, parents: Mask, added: Sequence[int]) -> FloatArray:
        """Scores of a variable with these parents and one more, for each of some candidates."""
        return self._extend(parents | 1 << variable, added) - self._extend(parents, added)

    def score_deletions(self, variable: int, parents: Mask) -> FloatArray:
        """Scores of a variable with these parents but one, from the first to the last."""
        return np.array([self.score(variable, parents ^ 1 << j) for j in list_bits(parents)])

    def value(self, columns: Mask) -> float:
        """Value of a set of columns."""
        known = self._values.get(columns)
        if known is None:
            known = self._values[columns] = self._find(columns)
        return known

    def _find(self, columns: Mask) -> float:
        """Look for a set as one of its subsets with one column more; else count it."""
        members = list_bits(columns)
        for j in members:
            row = self._extended.get(columns ^ 1 << j)
            if row is not None and not np.isnan(row[j]):
                return float(row[j])
        return float(self._extend(columns ^ 1 << members[-1], members[-1:])[0])

    def _extend(self, columns: Mask, added: Sequence[int]) -> FloatArray:
        """Values of a set with each of some columns; those not known are counted in one pass."""
        row = self._extended.get(columns)
        if row is None:
            row = self._extended[columns] = np.full(self.n_columns, np.nan)
        values: FloatArray = row[added]
        unknown = np.isnan(values)
        if unknown.any():
            pieces = self.table.count_additions(columns, np.array(added)[unknown].tolist())
            values[unknown] = np.concatenate([self.set_score.measure(piece) for piece in pieces])
            row[added] = values
            self.n_counted += int(unknown.sum())
        return values
