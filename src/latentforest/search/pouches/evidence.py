"""What the limbs of a model say in each row, and rows completed by posteriors.

Computed once for a model and shared by all its candidates.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from latentforest.inference.forest import Forest, PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.gaussian import LOG_2_PI
from latentforest.model.network import Network
from latentforest.search.pouches.tree import Limb, PouchTree

RIDGE = 1e-2  # share of the covariance over all rows in a guessed covariance
FEWEST = 1e-9  # weight below which a state has no moments of its own


class Evidence:
    """Log-densities of the observed limbs given the states of their latent variables.

    Parameters
    ----------
    network
        A latent tree with pouches.
    data
        The table.
    """

    def __init__(self, network: Network, data: PatternedData) -> None:
        self.network, self.data = network, data
        self.tree = PouchTree.of(network.structure)
        self.weights = data.dataset.weights
        self._rooted: dict[str, Network] = {}
        blocks = Forest(network.structure, data).log_potentials(network.parameters)
        self.logs: dict[Limb, FloatArray] = {}
        for limbs in self.tree.limbs.values():
            for limb in limbs:
                if len(limb) > 1:
                    self.logs[limb] = blocks[limb]
                elif not self.tree.is_latent(limb):
                    self.logs[limb] = self._weigh_leaf(limb[0])

    def rooted_at(self, name: str) -> Network:
        """The network, rooted at a latent variable."""
        if name not in self._rooted:
            self._rooted[name] = self.network.rooted_at(name)
        return self._rooted[name]

    def _weigh_leaf(self, name: str) -> FloatArray:
        table, column = self.network.table_view(name), self.data.dataset.column(name)
        if self.tree.variables[name].is_categorical:
            with np.errstate(divide="ignore"):
                logs = np.log(table)
            by_code: FloatArray = np.concatenate([logs, np.zeros((len(table), 1))], axis=1).T
            rows: FloatArray = by_code[column]
            return rows
        mean, variance = table[:, 0], table[:, 1]
        result: FloatArray = (column[:, None] - mean) ** 2 / variance + np.log(variance)
        result += LOG_2_PI
        result *= -0.5
        result[np.isnan(column)] = 0.0
        return result

    def send_up(
        self, network: Network, tree: PouchTree, root: str, region: Collection[str]
    ) -> dict[str, FloatArray]:
        """Log evidence from outside a region for each of its latent variables.

        Parameters
        ----------
        network, tree
            The edited network, rooted at ``root``, a variable of the region.
        region
            Its free tables. Latent variables of the region are the root, those with a free table
            and those above free tables.

        Returns
        -------
        dict
            Sums over the frozen limbs, ``(n_rows, n_states)``, by latent variable.
        """
        structure = network.structure
        inside = find_inside(tree, network, root, region)
        result: dict[str, FloatArray] = {}
        sums: dict[str, FloatArray] = {}
        for name in reversed([n for n in structure.order if n in tree.cards]):
            total = np.zeros((self.data.n_rows, tree.cards[name]))
            for limb in tree.limbs[name]:
                if limb in self.logs and limb[0] not in region:
                    total += self.logs[limb]
                elif limb[0] in sums and limb[0] not in inside:
                    total += _carry(sums[limb[0]], network.table_view(limb[0]))
            sums[name] = total
            if name in inside:
                result[name] = total
        return result

    @cached_property
    def posteriors(self) -> dict[str, FloatArray]:
        """Posterior of every latent variable in each row."""
        structure = self.network.structure
        order = [name for name in structure.order if name in self.tree.cards]
        (root,) = [name for name in order if not structure.parents(name)]
        up = self._sum_all(order)
        down = {root: np.log(self.network.table_view(root))[None] + np.zeros((self.data.n_rows, 1))}
        for name in order:
            for child in structure.children(name):
                if child in self.tree.cards:
                    with np.errstate(invalid="ignore"):
                        message = _carry(up[child], self.network.table_view(child))
                        without = down[name] + up[name] - message
                    without[np.isnan(without)] = -np.inf  # impossible with or without
                    down[child] = _carry(without, self.network.table_view(child).T)
        return {name: _normalize(down[name] + up[name]) for name in order}

    def _sum_all(self, order: Sequence[str]) -> dict[str, FloatArray]:
        """Log evidence at and below every latent variable."""
        up: dict[str, FloatArray] = {}
        for name in reversed(order):
            total = np.zeros((self.data.n_rows, self.tree.cards[name]))
            for limb in self.tree.limbs[name]:
                if limb in self.logs:
                    total += self.logs[limb]
                elif limb[0] in up and self.network.structure.parents(limb[0]) == (name,):
                    total += _carry(up[limb[0]], self.network.table_view(limb[0]))
            up[name] = total
        return up

    @cached_property
    def names(self) -> list[str]:
        """The continuous columns of the tree."""
        inside = {n for limbs in self.tree.limbs.values() for limb in limbs for n in limb}
        return [name for name in self.data.continuous if name in inside]

    @cached_property
    def scaled(self) -> FloatArray:
        """The continuous columns, scaled, zero where missing: ``(n_rows, n_columns)``."""
        about = [self.data.summary(name) for name in self.names]
        columns = [self.data.dataset.column(name) for name in self.names]
        rows = [(c - a.mean) / np.sqrt(a.variance) for c, a in zip(columns, about, strict=True)]
        return np.nan_to_num(np.stack(rows, axis=1)) if rows else np.zeros((self.data.n_rows, 0))

    @cached_property
    def place(self) -> dict[str, int]:
        """Positions of the continuous columns."""
        return {name: j for j, name in enumerate(self.names)}

    def moments(
        self, shares: FloatArray, names: Limb | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weights, scaled means and scaled covariances of columns for some shares of the rows.

        ``shares`` is (n_rows, n_groups); all columns by default. Missing values count as if they
        were at the mean of all rows, which is good enough for guesses.
        """
        names = tuple(self.names) if names is None else names
        x, w = self.scaled[:, [self.place[name] for name in names]], shares * self.weights[:, None]
        n = np.maximum(w.sum(axis=0), FEWEST)
        means = w.T @ x / n[:, None]
        squares = np.stack([(x * column[:, None]).T @ x for column in w.T])
        covariances = squares / n[:, None, None] - means[:, :, None] * means[:, None, :]
        covariances = (1 - RIDGE) * covariances + RIDGE * self.data.correlations(names)
        return n, means, covariances

    @cached_property
    def state_moments(self) -> dict[str, tuple[FloatArray, FloatArray, FloatArray]]:
        """Moments given the states of each latent variable."""
        return {name: self.moments(shares) for name, shares in self.posteriors.items()}

    def guess(self, limb: Limb, shares: FloatArray) -> dict[str, FloatArray]:
        """Tables of an observed limb for groups of rows given by their shares."""
        if self.tree.is_pouch(limb):
            return self._write_pouch(limb, *self.moments(shares, limb)[1:])
        name = limb[0]
        column, n_states = self.data.dataset.column(name), self.tree.variables[name].n_states
        counts = (shares * self.weights[:, None]).T @ (column[:, None] == np.arange(n_states))
        counts = counts + 0.5
        return {name: counts / counts.sum(axis=1, keepdims=True)}

    def _write_pouch(
        self, limb: Limb, means: FloatArray, covariances: FloatArray
    ) -> dict[str, FloatArray]:
        """Tables of a pouch from its scaled means and covariances."""
        about = [self.data.summary(name) for name in limb]
        spread = np.sqrt([each.variance for each in about])
        middle = np.array([each.mean for each in about]) + means * spread
        matrices = covariances * np.outer(spread, spread)
        if len(limb) == 1:
            return {limb[0]: np.stack([middle[:, 0], matrices[:, 0, 0]], axis=1)}
        matrices = 0.5 * (matrices + matrices.swapaxes(1, 2))
        return {
            name: np.concatenate([middle[:, i : i + 1], matrices[:, i]], axis=1)
            for i, name in enumerate(limb)
        }


def find_inside(tree: PouchTree, network: Network, root: str, region: Collection[str]) -> set[str]:
    """Latent variables of a region: the root, those with free tables, those above free tables."""
    inside = {root} | {name for name in region if name in tree.cards}
    return inside | {p for name in region for p in network.structure.parents(name)}


def _carry(logs: FloatArray, table: FloatArray) -> FloatArray:
    """Carry log evidence through a table, (states above, states below)."""
    largest = logs.max(axis=1, keepdims=True)
    largest[~np.isfinite(largest)] = 0.0
    with np.errstate(divide="ignore"):
        carried: FloatArray = np.log(np.exp(logs - largest) @ table.T)
    carried += largest
    return carried


def _normalize(logs: FloatArray) -> FloatArray:
    values: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
    values /= values.sum(axis=1, keepdims=True)
    return values
