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
from latentforest.inference.association.information import (
    indicators,
    joint_counts,
    posterior_information,
)
from latentforest.inference.association.mixed_information import mixture_information
from latentforest.inference.columns import summarize
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.search.naming import name_new_latent


class BottomUpForest:
    """The working set and the tables found so far.

    Parameters
    ----------
    data
        Columns of any kind; equal rows should be merged.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.roots = list(data.names)
        self._latents: list[Variable] = []
        self._parents: dict[str, str] = {}
        self._tables: dict[str, FloatArray] = {}
        self._shares: dict[str, FloatArray] = {}  # probabilities of the states in each row
        self._messages: dict[str, FloatArray] = {}  # evidence below, up to a factor for each row
        self._about = {
            v.name: summarize(v.name, data.column(v.name), data.weights)
            for v in data.variables
            if not v.is_categorical
        }
        for name in data.names:
            if name in self._about:
                about = self._about[name]
                self._shares[name] = self._messages[name] = data.column(name)
                self._tables[name] = np.array([about.mean, about.variance])
                continue
            share = indicators(data, name)
            is_missing = data.column(name) < 0
            self._shares[name] = share
            has_gaps = bool(is_missing.any())
            self._messages[name] = np.where(is_missing[:, None], 1.0, share) if has_gaps else share
            self._tables[name] = _normalize(data.counts(name))

    def is_continuous(self, name: str) -> bool:
        """Whether a root is a continuous column."""
        return name in self._about

    def shares(self, name: str) -> FloatArray:
        """Probabilities of a root's states in each row, or the values of a continuous one."""
        return self._shares[name]

    def joint_counts(self, left: str, right: str) -> FloatArray:
        """Pseudo-frequencies of two roots."""
        return joint_counts(self._shares[left], self._shares[right], self.data.weights)

    def information(self, name: str, others: Sequence[str]) -> FloatArray:
        """Mutual information of a latent root with others."""
        values = np.zeros(len(others))
        known = [i for i, other in enumerate(others) if not self.is_continuous(other)]
        shares = [self._shares[others[i]] for i in known]
        values[known] = posterior_information([self._shares[name]], shares, self.data.weights)[0]
        for i in set(range(len(others))).difference(known):
            values[i] = self._inform_number(self._shares[name], others[i])
        return values

    def _inform_number(self, share: FloatArray, number: str) -> float:
        """Mutual information of a latent variable with a continuous column."""
        x, weights = self._shares[number], self.data.weights
        used = ~np.isnan(x) & (weights > 0)
        if not used.any() or self._about[number].is_constant:
            return 0.0
        least = self._about[number].least_variance
        return mixture_information(x[used], share[used], weights[used], least)

    def join(self, left: str, right: str, classes: TwoWayClasses) -> str:
        """Put a latent variable above two roots and return its name."""
        name = self._name()
        belief = self._carry(left, classes.left) * self._carry(right, classes.right)
        message, share = _normalize_rows(belief), _normalize_rows(belief * classes.weights)
        variable = Variable.hidden(name, classes.n_states)
        self._latents.append(variable)  # all is computed: Ctrl-C leaves a whole forest
        self._messages[name], self._shares[name] = message, share
        for child, table in ((left, classes.left), (right, classes.right)):
            self.roots.remove(child)
            self._parents[child] = name
            self._tables[child] = table
            del self._messages[child], self._shares[child]
        self.roots.append(name)
        self._tables[name] = classes.weights
        return name

    def _carry(self, child: str, table: FloatArray) -> FloatArray:
        """Evidence below a variable, given the states of a parent."""
        if not self.is_continuous(child):
            carried: FloatArray = self._messages[child] @ table.T
            return carried
        x = self._messages[child][:, None]
        logs = -0.5 * (np.log(table[:, 1]) + (x - table[:, 0]) ** 2 / table[:, 1])
        logs = np.where(np.isnan(x), 0.0, logs)
        densities: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
        return densities

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
