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
from latentforest.kernels.types import FloatArray
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
        self.below = self._sum_lines()
        self._repair(network)
        for name in reversed(self.structure.order):
            if name in self.structure.continuous:
                self._send_density(name)
            else:
                self._send(name)

    def _sum_lines(self) -> dict[str, FloatArray]:
        """Log-densities of the continuous variables below each continuous one."""
        below: dict[str, FloatArray] = {}
        for name in reversed(self.structure.order):
            if name not in self.structure.continuous:
                continue
            below.setdefault(name, np.zeros(self.n_rows))
            family = self.posteriors[name]
            if isinstance(family, NormalRegression):
                (parent,) = self.structure.continuous_parents(name)
                x, y = self.columns[parent], self.columns[name]
                density = np.nan_to_num(family.log_predictive(y, x), nan=0.0)
                below.setdefault(parent, np.zeros(self.n_rows))
                below[parent] += density + below[name]
        return below

    def _repair(self, network: PosteriorNetwork) -> None:
        """Find the rows without a closed form, and judge their continuous variables otherwise."""
        self.repaired: dict[str, tuple[np.ndarray, FloatArray]] = {}
        components = find_components(self.structure, self.structure.continuous)
        for component in components:
            if not any(self.structure.continuous_parents(name) for name in component):
                continue
            is_known = np.zeros(self.n_rows, bool)
            there = {name: ~np.isnan(self.columns[name]) for name in component}
            seen = dict(there)
            for name in reversed(component):
                for parent in self.structure.continuous_parents(name):
                    is_known |= ~there[parent] & seen[name]
                    seen[parent] = seen[parent] | seen[name]
            rows = np.flatnonzero(is_known)
            if len(rows) == 0:
                continue
            joint = join_gaussians(self.structure, np.array(network.parameters), component)
            values = [
                joint.log_density(
                    {name: float(self.columns[name][i]) for name in component if there[name][i]}
                )
                for i in rows
            ]
            self.repaired[component[0]] = rows, np.stack(values)

    def _send_density(self, name: str) -> None:
        family, parents = self.posteriors[name], self.structure.parents(name)
        if isinstance(family, NormalWishart):
            density = self._measure_pouch(name, family)
        elif isinstance(family, NormalGamma):
            density = family.log_predictive(self.columns[name][:, None])
            density = np.nan_to_num(density, nan=0.0) + self.below[name][:, None]
        else:
            return
        if name in self.repaired:
            rows, values = self.repaired[name]
            density[rows] = values.reshape(len(rows), -1)
        if parents:
            self.messages[name] = density
        else:
            self.log_density += density[:, 0]

    def _measure_pouch(self, name: str, family: NormalWishart) -> FloatArray:
        """Log-density of a pouch and what is below it, counted at its first variable."""
        pouch = self.structure.pouch(name)
        if name != pouch[0]:
            return np.zeros((self.n_rows, family.weight.size))
        values = np.stack([self.columns[each] for each in pouch], axis=1)
        density = family.log_predictive(values).reshape(self.n_rows, -1)
        below = np.sum([self.below[each] for each in pouch], axis=0)
        return np.asarray(density + below[:, None])

    def _send(self, name: str) -> None:
        family = self.posteriors[name]
        assert isinstance(family, Dirichlet)
        table, children = np.log(family.mean), self.structure.children(name)
        belief = np.zeros((self.n_rows, table.shape[-1]))
        for child in children:
            belief += self.messages[child]
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
