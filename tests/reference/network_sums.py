"""Averages over all networks of a few variables, one by one."""

from functools import cache
from itertools import permutations

import numpy as np
from scipy.special import logsumexp

from reference.dags import all_dags


@cache
def list_masks(n):
    """All networks as bit masks of each variable's parents, ``(n_networks, n)``."""
    return np.array([[sum(1 << p for p in parents) for parents in dag] for dag in all_dags(n)])


def count_orders(masks):
    """In how many orders parents come first."""
    n = len(masks)
    return sum(
        all(not masks[v] & ~sum(1 << u for u in order[:place]) for place, v in enumerate(order))
        for order in permutations(range(n))
    )


def find_descendants(masks):
    """Whether a path leads from row to column."""
    n = len(masks)
    below = np.array([[masks[v] >> u & 1 for v in range(n)] for u in range(n)], dtype=bool)
    for _ in range(n):
        below |= (below.astype(int) @ below.astype(int)) > 0
    return below


def sum_networks(scores, networks, copies=None):
    """Logarithm of the sum of weights, and the probability of each network."""
    n = scores.shape[0]
    values = scores[np.arange(n), networks].sum(axis=1)
    values = values if copies is None else values + np.log(copies)
    total = logsumexp(values)
    return total, np.exp(values - total)


def find_arcs(networks, probabilities):
    """Probability of each arc, from row to column."""
    n = networks.shape[1]
    return np.array(
        [[probabilities[(networks[:, v] >> u & 1) == 1].sum() for v in range(n)] for u in range(n)]
    )
