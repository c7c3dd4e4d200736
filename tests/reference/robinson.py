"""The number of labelled directed acyclic graphs (Robinson 1973)."""

from math import comb


def count_dags(n):
    """Count the networks over n variables; there is one over none, without which all are zero."""
    if n == 0:
        return 1
    return sum(
        (-1) ** (i + 1) * comb(n, i) * 2 ** (i * (n - i)) * count_dags(n - i)
        for i in range(1, n + 1)
    )
