"""What a network says of every row of a table: its log-likelihood, its hidden states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.inference.forest import Forest, PatternedData, check_columns
from latentforest.inference.posteriors import compute_posteriors
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
        A forest.
    data
        A table with its observed variables, of the same states.
    """

    def __init__(self, network: Network, data: PatternedData) -> None:
        self.network, self.data = network, data
        self._judge: Forest | Predictive
        if isinstance(network, PosteriorNetwork):
            check_columns(network.structure, data)
            self._judge = Predictive(network)
        else:
            self._judge = Forest(network.structure, data)

    def log_likelihoods(self) -> FloatArray:
        """Return the log-likelihood of each row; minus infinity for probability zero."""
        if isinstance(self._judge, Forest):
            return self._judge.row_log_likelihoods(self.network.parameters)
        return self.data.spread([self._judge.log_densities(self.data.dataset)])

    def log_likelihood(self) -> float:
        """Return that of all rows; minus infinity if one of positive weight is impossible."""
        if isinstance(self._judge, Forest):
            value, impossible = self._judge.log_likelihood(self.network.parameters)
            return -np.inf if impossible > 0 else value
        weights, used = self.data.row_weights, self.data.row_weights > 0
        return float(weights[used] @ self.log_likelihoods()[used])

    def posteriors(self, names: Sequence[str]) -> list[FloatArray]:
        """Return ``P(variable | row)`` for each categorical name, ``(n_rows, n_states)`` each.

        A row of probability zero gets ``nan``.
        """
        if isinstance(self._judge, Forest):
            return compute_posteriors(self._judge, self.network, names)
        shares = self._judge.shares(self.data.dataset, names)
        return [self.data.spread([share]) for share in shares]
