"""Expected counts in completed data: every row completed by the posterior of what it leaves open.

Given a row, P(z | y) of a neighbour Z of Y is P(z | y) belief(z) / message(y): only the pattern of
the arm counts. See ``arms`` for the legend.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest.layout import padded
from latentforest.kernels.regions.arms import divide_by_sums, gather_arms, spread_prior
from latentforest.kernels.regions.types import EACH_ROW, Arms, Values
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.kernels.vector import LANES, load, splat, store, total

CHUNK = 64  # rows that walk together
TINY = 1e-300  # added to what is divided by: a state of zero probability stays at zero


class Walk(NamedTuple):
    """From a variable through latent variables, one after another.

    It starts at a latent variable itself, but at the latent neighbour of a leaf.
    """

    arm: int  # arm whose neighbour is the variable
    hubs: LongArray  # latent variables in the order in which they are reached
    steps: LongArray  # arm that leads to each from one before; -1 for the first
    before: LongArray  # place of that one in `hubs`
    is_wanted: LongArray  # 1 where counts are needed


class HubPosteriors(NamedTuple):
    """P(hub | row) times the weight of the row, for each row and hub."""

    values: FloatArray
    places: LongArray  # where those of each hub begin, n_rows x states (padded)


@kernel
def complete_hub(arms: Arms, values: Values, posteriors: HubPosteriors, hub: int) -> None:
    """Fill the posteriors of a hub; rows that vanish get zeros."""
    first, last, place = arms.first[hub], arms.first[hub + 1], posteriors.places[hub]
    row, weights = padded(arms.width[first]), values.weights
    target = posteriors.values[place : place + weights.shape[0] * row]
    spread_prior(arms, values, hub, target, row)
    gather_arms(arms, values, first, last, np.int64(-1), target, row, np.int64(0))
    divide_by_sums(target, row)
    for r in range(weights.shape[0]):
        factor = splat(weights[r])
        for k in range(r * row, (r + 1) * row, LANES):
            store(target, k, load(target, k) * factor)


@kernel
def count_pairs(
    arms: Arms, values: Values, posteriors: HubPosteriors, walk: Walk, counts: FloatArray
) -> None:
    """Count a variable Z jointly with the latent variables of a walk.

    ``counts`` has a line for each of them: states of Z x its own states (padded, as many for all).
    HubPosteriors must be there of the start, and if Z is a leaf of all variables that are wanted.
    """
    n_rows, card, hubs = values.weights.shape[0], arms.card[walk.arm], walk.hubs
    rows, n_open = np.empty(n_rows, np.int64), n_rows
    is_leaf = arms.source[walk.arm] < 0 and arms.facts[walk.arm] < 0
    for r in range(n_rows):
        rows[r] = r
    if is_leaf:
        n_open = _count_known(arms, values, posteriors, walk, counts, rows)
    size = counts.shape[1] // card * CHUNK  # of the part of one state of Z
    joint, scratch = np.zeros(hubs.shape[0] * card * size), np.zeros(3 * size)
    for begin in range(0, n_open, CHUNK):
        n = n_open - begin if n_open - begin < CHUNK else CHUNK
        _start(arms, values, posteriors, walk, is_leaf, rows, begin, n, joint, size)
        for i in range(hubs.shape[0]):
            source, target = walk.before[i] * card * size, i * card * size
            if i > 0:
                step = walk.steps[i]
                _step(arms, values, step, rows, begin, n, joint, source, target, card, scratch)
            if walk.is_wanted[i] == 1:
                width = arms.width[arms.first[hubs[i]]]
                _add_chunk(joint, target, card, width, size, counts, i)


@part
def _count_known(
    arms: Arms,
    values: Values,
    posteriors: HubPosteriors,
    walk: Walk,
    counts: FloatArray,
    rows: LongArray,
) -> int:
    """Count the rows where a leaf has a value; list the others and return how many there are."""
    codes, card, n_open = values.codes[arms.column[walk.arm]], arms.card[walk.arm], 0
    stride = counts.shape[1] // card
    for r in range(codes.shape[0]):
        if codes[r] >= card:
            rows[n_open] = r
            n_open += 1
    masses = posteriors.values
    for i in range(walk.hubs.shape[0]):
        if walk.is_wanted[i] == 0:
            continue
        hub, line = walk.hubs[i], counts[i]
        row, place = padded(arms.width[arms.first[hub]]), posteriors.places[hub]
        for r in range(codes.shape[0]):
            if codes[r] < card:
                here, source = codes[r] * stride, place + r * row
                for k in range(0, row, LANES):
                    store(line, here + k, load(line, here + k) + load(masses, source + k))
    return n_open


@part
def _start(
    arms: Arms,
    values: Values,
    posteriors: HubPosteriors,
    walk: Walk,
    is_leaf: bool,
    rows: LongArray,
    begin: int,
    n: int,
    joint: FloatArray,
    size: int,
) -> None:
    """Fill P(z, start | row) for a chunk: of the start with itself, or with a missing leaf."""
    hub, card, table, tables = (
        walk.hubs[0],
        arms.card[walk.arm],
        arms.table[walk.arm],
        values.tables,
    )
    width, place, masses = arms.width[arms.first[hub]], posteriors.places[hub], posteriors.values
    row = padded(width)
    for z in range(card):
        for y in range(width):
            here = z * size + y * CHUNK
            factor = tables[table + y * card + z] if is_leaf else 1.0 if y == z else 0.0
            for j in range(CHUNK):
                mass = masses[place + rows[begin + j] * row + y] if j < n else 0.0
                joint[here + j] = factor * mass


@part
def _step(
    arms: Arms,
    values: Values,
    toward: int,
    rows: LongArray,
    begin: int,
    n: int,
    joint: FloatArray,
    source: int,
    target: int,
    n_states: int,
    scratch: FloatArray,
) -> None:
    """P(z, there | row) = Σ P(z, here | row) P(there | here, row), rows side by side.

    ``joint`` holds the two from ``source`` and ``target`` on, for each state of Z, each of the
    hub, each row. ``scratch`` is for what depends on the rows: 1 / message, belief, a product.
    """
    width, card, column = arms.width[toward], arms.card[toward], arms.column[toward]
    row, back, message, belief = (
        padded(width),
        padded(card),
        arms.message[toward],
        arms.belief[toward],
    )
    messages, beliefs, codes, tables = values.messages, values.beliefs, values.codes, values.tables
    table, size = arms.table[toward], scratch.shape[0] // 3
    for j in range(n):
        r = rows[begin + j]
        q = r if column == EACH_ROW else np.int64(codes[column, r])
        for y in range(width):
            scratch[y * CHUNK + j] = messages[message + q * row + y]
        for x in range(card):
            scratch[size + x * CHUNK + j] = beliefs[belief + q * back + x]
    for k in range(0, width * CHUNK, LANES):
        store(scratch, k, splat(1.0) / (load(scratch, k) + splat(TINY)))
    for z in range(n_states):
        for k in range(0, width * CHUNK, LANES):
            store(scratch, 2 * size + k, load(joint, source + z * size + k) * load(scratch, k))
        for x in range(card):
            for k in range(x * CHUNK, (x + 1) * CHUNK, LANES):
                sums, here = splat(0.0), 2 * size + k - x * CHUNK
                for y in range(width):
                    weight = splat(tables[table + y * card + x])
                    sums = sums + load(scratch, here + y * CHUNK) * weight
                store(joint, target + z * size + k, sums * load(scratch, size + k))


@part
def _add_chunk(
    joint: FloatArray, source: int, n_states: int, width: int, size: int, counts: FloatArray, i: int
) -> None:
    """Add the rows of a chunk to a line of counts."""
    stride = counts.shape[1] // n_states
    for z in range(n_states):
        for y in range(width):
            sums, here = splat(0.0), source + z * size + y * CHUNK
            for k in range(here, here + CHUNK, LANES):
                sums = sums + load(joint, k)
            counts[i, z * stride + y] += total(sums)


@kernel
def count_triples(
    arms: Arms, values: Values, posteriors: HubPosteriors, left: int, most: int, counts: FloatArray
) -> None:
    """Count a hub jointly with one of its neighbours and each of those after it.

    ``counts`` has a line for each of these: states of the left one x ``most`` states of the right
    one x states of the hub (padded). Rows with the same patterns of both arms are counted together
    where that are fewer. Continuous leaves are passed over.
    """
    hub, width, n_rows = arms.hub[left], arms.width[left], values.weights.shape[0]
    row, place = padded(width), posteriors.places[hub]
    masses = posteriors.values[place : place + n_rows * row]
    turned = _turn(arms, values, left, row)
    for right in range(left + 1, arms.first[hub + 1]):
        if arms.facts[right] >= 0:
            continue
        n_cells = arms.n_patterns[left] * arms.n_patterns[right]
        is_grouped, given = n_cells <= n_rows, masses
        if is_grouped:
            given = _group(arms, values, left, right, row, masses)
        other, line = _turn(arms, values, right, row), counts[right - left - 1]
        _add_triples(arms, values, left, right, is_grouped, given, turned, other, most, line)


@part
def _turn(arms: Arms, values: Values, a: int, row: int) -> FloatArray:
    """P(neighbour | hub), states of the neighbour x states of the hub (padded)."""
    card, table, tables = arms.card[a], arms.table[a], values.tables
    turned = np.zeros(card * row)
    for y in range(arms.width[a]):
        for z in range(card):
            turned[z * row + y] = tables[table + y * card + z]
    return turned


@part
def _group(
    arms: Arms, values: Values, left: int, right: int, row: int, masses: FloatArray
) -> FloatArray:
    """Sum the vectors of rows that have the same patterns of two arms."""
    n_left, n_right, codes = arms.n_patterns[left], arms.n_patterns[right], values.codes
    column, other = arms.column[left], arms.column[right]
    grouped = np.zeros(n_left * n_right * row)
    for r in range(values.weights.shape[0]):
        p = r if column == EACH_ROW else codes[column, r]
        q = r if other == EACH_ROW else codes[other, r]
        here, source = (p * n_right + q) * row, r * row
        for k in range(0, row, LANES):
            store(grouped, here + k, load(grouped, here + k) + load(masses, source + k))
    return grouped


@part
def _add_triples(
    arms: Arms,
    values: Values,
    left: int,
    right: int,
    is_grouped: bool,
    given: FloatArray,
    turned: FloatArray,
    other: FloatArray,
    most: int,
    line: FloatArray,
) -> None:
    """Add the joint counts of rows, or of pairs of patterns, with these masses of the hub."""
    row, codes, messages, beliefs = (
        padded(arms.width[left]),
        values.codes,
        values.messages,
        values.beliefs,
    )
    column, card, belief, message = (
        arms.column[left],
        arms.card[left],
        arms.belief[left],
        arms.message[left],
    )
    other_column, other_card, other_belief, other_message = (
        arms.column[right],
        arms.card[right],
        arms.belief[right],
        arms.message[right],
    )
    back, other_back, n_right = padded(card), padded(other_card), arms.n_patterns[right]
    for i in range(given.shape[0] // row):
        if is_grouped:
            p, q = i // n_right, i % n_right
        else:
            p = i if column == EACH_ROW else np.int64(codes[column, i])
            q = i if other_column == EACH_ROW else np.int64(codes[other_column, i])
        # A leaf with a value has one state, and that for certain.
        is_known, is_other_known = belief < 0 and p < card, other_belief < 0 and q < other_card
        begin, end = (p, p + 1) if is_known else (0, card)
        other_begin, other_end = (q, q + 1) if is_other_known else (0, other_card)
        for k in range(0, row, LANES):
            mass = load(given, i * row + k)
            if not total(mass) > 0.0:
                continue
            if belief >= 0:
                mass = mass / (load(messages, message + p * row + k) + splat(TINY))
            if other_belief >= 0:
                mass = mass / (load(messages, other_message + q * row + k) + splat(TINY))
            for z in range(begin, end):
                share = mass
                if not is_known:
                    share = share * load(turned, z * row + k)
                if belief >= 0:
                    share = share * splat(beliefs[belief + p * back + z])
                for x in range(other_begin, other_end):
                    final = share
                    if not is_other_known:
                        final = final * load(other, x * row + k)
                    if other_belief >= 0:
                        final = final * splat(beliefs[other_belief + q * other_back + x])
                    here = (z * most + x) * row + k
                    store(line, here, load(line, here) + final)
