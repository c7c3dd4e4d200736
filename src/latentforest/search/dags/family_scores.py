"""Scores of families of columns, each counted once and kept for all searches over one table."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, list_bits
from latentforest.inference.patterns import Mask, Recent
from latentforest.kernels.types import FloatArray
from latentforest.scores.families import FamilyPrior, SetScore, make_family_score

Arc = tuple[str, str]  # from parent to child

# Cells of the largest table of a network; with BIC, larger ones would need some 10^7 rows.
MOST_CELLS = float(1 << 22)
MOST_BYTES = 1 << 28  # of values that are kept for sets with each further column
MOST_VALUES = 1 << 20  # of single sets


class ScoredFamilies(Protocol):
    """What searches over networks see of a table: the scores of variables given their parents."""

    n_counted: int

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def n_columns(self) -> int: ...

    def score(self, variable: int, parents: Mask) -> float: ...

    def score_additions(self, variable: int, parents: Mask, added: Sequence[int]) -> FloatArray: ...

    def score_deletions(self, variable: int, parents: Mask) -> FloatArray: ...

    def list_additions(self, variable: int, parents: Mask, candidates: Mask) -> list[int]:
        """List the candidates that could be added to the parents of a variable."""
        ...


class FamilyScores:
    """Scores of categorical variables given their parents.

    The score of a family is the value of the set of variable and parents less that of the
    parents. Values are kept by set, so each variable of a set shares them, and for a set with each
    further column. Sets of columns are bit masks.

    Parameters
    ----------
    table
        What is counted.
    criterion
        One of ``FAMILY_CRITERIA``.
    prior
        Of Bayesian criteria.
    arc_weights
        What an arc adds to the score, by child and parent: the logarithm of its prior odds.

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

    def __init__(
        self,
        table: CountingTable,
        criterion: str,
        prior: FamilyPrior | None = None,
        arc_weights: FloatArray | None = None,
    ) -> None:
        self.table, self.names = table, table.names
        self.set_score: SetScore = make_family_score(criterion, table, prior)
        self.n_counted = 0
        self._cards: list[int] = table.cards.tolist()
        self._most_states = max(self._cards)
        kinds = range(self.set_score.n_kinds)
        self._kinds = [self.set_score.find_kinds(j) for j in range(table.n_columns)]
        self._values: list[dict[Mask, float]] = [
            {0: self.set_score.measure_empty(kind)} for kind in kinds
        ]
        # Values with each further column, as far as they are known.
        self._extended: list[Recent[Mask, FloatArray]] = [
            Recent(MOST_BYTES // len(kinds)) for _ in kinds
        ]
        self.arc_weights = None
        if arc_weights is not None:
            scale = self.set_score.scale
            self.arc_weights = np.rint(arc_weights * scale) / scale

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.table.n_columns

    def score(self, variable: int, parents: Mask) -> float:
        """Score of a variable with these parents."""
        family, above = self._kinds[variable]
        score = self.value(parents | 1 << variable, family) - self.value(parents, above)
        return score if self.arc_weights is None else score + self._weigh(variable, parents)

    def score_additions(self, variable: int, parents: Mask, added: Sequence[int]) -> FloatArray:
        """Scores of a variable with these parents and one more, for each of some candidates."""
        family, above = self._kinds[variable]
        scores = self._extend(parents | 1 << variable, added, family) - self._extend(
            parents, added, above
        )
        if self.arc_weights is None:
            return scores
        weights: FloatArray = self.arc_weights[variable, list(added)]
        return scores + weights + self._weigh(variable, parents)

    def score_deletions(self, variable: int, parents: Mask) -> FloatArray:
        """Scores of a variable with these parents but one, from the first to the last."""
        return np.array([self.score(variable, parents ^ 1 << j) for j in list_bits(parents)])

    def list_additions(self, variable: int, parents: Mask, candidates: Mask) -> list[int]:
        """List the candidates with which a variable's table would not be too large."""
        most = MOST_CELLS / self.table.count_cells(parents | 1 << variable)
        listed = list_bits(candidates)
        if self._most_states <= most:
            return listed
        return [j for j in listed if self._cards[j] <= most]

    def value(self, columns: Mask, kind: int = 0) -> float:
        """Value of a set of columns."""
        values = self._values[kind]
        known = values.get(columns)
        if known is None:
            if len(values) >= MOST_VALUES:
                values.clear()
            known = values[columns] = self._find(columns, kind)
        return known

    def _weigh(self, variable: int, parents: Mask) -> float:
        weights = self.arc_weights
        return 0.0 if weights is None else float(weights[variable, list_bits(parents)].sum())

    def _find(self, columns: Mask, kind: int) -> float:
        """Look for a set as one of its subsets with one column more; else count it."""
        members = list_bits(columns)
        if not members:
            return self.set_score.measure_empty(kind)
        for j in members:
            row = self._extended[kind].find(columns ^ 1 << j)
            if row is not None and not np.isnan(row[j]):
                return float(row[j])
        return float(self._extend(columns ^ 1 << members[-1], members[-1:], kind)[0])

    def _extend(self, columns: Mask, added: Sequence[int], kind: int) -> FloatArray:
        """Values of a set with each of some columns; those not known are counted in one pass."""
        row = self._extended[kind].find(columns)
        if row is None:
            row = np.full(self.n_columns, np.nan)
            self._extended[kind].keep(columns, row, row.nbytes)
        values: FloatArray = row[added]
        unknown = np.isnan(values)
        if unknown.any():
            columns_added = np.array(added)[unknown].tolist()
            values[unknown] = self.set_score.measure_additions(columns, columns_added, kind)
            row[added] = values
            self.n_counted += int(unknown.sum())
        return values


def read_arc_weights(
    names: Sequence[str], probabilities: Mapping[Arc, float] | float | None
) -> FloatArray | None:
    """Turn prior probabilities of arcs into logarithms of odds, by child and parent."""
    if probabilities is None:
        return None
    places = {name: place for place, name in enumerate(names)}
    weights = np.zeros((len(names), len(names)))
    if not isinstance(probabilities, Mapping):
        if not isinstance(probabilities, numbers.Real):
            raise ParameterError(
                f"arc_probabilities must be a number or a mapping from arcs, got {probabilities!r}"
            )
        weights[:] = _compute_log_odds("all arcs", probabilities)
        return weights
    for arc, probability in probabilities.items():
        if isinstance(arc, str) or len(arc) != 2:
            raise ParameterError(
                f"arc_probabilities must be given for pairs (parent, child), got {arc!r}"
            )
        for name in arc:
            if name not in places:
                raise ParameterError(
                    f"arc_probabilities: arc {tuple(arc)!r}: there is no column {name!r}"
                )
        parent, child = arc
        weights[places[child], places[parent]] = _compute_log_odds(repr(tuple(arc)), probability)
    return weights


def _compute_log_odds(where: str, probability: float) -> float:
    if not 0 < probability < 1:
        raise ParameterError(
            f"arc_probabilities of {where} must be between 0 and 1, got {probability!r}; arcs that "
            "must be there, or must not, are 'required' and 'forbidden'"
        )
    return float(np.log(probability) - np.log1p(-probability))
