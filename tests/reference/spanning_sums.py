"""All spanning trees one by one, by Prüfer's codes."""

from itertools import product

import numpy as np
from scipy.special import logsumexp


def decode(code, n):
    """The tree of a code."""
    degrees = [1 + code.count(v) for v in range(n)]
    edges = []
    for v in code:
        leaf = degrees.index(1)
        edges.append((min(leaf, v), max(leaf, v)))
        degrees[leaf] -= 1
        degrees[v] -= 1
    edges.append(tuple(v for v in range(n) if degrees[v] == 1))
    return edges


def all_trees(n):
    """All n^(n - 2) trees over n vertices, as lists of edges."""
    return [decode(list(code), n) for code in product(range(n), repeat=n - 2)]


def sum_trees(log_weights):
    """Logarithm of the sum of all trees' weights, and the share of trees that have each edge."""
    n = len(log_weights)
    trees = all_trees(n)
    values = [sum(log_weights[edge] for edge in tree) for tree in trees]
    total = logsumexp(values)
    shares = np.zeros((n, n))
    for tree, value in zip(trees, values, strict=True):
        for i, j in tree:
            shares[i, j] += np.exp(value - total)
    return total, shares + shares.T
