"""An order of columns of both kinds that depends on what is in them, not on where they stand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.counts import round_weights
from latentforest.kernels.types import AnyArray, FloatArray


def canonical_order(data: Dataset) -> list[int]:
    """Order the columns by their content: categorical ones, then continuous ones.

    First each column by itself: numbers of states and their counts, or the least and the greatest
    value, then all values. Columns that agree in that are told apart by what they share with each
    other column, as far as possible; what is still equal by name. States have no order here. Rows
    may come in any order, and equal rows may be merged. There are no missing values.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> columns = [[2.0, 1.0, 1.0], [1.0, 1.0, 2.0], [0, 1, 1]]
    >>> data = Dataset([Variable("x"), Variable("y"), Variable("a", ("0", "1"))], columns)
    >>> again = Dataset([Variable("y"), Variable("a", ("0", "1")), Variable("x")],
    ...     [[1.0, 1.0, 2.0], [0, 1, 1], [2.0, 1.0, 1.0]])
    >>> [data.names[j] for j in canonical_order(data)] == [
    ...     again.names[j] for j in canonical_order(again)]
    True
    """
    describe = _Describer(data)
    ranks = _rank([describe.alone(j) for j in range(data.n_columns)])
    ranks = _rank([describe.fully(ranks, j) for j in range(len(ranks))])
    n_classes = 0
    while n_classes < len(set(ranks)) < len(ranks):
        n_classes = len(set(ranks))
        ranks = _rank([describe.among(ranks, j) for j in range(len(ranks))])
    return sorted(range(len(ranks)), key=lambda j: (ranks[j], data.names[j]))


class _Describer:
    """Describes columns by exact content, in ways that can be sorted."""

    def __init__(self, data: Dataset) -> None:
        weights = round_weights(data.weights)
        self._weights: FloatArray = weights[weights > 0]
        self._columns: list[AnyArray] = [column[weights > 0] for column in data.columns]
        self._cards = [len(variable.states or ()) for variable in data.variables]
        self._pairs: dict[tuple[int, int], Any] = {}

    def alone(self, j: int) -> Any:
        """Kind and number of states, then the distribution, or the ends of the range."""
        card, column = self._cards[j], self._columns[j]
        if card == 0:
            return 1, 0, (float(column.min()), float(column.max()))
        return 0, card, tuple(sorted(np.bincount(column, self._weights, card).tolist()))

    def fully(self, ranks: Sequence[int], j: int) -> Any:
        """The rank and, if other continuous columns have it too, the distribution."""
        if ranks.count(ranks[j]) == 1 or self._cards[j] > 0:
            return ranks[j], ""
        return ranks[j], _digest([self._columns[j]], self._weights)

    def among(self, ranks: Sequence[int], j: int) -> Any:
        """The rank and, if others have it too, what is shared with each of all others."""
        if ranks.count(ranks[j]) == 1:
            return ranks[j], ()
        others = [i for i in range(len(ranks)) if i != j]
        return ranks[j], tuple(sorted((ranks[i], self._pair(j, i)) for i in others))

    def _pair(self, j: int, i: int) -> Any:
        if (j, i) not in self._pairs:
            self._pairs[j, i] = self._describe_pair(j, i)
        return self._pairs[j, i]

    def _describe_pair(self, j: int, i: int) -> Any:
        """Describe the joint distribution of two columns; states may be renamed."""
        if self._cards[j] == 0 and self._cards[i] == 0:
            return _digest([self._columns[j], self._columns[i]], self._weights)
        if self._cards[j] > 0 and self._cards[i] > 0:
            table = np.zeros((self._cards[j], self._cards[i]))
            np.add.at(table, (self._columns[j], self._columns[i]), self._weights)
            return repr(sorted(sorted(row) for row in table.tolist()))
        states, numbers = (j, i) if self._cards[j] > 0 else (i, j)
        parts = []
        for state in range(self._cards[states]):
            here = self._columns[states] == state
            parts.append(_digest([self._columns[numbers][here]], self._weights[here]))
        return repr(sorted(parts))


def _digest(columns: Sequence[AnyArray], weights: FloatArray) -> str:
    """Name a distribution: its different rows, sorted, and the weight of each."""
    order = np.lexsort(list(columns)[::-1])
    rows = np.stack([column[order] + 0.0 for column in columns], axis=1)  # without minus zeros
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    sums = np.add.reduceat(weights[order], np.flatnonzero(is_new)) if len(rows) else weights
    return hashlib.sha256(rows[is_new].tobytes() + sums.tobytes()).hexdigest()


def _rank(keys: list[Any]) -> list[int]:
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [places[key] for key in keys]
