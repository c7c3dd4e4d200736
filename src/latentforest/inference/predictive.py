"""The density of new rows with the parameters integrated out.

Under a posterior with one factor for each row of each table, that of a single row is a product of
expectations: expected probabilities, and Student's t for continuous variables. So one pass over the
forest gives it exactly. In logarithms, row by row: prediction has no iterations.

Only one case has no closed form: a continuous value is missing and its variable has a continuous
child whose value, or that of a variable below, is there. Such rows are judged with the Gaussians
of expected parameters instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.conjugate import (
    Dirichlet,
    NormalGamma,
    NormalRegression,
    NormalWishart,
)
from latentforest.model.gaussian import find_components, join_gaussians
from latentforest.model.posterior_network import PosteriorNetwork

CHUNK_ROWS = 1 << 14


class Predictive:
    """What a forest with the posterior of its parameters says of rows.

    Parameters
    ----------
    network
        Has the expected parameters too.
    """

    def __init__(self, network: PosteriorNetwork) -> None:
        self.network = network

    def log_densities(self, data: Dataset) -> FloatArray:
        """Return the log-density of each row."""
        return np.concatenate([chunk.log_density for chunk in self._over(data)])

    def shares(self, data: Dataset, names: Sequence[str]) -> list[FloatArray]:
        """Return the posterior of some categorical variables in each row."""
        chunks = [chunk.descend(names) for chunk in self._over(data)]
        return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]

    def _over(self, data: Dataset) -> list[_Ascent]:
        rows = range(0, data.n_rows, CHUNK_ROWS)
        return [_Ascent(self.network, data, slice(start, start + CHUNK_ROWS)) for start in rows]


class _Ascent:
    """One way up for some rows: beliefs of the categorical variables, messages to parents."""

    def __init__(self, network: PosteriorNetwork, data: Dataset, rows: slice) -> None:
        self.structure, self.posteriors = network.structure, network.posterior
        self.columns = {name: data.column(name)[rows] for name in self.structure.observed}
        self.n_rows = len(next(iter(self.columns.values())))
        self.beliefs: dict[str, FloatArray] = {}
        self.messages: dict[str, FloatArray] = {}
        self.log_density = np.zeros(self.n_rows)
        self.beside: dict[str, list[FloatArray]] = {}
        for component in find_components(self.structure, self.structure.continuous):
            self._send_density(network, component)
        for name in reversed(self.structure.order):
            if name not in self.structure.continuous:
                self._send(name)

    def _send_density(self, network: PosteriorNetwork, component: tuple[str, ...]) -> None:
        """Log-density of continuous variables that depend on each other, for each state above."""
        density = np.zeros((self.n_rows, 1))
        for name in component:
            family, values = self.posteriors[name], self.columns[name][:, None]
            if isinstance(family, NormalWishart):
                pouch = self.structure.pouch(name)
                if name == pouch[0]:
                    values = np.stack([self.columns[each] for each in pouch], axis=1)
                    density = density + family.log_predictive(values).reshape(self.n_rows, -1)
            elif isinstance(family, NormalGamma):
                density = density + np.nan_to_num(family.log_predictive(values), nan=0.0)
            else:
                assert isinstance(family, NormalRegression)
                (parent,) = self.structure.continuous_parents(name)
                line = family.log_predictive(values, self.columns[parent][:, None])
                density = density + np.nan_to_num(line, nan=0.0)
        rows = self._find_open(component)
        if len(rows):
            density[rows] = self._judge_open(network, component, rows)
        above = {z for name in component for z in self.structure.categorical_parents(name)}
        if above:
            self.beside.setdefault(above.pop(), []).append(density)
        else:
            self.log_density += density[:, 0]

    def _find_open(self, component: tuple[str, ...]) -> LongArray:
        """Find the rows without a closed form."""
        is_open = np.zeros(self.n_rows, bool)
        there = {name: ~np.isnan(self.columns[name]) for name in component}
        seen = dict(there)
        for name in reversed(component):
            for parent in self.structure.continuous_parents(name):
                is_open |= ~there[parent] & seen[name]
                seen[parent] = seen[parent] | seen[name]
        return np.flatnonzero(is_open)

    def _judge_open(
        self, network: PosteriorNetwork, component: tuple[str, ...], rows: LongArray
    ) -> FloatArray:
        """Log-densities of rows under the expected parameters."""
        joint = join_gaussians(self.structure, np.array(network.parameters), component)
        values = [{name: float(self.columns[name][i]) for name in component} for i in rows]
        known = [{name: x for name, x in row.items() if not np.isnan(x)} for row in values]
        return np.stack([joint.log_density(row).reshape(-1) for row in known])

    def _send(self, name: str) -> None:
        family = self.posteriors[name]
        assert isinstance(family, Dirichlet)
        table, children = np.log(family.mean), self.structure.children(name)
        belief = np.zeros((self.n_rows, table.shape[-1]))
        for child in children:
            if child in self.messages:
                belief += self.messages[child]
        for density in self.beside.get(name, ()):
            belief += density
        codes = self.columns.get(name)
        if codes is not None:
            belief[(codes[:, None] >= 0) & (codes[:, None] != np.arange(belief.shape[1]))] = -np.inf
        self.beliefs[name] = belief
        if not self.structure.parents(name):
            self.log_density += _add(belief + table)
            return
        message = np.empty((self.n_rows, len(table)))
        for k, row in enumerate(table):
            message[:, k] = _add(belief + row)
        if codes is not None and not children:
            message[codes < 0] = 0.0
        self.messages[name] = message

    def descend(self, names: Sequence[str]) -> list[FloatArray]:
        """Return the posteriors of some variables."""
        whole: dict[str, FloatArray] = {}
        for name in self.structure.order:
            family = self.posteriors[name]
            if not isinstance(family, Dirichlet):
                continue
            table, parents = np.log(family.mean), self.structure.parents(name)
            if not parents:
                whole[name] = self.beliefs[name] + table
                continue
            outside = whole[parents[0]] - self.messages[name]
            down = np.stack([_add(outside + column) for column in table.T], axis=1)
            whole[name] = self.beliefs[name] + down
        return [_normalize(whole[name]) for name in names]


def _add(logs: FloatArray) -> FloatArray:
    """Logarithm of the sums of rows given by logarithms; at least one entry is finite."""
    largest = logs.max(axis=1)
    return np.asarray(largest + np.log(np.exp(logs - largest[:, None]).sum(axis=1)))


def _normalize(logs: FloatArray) -> FloatArray:
    values = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(values / values.sum(axis=1, keepdims=True))
