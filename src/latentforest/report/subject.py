"""What a report is about: a network, its table, what is known of both; computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.forest import PatternedData
from latentforest.inference.pair_tables import PairTables, make_pair_tables
from latentforest.inference.rows import Rows
from latentforest.kernels.types import BoolArray, FloatArray
from latentforest.model.labels import Labels
from latentforest.model.network import Network
from latentforest.model.record import Record
from latentforest.report.blocks import Block, find_blocks


@dataclass(frozen=True)
class Subject:
    """A network with the rows of a table, or without.

    Attributes
    ----------
    network
        The network, with its labels and its record.
    data
        The table, encoded with the network's variables; none if it was not given.
    noun
        What rows are.
    ids
        Texts that name the rows, if there are such.
    title
        Given title, or none.
    source
        Name of the table's file.
    labels
        Texts of variables and states, suggestions among them.
    comparisons
        Other models of the same table, as in a `Record`.
    suggested
        Latent variables whose text is a suggestion.
    """

    network: Network
    data: Dataset | None
    noun: str = "rows"
    ids: Sequence[str] | None = None
    title: str | None = None
    source: str | None = None
    labels: Labels = field(default_factory=Labels)
    comparisons: Sequence[Mapping[str, Any]] | None = None
    suggested: frozenset[str] = frozenset()

    @property
    def record(self) -> Record | None:
        """How the network was learned, if that is known."""
        return self.network.record

    @cached_property
    def places(self) -> dict[str, int]:
        """Number of each variable in the page."""
        return {name: place for place, name in enumerate(self.network.names)}

    @cached_property
    def tables(self) -> PairTables:
        """Joint distributions of pairs of categorical variables."""
        return make_pair_tables(self.network)

    @cached_property
    def blocks(self) -> dict[str, Block]:
        """The Gaussian block of each continuous variable."""
        return find_blocks(self.network)

    @cached_property
    def weights(self) -> FloatArray:
        """Weights of the rows."""
        assert self.data is not None
        return self.data.weights

    @cached_property
    def _judged(self) -> tuple[dict[str, FloatArray], BoolArray, FloatArray]:
        """Posteriors of the latent variables, impossible rows, log-likelihoods of rows."""
        assert self.data is not None
        network, patterned = self.network, PatternedData(self.data)
        rows = plain = Rows(network, patterned)
        if network.posterior is not None:  # BIC takes the expected parameters as they are
            plain = Rows(Network(network.structure, network.parameters), patterned)
        logs = plain.log_likelihoods()
        impossible = np.isneginf(logs)
        found = dict(zip(network.latents, rows.posteriors(network.latents), strict=True))
        if impossible.any():
            odd = self.data.with_weights(None).take(impossible)
            others = Rows(network.predictive, PatternedData(odd))
            filled = others.filled_posteriors(network.latents)[0]
            for name, values in zip(network.latents, filled, strict=True):
                found[name][impossible] = values
        return found, impossible, logs

    @property
    def posteriors(self) -> dict[str, FloatArray]:
        """Posterior of each latent variable for every row, under the reported parameters.

        Rows that are impossible there have that under the predictive ones.
        """
        return self._judged[0]

    @property
    def impossible(self) -> BoolArray:
        """Rows of probability zero under the reported parameters."""
        return self._judged[1]

    @property
    def row_log_likelihoods(self) -> FloatArray:
        """Log-likelihood of each row under the reported parameters."""
        return self._judged[2]

    @cached_property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows that are possible."""
        used = (self.weights > 0) & ~self.impossible
        return float(self.weights[used] @ self.row_log_likelihoods[used])

    @cached_property
    def is_training(self) -> bool | None:
        """Whether the table is the one that the network was learned from, if that is known."""
        known = None if self.record is None else self.record.table.get("hash")
        if self.data is None or known is None:
            return None
        return bool(self.data.hash == known)

    def label(self, name: str) -> str:
        """Text of a variable for people."""
        return self.labels.variable(name)
