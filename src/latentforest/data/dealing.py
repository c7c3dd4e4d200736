"""Observations dealt out at random to folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def count_observations(weights: NDArray[np.float64]) -> tuple[Counts, NDArray[np.float64]]:
    """Return how many observations each row stands for, and the weight of each of them.

    Where all weights are whole numbers, and not all of them one, they are numbers of observations.
    """
    if bool(np.all(weights == np.floor(weights)) and weights.max() > 1):
        return weights.astype(np.int64), np.ones(len(weights))
    return (weights > 0).astype(np.int64), weights


def deal(counts: Counts, n_folds: int, generator: np.random.Generator) -> list[Counts]:
    """Deal the observations of all rows out at random, as many to each fold as to any other.

    Examples
    --------
    >>> parts = deal(np.array([3, 1]), 2, np.random.default_rng(0))
    >>> [int(part.sum()) for part in parts], sum(parts).tolist()
    ([2, 2], [3, 1])
    """
    parts, left = [], counts.copy()
    for fold in range(n_folds):
        size = int(left.sum()) // (n_folds - fold)
        part = generator.multivariate_hypergeometric(left, size, method="marginals")
        parts.append(part)
        left -= part
    return parts
