"""A forest that grows from its leaves: pairs of variables are joined below new latent ones.

Every variable of the working set is known row by row: a column by its values, a latent variable by
its posterior given the columns below it (belief propagation in its own tree).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.two_way import TwoWayClasses
from latentforest.inference.information import indicators, joint_counts, posterior_information
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.search.naming import name_new_latent


class GrowingForest:
    """The working set and the tables found so far.

    Parameters
    ----------
    data
        Categorical columns; equal rows should be merged.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.roots = list(data.names)
        self._latents: list[Variable] = []
        self._parents: dict[str, str] = {}
        self._tables: dict[str, FloatArray] = {}
        self._shares: dict[str, FloatArray] = {}  # probabilities of the states in each row
        self._messages: dict[str, FloatArray] = {}  # evidence below, up to a factor for each row
        for name in data.names:
            share = indicators(data, name)
            is_missing = data.column(name) < 0
            self._shares[name] = share
            self._messages[name] = np.where(is_missing[:, None], 1.0, share)
            self._tables[name] = _normalize(data.counts(name))

    def joint_counts(self, left: str, right: str) -> FloatArray:
        """Pseudo-frequencies of two roots."""
        return joint_counts(self._shares[left], self._shares[right], self.data.weights)

    def information(self, name: str, others: Sequence[str]) -> FloatArray:
        """Mutual information of a root with others."""
        shares = [self._shares[other] for other in others]
        (values,) = posterior_information([self._shares[name]], shares, self.data.weights)
        return np.asarray(values)

    def join(self, left: str, right: str, classes: TwoWayClasses) -> str:
        """Put a latent variable above two roots and return its name."""
        name = self._name()
        self._latents.append(Variable.hidden(name, classes.n_states))
        belief = self._messages[left] @ classes.left.T
        belief *= self._messages[right] @ classes.right.T
        self._messages[name] = _normalize_rows(belief)
        self._shares[name] = _normalize_rows(belief * classes.weights)
        for child, table in ((left, classes.left), (right, classes.right)):
            self.roots.remove(child)
            self._parents[child] = name
            self._tables[child] = table
            del self._messages[child], self._shares[child]
        self.roots.append(name)
        self._tables[name] = classes.weights
        return name

    def _name(self) -> str:
        taken = {*self.data.names, *(variable.name for variable in self._latents)}
        return name_new_latent(taken)

    def network(self) -> Network:
        """The forest with the tables of the pairs."""
        return Network.from_tables(
            [*self._latents, *self.data.variables], self._parents, self._tables
        )


def _normalize(counts: FloatArray) -> FloatArray:
    total = counts.sum()
    return counts / total if total > 0 else np.full(len(counts), 1.0 / len(counts))


def _normalize_rows(values: FloatArray) -> FloatArray:
    """Divide by the sums; rows that underflowed or contradict themselves tell nothing."""
    sums = values.sum(axis=1, keepdims=True)
    rows = np.full_like(values, 1.0 / values.shape[1])
    np.divide(values, sums, out=rows, where=sums > 0)
    return rows
