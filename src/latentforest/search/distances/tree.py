"""Trees with lengths of edges: contraction of short edges, and the structure of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from latentforest.data.variable import Variable
from latentforest.kernels.types import AnyArray
from latentforest.model.structure import Structure
from latentforest.search.naming import name_new_latent


class Edge(NamedTuple):
    """An edge with its length and the standard error of that."""

    a: int
    b: int
    length: float
    error: float


@dataclass(frozen=True)
class DistanceTree:
    """A forest over the nodes 0, 1, …: the observed ones first, then the hidden ones."""

    n_observed: int
    n_nodes: int
    edges: tuple[Edge, ...]


def contract(
    edges: Sequence[Edge], n_observed: int, threshold: float, leaves_only: bool
) -> DistanceTree:
    """Contract edges of no length, between hidden nodes and, unless leaves only, to observed ones.

    Of several observed nodes at the place of a hidden one, the nearest takes it.
    """
    short = [edge for edge in edges if edge.length <= threshold * edge.error]
    n_nodes = max((max(edge.a, edge.b) + 1 for edge in edges), default=n_observed)
    inner = [edge for edge in short if min(edge.a, edge.b) >= n_observed]
    merged = _merge(n_nodes, inner)
    if not leaves_only:
        outer = [edge for edge in short if min(edge.a, edge.b) < n_observed <= max(edge.a, edge.b)]
        place: dict[int, int] = {}
        for edge in sorted(outer, key=lambda edge: (edge.length / edge.error, edge.a)):
            place.setdefault(int(merged[max(edge.a, edge.b)]), min(edge.a, edge.b))
        merged = np.array([place.get(int(node), int(node)) for node in merged])
    hidden = sorted({int(node) for node in merged if node >= n_observed})
    number = {node: node for node in range(n_observed)}
    number |= {node: n_observed + i for i, node in enumerate(hidden)}
    kept = [
        Edge(number[int(merged[edge.a])], number[int(merged[edge.b])], edge.length, edge.error)
        for edge in edges
        if merged[edge.a] != merged[edge.b]
    ]
    return DistanceTree(n_observed, n_observed + len(hidden), tuple(kept))


def _merge(n_nodes: int, edges: Sequence[Edge]) -> AnyArray:
    """Number of the first node of those that edges connect, for each node."""
    places = ([edge.a for edge in edges], [edge.b for edge in edges])
    graph = coo_array((np.ones(len(edges)), places), shape=(n_nodes, n_nodes))
    _, label = connected_components(graph, directed=False)
    _, first = np.unique(label, return_index=True)
    merged: AnyArray = first[label]
    return merged


def build_structure(tree: DistanceTree, variables: Sequence[Variable]) -> Structure:
    """Make latent variables of two states, Y1, Y2, …, of the hidden nodes; root where they are.

    Continuous columns have no children: two of them with an edge of their own are cut apart, and
    a tree without hidden nodes is rooted at a categorical column.
    """
    everything = list(variables)
    names = [variable.name for variable in variables]
    for _ in range(tree.n_observed, tree.n_nodes):
        names.append(name_new_latent(names))
        everything.append(Variable.hidden(names[-1], 2))
    neighbours: list[list[int]] = [[] for _ in names]
    for a, b, *_ in tree.edges:
        if everything[a].is_categorical or everything[b].is_categorical:
            neighbours[a].append(b)
            neighbours[b].append(a)
    parents: dict[str, str] = {}
    reached: set[int] = set()
    last_first = reversed(range(tree.n_nodes))
    for root in sorted(last_first, key=lambda node: not everything[node].is_categorical):
        stack = [] if root in reached else [root]
        reached.add(root)
        while stack:
            here = stack.pop()
            below = [node for node in neighbours[here] if node not in reached]
            parents |= {names[node]: names[here] for node in below}
            reached.update(below)
            stack += below
    return Structure(everything, parents)
