"""All networks over a few columns at once: the sum of their weights, probabilities of arcs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.errors import ParameterError
from latentforest.kernels.averaging.networks import (
    add_subsets,
    add_supersets,
    lead_networks,
    lead_orders,
    sum_networks,
    sum_orders,
)
from latentforest.kernels.types import FloatArray

MOST_COLUMNS = 20  # memory is columns times 2^columns times 24 bytes, time grows as 3^columns
STRUCTURE_PRIORS = ("networks", "orders")


class NetworkSum(NamedTuple):
    """Of all networks, each with the product of its families' weights.

    Attributes
    ----------
    log_total
        Logarithm of the sum.
    families
        Probability of each variable's sets of parents, ``(n, 2^n)``, by bit masks.
    arcs
        Probability of each arc, ``(n, n)``: from row to column.
    paths
        Probability that a directed path leads from row to column; none for the prior "orders".
    error
        How far the probabilities of a variable's sets of parents are from one in sum.
    """

    log_total: float
    families: FloatArray
    arcs: FloatArray
    paths: FloatArray | None
    error: float


def add_up_networks(scores: FloatArray, prior: str = "networks") -> NetworkSum:
    """Add up all networks over a few columns.

    Parameters
    ----------
    scores
        Logarithm of the weight of each variable with each set of parents, ``(n, 2^n)``, by bit
        masks; -inf for those that are ruled out. Sets with the variable itself do not count.
    prior
        "networks": each network counts once. "orders": once for each order of the variables in
        which parents come first, which favours networks with few arcs and many orders.

    Examples
    --------
    >>> found = add_up_networks(np.zeros((5, 32)))
    >>> round(float(np.exp(found.log_total)), 6)
    29281.0
    """
    local, shift = _prepare(scores, prior)
    sums, totals = local.copy(), np.empty(local.shape[1])
    for v, row in enumerate(sums):
        add_subsets(row, v)
    (sum_networks if prior == "networks" else sum_orders)(sums, totals)
    if not np.isfinite(totals[-1]):
        raise ParameterError("scores: no network has a positive weight")
    leads, paths = np.empty_like(sums), np.zeros((len(sums), len(sums)))
    if prior == "networks":
        lead_networks(sums, totals, leads, paths)
    else:
        lead_orders(sums, totals, leads)
    return _collect(local, leads, paths if prior == "networks" else None, totals[-1] + shift)


def _collect(
    local: FloatArray, leads: FloatArray, paths: FloatArray | None, log_total: float
) -> NetworkSum:
    n = len(local)
    arcs, error = np.zeros((n, n)), 0.0
    for v in range(n):
        add_supersets(leads[v], v)
        leads[v] += local[v]
        np.exp(leads[v], out=leads[v])
        error = max(error, abs(float(leads[v].sum()) - 1.0))
        for u in range(n):
            arcs[u, v] = leads[v].reshape(-1, 2, 1 << u)[:, 1].sum()
    np.clip(arcs, 0.0, 1.0, out=arcs)
    if paths is not None:
        np.clip(paths, 0.0, 1.0, out=paths)
    return NetworkSum(float(log_total), leads, arcs, paths, error)


def _prepare(scores: FloatArray, prior: str) -> tuple[FloatArray, float]:
    """Check scores; return them with each variable's highest at zero, and what was taken off."""
    if prior not in STRUCTURE_PRIORS:
        known = ", ".join(map(repr, STRUCTURE_PRIORS))
        raise ParameterError(f"prior must be one of {known}, got {prior!r}")
    local = np.array(scores, dtype=np.float64, order="C")
    n = len(local)
    if n > MOST_COLUMNS:
        raise ParameterError(
            f"exact averages are possible for up to {MOST_COLUMNS} columns, got {n}; "
            "sample_networks takes more"
        )
    if local.shape != (n, 1 << n):
        raise ParameterError(f"scores must have shape ({n}, {1 << n}), got {local.shape}")
    for v in range(n):
        local[v].reshape(-1, 2, 1 << v)[:, 1] = -np.inf
    highest = local.max(axis=1)
    if not np.isfinite(highest).all():
        raise ParameterError("scores: a variable has no set of parents with a finite score")
    return local - highest[:, None], float(highest.sum())
