"""Annealed importance sampling: from the prior to the posterior, one observation after another.

A unit is a set of rows that look the same around the values to fill in. Each observation of it has
one of ``n_completions`` completions, and each of these counts in ``width`` cells, all of different
tables: ``cells[start[u] + c * width[u] + i]``. How many observations of a unit have a completion is
in ``taken``, from ``place[u]`` on.

The parameters are integrated out: given the others, a completion has a probability that is
proportional to the product of ``shares[cell] = (alpha + count) / (their sum over the row)``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray, IntArray, LongArray

TINIEST = 1e-300
LEAST_SHARE = 1e-150  # so that products do not vanish before they are scaled
SMALL, LARGE = 2.0**-500, 2.0**500
LOG_LARGE = 500 * math.log(2.0)
FEW = 200  # observations up to which each is redrawn by itself, and so many times their units
TIMES = 4


class Units(NamedTuple):
    """What there is to fill in; see the top of the file."""

    cells: IntArray
    start: LongArray
    width: LongArray
    n_completions: LongArray
    place: LongArray


class Tables(NamedTuple):
    """Concentrations, the row of each cell, and where rows begin (and the last one ends)."""

    alpha: FloatArray
    row_of: LongArray
    begin: LongArray


class Chain(NamedTuple):
    """The completed observations so far."""

    taken: LongArray
    counts: FloatArray
    sums: FloatArray
    shares: FloatArray


@part
def _weigh(units: Units, u: int, shares: FloatArray, p: FloatArray, shifts: LongArray) -> float:
    """Fill ``p`` with the weights of a unit's completions; return the log of what they lack."""
    cells, start = units.cells, units.start[u]
    width, n = units.width[u], units.n_completions[u]
    least = 1 << 40
    for c in range(n):
        value, shift = 1.0, 0
        for i in range(start + c * width, start + (c + 1) * width):
            value *= shares[cells[i]]
            if value < SMALL:
                value *= LARGE
                shift += 1
        p[c], shifts[c] = value, shift
        least = min(least, shift)
    for c in range(n):
        if shifts[c] > least:
            p[c] = p[c] * SMALL if shifts[c] == least + 1 else 0.0
    return -least * LOG_LARGE


@part
def _choose(p: FloatArray, n: int, generator: np.random.Generator) -> int:
    """Draw one of some weights."""
    total = 0.0
    for c in range(n):
        total += p[c]
    c, at = 0, generator.random() * total - p[0]
    while at >= 0.0 and c < n - 1:
        c += 1
        at -= p[c]
    return c


@part
def _put(tables: Tables, units: Units, chain: Chain, u: int, c: int, n: int) -> None:
    """Add observations with a completion, or take them away."""
    alpha, row_of, begin, cells = tables.alpha, tables.row_of, tables.begin, units.cells
    counts, sums, shares, width = chain.counts, chain.sums, chain.shares, units.width[u]
    first = units.start[u] + c * width
    for i in range(first, first + width):
        cell = cells[i]
        row = row_of[cell]
        counts[cell] += n
        sums[row] += n
        scale = 1.0 / sums[row]
        for j in range(begin[row], begin[row + 1]):
            shares[j] = (alpha[j] + counts[j]) * scale
    chain.taken[units.place[u] + c] += n


@part
def _sweep_one_by_one(
    tables: Tables,
    units: Units,
    chain: Chain,
    generator: np.random.Generator,
    p: FloatArray,
    shifts: LongArray,
) -> None:
    """Draw completions of single observations again, given all others.

    As often as there are observations of a unit, one of them is drawn at random: to go through
    them in the order of their completions would not leave the distribution as it is.
    """
    for u in range(units.start.shape[0]):
        n, place, n_here = units.n_completions[u], units.place[u], 0
        for c in range(n):
            n_here += chain.taken[place + c]
        for _ in range(n_here):
            c, at = 0, int(generator.random() * n_here)
            while at >= chain.taken[place + c]:
                at -= chain.taken[place + c]
                c += 1
            _put(tables, units, chain, u, c, -1)
            _weigh(units, u, chain.shares, p, shifts)
            _put(tables, units, chain, u, _choose(p, n, generator), 1)


