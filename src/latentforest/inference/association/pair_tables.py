"""Joint distributions of any two categorical variables of a network, many at once.

Where every categorical variable has at most one parent, the tables of the inner variables (those
with children or without parents) are found one after the other: what comes before a variable is
independent of it given its parent. The other variables are leaves, which are multiplied on. In
other networks a table is found by elimination when it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import xlogy

from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.network import Network
from latentforest.model.questions.elimination import compute_joint
from latentforest.model.structure import Structure

BITS = 1.0 / math.log(2.0)


class PairTables(Protocol):
    """Probabilities of single variables, and of pairs."""

    names: tuple[str, ...]

    def marginal(self, name: str) -> FloatArray:
        """Probabilities of the states of a variable, ``(n_states,)``."""

    def joint(self, a: str, b: str) -> FloatArray:
        """Probabilities of two variables together, ``(n_states of a, n_states of b)``."""

    def information(self, name: str, others: Sequence[str]) -> FloatArray:
        """Mutual information of a variable with each of some others, in bits."""


def make_pair_tables(network: Network) -> PairTables:
    """Choose the way that a network allows.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> network = LatentClass(2, random_state=0).fit(datasets.load("hiv-tests")).network_
    >>> tables = make_pair_tables(network)
    >>> tables.joint("class", "A").shape, tables.information("class", ["A", "B"]).round(2).tolist()
    ((2, 2), [0.9, 0.28])
    """
    return TreeTables(network) if is_tree_like(network.structure) else EliminatedTables(network)


def is_tree_like(structure: Structure) -> bool:
    """Whether no categorical variable has two parents."""
    numbers = set(structure.continuous)
    return all(len(structure.parents(n)) <= 1 for n in structure.names if n not in numbers)


def information_in(joint: FloatArray) -> float:
    """Mutual information of a table of probabilities, in bits."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    nats = xlogy(joint, joint).sum() - xlogy(rows, rows).sum() - xlogy(columns, columns).sum()
    return max(0.0, float(nats) * BITS)


def entropy_of(probabilities: FloatArray) -> float:
    """Entropy of a distribution, in bits."""
    return max(0.0, -float(xlogy(probabilities, probabilities).sum()) * BITS)


