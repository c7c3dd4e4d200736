"""What all operators share: candidates, proposals and the effort of local fits."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network


@dataclass(frozen=True)
class Candidate:
    """One way to apply an operator to a model.

    ``change`` is by how much the dimension grows.
    """

    operator: ClassVar[str]
    change: int

    @abstractmethod
    def edit(self, network: Network) -> Network:
        """Apply the operator; shared parameters stay, new ones get a first guess."""

    def realise(self, network: Network, tables: FloatArray) -> Network:
        """Apply the operator; the free tables are given, in the order of the region."""
        edited = self.edit(network)
        flat, taken = np.array(edited.parameters), 0
        for name in self.region:
            view = edited.structure.table_view(flat, name)
            view[...] = tables[taken : taken + view.size].reshape(view.shape)
            taken += view.size
        return Network.trusted(edited.structure, flat)

    @property
    @abstractmethod
    def root(self) -> str:
        """The latent variable at which the edited network is rooted."""

    @property
    @abstractmethod
    def region(self) -> tuple[str, ...]:
        """Variables of the edited network whose tables are free."""

    @abstractmethod
    def __str__(self) -> str:
        """Say where the operator is applied."""


class Proposal(NamedTuple):
    """A candidate with its restricted log-likelihood and the tables that reach it."""

    candidate: Candidate
    log_likelihood: float
    tables: FloatArray  # the free tables in the order of the region; what follows means nothing

    def realise(self, network: Network) -> Network:
        """Apply the operator to the network and give it these tables."""
        return self.candidate.realise(network, self.tables)


@dataclass(frozen=True)
class LocalEffort:
    """How hard local EM tries.

    Parameters
    ----------
    mu
        Starts of the pyramid.
    nu
        Iterations in all.
    seed
        Every place of the network has its own stream of random numbers, derived from the seed and
        from the names of the variables.
    max_candidates
        Most candidates of an operator that get local EM in a step; none: all.
    """

    mu: int
    nu: int
    seed: int
    max_candidates: int | None = None

    def generator(self, *names: str) -> np.random.Generator:
        """Random numbers for what these names identify."""
        key = zlib.crc32("\0".join(names).encode()) | self.seed << 32
        return np.random.Generator(np.random.Philox(key=key))
