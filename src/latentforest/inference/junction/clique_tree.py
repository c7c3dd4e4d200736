"""A network as a tree of cliques, for rows in which some variables are given.

A variable that every row has a value for conditions the network: its value picks a slice of the
tables it occurs in, and nothing is summed over it. The other variables, *open* ones, are latent, or
missing in some rows. Cliques are sets of open variables.

A family without open members is a look-up. A column without children that is missing in some rows
is not opened for that: a row without its value leaves its table alone (unless its posterior is
asked for). The same holds for variables without observed ones below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from latentforest.inference.junction.triangulation import triangulate
from latentforest.inference.patterns import Grouping, Mask
from latentforest.model.structure import Structure

Group = Callable[[tuple[Mask, ...]], Grouping]


class Member(NamedTuple):
    """A variable of a factor, and how far apart its states are in the factor's values."""

    name: str
    stride: int


class FactorItem(NamedTuple):
    """A table of parameters, or a dense message, as a function of some variables.

    ``start`` is where it begins among the parameters; of a dense message, its length.
    """

    name: str
    start: int
    members: tuple[Member, ...]
    is_dense: bool = False


@dataclass
class TreeNode:
    """A clique, or a product of some of a clique's items.

    ``mask`` are the columns that its messages depend on; ``children`` are numbers of nodes.
    """

    scope: tuple[str, ...]
    separator: tuple[str, ...]
    factors: list[FactorItem]
    children: list[int]
    mask: Mask = 0


@dataclass(frozen=True)
class CliqueTree:
    """What is to be multiplied and summed, children before parents.

    Attributes
    ----------
    open
        Open variables, with their numbers of states.
    closed
        Columns with gaps that are not opened.
    lookups
        Families without open members.
    trees
        First and last node of each connected part.
    """

    nodes: list[TreeNode]
    open: Mapping[str, int]
    closed: frozenset[str]
    lookups: list[FactorItem]
    trees: list[tuple[int, int]] = field(default_factory=list)

    def list_factors(self, tree: int) -> list[FactorItem]:
        """List the factors of a connected part."""
        first, last = self.trees[tree]
        return [item for node in self.nodes[first : last + 1] for item in node.factors]


def grow_cliques(
    structure: Structure,
    bits: Mapping[str, Mask],
    hidden: Collection[str],
    gaps: Collection[str],
    asked: Collection[str],
    group: Group,
    dense: Sequence[FactorItem] = (),
) -> CliqueTree:
    """Find the cliques of a network and what each multiplies.

    Parameters
    ----------
    structure
        Any directed acyclic graph.
    bits
        The bit of each column in masks; of dense messages under their names.
    hidden
        Categorical variables that no row has a value for.
    gaps
        Those that some rows have a value for and others do not.
    asked
        Variables whose posteriors are wanted: these are opened wherever they are not given.
    group
        Decides how the items of a clique are grouped; see ``patterns.group_children``.
    dense
        Factors whose values are not parameters.
    """
    barren = _find_barren(structure, set(hidden), set(asked), dense)
    closed = {
        name
        for name in gaps
        if name not in asked and not _has_children(structure, name, barren, dense)
    }
    is_open = (set(hidden) | set(gaps)) - barren - closed
    cards = {name: structure.shape(name)[-1] for name in structure.names if name in is_open}
    factors = [*list_families(structure, barren), *dense]
    scopes = [tuple(m.name for m in f.members if m.name in is_open) for f in factors]
    alone = [f for f, scope in zip(factors, scopes, strict=True) if not scope]
    lookups = [item for item in alone if not item.is_dense]
    builder = _NodeBuilder(factors, scopes, is_open, set(gaps), bits, group)
    cliques = triangulate(cards, scopes)
    for clique in cliques:
        builder.add(clique.scope, clique.separator, clique.factors, clique.children)
    for f, item in enumerate(factors):
        if item.is_dense and not scopes[f]:
            builder.add((), (), [f], [])
    return CliqueTree(builder.nodes, cards, frozenset(closed), lookups, builder.trees)


def list_families(structure: Structure, but: Collection[str]) -> list[FactorItem]:
    """List the tables of the categorical variables."""
    items = []
    for name in structure.names:
        if name not in but and name not in structure.continuous:
            family = (*structure.parents(name), name)
            members = zip(family, find_strides(structure.shape(name)), strict=True)
            items.append(
                FactorItem(name, structure.offset(name), tuple(Member(*m) for m in members))
            )
    return items


