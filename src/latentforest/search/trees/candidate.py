"""What all operators share: candidates, proposals and the effort of local fits."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.search.changes import Change
from latentforest.search.trees.model import Model
from latentforest.search.trees.tree import Rules


@dataclass(frozen=True)
class Candidate:
    """One way to apply an operator to a model; the class is the operator.

    ``change`` is by how much the dimension grows. ``heeds_any_mediator`` says whether an operator
    proposes other candidates where ``Rules.any_mediator`` is set.
    """

    operator: ClassVar[str]
    heeds_any_mediator: ClassVar[bool] = False
    change: int

    @classmethod
    @abstractmethod
    def view(cls, model: Model) -> Any:
        """Return the view of a model's tree that candidates are proposed from."""

    @classmethod
    @abstractmethod
    def propose(cls, tree: Any, rules: Rules) -> Iterator[Candidate]:
        """Yield the candidates of this operator, regular models only."""

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

    @property
    def subject(self) -> str:
        """The variable that the candidate is about."""
        return self.root

    def renew(self, tree: Any, rules: Rules) -> Self | None:
        """Return the candidate as it is in a tree that was edited since; none if it does not fit.

        ``tree`` is a view as for ``propose``.
        """
        offered = map(_find_key, self.propose(tree, rules))
        return self if _find_key(self) in offered else None

    @property
    @abstractmethod
    def variables(self) -> tuple[str, ...]:
        """Where the operator is applied, in the order that `Change` says."""

    @property
    def n_states(self) -> int | None:
        """The new number of states of the variable, if that is what changes."""
        return None

    @property
    def action(self) -> Change:
        """What the candidate changes."""
        return Change(self.operator, self.variables, self.n_states)

    def __str__(self) -> str:
        return str(self.action)


def _find_key(candidate: Candidate) -> tuple[Any, ...]:
    """What a candidate does, whatever the order of the neighbours."""
    values = (getattr(candidate, each.name) for each in fields(candidate) if each.name != "change")
    return tuple(frozenset(value) if isinstance(value, tuple) else value for value in values)


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
        key = zlib.crc32("\0".join(names).encode(errors="surrogatepass")) | self.seed << 32
        return np.random.Generator(np.random.Philox(key=key))
