"""Choosing the root of each tree so that few patterns have to be propagated."""

from __future__ import annotations

from latentforest.inference.forest import PatternedData
from latentforest.inference.patterns import Mask
from latentforest.model.network import Network
from latentforest.model.structure import Structure

MANY_COLUMNS = 500


def choose_roots(structure: Structure, data: PatternedData) -> list[str]:
    """Return, for each tree of a forest, the root from which propagation is cheapest.

    Moving the root from ``r`` to its child ``c`` replaces the patterns below ``c`` by those of all
    the rest: the root walks down as long as that makes them fewer.
    """
    masks: dict[str, Mask] = {}
    for name in reversed(structure.order):
        masks[name] = data.bits.get(name, 0)
        for child in structure.children(name):
            masks[name] |= masks[child]
        if len(data.bits) > MANY_COLUMNS:  # else large sets would be joined column by column
            parts = [masks[child] for child in structure.children(name)]
            data.sample.column(masks[name], [*parts, data.bits.get(name, 0)])
    return [_walk_down(structure, data, root, masks) for root in structure.roots]


def _walk_down(structure: Structure, data: PatternedData, root: str, masks: dict[str, Mask]) -> str:
    store, everything, here = data.sample, masks[root], root
    while True:
        best, best_gain = here, 0
        for child in structure.children(here):
            if not structure.children(child) or child in structure.continuous:
                continue
            rest = everything ^ masks[child]
            parts = [masks[other] for other in structure.children(here) if other != child]
            parts += [data.bits.get(here, 0), everything ^ masks[here]]
            gain = store.column(masks[child]).n_patterns - store.column(rest, parts).n_patterns
            if gain > best_gain:
                best, best_gain = child, gain
        if best == here:
            return here
        here = best


def reroot(network: Network, data: PatternedData) -> Network:
    """Root a forest where propagation is cheapest; the distribution stays the same."""
    for name in choose_roots(network.structure, data):
        network = network.rooted_at(name)
    return network
