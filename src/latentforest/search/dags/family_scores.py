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

    Scores are kept by set of columns: that of a family is the value of variable and parents
    less that of the parents. So a variable and its parent that change places cost no new count.
    Sets of columns are bit masks.

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
        self._values: dict[Mask, float] = {0: self.set_score.measure_empty()}

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.table.n_columns

    @property
    def n_counted(self) -> int:
        """How many sets of columns have been counted."""
        return len(self._values) - 1

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
        if known is not None:
            return known
        last = columns.bit_length() - 1
        return float(self._extend(columns ^ 1 << last, [last])[0])

    def _extend(self, columns: Mask, added: Sequence[int]) -> FloatArray:
        """Values of a set with each of some columns; those not known are counted in one pass."""
        values = self._values
        unknown = [j for j in added if columns | 1 << j not in values]
        if unknown:
            pieces = self.table.count_additions(columns, unknown)
            counted = np.concatenate([self.set_score.measure(piece) for piece in pieces])
            for j, value in zip(unknown, counted.tolist(), strict=True):
                values[columns | 1 << j] = value
        return np.array([values[columns | 1 << j] for j in added])
