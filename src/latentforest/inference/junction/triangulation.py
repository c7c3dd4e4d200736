"""Trees of cliques: in which order variables are summed out, and what is multiplied for it.

The order is greedy: the variable whose removal adds the fewest edges comes first (min-fill), then
the one with the smallest table, then by name. Where the smallest table first gives less work in
all, that is taken instead.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

Scope = tuple[str, ...]
Graph = dict[str, set[str]]


@dataclass
class Clique:
    """Some variables, those that its message is about, and where that goes.

    ``factors`` are the numbers of the scopes that it multiplies; ``children`` those of cliques.
    """

    scope: Scope
    separator: Scope
    factors: list[int] = field(default_factory=list)
    children: list[int] = field(default_factory=list)


def triangulate(cards: Mapping[str, int], scopes: Sequence[Collection[str]]) -> list[Clique]:
    """Build the cliques over some variables, children before parents.

    Parameters
    ----------
    cards
        Numbers of states of the variables.
    scopes
        Sets of variables that occur together in a factor; empty ones belong to no clique.
    """
    orders = [_order(cards, scopes, by_fill) for by_fill in (True, False)]
    eliminated = min(orders, key=lambda cliques: measure(cards, cliques.values()))
    return _join(eliminated, scopes)


def measure(cards: Mapping[str, int], scopes: Collection[Collection[str]]) -> float:
    """Count the cells of tables over some scopes."""
    return math.fsum(math.prod(cards[name] for name in scope) for scope in scopes)


def _order(
    cards: Mapping[str, int], scopes: Sequence[Collection[str]], by_fill: bool
) -> dict[str, set[str]]:
    """Eliminate the variables; return each with its neighbours at that time, itself included."""
    graph: Graph = {name: set() for name in cards}
    for scope in scopes:
        for a, b in combinations(scope, 2):
            graph[a].add(b)
            graph[b].add(a)
    costs = {name: _cost(graph, cards, name, by_fill) for name in graph}
    cliques: dict[str, set[str]] = {}
    while graph:
        name = min(graph, key=lambda each: (*costs[each], each))
        around = graph.pop(name)
        cliques[name] = {name, *around}
        for other in around:
            graph[other].discard(name)
        touched = set(around)
        for a, b in combinations(sorted(around), 2):
            if b not in graph[a]:
                touched |= graph[a] & graph[b]  # they lose an edge of fill
                graph[a].add(b)
                graph[b].add(a)
        for other in touched:
            costs[other] = _cost(graph, cards, other, by_fill)
    return cliques


def _cost(graph: Graph, cards: Mapping[str, int], name: str, by_fill: bool) -> tuple[float, float]:
    """Edges that the removal of a variable adds, and the logarithm of its table's size."""
    around = graph[name]
    size = math.log(cards[name]) + math.fsum(math.log(cards[other]) for other in around)
    size = round(size, 9)  # no order of summing decides
    if not by_fill:
        return size, 0.0
    n = len(around)
    n_edges = sum(len(graph[other] & around) for other in around) // 2
    return n * (n - 1) // 2 - n_edges, size


def _join(eliminated: dict[str, set[str]], scopes: Sequence[Collection[str]]) -> list[Clique]:
    """Make a tree of the cliques of an elimination, without those inside others."""
    rank = {name: place for place, name in enumerate(eliminated)}
    home = {name: name for name in eliminated}  # the clique in which a variable is summed out

    def above(name: str) -> str | None:
        rest = eliminated[name] - {each for each in eliminated[name] if home[each] == name}
        return home[min(rest, key=rank.__getitem__)] if rest else None

    alive = dict.fromkeys(eliminated)
    for name in list(eliminated):
        while name in alive:
            parent = above(name)
            if parent is None or not eliminated[parent] <= eliminated[name]:
                break
            for each in home:
                if home[each] == parent:
                    home[each] = name
            del alive[parent]
    return _list_cliques(eliminated, scopes, alive, home, rank)


def _list_cliques(
    eliminated: dict[str, set[str]],
    scopes: Sequence[Collection[str]],
    alive: Collection[str],
    home: Mapping[str, str],
    rank: Mapping[str, int],
) -> list[Clique]:
    cliques: dict[str, Clique] = {}
    for name in alive:
        summed = {each for each in eliminated[name] if home[each] == name}
        scope = tuple(sorted(eliminated[name], key=rank.__getitem__))
        cliques[name] = Clique(scope, tuple(each for each in scope if each not in summed))
    for f, names in enumerate(scopes):
        if names:
            cliques[home[min(names, key=rank.__getitem__)]].factors.append(f)
    below: dict[str, list[str]] = {name: [] for name in cliques}
    roots = []
    for name, clique in cliques.items():
        if clique.separator:
            below[home[min(clique.separator, key=rank.__getitem__)]].append(name)
        else:
            roots.append(name)
    order: list[str] = []
    for root in roots:
        stack, found = [root], []
        while stack:
            found.append(stack.pop())
            stack += below[found[-1]]
        order += reversed(found)
    number = {name: i for i, name in enumerate(order)}
    for name in order:
        cliques[name].children = [number[child] for child in below[name]]
    return [cliques[name] for name in order]
