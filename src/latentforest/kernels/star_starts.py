"""Starts of all tables around a latent variable that gets another number of states.

First come good guesses: each state split in turn, or each pair of states merged. Then random ones.
Tables of categorical neighbours lie side by side, ``(states of the hub, states of all of them)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from latentforest.kernels.arms import LEAF_ARM, Arms, Values
from latentforest.kernels.bases import Task
from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.types import FloatArray, LongArray

SOFT = 0.1  # share of the uniform distribution in a guess: EM never leaves a probability of zero
APART = 0.5  # how far the halves of a split state are pushed apart


@part
def find_first(arms: Arms, hub: int) -> LongArray:
    """Column at which the table of each arm begins, and where the last one ends."""
    lo, hi = arms.first[hub], arms.first[hub + 1]
    first = np.zeros(hi - lo + 1, np.int64)
    for a in range(lo, hi):
        is_number = arms.belief[a] < LEAF_ARM
        first[a - lo + 1] = first[a - lo] + (0 if is_number else arms.card[a])
    return first


@part
def gather_tables(arms: Arms, values: Values, hub: int, first: LongArray) -> FloatArray:
    """Put the tables of the categorical neighbours side by side."""
    lo, width = arms.first[hub], arms.width[arms.first[hub]]
    joined = np.empty((width, first[-1]))
    for i in range(first.shape[0] - 1):
        n = first[i + 1] - first[i]
        place = arms.table[lo + i]
        for y in range(width):
            for x in range(n):
                joined[y, first[i] + x] = values.tables[place + y * n + x]
    return joined


@part
def _split_state(
    joined: FloatArray, first: LongArray, y: int, sign: float, row: FloatArray
) -> None:
    """One half of a state: every other probability rises, those between fall, or vice versa."""
    for i in range(first.shape[0] - 1):
        total, push = 0.0, sign
        for c in range(first[i], first[i + 1]):
            row[c] = joined[y, c] * (1.0 + push)
            total += row[c]
            push = -push
        for c in range(first[i], first[i + 1]):
            row[c] /= total


@part
def _split_all(
    prior: FloatArray, joined: FloatArray, first: LongArray, priors: FloatArray, tables: FloatArray
) -> None:
    """Split each state in turn; its second half comes last."""
    width = prior.shape[0]
    for k in range(width):
        for y in range(width):
            priors[k, y] = prior[y]
            for c in range(joined.shape[1]):
                tables[k, y, c] = joined[y, c]
        priors[k, k] = priors[k, width] = 0.5 * prior[k]
        _split_state(joined, first, k, APART, tables[k, k])
        _split_state(joined, first, k, -APART, tables[k, width])


@part
def _merge_all(
    prior: FloatArray, joined: FloatArray, priors: FloatArray, tables: FloatArray
) -> None:
    """Merge each pair of states in turn, the second into the first."""
    width, k = prior.shape[0], 0
    for i in range(width):
        for j in range(i + 1, width):
            both = prior[i] + prior[j]
            share = prior[i] / both if both > 0.0 else 0.5
            for y in range(width - 1):
                source = y if y < j else y + 1
                priors[k, y] = both if y == i else prior[source]
                for c in range(joined.shape[1]):
                    tables[k, y, c] = joined[source, c]
                    if y == i:
                        tables[k, y, c] = share * joined[i, c] + (1.0 - share) * joined[j, c]
            k += 1


@part
def soften(row: FloatArray, lo: int, hi: int) -> None:
    """Mix a part of a row with the uniform distribution."""
    for c in range(lo, hi):
        row[c] = (1.0 - SOFT) * row[c] + SOFT / (hi - lo)


@part
def draw_row(noise: FloatArray, place: int, base: FloatArray, row: FloatArray, lo: int) -> None:
    """Set a part of a row halfway between a distribution and a draw from the simplex."""
    n, total = base.shape[0], 0.0
    for x in range(n):
        total += noise[place + x]
    for x in range(n):
        row[lo + x] = 0.5 * (base[x] + noise[place + x] / total)


@part
def find_base(
    arms: Arms, hub: int, prior: FloatArray, joined: FloatArray, first: LongArray, i: int
) -> FloatArray:
    """The distribution of a neighbour; uniform if it is latent."""
    n = first[i + 1] - first[i]
    base = np.full(n, 1.0 / n)
    if arms.source[arms.first[hub] + i] < 0:
        for x in range(n):
            base[x] = 0.0
            for y in range(prior.shape[0]):
                base[x] += prior[y] * joined[y, first[i] + x]
    return base


@kernel
def start_star(arms: Arms, values: Values, task: Task) -> FloatArray:
    """Return the starts of a task of kind ``STAR_AROUND``, one in each row.

    A row has the tables of the root, of the hub (if an arm of it is the root) and of the arms.
    ``task.blocks`` has random numbers, exponentially distributed, for the tables of the categorical
    neighbours, ``(n_starts, n_states, columns)``, and of the hub, ``(n_starts, n_states)``; then
    for each start, guessed or random, the tables of the continuous neighbours.
    """
    hub, card, n_random, noise = task.hub, task.marks[0], task.n_starts, task.blocks
    lo, first = arms.first[hub], find_first(arms, hub)
    width, n_arms, n_columns = arms.width[lo], first.shape[0] - 1, first[-1]
    prior = values.tables[arms.prior[hub] : arms.prior[hub] + width]
    joined = gather_tables(arms, values, hub, first)
    n_guesses = width if card > width else width * (width - 1) // 2
    priors = np.empty((n_guesses + n_random, card))
    tables = np.empty((n_guesses + n_random, card, n_columns))
    if card > width:
        _split_all(prior, joined, first, priors, tables)
    else:
        _merge_all(prior, joined, priors, tables)
    for s in range(n_guesses):
        soften(priors[s], 0, card)
        for y in range(card):
            for i in range(n_arms):
                soften(tables[s, y], first[i], first[i + 1])
    uniform, behind = np.full(card, 1.0 / card), n_random * card * n_columns
    for i in range(n_arms):
        base = find_base(arms, hub, prior, joined, first, i)
        for s in range(n_random):
            for y in range(card):
                place = (s * card + y) * n_columns + first[i]
                draw_row(noise, place, base, tables[n_guesses + s, y], first[i])
    for s in range(n_random):
        draw_row(noise, behind + s * card, uniform, priors[n_guesses + s], 0)
    numbers = noise[behind + n_random * card :]
    return _lay_out(arms, task, first, priors, tables, numbers)


@part
def _lay_out(
    arms: Arms,
    task: Task,
    first: LongArray,
    priors: FloatArray,
    tables: FloatArray,
    numbers: FloatArray,
) -> FloatArray:
    """Put the tables of each start in the order of the region."""
    lo, n_arms, (n, card) = arms.first[task.hub], first.shape[0] - 1, priors.shape
    n_values, taken = card, 0
    for i in range(n_arms):
        n_values += card * arms.card[lo + i]
    if task.arm >= 0:
        n_values += arms.card[task.arm] - card
    starts, marginal = np.empty((n, n_values)), np.empty(0)
    for s in range(n):
        filled, place = card, taken
        if task.arm < 0:
            starts[s, :card] = priors[s]
        else:
            i = task.arm - lo
            n_states = first[i + 1] - first[i]
            marginal = starts[s, :n_states]
            filled = n_states * (1 + card)
            turned = starts[s, n_states:filled]
            _turn(priors[s], tables[s, :, first[i] : first[i + 1]], marginal, turned)
        for i in range(n_arms):
            if lo + i == task.arm:
                continue
            size = card * arms.card[lo + i]
            if first[i + 1] == first[i]:
                starts[s, filled : filled + size] = numbers[place : place + size]
                place += size
            else:
                k = filled
                for y in range(card):
                    for c in range(first[i], first[i + 1]):
                        starts[s, k] = tables[s, y, c]
                        k += 1
            filled += size
        taken = place
    return starts


@part
def _turn(prior: FloatArray, table: Any, marginal: FloatArray, turned: FloatArray) -> None:
    """From P(a) and P(b | a) to P(b) and P(a | b)."""
    n_rows, n_columns = prior.shape[0], marginal.shape[0]
    for x in range(n_columns):
        marginal[x] = 0.0
        for y in range(n_rows):
            marginal[x] += prior[y] * table[y, x]
        for y in range(n_rows):
            joint = prior[y] * table[y, x]
            turned[x * n_rows + y] = joint / marginal[x] if marginal[x] > 0.0 else 1.0 / n_rows


@part
def read_star(arms: Arms, task: Task, found: FloatArray, target: FloatArray) -> None:
    """Bring tables around a hub in the order P(hub), P(neighbour | hub) for all its neighbours."""
    hub, card = task.hub, task.marks[0]
    if task.arm < 0:
        target[: found.shape[0]] = found
        return
    n_states = arms.card[task.arm]
    source, taken = n_states * (1 + card), card
    for a in range(arms.first[hub], arms.first[hub + 1]):
        size = card * arms.card[a]
        if a == task.arm:
            table = found[n_states : n_states * (1 + card)].copy().reshape((n_states, card))
            _turn(found[:n_states], table, target[:card], target[taken : taken + size])
        else:
            target[taken : taken + size] = found[source : source + size]
            source += size
        taken += size
