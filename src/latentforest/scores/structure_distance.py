"""How far the graphs of two models are from each other: edges, equivalence classes, splits."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from latentforest.model.network import Network
from latentforest.scores.compared_models import ComparedModel
from latentforest.scores.comparison import count_different_splits
from latentforest.scores.latent_matching import ALIKE, LatentMatch

Pair = frozenset[str]


@dataclass(frozen=True)
class _Graph:
    """Links between variables: the one from which each comes, or nothing if either could be."""

    links: dict[Pair, str | None]


def compare_structures(
    first: ComparedModel,
    second: ComparedModel,
    matches: Sequence[LatentMatch],
    shared: Collection[str],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Compare the graphs of two models.

    Latent variables that are matched count as the same. Edges to columns that only one of the
    models has are left out.

    Returns
    -------
    distances
        A row of the table of structures.
    edges
        Rows of the table of edges.
    """
    alike = [match for match in matches if match.adjusted_rand >= ALIKE]
    names = {match.second: match.first for match in alike}
    ours = _read_graph(first.network, shared, {name: name for name in first.network.latents}, "1")
    theirs = _read_graph(second.network, shared, names, "2")
    common = [pair for pair in ours.links if pair in theirs.links]
    structures = (first.network.structure, second.network.structure)
    is_forest = all(structure.is_forest for structure in structures)
    distances = {
        "first": first.name,
        "second": second.name,
        "common_edges": len(common),
        "only_first": len(ours.links) - len(common),
        "only_second": len(theirs.links) - len(common),
        "hamming": _count_different(ours, theirs),
        "splits": count_different_splits(*structures, shared) if is_forest else math.nan,
    }
    labels = _name_nodes(first.network, second.network, alike)
    return distances, _list_edges(first.name, second.name, ours, theirs, labels)


def _read_graph(
    network: Network, shared: Collection[str], names: Mapping[str, str], owner: str
) -> _Graph:
    """Read the equivalence class; latent variables are called as those they are matched with."""
    latents = set(network.latents)

    def call(name: str) -> str:
        if name not in latents:
            return f"column {name}"
        return f"latent {names[name]}" if name in names else f"latent of {owner} {name}"

    found = network.structure.cpdag()
    counted = latents | set(shared)
    links: dict[Pair, str | None] = {}
    for arcs, is_directed in ((found.directed, True), (found.undirected, False)):
        for tail, head in arcs:
            if tail in counted and head in counted:
                links[frozenset((call(tail), call(head)))] = call(tail) if is_directed else None
    return _Graph(links)


def _count_different(first: _Graph, second: _Graph) -> int:
    """Structural Hamming distance: pairs that are linked in one only, or in another direction."""
    missing = object()
    return sum(
        first.links.get(pair, missing) != second.links.get(pair, missing)
        for pair in first.links.keys() | second.links.keys()
    )


def _name_nodes(
    first: Network, second: Network, matches: Sequence[LatentMatch]
) -> dict[str, tuple[str, bool]]:
    """What a node is called in the table of edges, and whether it is latent."""
    labels = {f"column {name}": (name, False) for name in (*first.observed, *second.observed)}
    labels |= {f"latent {name}": (name, True) for name in first.latents}
    labels |= {f"latent of 2 {name}": (name, True) for name in second.latents}
    for match in matches:
        if match.first != match.second:
            labels[f"latent {match.first}"] = (f"{match.first} = {match.second}", True)
    return labels


def _list_edges(
    first: str, second: str, ours: _Graph, theirs: _Graph, labels: Mapping[str, tuple[str, bool]]
) -> list[dict[str, Any]]:
    rows = []
    for pair in ours.links.keys() | theirs.links.keys():
        ends = sorted((labels[node] for node in pair), key=lambda end: (not end[1], end[0]))
        where = "both" if pair in ours.links and pair in theirs.links else ""
        rows.append(
            {
                "first": first,
                "second": second,
                "variable": ends[0][0],
                "neighbour": ends[1][0],
                "is_in": where or ("first" if pair in ours.links else "second"),
            }
        )
    order = {"both": 0, "first": 1, "second": 2}
    return sorted(rows, key=lambda row: (order[row["is_in"]], row["variable"], row["neighbour"]))
