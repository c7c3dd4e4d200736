"""What a network says of every row of a table: its log-likelihood, its hidden states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from latentforest.inference.engine import Engine, make_engine
from latentforest.inference.forest import PatternedData, check_columns, check_forest
from latentforest.inference.predictive import Predictive
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.posterior_network import PosteriorNetwork


class Rows:
    """The rows of a table under a network.

    If the network has a posterior of its parameters, these are integrated out; if not, they are
    taken as they are.

    Parameters
    ----------
    network
        Its observed variables are columns of the table, of the same states.
    data
        The table.
    """

    def __init__(self, network: Network, data: PatternedData) -> None:
        self.network, self.data = network, data
        self._judge: _Judge
        if isinstance(network, PosteriorNetwork):
            check_forest(network.structure)
            check_columns(network.structure, data)
            self._judge = _Integrated(Predictive(network), data)
        else:
            self._judge = _Given(make_engine(network.structure, data), network.parameters)

    def log_likelihoods(self) -> FloatArray:
        """Return the log-likelihood of each row; minus infinity for probability zero."""
        return self._judge.log_likelihoods()

    def log_likelihood(self) -> float:
        """Return that of all rows; minus infinity if one of positive weight is impossible."""
        return self._judge.log_likelihood()

    def posteriors(self, names: Sequence[str]) -> list[FloatArray]:
        """Return ``P(variable | row)`` for each categorical name, ``(n_rows, n_states)`` each.

        A row of probability zero gets ``nan``.
        """
        return self._judge.posteriors(names)

    def filled_posteriors(self, names: Sequence[str]) -> tuple[list[FloatArray], int]:
        """Return posteriors in which impossible rows have the distribution without evidence.

        Also returns the number of these rows.
        """
        posteriors, n_impossible = self.posteriors(names), 0
        for name, posterior in zip(names, posteriors, strict=True):
            impossible = np.isnan(posterior[:, 0])
            if impossible.any():
                posterior[impossible] = self.network.marginal(name).values
                n_impossible = max(n_impossible, int(impossible.sum()))
        return posteriors, n_impossible


class AveragedRows(Rows):
    """The rows of a table under several networks, each with a weight.

    Parameters
    ----------
    networks
        With the same observed variables, which are columns of the table.
    weights
        Their prior probabilities, which sum to one.
    data
        The table.
    """

    def __init__(
        self, networks: Sequence[Network], weights: FloatArray, data: PatternedData
    ) -> None:
        self.network, self.data = networks[0], data
        self._judge = _Averaged([Rows(network, data) for network in networks], weights, data)


class _Judge(Protocol):
    """How rows are judged."""

    def log_likelihoods(self) -> FloatArray: ...

    def log_likelihood(self) -> float: ...

    def posteriors(self, names: Sequence[str]) -> list[FloatArray]: ...


class _Given:
    """Rows under given parameters."""

    def __init__(self, engine: Engine, theta: FloatArray) -> None:
        self._engine, self._theta = engine, theta

    def log_likelihoods(self) -> FloatArray:
        return self._engine.row_log_likelihoods(self._theta)

    def log_likelihood(self) -> float:
        value, impossible = self._engine.log_likelihood(self._theta)
        return -np.inf if impossible > 0 else value

    def posteriors(self, names: Sequence[str]) -> list[FloatArray]:
        return self._engine.posteriors(self._theta, names)


class _Integrated:
    """Rows with the parameters integrated out."""

    def __init__(self, predictive: Predictive, data: PatternedData) -> None:
        self._predictive, self._data = predictive, data

    def log_likelihoods(self) -> FloatArray:
        return self._data.spread([self._predictive.log_densities(self._data.dataset)])

    def log_likelihood(self) -> float:
        weights, used = self._data.row_weights, self._data.row_weights > 0
        return float(weights[used] @ self.log_likelihoods()[used])

    def posteriors(self, names: Sequence[str]) -> list[FloatArray]:
        shares = self._predictive.shares(self._data.dataset, names)
        return [self._data.spread([share]) for share in shares]


class _Averaged:
    """Rows under several networks: what they say of a row counts by how well they predict it."""

    def __init__(self, rows: list[Rows], weights: FloatArray, data: PatternedData) -> None:
        self._rows, self._data = rows, data
        with np.errstate(divide="ignore"):
            self._log_weights: FloatArray = np.log(weights)

    def log_likelihoods(self) -> FloatArray:
        totals: FloatArray = np.logaddexp.reduce(self._joint(), axis=0)
        return totals

    def log_likelihood(self) -> float:
        weights, used = self._data.row_weights, self._data.row_weights > 0
        return float(weights[used] @ self.log_likelihoods()[used])

    def posteriors(self, names: Sequence[str]) -> list[FloatArray]:
        joint = self._joint()
        with np.errstate(invalid="ignore"):  # impossible rows become nan
            shares = np.exp(joint - np.logaddexp.reduce(joint, axis=0))
        given = [rows.posteriors(names) for rows in self._rows]
        return [
            np.sum([s[:, None] * np.where(s[:, None] == 0, 0.0, p) for s, p in pairs], axis=0)
            for pairs in (
                [(share, each[place]) for share, each in zip(shares, given, strict=True)]
                for place in range(len(names))
            )
        ]

    def _joint(self) -> FloatArray:
        """Logarithm of weight times probability, ``(n_networks, n_rows)``."""
        values = np.stack([rows.log_likelihoods() for rows in self._rows])
        joint: FloatArray = self._log_weights[:, None] + values
        return joint
