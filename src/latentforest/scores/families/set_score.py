"""What a score must offer that is equal for networks with the same independences.

Such a score is a sum over families of ``value(variable and parents) - value(parents)``, with one
value for each set of columns: the likelihood with a price for each parameter, BDeu and BDe, but not
K2, which needs a kind of its own. Values are kept by set, so every variable of a set shares its
counts. If they are multiples of a power of two, equivalent networks are equal to the last bit.
"""

from __future__ import annotations

from typing import Protocol

from latentforest.inference.counts import JointCounts
from latentforest.kernels.types import FloatArray


class SetScore(Protocol):
    """Measures sets of columns of one table."""

    def measure(self, joints: JointCounts) -> FloatArray:
        """Return the value of each set of columns."""
        ...

    def measure_empty(self) -> float:
        """Return the value of the empty set."""
        ...

    def measure_subsets(self, most_cells: float, most_columns: int) -> FloatArray:
        """Return the values of all subsets of the columns, by bit masks.

        Sets of more cells or more columns than these have -inf.
        """
        ...

    def limit_cells(self, variable: int, score: float, n_configurations: float) -> float:
        """Return a bound on the cells of a family that could be better than a smaller one.

        ``score`` is the score of the variable with parents that have ``n_configurations``. Larger
        sets of parents that include these, and bring the family to more cells, score no higher.
        """
        ...