class TreeTables:
    """Pairs in a network in which no categorical variable has two parents."""

    def __init__(self, network: Network) -> None:
        self.network = network
        structure, numbers = network.structure, set(network.structure.continuous)
        self.names = tuple(name for name in structure.order if name not in numbers)
        self.inner = tuple(name for name in self.names if _is_inner(structure, name))
        self._places = _place(structure, self.inner)
        self._joint = self._join_inner()
        self._listed: tuple[tuple[str, ...], LongArray, LongArray] | None = None
        self._tables = {name: network.table_view(name) for name in self.names}
        self._marginals = {name: self._find_marginal(name) for name in self.names}

    def _join_inner(self) -> FloatArray:
        """Tables of all pairs of inner variables, side by side."""
        size = max((place.stop for place in self._places.values()), default=0)
        joint = np.zeros((size, size))
        for name, place in self._places.items():
            table, parents = self.network.table_view(name), self.network.structure.parents(name)
            before = slice(0, place.start)
            if parents:
                joint[before, place] = joint[before, self._places[parents[0]]] @ table
                own = joint[self._places[parents[0]], self._places[parents[0]]].sum(axis=0) @ table
            else:
                joint[before, place] = np.diagonal(joint)[before, None] * table
                own = table
            joint[place, before] = joint[before, place].T
            joint[place, place] = np.diag(own)
        return joint

    def _find_marginal(self, name: str) -> FloatArray:
        if name in self._places:
            place = self._places[name]
            return np.asarray(np.diagonal(self._joint[place, place])).copy()
        parent = self.network.structure.parents(name)[0]
        return np.asarray(self._find_marginal(parent) @ self._tables[name])

    def marginal(self, name: str) -> FloatArray:
        return self._marginals[name]

    def joint(self, a: str, b: str) -> FloatArray:
        if a == b:
            return np.diag(self.marginal(a))
        if a not in self._places and b in self._places:
            return self.joint(b, a).T
        if b in self._places:
            return self._joint[self._places[a], self._places[b]]
        parent = self.network.structure.parents(b)[0]
        return np.asarray(self.joint(a, parent) @ self._tables[b])

    @cached_property
    def _wide(self) -> tuple[FloatArray, FloatArray, dict[str, slice]]:
        """Emissions of all variables from the inner ones, side by side, and what they give."""
        structure = self.network.structure
        places = _place(structure, self.names)
        size = max((place.stop for place in places.values()), default=0)
        emission = np.zeros((len(self._joint), size))
        for name, place in places.items():
            if name in self._places:
                emission[self._places[name], place] = np.eye(place.stop - place.start)
            else:
                emission[self._places[structure.parents(name)[0]], place] = self._tables[name]
        return emission, self._joint @ emission, places

    def information(self, name: str, others: Sequence[str]) -> FloatArray:
        if name not in self._places:
            return np.array([information_in(self.joint(name, other)) for other in others])
        if not len(others):
            return np.zeros(0)
        states, starts = self._list_states(tuple(others))
        joint = self._wide[1][self._places[name]][:, states]
        terms = xlogy(joint, joint).sum(axis=0) - xlogy(joint.sum(axis=0), joint.sum(axis=0))
        own = self.marginal(name)
        nats = np.add.reduceat(terms, starts) - xlogy(own, own).sum()
        return np.asarray(np.maximum(nats * BITS, 0.0))

    def _list_states(self, names: tuple[str, ...]) -> tuple[LongArray, LongArray]:
        """Where the states of some variables are among all, and where those of each begin."""
        if self._listed is None or self._listed[0] != names:
            places = [self._wide[2][name] for name in names]
            states = np.concatenate([np.arange(each.start, each.stop) for each in places])
            sizes = [each.stop - each.start for each in places]
            self._listed = names, states, np.cumsum([0, *sizes[:-1]])
        return self._listed[1:]

    def columns_by_columns(self, first: Sequence[str], second: Sequence[str]) -> FloatArray:
        """Probabilities of all states of some leaves with all states of others, side by side.

        A variable with itself is not what this gives.
        """
        emission, wide, _ = self._wide
        left, right = (self._list_states(tuple(some))[0] for some in (first, second))
        return np.asarray(emission[:, left].T @ wide[:, right])


class EliminatedTables:
    """Pairs in any network, each found when it is asked for."""

    def __init__(self, network: Network) -> None:
        self.network = network
        numbers = set(network.structure.continuous)
        self.names = tuple(name for name in network.structure.order if name not in numbers)
        self._known: dict[tuple[str, ...], FloatArray] = {}

    def _ask(self, names: tuple[str, ...]) -> FloatArray:
        if names not in self._known:
            structure, parameters = self.network.structure, self.network.parameters
            self._known[names] = compute_joint(structure, parameters, names, {})
        return self._known[names]

    def marginal(self, name: str) -> FloatArray:
        return self._ask((name,))

    def joint(self, a: str, b: str) -> FloatArray:
        if a == b:
            return np.diag(self.marginal(a))
        if (b, a) in self._known:
            return self._known[b, a].T
        return self._ask((a, b))

    def information(self, name: str, others: Sequence[str]) -> FloatArray:
        return np.array([information_in(self.joint(name, other)) for other in others])


def _is_inner(structure: Structure, name: str) -> bool:
    """Whether others hang on a variable, or it hangs on none."""
    return bool(structure.children(name)) or not structure.parents(name)


def _place(structure: Structure, names: Sequence[str]) -> dict[str, slice]:
    """Where the states of each variable are, all of them in one line."""
    ends: LongArray = np.cumsum([0, *(structure.shape(name)[-1] for name in names)])
    return {
        name: slice(int(low), int(high))
        for name, low, high in zip(names, ends[:-1], ends[1:], strict=True)
    }
