"""Scores of families in tables with continuous columns, for the same searches as categorical ones.

A categorical variable has categorical parents only, and is scored as in a table without continuous
columns. A continuous one has parents of both kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, list_bits
from latentforest.inference.moments import MomentTable
from latentforest.inference.patterns import Mask, Recent
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import MAX_PARENTS
from latentforest.scores.families.bge import BGe
from latentforest.scores.families.gaussian import GaussianFamilies
from latentforest.search.dags.family_scores import MOST_CELLS, FamilyScores

MIXED_CRITERIA: dict[str, Callable[[MomentTable], GaussianFamilies]] = {
    "likelihood": GaussianFamilies.plain,
    "bic": GaussianFamilies.bic,
    "mdl": GaussianFamilies.bic,  # minus MDL
    "aic": GaussianFamilies.aic,
}
KEPT_BYTES = 1 << 28  # scores that are kept
KEY_BYTES = 200  # of a set of parents and what Python keeps with it
GRID = 2.0**20  # scores are multiples of its inverse: what is equal but for rounding is equal


class ContinuousScores(Protocol):
    """Scores of continuous columns given continuous and categorical ones."""

    def score(self, child: int, parents: Sequence[int], groups: Mask) -> float: ...

    def score_additions(
        self, child: int, parents: Sequence[int], groups: Mask, added: Sequence[int]
    ) -> FloatArray: ...


class MixedFamilyScores:
    """Scores of variables given their parents, in a complete table with continuous columns.

    Sets of columns are bit masks: bit j stands for column j of the table. Scores are minus infinity
    for a categorical variable with a continuous parent. They are rounded to about 1e-6, so that
    sums are exact and no decision of a search hangs on the last bits.

    Parameters
    ----------
    data
        Without missing values. In the order of ``canonical_order``, scores do not depend on the
        order of its rows and columns, to the last bit.
    criterion
        "bic", "aic", "likelihood", or "bge" if all columns are continuous.
    grid
        Scores are multiples of its inverse.

    Attributes
    ----------
    n_counted
        How many families of continuous variables have been scored.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> columns = [[0, 0, 1, 1], [1.0, 3.0, 5.0, 9.0]]
    >>> data = Dataset([Variable("a", ("0", "1")), Variable("x")], columns)
    >>> scores = MixedFamilyScores(data, "bic")
    >>> round(scores.score(1, 0b01), 3), scores.score(0, 0b10)
    (-9.835, -inf)
    """

    def __init__(self, data: Dataset, criterion: str, grid: float = GRID) -> None:
        self.names, self._grid = data.names, grid
        self.n_counted = 0
        self._cards = [len(variable.states or ()) for variable in data.variables]
        self._is_continuous = [card == 0 for card in self._cards]
        self._place = _number_by_kind(self._is_continuous)
        self.moments = MomentTable(data)
        self._continuous = _make_scores(self.moments, criterion)
        named = self.moments.categorical
        self._categorical = (
            FamilyScores(CountingTable(data.select(named)), criterion) if named else None
        )
        self._values: Recent[tuple[int, Mask], float] = Recent(KEPT_BYTES)
        self._rows: Recent[tuple[int, Mask], FloatArray] = Recent(KEPT_BYTES)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    def is_continuous(self, column: int) -> bool:
        """Whether a column is continuous."""
        return self._is_continuous[column]

    def count_parameters(self, variable: int, parents: Mask) -> float:
        """Number of free parameters of a family; a float, since it may be huge."""
        numbers, groups = self._split(parents)
        n_configurations = self.moments.count_groups(groups)
        if self._is_continuous[variable]:
            return n_configurations * (2 + len(numbers))
        return n_configurations * (self._cards[variable] - 1)

    def list_additions(self, variable: int, parents: Mask, candidates: Mask) -> list[int]:
        """List the candidates that may be further parents: by kind, and by the size of the table.

        A line has fewer coefficients than there are different rows.
        """
        if parents.bit_count() >= MAX_PARENTS:
            return []
        return [each for each in list_bits(candidates) if self._may_add(variable, parents, each)]

    def _may_add(self, child: int, parents: Mask, added: int) -> bool:
        if self._is_continuous[added] and not self._is_continuous[child]:
            return False
        numbers, groups = self._split(parents | 1 << added)
        if self._is_continuous[added] and len(numbers) + 2 >= max(self.moments.n_rows, 3):
            return False
        width = 2 + len(numbers) if self._is_continuous[child] else self._cards[child]
        return self.moments.count_groups(groups) * width <= MOST_CELLS

    def score(self, variable: int, parents: Mask) -> float:
        """Score of a variable with these parents."""
        numbers, groups = self._split(parents)
        if not self._is_continuous[variable]:
            if numbers or self._categorical is None:
                return -np.inf
            return self._round(self._categorical.score(self._place[variable], groups))
        known = self._values.find((variable, parents))
        if known is None:
            known = self._round(self._continuous.score(self._place[variable], numbers, groups))
            self._values.keep((variable, parents), known, KEY_BYTES)
            self.n_counted += 1
        return known

    def score_additions(self, variable: int, parents: Mask, added: Sequence[int]) -> FloatArray:
        """Scores of a variable with these parents and one more, for each of some candidates."""
        if not self._is_continuous[variable]:
            return self._add_to_categorical(variable, parents, added)
        row = self._rows.find((variable, parents))
        if row is None:
            row = np.full(self.n_columns, np.nan)
            self._rows.keep((variable, parents), row, row.nbytes + KEY_BYTES)
        unknown = [j for j in added if np.isnan(row[j])]
        numbers = [j for j in unknown if self._is_continuous[j]]
        if numbers:
            above, groups = self._split(parents)
            places = [self._place[j] for j in numbers]
            scores = self._continuous.score_additions(self._place[variable], above, groups, places)
            for j, score in zip(numbers, scores.tolist(), strict=True):
                row[j] = self._agree(variable, parents | 1 << j, self._round(score))
            self.n_counted += len(numbers)
        for j in unknown:
            if not self._is_continuous[j]:
                row[j] = self.score(variable, parents | 1 << j)
        return np.asarray(row[list(added)])

    def score_deletions(self, variable: int, parents: Mask) -> FloatArray:
        """Scores of a variable with these parents but one, from the first to the last."""
        return np.array([self.score(variable, parents ^ 1 << j) for j in list_bits(parents)])

    def _round(self, score: float) -> float:
        return float(np.rint(score * self._grid) / self._grid)

    def _agree(self, variable: int, parents: Mask, score: float) -> float:
        """Return the one score of a family, however it was computed first."""
        known = self._values.find((variable, parents))
        if known is None:
            self._values.keep((variable, parents), score, KEY_BYTES)
            return score
        return known

    def _add_to_categorical(self, variable: int, parents: Mask, added: Sequence[int]) -> FloatArray:
        scores = np.full(len(added), -np.inf)
        numbers, groups = self._split(parents)
        able = [i for i, j in enumerate(added) if not self._is_continuous[j]]
        if able and not numbers and self._categorical is not None:
            places = [self._place[added[i]] for i in able]
            own = self._place[variable]
            found = self._categorical.score_additions(own, groups, places)
            scores[able] = np.rint(found * self._grid) / self._grid
        return scores

    def _split(self, parents: Mask) -> tuple[list[int], Mask]:
        """Split a set: continuous columns, and the mask of categorical ones, by their places."""
        numbers, groups = list[int](), 0
        for j in list_bits(parents):
            if self._is_continuous[j]:
                numbers.append(self._place[j])
            else:
                groups |= 1 << self._place[j]
        return numbers, groups


class _OnlyContinuous:
    """BGe as a score of families with parents of both kinds, of which there are none."""

    def __init__(self, bge: BGe) -> None:
        self._bge = bge

    def score(self, child: int, parents: Sequence[int], groups: Mask) -> float:
        return self._bge.score(child, parents)

    def score_additions(
        self, child: int, parents: Sequence[int], groups: Mask, added: Sequence[int]
    ) -> FloatArray:
        return self._bge.score_additions(child, parents, added)


def _make_scores(table: MomentTable, criterion: str) -> ContinuousScores:
    if criterion in MIXED_CRITERIA:
        return MIXED_CRITERIA[criterion](table)
    if criterion != "bge":
        known = ", ".join([*MIXED_CRITERIA, "bge"])
        raise ParameterError(
            f"criterion {criterion!r} is not known for tables with continuous columns; "
            f"known are {known}"
        )
    if table.categorical:
        raise ParameterError(
            f"criterion 'bge' needs continuous columns only, but {table.categorical[0]!r} is "
            "categorical; 'bic' and 'aic' take tables with both"
        )
    return _OnlyContinuous(BGe(table))


def _number_by_kind(is_continuous: Sequence[bool]) -> list[int]:
    """Number the columns of each kind, in the order of the table."""
    seen = {False: 0, True: 0}
    places = []
    for kind in is_continuous:
        places.append(seen[kind])
        seen[kind] += 1
    return places