@part
def _draw_tables(tables: Tables, chain: Chain, generator: np.random.Generator) -> None:
    """Put tables drawn given the completed observations in the place of the shares."""
    begin, shares = tables.begin, chain.shares
    for r in range(begin.shape[0] - 1):
        highest, total = -np.inf, 0.0
        for i in range(begin[r], begin[r + 1]):
            shape = tables.alpha[i] + chain.counts[i]
            if shape < 1.0:  # a gamma variable itself would underflow
                value = math.log(generator.standard_gamma(shape + 1.0))
                value += math.log(max(generator.random(), TINIEST)) / shape
            else:
                value = math.log(generator.standard_gamma(shape))
            shares[i] = value
            highest = max(highest, value)
        for i in range(begin[r], begin[r + 1]):
            shares[i] = math.exp(shares[i] - highest)
            total += shares[i]
        for i in range(begin[r], begin[r + 1]):
            shares[i] = max(shares[i] / total, LEAST_SHARE)


@part
def _sweep_at_once(
    tables: Tables,
    units: Units,
    chain: Chain,
    generator: np.random.Generator,
    p: FloatArray,
    shifts: LongArray,
) -> None:
    """Draw the tables, then the completions of each unit at once given the tables."""
    _draw_tables(tables, chain, generator)
    for u in range(units.start.shape[0]):
        n, place, left = units.n_completions[u], units.place[u], 0
        for c in range(n):
            left += chain.taken[place + c]
        _weigh(units, u, chain.shares, p, shifts)
        total = 0.0
        for c in range(n):
            total += p[c]
        for c in range(n):
            drawn = left
            if c < n - 1 and left > 0:
                drawn = generator.binomial(left, min(p[c] / max(total, TINIEST), 1.0))
            change = drawn - chain.taken[place + c]
            width = units.width[u]
            first = units.start[u] + c * width
            for i in range(first, first + width):
                chain.counts[units.cells[i]] += change
            chain.taken[place + c] = drawn
            total -= p[c]
            left -= drawn
    restore(tables, chain)


@part
def restore(tables: Tables, chain: Chain) -> None:
    """Compute sums and shares from the counts."""
    begin = tables.begin
    for r in range(begin.shape[0] - 1):
        total = 0.0
        for i in range(begin[r], begin[r + 1]):
            total += tables.alpha[i] + chain.counts[i]
        chain.sums[r] = total
        for i in range(begin[r], begin[r + 1]):
            chain.shares[i] = (tables.alpha[i] + chain.counts[i]) / total


@part
def _add(
    tables: Tables,
    units: Units,
    chain: Chain,
    u: int,
    generator: np.random.Generator,
    p: FloatArray,
    shifts: LongArray,
) -> float:
    """Add an observation; return its log-probability given those before."""
    lacking, total, n = _weigh(units, u, chain.shares, p, shifts), 0.0, units.n_completions[u]
    for c in range(n):
        total += p[c]
    _put(tables, units, chain, u, _choose(p, n, generator), 1)
    return lacking + math.log(total)


@kernel
def anneal(
    tables: Tables,
    units: Units,
    order: LongArray,
    n_before: int,
    generator: np.random.Generator,
    chains: Chain,
    gained: FloatArray,
) -> None:
    """Take all chains through a stage: a sweep over the observations before, then new ones.

    ``chains`` has a row for each chain. New observations are of the units in ``order``; what they
    add to the log-weights is added to ``gained``.
    """
    most = 1
    for u in range(units.n_completions.shape[0]):
        most = max(most, units.n_completions[u])
    p, shifts = np.empty(most), np.empty(most, np.int64)
    for i in range(gained.shape[0]):
        chain = Chain(chains.taken[i], chains.counts[i], chains.sums[i], chains.shares[i])
        restore(tables, chain)
        if n_before <= max(FEW, TIMES * units.start.shape[0]):
            _sweep_one_by_one(tables, units, chain, generator, p, shifts)
        else:
            _sweep_at_once(tables, units, chain, generator, p, shifts)
        for j in range(order.shape[0]):
            gained[i] += _add(tables, units, chain, order[j], generator, p, shifts)
