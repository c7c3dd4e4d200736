"""Mutual information by counting row after row."""

import math

import numpy as np


def count_pair(a, b, weights, shape):
    """Joint counts of two columns over the rows in which neither is missing."""
    counts = np.zeros(shape)
    for x, y, weight in zip(a, b, weights, strict=True):
        if x >= 0 and y >= 0:
            counts[x, y] += weight
    return counts


def information_of_table(counts):
    """Σ p(x, y) log p(x, y) / p(x) p(y), zero for an empty table."""
    total = counts.sum()
    if total == 0:
        return 0.0
    p = counts / total
    value = 0.0
    for x, y in zip(*np.nonzero(p), strict=True):
        value += p[x, y] * math.log(p[x, y] / (p[x].sum() * p[:, y].sum()))
    return value


def information_of_columns(dataset):
    """Mutual information of all pairs of columns."""
    cards = [variable.n_states for variable in dataset.variables]
    return np.array(
        [
            [
                information_of_table(count_pair(a, b, dataset.weights, (k, m)))
                for b, m in zip(dataset.columns, cards, strict=True)
            ]
            for a, k in zip(dataset.columns, cards, strict=True)
        ]
    )
