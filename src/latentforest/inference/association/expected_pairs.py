"""Expected joint counts of all pairs of columns under a forest, where values are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.association.information import indicators, joint_counts
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network


class PairCounts(NamedTuple):
    """Joint counts of columns ``left`` and ``right``."""

    left: int
    right: int
    counts: FloatArray


def expected_pairs(network: Network, data: Dataset) -> Iterator[PairCounts]:
    """Yield the expected joint counts of every pair of columns, each pair once.

    Rows without missing values are counted. In the others, the way from one column to all others
    is followed along the edges: given the row, the variables of the forest are still a forest.

    Parameters
    ----------
    network
        A forest over the columns; every row has positive probability.
    data
        The columns.
    """
    is_complete = np.all([column >= 0 for column in data.columns], axis=0)
    others = None if is_complete.all() else _Gaps(network, data.take(~is_complete))
    complete = [indicators(data, name)[is_complete] for name in data.names]
    weights = data.weights[is_complete]
    for i, left in enumerate(data.names):
        expected = {} if others is None else others.follow(left)
        for j in range(i + 1, data.n_columns):
            counts = joint_counts(complete[i], complete[j], weights)
            yield PairCounts(i, j, counts + expected.get(data.names[j], 0.0))


class _Gaps:
    """Rows with missing values: what is known of single variables and of edges."""

    def __init__(self, network: Network, data: Dataset) -> None:
        self.structure, self.weights = network.structure, data.weights
        engine = make_engine(network.structure, PatternedData(data))
        names = network.names
        found = engine.posteriors(network.parameters, names)
        self.single = dict(zip(names, found, strict=True))
        below = [name for name in names if self.structure.parents(name)]
        edges = engine.family_posteriors(network.parameters, below)
        self.steps: dict[tuple[str, str], FloatArray] = {}
        for name, joint in zip(below, edges, strict=True):
            (parent,) = self.structure.parents(name)
            self.steps[parent, name] = _condition(joint)
            self.steps[name, parent] = _condition(joint.transpose(0, 2, 1))

    def follow(self, source: str) -> dict[str, FloatArray]:
        """Expected joint counts of one variable with all others."""
        start = self.single[source]
        joint = {source: start[:, :, None] * np.eye(start.shape[1])}
        stack = [source]
        while stack:
            here = stack.pop()
            for name in self.structure.neighbours(here):
                if name not in joint:
                    joint[name] = joint[here] @ self.steps[here, name]
                    stack.append(name)
        counts = {name: np.einsum("n,nab->ab", self.weights, rows) for name, rows in joint.items()}
        for name, posterior in self.single.items():
            if name not in counts:  # in another tree, so independent given the row
                counts[name] = joint_counts(start, posterior, self.weights)
        return counts


def _condition(joint: FloatArray) -> FloatArray:
    """Probabilities of the second given the first, zero where the first cannot be."""
    first = np.broadcast_to(joint.sum(axis=2, keepdims=True), joint.shape)
    rows = np.zeros_like(joint)
    np.divide(joint, first, out=rows, where=first > 0)
    return rows
