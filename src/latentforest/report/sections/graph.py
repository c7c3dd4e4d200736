"""The picture of a report: arcs with their strengths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from latentforest.inference.association.pair_tables import entropy_of
from latentforest.report.sections.mixtures import find_components, measure_information
from latentforest.report.subject import Subject
from latentforest.report.wording import round_values


def describe_graph(subject: Subject) -> dict[str, Any]:
    """Describe arcs and pouches."""
    structure, places = subject.network.structure, subject.places
    arcs = [(parent, child) for child in structure.names for parent in structure.parents(child)]
    kind = "forest" if structure.is_forest else "dag"
    edges = []
    for parent, child in arcs:
        bits, share = measure_arc(subject, parent, child)
        ends = {"from": places[parent], "to": places[child]}
        edges.append(ends | {"bits": round_values(bits), "share": round_values(share)})
    return {
        "kind": kind if arcs else "empty",
        "edges": edges,
        "pouches": [[places[name] for name in pouch] for pouch in structure.pouches],
    }


def measure_arc(subject: Subject, parent: str, child: str) -> tuple[float, float | None]:
    """Mutual information of the ends of an arc in bits, and the share of the child explained.

    Of a categorical child that is the share of its entropy, of a continuous one that of its
    variance.
    """
    numbers = set(subject.network.structure.continuous)
    if child not in numbers:
        bits = float(subject.tables.information(parent, [child])[0])
        entropy = entropy_of(subject.tables.marginal(child))
        return bits, min(bits / entropy, 1.0) if entropy > 0 else None
    if parent not in numbers:
        return measure_information(subject, parent, child), _explain(subject, parent, child)
    return _correlate(subject, parent, child)


def _explain(subject: Subject, parent: str, child: str) -> float | None:
    """Share of the variance of a continuous variable that lies between the states of another."""
    found = find_components(subject, parent, child)
    if found is None:
        return None
    sizes = subject.tables.marginal(parent)
    means = found.weights @ found.means
    between = sizes @ (means - sizes @ means) ** 2
    variance = subject.blocks[child].mixture(child).variance
    return float(between / variance) if variance > 0 else None


def _correlate(subject: Subject, parent: str, child: str) -> tuple[float, float | None]:
    """Two continuous variables, by their correlation in the model."""
    block = subject.blocks.get(child)
    if block is None:
        return 0.0, None
    i, j = block.names.index(parent), block.names.index(child)
    shares, means = block.shares.ravel(), block.joint.means.reshape(-1, len(block.names))
    inside = block.joint.covariances.reshape(len(shares), len(block.names), -1)
    centred = means - shares @ means
    total = np.einsum("c,cij->ij", shares, inside) + (centred * shares[:, None]).T @ centred
    squared = min(float(total[i, j] ** 2 / (total[i, i] * total[j, j])), 1.0 - 1e-12)
    return -0.5 * math.log2(1.0 - squared), squared
