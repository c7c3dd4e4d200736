"""Sums over all networks of a few columns, in logarithms, by dynamic programming over subsets.

Sets are bit masks. ``sums[v, U]`` is log A_v(U), the sum of the weights of variable v with all sets
of parents within U; it is -inf where v is in U. ``totals[U]`` is the sum over all networks of U,
``rests[U]`` that over the parents of all others, given that those in U are taken from U.

Uniform over networks (Tian and He 2009): variables T whose parents are in U are added to U at once,
with inclusion and exclusion, since each network could be had with several T:

    total(S) = sum over T of (-1)^(|T|+1) total(S - T) prod over v in T of A_v(S - T)

in 3^n steps. Each term is at most the sum, and is a sum over networks itself. So the rounding error
of the whole, in units of the last bit, is at most the expected number of such pairs (U, T) in a
network, whatever the weights: 3^n if all networks are empty, much less if they have arcs.

Uniform over pairs of an order and a network (Koivisto and Sood 2004): T has one variable, nothing
is subtracted, and a network counts once for each order that it allows.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.averaging.trees import add_logs
from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray, LongArray

IMPOSSIBLE = -np.inf
NEGLIGIBLE = -60.0  # logarithm of a term's share that no sum of 3^20 of them would notice


@kernel
def add_subsets(values: FloatArray, variable: int) -> None:
    """Add to each set without the variable all its subsets."""
    n_sets = values.shape[0]
    bit = 1
    while bit < n_sets:
        if bit != 1 << variable:
            for members in range(n_sets):
                if members & bit:
                    values[members] = add_logs(values[members], values[members ^ bit])
        bit <<= 1


@kernel
def add_supersets(values: FloatArray, variable: int) -> None:
    """Add to each set without the variable all sets that include it, but not the variable."""
    n_sets = values.shape[0]
    bit = 1
    while bit < n_sets:
        if bit != 1 << variable:
            for members in range(n_sets):
                if not members & bit:
                    values[members] = add_logs(values[members], values[members | bit])
        bit <<= 1


@part
def _bound_totals(sums: FloatArray, bounds: FloatArray) -> None:
    """Set ``bounds[S]`` to the heaviest order of S; totals are between that and n! times it."""
    bounds[0] = 0.0
    for members in range(1, bounds.shape[0]):
        highest = IMPOSSIBLE
        for v in range(sums.shape[0]):
            if members >> v & 1:
                rest = members ^ (1 << v)
                highest = max(highest, bounds[rest] + sums[v, rest])
        bounds[members] = highest


@part
def _bound_rests(sums: FloatArray, bounds: FloatArray) -> None:
    """The same for the orders of all that are not in a set."""
    last = bounds.shape[0] - 1
    bounds[last] = 0.0
    for members in range(last - 1, -1, -1):
        highest = IMPOSSIBLE
        for v in range(sums.shape[0]):
            if not members >> v & 1:
                highest = max(highest, bounds[members | 1 << v] + sums[v, members])
        bounds[members] = highest


@part
def _list_additions(
    sums: FloatArray,
    members: int,
    start: float,
    added: LongArray,
    logs: FloatArray,
    sets: LongArray,
    signs: FloatArray,
) -> int:
    """List all sets T of variables that can be added to U; return how many variables these are.

    ``added`` gets the variables. Entry t of the other arrays is of the variables whose places are
    the bits of t: the logarithm of their product, U with them, and the sign -(-1)^|T|.
    """
    n_added, size = 0, 1
    logs[0], sets[0], signs[0] = start, members, -1.0
    for v in range(sums.shape[0]):
        value = sums[v, members]
        if members >> v & 1 or value == IMPOSSIBLE:
            continue
        bit = 1 << v
        for t in range(size):
            logs[size + t] = logs[t] + value
            sets[size + t] = sets[t] | bit
            signs[size + t] = -signs[t]
        added[n_added] = v
        n_added += 1
        size *= 2
    return n_added


@kernel
def sum_networks(sums: FloatArray, totals: FloatArray) -> None:
    """Set ``totals`` for networks that count once each."""
    n, n_sets = sums.shape
    bounds, shares = np.empty(n_sets), np.zeros(n_sets)
    logs, sets, signs = np.empty(n_sets), np.empty(n_sets, np.int64), np.empty(n_sets)
    added = np.empty(n, np.int64)
    _bound_totals(sums, bounds)
    shares[0] = 1.0
    for members in range(n_sets):
        if bounds[members] == IMPOSSIBLE:
            totals[members] = IMPOSSIBLE
            continue
        total = bounds[members] + np.log(shares[members])
        totals[members] = total
        n_added = _list_additions(sums, members, total, added, logs, sets, signs)
        for t in range(1, 1 << n_added):
            share = logs[t] - bounds[sets[t]]
            if share > NEGLIGIBLE:
                shares[sets[t]] += signs[t] * np.exp(share)


@kernel
def lead_networks(
    sums: FloatArray, totals: FloatArray, leads: FloatArray, paths: FloatArray
) -> None:
    """Set ``leads`` and ``paths`` for networks that count once each.

    ``leads[v, U]`` becomes the logarithm of the derivative of the total by A_v(U), divided by the
    total: with A_v(U), it is the probability that U are just those that v is not above.
    ``paths[v, u]`` becomes the probability that v is above u.
    """
    n, n_sets = sums.shape
    bounds, rests, shares = np.empty(n_sets), np.empty(n_sets), np.empty(n_sets)
    logs, sets, signs = np.empty(n_sets), np.empty(n_sets, np.int64), np.empty(n_sets)
    added = np.empty(n, np.int64)
    whole = totals[n_sets - 1]
    _bound_rests(sums, bounds)
    leads[:] = IMPOSSIBLE
    paths[:] = 0.0
    rests[n_sets - 1] = 0.0
    for members in range(n_sets - 2, -1, -1):
        bound = bounds[members]
        if bound == IMPOSSIBLE:
            rests[members] = IMPOSSIBLE
            continue
        n_added = _list_additions(sums, members, -bound, added, logs, sets, signs)
        shares[0] = 0.0
        for t in range(1, 1 << n_added):
            share = logs[t] + rests[sets[t]]
            shares[t] = signs[t] * np.exp(share) if share > NEGLIGIBLE else 0.0
        for place in range(n_added - 1, -1, -1):
            half = 1 << place
            part_with = 0.0  # of the sets T that have this variable
            for t in range(half):
                part_with += shares[half + t]
                shares[t] += shares[half + t]
            v = added[place]
            if part_with > 0.0 and totals[members] > IMPOSSIBLE:
                probability = totals[members] + bound + np.log(part_with) - whole
                leads[v, members] = probability - sums[v, members]
                _add_paths(paths, v, members, np.exp(probability))
        rests[members] = bound + np.log(shares[0]) if shares[0] > 0.0 else IMPOSSIBLE


@part
def _add_paths(paths: FloatArray, v: int, members: int, probability: float) -> None:
    """Count the variables outside of a set as below v."""
    for u in range(paths.shape[0]):
        if u != v and not members >> u & 1:
            paths[v, u] += probability


@kernel
def sum_orders(sums: FloatArray, totals: FloatArray) -> None:
    """Set ``totals`` for networks that count once for each order."""
    totals[0] = 0.0
    for members in range(1, totals.shape[0]):
        total = IMPOSSIBLE
        for v in range(sums.shape[0]):
            if members >> v & 1:
                rest = members ^ (1 << v)
                total = add_logs(total, totals[rest] + sums[v, rest])
        totals[members] = total


@kernel
def lead_orders(sums: FloatArray, totals: FloatArray, leads: FloatArray) -> None:
    """Set ``leads`` (derivatives as above) for networks that count once for each order."""
    n, n_sets = sums.shape
    rests = np.empty(n_sets)
    rests[n_sets - 1] = 0.0
    leads[:] = IMPOSSIBLE
    for members in range(n_sets - 2, -1, -1):
        rest = IMPOSSIBLE
        for v in range(n):
            if not members >> v & 1:
                after = rests[members | 1 << v]
                leads[v, members] = totals[members] + after - totals[n_sets - 1]
                rest = add_logs(rest, after + sums[v, members])
        rests[members] = rest
