"""Random trees with hidden and observed nodes, and the distances along their paths."""

import numpy as np


def draw_tree(rng, n_hidden, n_more, is_inner):
    """Draw the edges of a minimal tree, and its number of observed nodes.

    Observed nodes come first; every hidden one gets at least three neighbours, and ``n_more``
    observed nodes are added: as leaves of hidden nodes, or anywhere if they may be inner.
    """
    hidden = [("hidden", i) for i in range(n_hidden)]
    edges = [(hidden[i], hidden[rng.integers(i)]) for i in range(1, n_hidden)]
    observed = []

    def add(*neighbours):
        observed.append(("observed", len(observed)))
        edges.extend((observed[-1], node) for node in neighbours)

    for node in hidden:
        while sum(node in edge for edge in edges) < 3:
            add(node)
    for _ in range(n_more):
        places = hidden + (observed if is_inner else [])
        if is_inner and edges and rng.random() < 0.5:
            add(*edges.pop(rng.integers(len(edges))))
        else:
            add(*([places[rng.integers(len(places))]] if places else []))
    order = rng.permutation(len(observed)).tolist()
    number = {node: order[i] for i, node in enumerate(observed)}
    number |= {node: len(observed) + i for i, node in enumerate(hidden)}
    return [(number[a], number[b]) for a, b in edges], len(observed)


def measure(edges, lengths, n_observed):
    """Distances between the observed nodes."""
    n_nodes = max([n_observed, *(max(edge) + 1 for edge in edges)])
    values = np.where(np.eye(n_nodes) > 0, 0.0, np.inf)
    for (a, b), length in zip(edges, lengths, strict=True):
        values[a, b] = values[b, a] = length
    for k in range(n_nodes):
        values = np.minimum(values, values[:, [k]] + values[[k]])
    return values[:n_observed, :n_observed]


def list_splits(edges, n_observed):
    """The two sets of observed nodes on the sides of each edge; they determine a minimal tree."""
    found = []
    for edge in edges:
        sides = [set(edge[:1]), set(edge[1:2])]
        others = [other for other in edges if other != edge]
        while any(_spread(side, others) for side in sides):
            pass
        found.append(frozenset(frozenset(n for n in side if n < n_observed) for side in sides))
    return sorted(map(sorted, (map(sorted, split) for split in found)))


def _spread(side, edges):
    reached = {node for edge in edges if side & set(edge[:2]) for node in edge[:2]}
    is_new = not reached <= side
    side |= reached
    return is_new
