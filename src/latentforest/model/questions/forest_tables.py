"""What one variable of a forest says of the others: tables, from neighbour to neighbour.

Elimination answers such a question for one pair and any network; here all pairs with one variable
take a product of small matrices each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentforest.model.structure import Structure

Floats = NDArray[np.float64]


class ForestTables:
    """Tables P(other | variable) of categorical variables in a forest.

    Parameters
    ----------
    structure
        A forest.
    parameters
        Of shape ``(structure.n_values,)``.
    """

    def __init__(self, structure: Structure, parameters: Floats) -> None:
        self._structure, self._parameters = structure, parameters
        self.marginals: dict[str, Floats] = {}
        for name in structure.order:
            if name not in structure.continuous:
                table = structure.table_view(parameters, name)
                for parent in structure.parents(name):
                    table = self.marginals[parent] @ table
                self.marginals[name] = table / table.sum()

    def neighbours(self, name: str) -> list[str]:
        """Return the parent and the children of a variable that are categorical."""
        structure = self._structure
        both = (*structure.parents(name), *structure.children(name))
        return [other for other in both if other not in structure.continuous]

    def pass_on(self, table: Floats, name: str, other: str) -> Floats:
        """Make P(other | some variable) of P(name | that variable); name and other are neighbours.

        The first must lie between that variable and the other.
        """
        structure = self._structure
        if structure.parents(other) == (name,):
            return table @ structure.table_view(self._parameters, other)
        joint = structure.table_view(self._parameters, name).T * self.marginals[other]
        sums = joint.sum(axis=1, keepdims=True)
        rows = np.full_like(joint, 1.0 / joint.shape[1])
        np.divide(joint, sums, out=rows, where=sums > 0)
        return table @ rows

    def begin(self, name: str) -> Floats:
        """Return P(name | name)."""
        return np.eye(len(self.marginals[name]))

    def spread(self, name: str) -> dict[str, Floats]:
        """Return P(other | name) for all categorical variables of the same tree."""
        found = {name: self.begin(name)}
        waiting = [name]
        while waiting:
            one = waiting.pop()
            for other in self.neighbours(one):
                if other not in found:
                    found[other] = self.pass_on(found[one], one, other)
                    waiting.append(other)
        return found
