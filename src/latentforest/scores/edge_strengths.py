"""How often edges occur in several weighted networks, and from what strength on they count."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from latentforest.data.results.table import Table
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.showing.drawing import quote
from latentforest.model.structure import Structure


def measure_edges(networks: Sequence[Network], weights: ArrayLike) -> Table:
    """Return the probabilities of edges between columns, the greatest first.

    Parameters
    ----------
    networks
        Over the same columns; they may have latent variables of their own.
    weights
        Their probabilities, which sum to one.

    Returns
    -------
    edges
        One row for each pair of columns: ``left`` and ``right``; ``probability`` of an edge in
        either direction; ``forward`` (left to right) and ``backward``, where an edge whose
        direction the independences leave open counts half for both; ``together``, the probability
        that the two are neighbours of one latent variable.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> from latentforest.search.averaging.best import best_networks
    >>> data = load("hiv-tests")
    >>> found = [each.structure for each in best_networks(data, 2)]
    >>> networks = [Network(each, np.full(each.n_values, 0.5)) for each in found]
    >>> print(measure_edges(networks, [0.75, 0.25]).columns)
    ('left', 'right', 'probability', 'forward', 'backward', 'together')
    """
    names = networks[0].observed
    places = {name: place for place, name in enumerate(names)}
    arcs, together = np.zeros((2, len(names), len(names)))
    for network, weight in zip(networks, np.asarray(weights, dtype=np.float64), strict=True):
        for parent, child, share in _list_arcs(network.structure):
            if parent in places and child in places:
                arcs[places[parent], places[child]] += weight * share
        for left, right in _list_siblings(network.structure):
            together[places[left], places[right]] += weight
    return _tabulate(names, arcs, together + together.T)


def _list_arcs(structure: Structure) -> list[tuple[str, str, float]]:
    """List arcs with their shares: one, or a half for each direction where both are possible."""
    graph = structure.cpdag()
    arcs = [(parent, child, 1.0) for parent, child in graph.directed]
    for left, right in graph.undirected:
        arcs += [(left, right, 0.5), (right, left, 0.5)]
    return arcs


def _list_siblings(structure: Structure) -> set[tuple[str, str]]:
    """List pairs of columns that have a latent neighbour in common."""
    observed = set(structure.observed)
    return {
        pair
        for latent in structure.latents
        for pair in combinations(sorted(observed & set(structure.neighbours(latent))), 2)
    }


def _tabulate(names: Sequence[str], arcs: FloatArray, together: FloatArray) -> Table:
    left, right = np.triu_indices(len(names), 1)
    edges = np.minimum(arcs + arcs.T, 1.0)[left, right]
    order = np.lexsort((-together[left, right].round(9), -edges.round(9)))
    left, right = left[order], right[order]
    return Table(
        {
            "left": [names[i] for i in left.tolist()],
            "right": [names[j] for j in right.tolist()],
            "probability": edges[order].tolist(),
            "forward": arcs[left, right].tolist(),
            "backward": arcs[right, left].tolist(),
            "together": np.minimum(together[left, right], 1.0).tolist(),
        }
    )


def find_threshold(strengths: ArrayLike) -> float:
    """Return the strength above which edges are significant (Scutari and Nagarajan 2013).

    If there was no doubt, strengths would be zero or one, and their distribution function flat in
    between. The level of the flat function that is closest to the one observed (by the area between
    them) divides the strengths; the threshold is where the observed one reaches it.

    Parameters
    ----------
    strengths
        Of all pairs of columns, also of those that never have an edge.

    Examples
    --------
    >>> find_threshold([0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439])
    0.3921
    """
    values = np.sort(np.asarray(strengths, dtype=np.float64))
    if not len(values):
        return 0.0
    levels = np.arange(len(values) + 1) / len(values)  # of the function before, between and after
    lengths = np.diff(np.concatenate([[0.0], values, [1.0]]))
    sums = np.cumsum(lengths)
    level = levels[int(np.searchsorted(sums, 0.5 * sums[-1] - 1e-12))]  # a weighted median
    return float(values[max(int(np.ceil(level * len(values) - 1e-9)) - 1, 0)]) if level else 0.0


def draw_edges(edges: Table, least: float = 0.5) -> str:
    """Describe probable edges in the DOT language: thick and dark lines are more probable.

    Parameters
    ----------
    edges
        As ``measure_edges`` returns them; directions and ``together`` may be missing.
    least
        Edges of a lower probability are left out. An arrow shows a direction that is at least
        twice as probable as the other; pairs that share a latent neighbour are joined by dashes.
    """
    names = dict.fromkeys([*edges["left"], *edges["right"]])
    lines = [f"  {quote(name)} [shape=box];" for name in names]
    for row in edges.rows():
        ends = f"{quote(row['left'])} -> {quote(row['right'])}"
        if row["probability"] >= least:
            lines.append(f"  {ends} [{_style(row['probability'])}, dir={_direct(row)}];")
        elif row.get("together", 0.0) >= least:
            lines.append(f"  {ends} [{_style(row['together'])}, dir=none, style=dashed];")
    return "\n".join(["digraph {", *lines, "}"]) + "\n"


def _style(probability: float) -> str:
    grey = round(100 * (1 - probability))
    return f'label="{probability:.2f}", penwidth={3 * probability:.2f}, color="gray{grey}"'


def _direct(row: dict[str, float]) -> str:
    forward, backward = row.get("forward", 0.0), row.get("backward", 0.0)
    if max(forward, backward) < 2 * min(forward, backward) or forward == backward:
        return "none"
    return "forward" if forward > backward else "back"
