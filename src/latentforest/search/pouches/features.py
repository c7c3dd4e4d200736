"""Rows as points: features of limbs, their means given states, clusters of rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.search.pouches.evidence import Evidence
from latentforest.search.pouches.tree import Limb
from latentforest.search.states import BLUR

SORTED = 3  # features by which rows are sorted before any is drawn
N_LLOYD = 4  # rounds of k-means


def collect_features(evidence: Evidence, limbs: Iterable[Limb]) -> FloatArray:
    """Numbers that describe limbs in each row: scaled columns, indicators, posteriors."""
    parts = []
    for limb in limbs:
        if evidence.tree.is_latent(limb):
            parts.append(evidence.posteriors[limb[0]][:, 1:])
        elif evidence.tree.is_pouch(limb):
            parts.append(evidence.scaled[:, [evidence.place[name] for name in limb]])
        else:
            column = evidence.data.dataset.column(limb[0])
            n_states = evidence.tree.variables[limb[0]].n_states
            parts.append((column[:, None] == np.arange(1, n_states)).astype(np.float64))
    return np.concatenate(parts, axis=1)


def average(
    features: FloatArray, shares: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Means of features given each state."""
    w = shares if weights is None else shares * weights[:, None]
    means: FloatArray = w.T @ features / np.maximum(w.sum(axis=0), 1e-9)[:, None]
    return means


def cluster(
    features: FloatArray, weights: FloatArray, card: int, rng: np.random.Generator
) -> FloatArray:
    """Divide rows by k-means from seeds that lie apart, whatever the order of the rows."""
    order = np.lexsort(features.T[::-1][-SORTED:])
    chance = weights
    centers = np.empty((card, features.shape[1]))
    distance = np.full(len(features), np.inf)
    for k in range(card):
        below = np.cumsum(chance[order])
        row = int(np.searchsorted(below, rng.random() * below[-1], "right"))
        centers[k] = features[order[min(row, len(features) - 1)]]
        distance = np.minimum(distance, ((features - centers[k]) ** 2).sum(axis=1))
        chance = distance * weights if distance.any() else weights
    for _ in range(N_LLOYD):
        shares = np.eye(card)[_distances(features, centers).argmin(axis=1)]
        has_rows = (weights @ shares) > 0
        centers[has_rows] = average(features, shares, weights)[has_rows]
    nearest = _distances(features, centers).argmin(axis=1)
    blurred: FloatArray = (1.0 - BLUR) * np.eye(card) + BLUR / card
    result: FloatArray = blurred[nearest]
    return result


def _distances(features: FloatArray, centers: FloatArray) -> FloatArray:
    """Squared distances of rows from centers, less the squares of the rows."""
    distances: FloatArray = (centers**2).sum(axis=1) - 2.0 * features @ centers.T
    return distances
