"""Messages toward every latent variable of a forest, from all its sides.

An *arm* of a latent variable Y is a neighbour Z with all that lies behind it. Its *belief* is the
probability of what was observed in it, given each state of Z; its *message* the same given each
state of Y. Both depend on the pattern of the arm in a row. They are scaled: the largest entry of a
belief is one, and ``constant`` keeps what that leaves out of the log-likelihood of all rows. The
messages of a continuous leaf are densities over the largest of them, which ``constant`` keeps too.
"""

from __future__ import annotations

import math

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.forest.layout import padded
from latentforest.kernels.gaussian.leaves import LOG_2_PI
from latentforest.kernels.regions.types import EACH_ROW, N_FACTS, Arms, Values
from latentforest.kernels.types import FloatArray, Int, IntArray, LongArray
from latentforest.kernels.vector import LANES, load, splat, store, total

OFTEN = 8  # products of so many messages are scaled if they are small
DENSE_ARM = 4  # messages that one of densities counts for
SMALL = 1e-60
EVERY = np.inf  # no sum is as large


@kernel
def fill_tables(
    arms: Arms, parameters: FloatArray, own: LongArray, below: LongArray, order: LongArray
) -> FloatArray:
    """Return P(hub) of each latent variable and P(neighbour | hub) of each arm.

    Parameters
    ----------
    arms
        Where the tables lie, and which of them belong to parents.
    parameters
        Of the network.
    own
        Place in the parameters of the table of each latent variable.
    below
        Place of the table of each arm's neighbour.
    order
        The latent variables, parents first.
    """
    n_arms = arms.hub.shape[0]
    last = n_arms - 1
    tables = np.empty(arms.table[last] + arms.width[last] * arms.card[last])
    for i in range(order.shape[0]):
        h = order[i]
        above = find_upper_arm(arms, h)
        if above >= 0:
            _turn_table(arms, parameters, own[h], above, tables)
        else:
            for y in range(arms.width[arms.first[h]]):
                tables[arms.prior[h] + y] = parameters[own[h] + y]
    for a in range(n_arms):
        if arms.column[a] != EACH_ROW:
            for k in range(arms.width[a] * arms.card[a]):
                tables[arms.table[a] + k] = parameters[below[a] + k]
    return tables


@part
def find_upper_arm(arms: Arms, hub: int) -> int:
    """Return the arm of a latent variable that leads to its parent, or -1."""
    for a in range(arms.first[hub], arms.first[hub + 1]):
        if arms.column[a] == EACH_ROW:
            return a
    return -1


@part
def _turn_table(
    arms: Arms, parameters: FloatArray, own: int, above: int, tables: FloatArray
) -> None:
    """From P(hub | parent) to P(hub) and P(parent | hub), uniform for impossible states."""
    width, card, table = arms.width[above], arms.card[above], arms.table[above]
    prior, upper = arms.prior[arms.hub[above]], arms.prior[arms.source[above]]
    for y in range(width):
        total = 0.0
        for x in range(card):
            joint = tables[upper + x] * parameters[own + x * width + y]
            tables[table + y * card + x] = joint
            total += joint
        tables[prior + y] = total
        for x in range(card):
            entry = tables[table + y * card + x]
            tables[table + y * card + x] = entry / total if total > 0.0 else 1.0 / card


@kernel
def pass_messages(arms: Arms, values: Values) -> None:
    """Fill the beliefs, messages and constants of all arms."""
    for i in range(arms.order.shape[0]):
        a = arms.order[i]
        if arms.belief[a] >= 0:
            _find_belief(arms, values, a)
        if arms.facts[a] < 0:
            _send(arms, values, a)
        else:
            _send_densities(arms, values, a)


@part
def _find_belief(arms: Arms, values: Values, a: int) -> None:
    """Multiply the messages of all arms of the source but the one that leads back."""
    n, row, place = arms.n_patterns[a], padded(arms.card[a]), arms.belief[a]
    scales, target = np.zeros(n), values.beliefs[place : place + n * row]
    constant = multiply_patterns(arms, values, a, np.int64(-1), target, scales)
    values.constant[a] = constant + _sum_scales(arms, values, a, scales)


