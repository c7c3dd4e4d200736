"""The unrooted view of a latent tree with pouches, and networks of edited trees.

A *limb* is a neighbour of a latent variable: another latent variable, a categorical column, or a
pouch of one or more continuous columns; written as the tuple of its names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from latentforest.data.variable import Variable
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.search.regularity import most_states
from latentforest.search.trees.tree import find_side

Limb = tuple[str, ...]
Tables = Mapping[str, FloatArray]


@dataclass(frozen=True)
class PouchTree:
    """Latent variables with their limbs.

    Attributes
    ----------
    variables
        The columns by name, those outside the tree too.
    cards
        Number of states of each latent variable.
    limbs
        Neighbours of each latent variable.
    """

    variables: Mapping[str, Variable]
    cards: Mapping[str, int]
    limbs: Mapping[str, tuple[Limb, ...]]

    @classmethod
    def of(cls, structure: Structure) -> PouchTree:
        """View the tree of a structure; columns without a parent are outside it."""
        cards = {name: len(structure.states(name)) for name in structure.latents}
        limbs = {}
        for name in structure.latents:
            around = dict.fromkeys(
                structure.pouch(z) if z in structure.continuous else (z,)
                for z in structure.neighbours(name)
            )
            limbs[name] = tuple(around)
        variables = {name: structure.variable(name) for name in structure.observed}
        return cls(variables, cards, limbs)

    def is_latent(self, limb: Limb) -> bool:
        """Whether a limb is a latent variable."""
        return limb[0] in self.cards

    def is_pouch(self, limb: Limb) -> bool:
        """Whether a limb is a pouch of continuous columns, maybe of a single one."""
        return limb[0] in self.variables and not self.variables[limb[0]].is_categorical

    def latents_around(self, name: str) -> list[str]:
        """Latent neighbours of a latent variable."""
        return [limb[0] for limb in self.limbs[name] if self.is_latent(limb)]

    def size(self, limb: Limb) -> int:
        """Number of free parameters of an observed limb in each state of its parent."""
        if self.is_pouch(limb):
            return len(limb) * (len(limb) + 3) // 2
        return self.variables[limb[0]].n_states - 1

    @cached_property
    def dimension(self) -> int:
        """Number of free parameters of the tree."""
        result = 0
        for name, limbs in self.limbs.items():
            card, around = self.cards[name], self.latents_around(name)
            leaves = [limb for limb in limbs if not self.is_latent(limb)]
            result += card * sum(map(self.size, leaves)) - (len(around) - 1) * (card - 1)
            result += sum(card * self.cards[z] - 1 for z in around if z > name)
        return result

    def is_regular(self, name: str) -> bool:
        """Whether a latent variable is regular; with a pouch around it, it always is."""
        limbs = self.limbs[name]
        if any(map(self.is_pouch, limbs)):
            return True
        if len(limbs) == 2 and not self.latents_around(name):
            return False
        cards = [self.cards[z] if z in self.cards else self.variables[z].n_states for (z,) in limbs]
        return self.cards[name] <= most_states(cards)

    def is_regular_around(self, names: Iterable[str]) -> bool:
        """Whether latent variables and their latent neighbours are regular."""
        near = {z for name in names for z in (name, *self.latents_around(name))}
        return all(map(self.is_regular, near))

    def with_limbs(self, changes: Mapping[str, Iterable[Limb]]) -> PouchTree:
        """Return a tree in which some latent variables have other limbs."""
        return replace(self, limbs={**self.limbs, **{k: tuple(v) for k, v in changes.items()}})

    def with_card(self, name: str, card: int) -> PouchTree:
        """Return a tree in which a latent variable, maybe a new one, has so many states."""
        return replace(self, cards={**self.cards, name: card})

    def swap(self, name: str, old: str, new: str) -> tuple[Limb, ...]:
        """Limbs of a latent variable with one latent neighbour replaced by another."""
        return tuple((new,) if limb == (old,) else limb for limb in self.limbs[name])

    def without(self, name: str) -> PouchTree:
        """Return a tree without a latent variable that is nobody's limb."""
        cards = {z: card for z, card in self.cards.items() if z != name}
        return replace(self, cards=cards, limbs={z: self.limbs[z] for z in cards})

    def side_of(self, name: str, behind: str) -> frozenset[str]:
        """The latent variables that can be reached from one without passing another."""
        return find_side(self.latents_around, name, behind)

    def structure(self, root: str) -> Structure:
        """Direct all edges away from a latent variable."""
        parents: dict[str, tuple[str, ...]] = {}
        for parent, limb in self.walk(root):
            parents.update(dict.fromkeys(limb, (parent,)))
        latents = [Variable.hidden(name, card) for name, card in self.cards.items()]
        pouches = [limb for limbs in self.limbs.values() for limb in limbs if len(limb) > 1]
        return Structure([*latents, *self.variables.values()], parents, pouches)

    def walk(self, root: str) -> Iterator[tuple[str, Limb]]:
        """Yield the edges away from a latent variable, parents before children."""
        stack = [(root, "")]
        while stack:
            name, above = stack.pop()
            for limb in self.limbs[name]:
                if limb[0] != above:
                    yield name, limb
                    if self.is_latent(limb):
                        stack.append((limb[0], name))


def assemble(tree: PouchTree, root: str, network: Network, but: Collection[str]) -> Network:
    """Make the network of an edited tree: zeros in some tables, the others of the old network.

    ``network`` is rooted at the same variable.
    """
    structure = tree.structure(root)
    flat = np.zeros(structure.n_values)
    for name in structure.names:
        if name not in but:
            structure.table_view(flat, name)[...] = network.table_view(name)
    return Network.trusted(structure, flat)
