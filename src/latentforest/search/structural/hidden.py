"""Where a hidden variable may be: semi-cliques (Elidan, Lotner, Friedman and Koller 2000).

A hidden common cause of several columns makes each depend on most others. So a set of variables in
which each is linked with at least half of the others may be the trace of one: its arcs are replaced
by a new parent of all its members.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from latentforest.data.variable import Variable
from latentforest.model.structure import Structure
from latentforest.search.changes import Change
from latentforest.search.naming import name_new_latent

LEAST_MEMBERS = 4
FIRST_STATES = 4  # most states of a new variable
MOST_CLIQUES = 6  # that are tried in a round
MOST_MEMBERS = 16  # of a connected part of the network that is tried as a whole


class HiddenCandidate(NamedTuple):
    """A structure with a new latent variable, or with more states of one.

    Attributes
    ----------
    change
        What is new.
    variables, parents
        Of the structure.
    """

    change: Change
    variables: tuple[Variable, ...]
    parents: dict[str, tuple[str, ...]]


def find_semicliques(neighbours: Mapping[str, set[str]]) -> list[tuple[str, ...]]:
    """Find sets in which each is linked with at least half of the others.

    They grow from triangles, by the variable with the most links into the set, as long as they are
    semi-cliques.

    Returns
    -------
    cliques
        The largest first, of equal ones those with the most links, then by name.

    Examples
    --------
    >>> links = {"a": {"b", "c"}, "b": {"a", "c", "d"}, "c": {"a", "b", "d"}, "d": {"b", "c"}}
    >>> find_semicliques(links)
    [('a', 'b', 'c', 'd')]
    """
    names = sorted(neighbours)
    found = set()
    for a in names:
        for b, c in combinations(sorted(n for n in neighbours[a] if n > a), 2):
            if c in neighbours[b]:
                found.add(_grow({a, b, c}, names, neighbours))
    cliques = [clique for clique in found if len(clique) >= LEAST_MEMBERS]
    return sorted(cliques, key=lambda c: (-len(c), -_count_links(c, neighbours), c))


def _grow(
    members: set[str], names: list[str], neighbours: Mapping[str, set[str]]
) -> tuple[str, ...]:
    while True:
        others = [name for name in names if name not in members]
        others.sort(key=lambda name: -len(neighbours[name] & members))  # stable: then by name
        larger = ({*members, name} for name in others)
        grown = next((each for each in larger if _is_semiclique(each, neighbours)), None)
        if grown is None:
            return tuple(sorted(members))
        members = grown


def _is_semiclique(members: set[str], neighbours: Mapping[str, set[str]]) -> bool:
    return all(2 * len(neighbours[name] & members) >= len(members) - 1 for name in members)


def _count_links(members: tuple[str, ...], neighbours: Mapping[str, set[str]]) -> int:
    return sum(len(neighbours[name] & set(members)) for name in members)


def list_candidates(structure: Structure, max_states: int) -> Iterator[HiddenCandidate]:
    """List structures with one more latent variable, or one more state of one."""
    neighbours = {name: set(structure.neighbours(name)) for name in structure.names}
    name = name_new_latent(structure.names)
    for members in _list_places(neighbours):
        for n_states in range(2, min(max_states, FIRST_STATES) + 1):
            variable = Variable.hidden(name, n_states)
            for takes_parents in (False, True):
                parents = replace_arcs(structure, members, name, takes_parents)
                if parents is not None:
                    what = Change("root introduction", (name, *members), n_states)
                    yield HiddenCandidate(what, (*structure.variables, variable), parents)
    yield from _list_beside(structure, name, max_states)
    yield from _list_more_states(structure, max_states)


def _list_places(neighbours: Mapping[str, set[str]]) -> list[tuple[str, ...]]:
    """List sets of variables that may have a common parent: semi-cliques, small connected parts."""
    parts = [part for part in _find_parts(neighbours) if LEAST_MEMBERS <= len(part) <= MOST_MEMBERS]
    return list(dict.fromkeys([*find_semicliques(neighbours)[:MOST_CLIQUES], *parts]))


def _find_parts(neighbours: Mapping[str, set[str]]) -> Iterator[tuple[str, ...]]:
    """Find the sets of variables that are linked with each other by any path."""
    left = set(neighbours)
    while left:
        part, waiting = set[str](), [min(left)]
        while waiting:
            name = waiting.pop()
            if name not in part:
                part.add(name)
                waiting += sorted(neighbours[name])
        left -= part
        yield tuple(sorted(part))


def _list_beside(structure: Structure, name: str, max_states: int) -> Iterator[HiddenCandidate]:
    """List structures with another latent variable above the children of one."""
    for latent in structure.latents:
        children = structure.children(latent)
        if len(children) >= LEAST_MEMBERS - 1:
            parents = {each: structure.parents(each) for each in structure.names}
            parents |= {child: (*parents[child], name) for child in children}
            for n_states in range(2, min(max_states, FIRST_STATES) + 1):
                variables = (*structure.variables, Variable.hidden(name, n_states))
                what = Change("node beside", (name, latent), n_states)
                yield HiddenCandidate(what, variables, {**parents, name: ()})


def _list_more_states(structure: Structure, max_states: int) -> Iterator[HiddenCandidate]:
    parents = {each: structure.parents(each) for each in structure.names}
    for latent in structure.latents:
        n_states = structure.variable(latent).n_states + 1
        if n_states <= max_states:
            larger = Variable.hidden(latent, n_states)
            variables = tuple(larger if v.name == latent else v for v in structure.variables)
            what = Change("state introduction", (latent,), n_states)
            yield HiddenCandidate(what, variables, parents)


def replace_arcs(
    structure: Structure, members: tuple[str, ...], name: str, takes_parents: bool
) -> dict[str, tuple[str, ...]] | None:
    """Replace the arcs among some variables by a new parent of all of them.

    With ``takes_parents``, other parents of the members become parents of the new one; nothing
    is returned if there are none, or if that would close a cycle.
    """
    parents = {each: structure.parents(each) for each in structure.names}
    outside = {p for member in members for p in parents[member]} - set(members)
    if takes_parents and (not outside or _reaches(structure, members, outside)):
        return None
    for member in members:
        kept = () if takes_parents else [p for p in parents[member] if p not in members]
        parents[member] = (*kept, name)
    order = [each for each in structure.names if each in outside]
    return {**parents, name: tuple(order) if takes_parents else ()}


def _reaches(structure: Structure, members: tuple[str, ...], targets: set[str]) -> bool:
    """Whether a directed path leads from a member to a target, over variables outside."""
    waiting, seen = list(members), set(members)
    while waiting:
        for child in structure.children(waiting.pop()):
            if child in targets:
                return True
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return False


def find_idle(structure: Structure) -> list[str]:
    """List latent variables that no column needs: with fewer than two children."""
    return [name for name in structure.latents if len(structure.children(name)) < 2]