@part
def _sum_scales(arms: Arms, values: Values, a: int, scales: FloatArray) -> float:
    """Sum what is kept for the patterns of an arm over all rows."""
    column, codes, weights, result = arms.column[a], values.codes, values.weights, 0.0
    for r in range(weights.shape[0]):
        q = r if column == EACH_ROW else codes[column, r]
        if weights[r] > 0.0:
            result += weights[r] * scales[q]
    return result


@part
def multiply_patterns(
    arms: Arms, values: Values, a: int, skip: Int, target: FloatArray, scales: FloatArray
) -> float:
    """For each pattern of an arm, multiply the messages that reach its source from behind.

    Arm ``skip`` is left out. The largest entry of each product becomes one, and what that leaves
    out is added to ``scales``. Returns the constants of the arms that were multiplied.
    """
    n, card = arms.n_patterns[a], arms.card[a]
    row, source, n_multiplied, constant = padded(card), arms.source[a], 0, 0.0
    for q in range(n):
        for k in range(row):
            target[q * row + k] = 1.0 if k < card else 0.0
    for b in range(arms.first[source], arms.first[source + 1]):
        if b != arms.reverse[a] and b != skip:
            _multiply_by_pattern(arms, values, a, b, target)
            constant += values.constant[b]
            n_multiplied += 1 if arms.facts[b] < 0 else DENSE_ARM
            if n_multiplied >= OFTEN:
                _scale(target, n, row, scales)
                n_multiplied = 0
    _scale(target, n, row, scales)
    return constant


@part
def _multiply_by_pattern(arms: Arms, values: Values, a: int, b: int, target: FloatArray) -> None:
    """Multiply products for the patterns of arm ``a`` by the messages of arm ``b``."""
    messages, codes, representatives = values.messages, values.codes, values.representatives
    row, source, column, start = (
        padded(arms.card[a]),
        arms.message[b],
        arms.column[b],
        arms.start[a],
    )
    for q in range(arms.n_patterns[a]):
        r = q if start < 0 else representatives[start + q]
        place = source + (r if column == EACH_ROW else codes[column, r]) * row
        for k in range(0, row, LANES):
            here = q * row + k
            store(target, here, load(target, here) * load(messages, place + k))


@part
def _scale(values: FloatArray, n: int, row: int, scales: FloatArray) -> None:
    """Divide each vector by its largest entry and add its logarithm to ``scales``."""
    for q in range(n):
        largest = 0.0
        for k in range(q * row, (q + 1) * row):
            largest = max(largest, values[k])
        if largest > 0.0:
            scales[q] += math.log(largest)
            for k in range(q * row, (q + 1) * row):
                values[k] /= largest
        else:
            scales[q] = -np.inf


@part
def _send(arms: Arms, values: Values, a: int) -> None:
    """Carry the beliefs of an arm through its table."""
    card, width, table = arms.card[a], arms.width[a], arms.table[a]
    row, column = padded(card), padded(width)
    messages, beliefs, tables = values.messages, values.beliefs, values.tables
    message, belief = arms.message[a], arms.belief[a]
    for q in range(arms.n_patterns[a]):
        for y in range(width):
            entry = 0.0
            if belief >= 0:
                for z in range(card):
                    entry += tables[table + y * card + z] * beliefs[belief + q * row + z]
            else:
                entry = tables[table + y * card + q] if q < card else 1.0
            messages[message + q * column + y] = entry


@part
def _send_densities(arms: Arms, values: Values, a: int) -> None:
    """Find the densities of a continuous leaf's values; a missing one has ones."""
    width, table, message, n = arms.width[a], arms.table[a], arms.message[a], arms.n_patterns[a]
    column, place = padded(width), arms.facts[a] + N_FACTS
    messages, measures, tables = values.messages, values.beliefs, values.tables
    scales = np.zeros(n)
    for q in range(n):
        x, here, largest = measures[place + q], message + q * column, -np.inf
        for y in range(width):
            value = 0.0
            if x == x:
                mean, variance = tables[table + 2 * y], tables[table + 2 * y + 1]
                value = -0.5 * (LOG_2_PI + math.log(variance) + (x - mean) * (x - mean) / variance)
            messages[here + y] = value
            largest = max(largest, value)
        scales[q] = largest
        for y in range(width):
            messages[here + y] = math.exp(messages[here + y] - largest)
    values.constant[a] = _sum_scales(arms, values, a, scales)


