"""What a picture of a network shows: variables with texts and shares, edges with strengths."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from latentforest.model.gaussian import Mixture
from latentforest.model.pictures.names import name_variables, shorten_columns
from latentforest.model.questions.marginals import compute_marginals, compute_mixtures
from latentforest.model.showing.centre import find_centres

if TYPE_CHECKING:
    from latentforest.model.network import Network

N_POINTS = 48  # of a density
REACH = 3.0  # deviations beyond the outermost mean that a density is drawn over
RARE = 0.005  # components with less weight do not widen the range


@dataclass(frozen=True)
class SketchNode:
    """A variable: its text, and shares of its values or points of its density."""

    name: str
    text: str
    is_latent: bool
    shares: tuple[float, ...] = ()
    density: tuple[float, ...] = ()


@dataclass(frozen=True)
class Link:
    """An arc with the information that its ends share, in bits, if that is known."""

    parent: str
    child: str
    bits: float | None


@dataclass(frozen=True)
class GraphSketch:
    """Variables in the network's order, arcs, pouches, and centres of trees with latent ones."""

    nodes: Mapping[str, SketchNode]
    links: tuple[Link, ...]
    pouches: tuple[tuple[str, ...], ...] = ()
    centres: tuple[str, ...] = ()

    @cached_property
    def neighbours(self) -> dict[str, list[tuple[str, float]]]:
        """Neighbours of each variable with the bits of the link, strongest first."""
        found: dict[str, list[tuple[str, float]]] = {name: [] for name in self.nodes}
        for link in self.links:
            bits = link.bits or 0.0
            found[link.parent].append((link.child, bits))
            found[link.child].append((link.parent, bits))
        place = {name: k for k, name in enumerate(self.nodes)}
        for listed in found.values():
            listed.sort(key=lambda each: (-round(each[1], 9), place[each[0]]))
        return found

    @property
    def n_columns(self) -> int:
        """Number of observed variables."""
        return sum(not node.is_latent for node in self.nodes.values())

    def components(self) -> list[list[str]]:
        """Variables that are linked to each other; the largest set first."""
        seen: set[str] = set()
        found = []
        for name in self.nodes:
            if name not in seen:
                component = list(walk(self.neighbours, name))
                seen.update(component)
                found.append(component)
        return sorted(found, key=len, reverse=True)


def walk(neighbours: Mapping[str, Sequence[tuple[str, float]]], start: str) -> dict[str, int]:
    """Distances of all variables that can be reached, nearest first."""
    distances, waiting = {start: 0}, deque([start])
    while waiting:
        name = waiting.popleft()
        for other, _ in neighbours[name]:
            if other not in distances:
                distances[other] = distances[name] + 1
                waiting.append(other)
    return distances


def sketch_network(network: Network) -> GraphSketch:
    """Describe a network for drawing."""
    structure = network.structure
    shares = compute_marginals(structure, network.parameters)
    mixtures = compute_mixtures(structure, network.parameters)
    texts = shorten_columns(network, name_variables(network))
    nodes = {
        name: SketchNode(
            name,
            texts[name],
            structure.variable(name).latent,
            tuple(shares[name].tolist()) if name in shares else (),
            trace_density(mixtures[name], find_range([mixtures[name]])) if name in mixtures else (),
        )
        for name in structure.names
    }
    table = network.edge_information()
    links = (Link(row["parent"], row["child"], row["bits"]) for row in table.rows())
    centres = tuple(find_centres(structure)) if structure.is_forest else ()
    return GraphSketch(nodes, tuple(links), structure.pouches, centres)


def find_range(mixtures: Sequence[Mixture]) -> tuple[float, float]:
    """The numbers that densities are drawn over."""
    lows, highs = [], []
    for mixture in mixtures:
        common = mixture.weights > min(RARE, float(mixture.weights.max()) / 2)
        reach = REACH * np.sqrt(mixture.variances[common])
        lows.append(float((mixture.means[common] - reach).min()))
        highs.append(float((mixture.means[common] + reach).max()))
    return min(lows), max(highs)


def trace_density(mixture: Mixture, between: tuple[float, float]) -> tuple[float, ...]:
    """Points of a density at even distances."""
    return tuple(mixture.density(np.linspace(*between, N_POINTS)).tolist())