def find_strides(shape: Sequence[int]) -> list[int]:
    """Distances of neighbouring entries along each axis, the last axis running fastest."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def _has_children(
    structure: Structure, name: str, barren: Collection[str], dense: Iterable[FactorItem]
) -> bool:
    below = any(child not in barren for child in structure.children(name))
    return below or any(m.name == name for item in dense for m in item.members)


def _find_barren(
    structure: Structure, hidden: set[str], asked: set[str], dense: Sequence[FactorItem]
) -> set[str]:
    """Find hidden variables with nothing observed below them: these sum to one."""
    barren: set[str] = set()
    for name in reversed(structure.order):
        if name in hidden - asked and not _has_children(structure, name, barren, dense):
            barren.add(name)
    return barren


class _NodeBuilder:
    """Makes the nodes of cliques, with product nodes for items that few patterns share."""

    def __init__(
        self,
        factors: Sequence[FactorItem],
        scopes: Sequence[tuple[str, ...]],
        is_open: Collection[str],
        gaps: Collection[str],
        bits: Mapping[str, Mask],
        group: Group,
    ) -> None:
        self.nodes: list[TreeNode] = []
        self.trees: list[tuple[int, int]] = []
        self._factors, self._scopes, self._group = factors, scopes, group
        self._is_open, self._bits, self._gaps = is_open, bits, gaps
        self._numbers: list[int] = []  # of the nodes of cliques
        self._first = 0

    def add(
        self,
        scope: tuple[str, ...],
        separator: tuple[str, ...],
        factors: Sequence[int],
        children: Sequence[int],
    ) -> None:
        """Add the next clique."""
        items: list[FactorItem | int] = [self._factors[f] for f in factors]
        items += [self._numbers[child] for child in children]
        node = self._make(scope, separator, self._bundle(items))
        self._numbers.append(len(self.nodes))
        self.nodes.append(node)
        if not separator:
            self.trees.append((self._first, len(self.nodes) - 1))
            self._first = len(self.nodes)

    def _make(
        self, scope: tuple[str, ...], separator: tuple[str, ...], items: Sequence[FactorItem | int]
    ) -> TreeNode:
        factors = [item for item in items if isinstance(item, FactorItem)]
        children = [item for item in items if not isinstance(item, FactorItem)]
        mask = self._see(scope)
        for item in items:
            mask |= self._mask(item)
        return TreeNode(scope, separator, factors, children, mask)

    def _see(self, scope: Iterable[str]) -> Mask:
        """Columns that tell which of some open variables are missing, and the values of others."""
        mask = 0
        for name in scope:
            mask |= self._bits[name] if name in self._gaps else 0
        return mask

    def _mask(self, item: FactorItem | int) -> Mask:
        if not isinstance(item, FactorItem):
            return self.nodes[item].mask
        mask = self._bits[item.name] if item.is_dense else 0
        for member in item.members:
            if member.name not in self._is_open or member.name in self._gaps:
                mask |= self._bits[member.name]
        return mask

    def _scope(self, item: FactorItem | int) -> tuple[str, ...]:
        if not isinstance(item, FactorItem):
            return self.nodes[item].separator
        return tuple(m.name for m in item.members if m.name in self._is_open)

    def _bundle(self, items: Sequence[FactorItem | int]) -> list[FactorItem | int]:
        """Put product nodes above items where that saves work."""
        bundles: dict[Mask, list[FactorItem | int]] = {}
        for item in items:
            bundles.setdefault(self._mask(item), []).append(item)
        rest = bundles.pop(0, [])
        if len(bundles) > 2:
            for low, high in self._group(tuple(bundles)).merges:
                both = bundles.pop(low, []) + (bundles.pop(high, []) if high != low else [])
                if both:
                    bundles.setdefault(low | high, []).append(self._multiply(both))
        return [*rest, *(item for bundle in bundles.values() for item in bundle)]

    def _multiply(self, items: Sequence[FactorItem | int]) -> int:
        scope = tuple(dict.fromkeys(name for item in items for name in self._scope(item)))
        self.nodes.append(self._make(scope, scope, items))
        return len(self.nodes) - 1
