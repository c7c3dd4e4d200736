"""Questions to the graph of a network: separation, blankets, moral graph, equivalence class.

They concern the arcs only, whatever the parameters are, and treat latent and observed variables
alike. The variables of a pouch, which have the same parents and a joint Gaussian distribution, are
adjacent to each other; any order of arcs among them means the same, so the earlier ones count as
parents of the later ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from latentforest.errors import ModelError

if TYPE_CHECKING:
    from latentforest.model.structure import Structure

Names = str | Collection[str]
Arc = tuple[str, str]


@dataclass(frozen=True)
class EquivalenceClass:
    """The completed partially directed graph (CPDAG) of a structure.

    All structures with the same one have the same independences. Two are equal if their classes
    are, whatever the order of their variables.

    Parameters
    ----------
    directed
        Arcs (from, to) that all of these structures have, sorted by name.
    undirected
        Pairs that are linked in all of them, in either direction, sorted by name.
    """

    directed: tuple[Arc, ...]
    undirected: tuple[Arc, ...]


def find_way(structure: Structure, start: str, end: str) -> list[str] | None:
    """Return the variables on the way between two in a forest, both included; or none.

    Of several parents only the first one is followed.
    """
    ups = []
    for name in (start, end):
        up = [name]
        while parents := structure.parents(up[-1]):
            up.append(parents[0])
        ups.append(up)
    places = {name: place for place, name in enumerate(ups[1])}
    for place, name in enumerate(ups[0]):
        if name in places:
            return [*ups[0][: place + 1], *reversed(ups[1][: places[name]])]
    return None


def d_separated(structure: Structure, x: Names, y: Names, given: Names = ()) -> bool:
    """Say whether the graph makes two sets of variables independent given a third.

    The rules of the Bayes ball decide in time proportional to the number of arcs.

    Parameters
    ----------
    structure
        Any directed acyclic graph.
    x, y
        One name or several.
    given
        Names of variables whose values are known.

    Examples
    --------
    >>> from latentforest import Structure, Variable
    >>> variables = [Variable(name, ("no", "yes")) for name in ("rain", "hose", "wet")]
    >>> structure = Structure(variables, {"wet": ["rain", "hose"]})
    >>> d_separated(structure, "rain", "hose"), d_separated(structure, "rain", "hose", ["wet"])
    (True, False)
    """
    starts, ends, known = (_read_names(structure, names) for names in (x, y, given))
    if not starts or not ends:
        raise ModelError("d-separation is between two sets of variables, got an empty one")
    for one, other in combinations((starts, ends, known), 2):
        for name in one:
            if name in other:
                raise ModelError(f"variable {name!r} is in two of the sets x, y and given")
    return not any(name in ends for name in _reach(structure, starts, known))


def _reach(structure: Structure, starts: Collection[str], known: Collection[str]) -> Iterable[str]:
    """Yield the variables that the ball comes to, some of them twice.

    It comes from a child (upwards) or from a parent. An unknown variable passes it on; one that is
    known sends what comes from a parent back to its parents.
    """
    parents = _direct_pouches(structure)
    children = _list_children(parents)
    waiting = [(name, True) for name in starts]
    seen = set(waiting)
    while waiting:
        name, upwards = waiting.pop()
        yield name
        targets: list[tuple[str, bool]] = []
        if upwards != (name in known):
            targets += [(parent, True) for parent in parents[name]]
        if name not in known:
            targets += [(child, False) for child in children[name]]
        for target in targets:
            if target not in seen:
                seen.add(target)
                waiting.append(target)


def markov_blanket(structure: Structure, name: str) -> tuple[str, ...]:
    """Return the variables that make one independent of all others, in the network's order.

    They are its parents, its children, the other parents of these, and those in its pouch.

    Examples
    --------
    >>> from latentforest import Structure, Variable
    >>> variables = [Variable(name, ("no", "yes")) for name in ("rain", "hose", "wet", "cold")]
    >>> markov_blanket(Structure(variables, {"wet": ["rain", "hose"], "cold": "wet"}), "rain")
    ('hose', 'wet')
    """
    structure.variable(name)
    parents = _direct_pouches(structure)
    found = set(parents[name])
    for child in _list_children(parents)[name]:
        found.update((child, *parents[child]))
    return _sort(structure, found - {name})


def moral_graph(structure: Structure) -> dict[str, tuple[str, ...]]:
    """Return the neighbours of each variable in the moral graph, in the network's order.

    The graph has an edge for each arc and between any two parents of a variable.

    Examples
    --------
    >>> from latentforest import Structure, Variable
    >>> variables = [Variable(name, ("no", "yes")) for name in ("rain", "hose", "wet")]
    >>> moral_graph(Structure(variables, {"wet": ["rain", "hose"]}))
    {'rain': ('hose', 'wet'), 'hose': ('rain', 'wet'), 'wet': ('rain', 'hose')}
    """
    neighbours: dict[str, set[str]] = {name: set() for name in structure.names}
    for name, family in _direct_pouches(structure).items():
        for one, other in combinations((name, *family), 2):
            neighbours[one].add(other)
            neighbours[other].add(one)
    return {name: _sort(structure, found) for name, found in neighbours.items()}


def ancestors(structure: Structure, names: Names) -> tuple[str, ...]:
    """Return all variables from which arcs lead to one of these, in the network's order.

    Examples
    --------
    >>> from latentforest import Structure, Variable
    >>> variables = [Variable(name, ("no", "yes")) for name in ("rain", "wet", "cold")]
    >>> ancestors(Structure(variables, {"wet": "rain", "cold": "wet"}), "cold")
    ('rain', 'wet')
    """
    waiting, found = list(_read_names(structure, names)), set[str]()
    while waiting:
        for parent in structure.parents(waiting.pop()):
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return _sort(structure, found)


def barren(structure: Structure, names: Names) -> tuple[str, ...]:
    """Return the variables without which the joint distribution of these stays the same.

    These are all but the given ones and their ancestors, in the network's order.

    Examples
    --------
    >>> from latentforest import Structure, Variable
    >>> variables = [Variable(name, ("no", "yes")) for name in ("rain", "wet", "cold")]
    >>> barren(Structure(variables, {"wet": "rain", "cold": "wet"}), "wet")
    ('cold',)
    """
    needed = {*_read_names(structure, names), *ancestors(structure, names)}
    return tuple(name for name in structure.names if name not in needed)


def cpdag(structure: Structure) -> EquivalenceClass:
    """Return the equivalence class of a structure: which arcs have a direction, which have none.

    Only independences count, not what kinds of variables may be parents of which.

    References
    ----------
    Chickering (1995), A transformational characterization of equivalent Bayesian network
    structures: Order-Edges and Label-Edges.

    Examples
    --------
    >>> from latentforest import Structure, Variable
    >>> variables = [Variable(name, ("no", "yes")) for name in ("rain", "hose", "wet", "cold")]
    >>> found = cpdag(Structure(variables, {"wet": ["rain", "hose"], "hose": "cold"}))
    >>> found.directed, found.undirected
    ((('hose', 'wet'), ('rain', 'wet')), (('cold', 'hose'),))
    """
    parents = _direct_pouches(structure)
    is_compelled = _label_arcs(parents, _sort_arcs(structure, parents))
    directed = sorted(arc for arc, compelled in is_compelled.items() if compelled)
    others = (tuple(sorted(arc)) for arc, compelled in is_compelled.items() if not compelled)
    return EquivalenceClass(tuple(directed), tuple(sorted((a, b) for a, b in others)))


def _sort_arcs(structure: Structure, parents: Mapping[str, tuple[str, ...]]) -> list[Arc]:
    """Order arcs by where they end, then from the nearest beginning to the farthest."""
    order = [each for name in structure.order for each in structure.pouch(name)]
    rank = {name: position for position, name in enumerate(dict.fromkeys(order))}
    return [
        (parent, name)
        for name in rank
        for parent in sorted(parents[name], key=rank.__getitem__, reverse=True)
    ]


def _label_arcs(parents: Mapping[str, tuple[str, ...]], arcs: list[Arc]) -> dict[Arc, bool]:
    """Say of each arc whether it is compelled."""
    known: dict[Arc, bool] = {}
    for x, y in arcs:
        if (x, y) in known:
            continue
        compelled = [w for w in parents[x] if known[w, x]]
        if any(w not in parents[y] for w in compelled):
            known.update({(z, y): True for z in parents[y]})
            continue
        known.update({(w, y): True for w in compelled})
        is_compelled = any(z != x and z not in parents[x] for z in parents[y])
        known.update({(z, y): is_compelled for z in parents[y] if (z, y) not in known})
    return known


def _direct_pouches(structure: Structure) -> dict[str, tuple[str, ...]]:
    """Return the parents of each variable, the earlier ones of its pouch among them."""
    parents = {name: structure.parents(name) for name in structure.names}
    for pouch in structure.pouches:
        for position, name in enumerate(pouch):
            parents[name] += pouch[:position]
    return parents


def _list_children(parents: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, family in parents.items():
        for parent in family:
            children[parent].append(name)
    return children


def _read_names(structure: Structure, names: Names) -> frozenset[str]:
    """Return known names as a set."""
    listed = (names,) if isinstance(names, str) else tuple(names)
    for name in listed:
        structure.variable(name)
    return frozenset(listed)


def _sort(structure: Structure, names: Collection[str]) -> tuple[str, ...]:
    """Put names in the order of the network."""
    offsets = structure.offsets
    return tuple(sorted(names, key=offsets.__getitem__))
