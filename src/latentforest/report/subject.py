"""What a report is about: a network, its table, what is known of both; computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from latentforest.data.dataset import Dataset
from latentforest.inference.association.pair_tables import PairTables, make_pair_tables
from latentforest.kernels.types import FloatArray
from latentforest.model.labels import Labels
from latentforest.model.network import Network
from latentforest.model.record import Record
from latentforest.report.sections.assignment import Assignments, assign_rows
from latentforest.report.sections.blocks import Block, find_blocks


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
    def assignments(self) -> Assignments:
        """What the model says of the rows."""
        assert self.data is not None
        return assign_rows(self.network, self.data)

    @cached_property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows that are possible."""
        used = (self.weights > 0) & ~self.assignments.impossible
        return float(self.weights[used] @ self.assignments.log_likelihoods[used])

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
