"""What a score that is a sum over families must offer.

The score of a family is ``value(variable and parents) - value(parents)``: two values of sets of
columns, each found by counting. Values are kept by set, so every variable of a set shares its
counts. If they are multiples of a power of two, networks that are equal in mathematics are equal to
the last bit.

A score may have several *kinds* of values. Of the likelihood with a price for each parameter, BDeu
and BDe there is one kind only, which makes equivalent networks equal. K2 measures the parents of a
variable by its number of states: a kind for each such number.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from latentforest.inference.counts import EXACT_BITS, CountingTable, JointCounts
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import FloatArray


class SetScore(ABC):
    """Measures sets of columns of one table.

    Parameters
    ----------
    table
        What is counted.

    Attributes
    ----------
    scale
        Values are multiples of ``1 / scale``, a power of two (2^-30 for 10,000 rows, 40 columns).
    n_kinds
        Number of kinds of values.
    """

    n_kinds = 1

    def __init__(self, table: CountingTable) -> None:
        self._table = table
        largest = table.n_columns * table.total * max(1.0, math.log(max(table.total, 1.0)))
        self.scale = 2.0 ** (EXACT_BITS - math.frexp(largest)[1])

    def round(self, value: float) -> float:
        """Return the nearest multiple of ``1 / scale``."""
        return math.floor(value * self.scale + 0.5) / self.scale

    def find_kinds(self, variable: int) -> tuple[int, int]:
        """Return the kinds of value of a variable with its parents, and of the parents alone."""
        return 0, 0

    def measure_additions(self, columns: Mask, added: Sequence[int], kind: int) -> FloatArray:
        """Return the values of a set together with each of some further columns."""
        pieces = self._table.count_additions(columns, added)
        return np.concatenate([self.measure(piece, kind) for piece in pieces])

    def measure_empty(self, kind: int) -> float:
        """Return the value of the empty set, which has one configuration."""
        joint = JointCounts(np.array([self._table.total]), np.array([1]), np.ones(1))
        return float(self.measure(joint, kind)[0])

    def measure_subsets(self, most_cells: float, most_columns: int, kind: int) -> FloatArray:
        """Return the values of all subsets of the columns, by bit masks.

        Sets of more cells or more columns than these have -inf.
        """
        n_cells = multiply_out(self._table.cards.tolist())
        values = np.full(len(n_cells), -np.inf)
        values[0] = self.measure_empty(kind)
        for mask in range(len(values) // 2):
            if mask.bit_count() < most_columns and n_cells[mask] <= most_cells:
                sets = mask | 1 << np.arange(mask.bit_length(), self._table.n_columns)
                sets = sets[n_cells[sets] <= most_cells]
                if len(sets):
                    added = [int(each).bit_length() - 1 for each in sets]
                    values[sets] = self.measure_additions(mask, added, kind)
        return values

    @abstractmethod
    def measure(self, joints: JointCounts, kind: int) -> FloatArray:
        """Return the value of each set of columns by its counts."""

    def limit_cells(self, variable: int, score: float, n_configurations: float) -> float:
        """Return a bound on the cells of a family that could be better than a smaller one.

        ``score`` is the score of the variable with parents that have ``n_configurations``. Larger
        sets of parents that include these, and bring the family to more cells, score no higher.
        """
        return math.inf


def multiply_out(cards: Sequence[int]) -> FloatArray:
    """Return the products of all subsets, by bit masks."""
    products = np.ones(1)
    for card in cards:
        products = np.concatenate([products, products * card])
    return products