@part
def constant_of(arms: Arms, values: Values, a: int) -> float:
    """What an arm with a free table adds to the log-likelihood beside its region."""
    return values.constant[a] if arms.facts[a] < 0 else 0.0


@part
def multiply_rows(
    target: FloatArray, row: int, messages: FloatArray, place: int, codes: IntArray
) -> None:
    """Multiply a vector for each row by the message of its pattern."""
    for r in range(codes.shape[0]):
        source, here = place + codes[r] * row, r * row
        for k in range(0, row, LANES):
            store(target, here + k, load(target, here + k) * load(messages, source + k))


@part
def multiply_all(target: FloatArray, messages: FloatArray, place: int) -> None:
    """Multiply a vector for each row by the message of that row."""
    for i in range(0, target.shape[0], LANES):
        store(target, i, load(target, i) * load(messages, place + i))


@part
def normalise_rows(target: FloatArray, row: int, weights: FloatArray, below: float) -> float:
    """Divide the vectors whose sum is below a bound by it; return the weighted logarithms."""
    constant = 0.0
    for r in range(weights.shape[0]):
        sums = load(target, r * row)
        for k in range(LANES, row, LANES):
            sums = sums + load(target, r * row + k)
        sum_of_row = total(sums)
        if sum_of_row >= below:
            continue
        if sum_of_row > 0.0:
            factor = 1.0 / sum_of_row
            constant += weights[r] * math.log(sum_of_row)
            for k in range(r * row, (r + 1) * row):
                target[k] *= factor
        elif weights[r] > 0.0:
            constant = -np.inf
    return constant


@part
def divide_by_sums(target: FloatArray, row: int) -> None:
    """Divide the vector of each row by its sum."""
    for r in range(target.shape[0] // row):
        sums = load(target, r * row)
        for k in range(LANES, row, LANES):
            sums = sums + load(target, r * row + k)
        sum_of_row = total(sums)
        if sum_of_row > 0.0:
            factor = splat(1.0 / sum_of_row)
            for k in range(r * row, (r + 1) * row, LANES):
                store(target, k, load(target, k) * factor)


@part
def gather_arms(
    arms: Arms,
    values: Values,
    lo: int,
    hi: int,
    skip: Int,
    target: FloatArray,
    row: int,
    n_pending: Int,
) -> tuple[float, Int]:
    """Multiply the vectors of all rows by the messages of arms ``lo`` to ``hi`` without one.

    After ``OFTEN`` products, counted from ``n_pending``, small vectors are normalised. Returns the
    part of the log-likelihood that the vectors do not hold, and the products since the last
    normalisation.
    """
    constant = 0.0
    for b in range(lo, hi):
        if b != skip:
            if arms.column[b] == EACH_ROW:
                multiply_all(target, values.messages, arms.message[b])
            else:
                codes = values.codes[arms.column[b]]
                multiply_rows(target, row, values.messages, arms.message[b], codes)
            constant += values.constant[b]
            n_pending += 1 if arms.facts[b] < 0 else DENSE_ARM
            if n_pending >= OFTEN:
                constant += normalise_rows(target, row, values.weights, SMALL)
                n_pending = 0
    return constant, n_pending


@part
def spread_prior(arms: Arms, values: Values, hub: int, target: FloatArray, row: int) -> None:
    """Set the vector of each row to P(hub)."""
    width, prior, tables = arms.width[arms.first[hub]], arms.prior[hub], values.tables
    for r in range(target.shape[0] // row):
        for k in range(row):
            target[r * row + k] = tables[prior + k] if k < width else 0.0


@kernel
def measure_trees(arms: Arms, values: Values) -> FloatArray:
    """Log-likelihood of the tree that each latent variable belongs to, as it is seen from there."""
    n_hubs = arms.first.shape[0] - 1
    result = np.empty(n_hubs)
    for hub in range(n_hubs):
        first, last = arms.first[hub], arms.first[hub + 1]
        row = padded(arms.width[first])
        target = np.empty(values.weights.shape[0] * row)
        spread_prior(arms, values, hub, target, row)
        constant, _ = gather_arms(arms, values, first, last, np.int64(-1), target, row, np.int64(0))
        result[hub] = constant + normalise_rows(target, row, values.weights, EVERY)
    return result
