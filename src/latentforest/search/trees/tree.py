"""The unrooted view of a latent forest that operators work on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from latentforest.model.structure import Structure
from latentforest.search.regularity import most_states

AS_STATES = 3  # a Gaussian has as many parameters as a distribution over so many states


@dataclass(frozen=True)
class Rules:
    """What a search must leave alone.

    Parameters
    ----------
    max_states
        Most states of a latent variable; none: as many as regularity allows.
    fixed
        Variables that keep their neighbours and their number of states.
    any_mediator
        A new latent variable may have fewer states than the one it is introduced at.
    """

    max_states: int | None = None
    fixed: frozenset[str] = field(default_factory=frozenset)
    any_mediator: bool = False

    def allows(self, n_states: int) -> bool:
        """Whether a latent variable may have so many states."""
        return n_states >= 2 and (self.max_states is None or n_states <= self.max_states)


class LatentTree:
    """Neighbours and numbers of states of a latent forest.

    ``dimension`` of a forest is Σ over edges (|u||v| - 1) - Σ over variables (degree - 1)(|u| - 1),
    whichever way the edges are directed. That holds for continuous leaves, which have a mean and a
    variance for each state, if they count as three states. ``parent`` keeps where the network is
    rooted, for those whose computations depend on it.
    """

    def __init__(self, structure: Structure) -> None:
        self.latents = structure.latents
        self.is_latent = frozenset(structure.latents)
        self.neighbours = {name: structure.neighbours(name) for name in structure.names}
        self.is_continuous = frozenset(structure.continuous)
        self.cards = {
            name: AS_STATES if name in self.is_continuous else structure.shape(name)[-1]
            for name in structure.names
        }
        self.parent = {
            name: parents[0] for name in structure.names if (parents := structure.parents(name))
        }
        self._sides: dict[tuple[str, str], frozenset[str]] = {}

    def latent_neighbours(self, name: str) -> list[str]:
        """The latent ones among the neighbours of a variable."""
        return [z for z in self.neighbours[name] if z in self.is_latent]

    def cards_of(self, names: Iterable[str]) -> list[int]:
        """Numbers of states."""
        return [self.cards[name] for name in names]

    def is_regular_with(self, name: str, card: int, neighbours: Collection[str]) -> bool:
        """Whether a latent variable would be regular with so many states and these neighbours."""
        if not self.is_continuous.isdisjoint(neighbours):
            return len(neighbours) > 1
        if len(neighbours) == 2 and not any(z in self.is_latent for z in neighbours):
            return False
        return card <= most_states(self.cards_of(neighbours))

    def is_regular_after(self, name: str, old: str, card: int) -> bool:
        """Whether a variable stays regular if one neighbour gets another number of states.

        The neighbour may also be replaced by another with so many states. Observed variables have
        no such limit.
        """
        if name not in self.is_latent or not self.is_continuous.isdisjoint(self.neighbours[name]):
            return True
        cards = [card if z == old else self.cards[z] for z in self.neighbours[name]]
        return self.cards[name] <= most_states(cards)

    def side_of(self, name: str, behind: str) -> frozenset[str]:
        """The latent variables that can be reached from one without passing another."""
        if behind not in self.is_latent:  # a leaf, which is in nobody's way
            behind = ""
        if (name, behind) not in self._sides:
            self._sides[name, behind] = find_side(self.latent_neighbours, name, behind)
        return self._sides[name, behind]


def find_side(neighbours: Callable[[str], Iterable[str]], name: str, behind: str) -> frozenset[str]:
    """Find the variables of a tree that can be reached from one without passing another."""
    reached, stack = {name}, [name]
    while stack:
        for z in neighbours(stack.pop()):
            if z != behind and z not in reached:
                reached.add(z)
                stack.append(z)
    return frozenset(reached)


def edge_dimension(left: int, right: int) -> int:
    """What an edge adds to the dimension."""
    return left * right - 1


def node_dimension(card: int, degree: int) -> int:
    """What a variable takes away from the dimension."""
    return (degree - 1) * (card - 1)
