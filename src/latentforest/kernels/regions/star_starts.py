"""Starts of all tables around a latent variable that gets another number of states.

First come good guesses: each state split in turn, or each pair of states merged. Then random ones.
Tables of categorical neighbours lie side by side, ``(states of the hub, states of all of them)``.

Parts take vectors and places in them, not tuples or slices: these take long to compile.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part, step
from latentforest.kernels.regions.types import APART, SOFT, Arms, LocalTask, Values
from latentforest.kernels.types import FloatArray, FloatTable, LongArray


@part
def find_first(facts: LongArray, card: LongArray, lo: int, hi: int) -> LongArray:
    """Column at which the table of each arm begins, and where the last one ends."""
    first = np.zeros(hi - lo + 1, np.int64)
    for a in range(lo, hi):
        first[a - lo + 1] = first[a - lo] + (card[a] if facts[a] < 0 else 0)
    return first


@part
def gather_tables(
    tables: FloatArray, place: LongArray, lo: int, width: int, first: LongArray
) -> FloatArray:
    """Put the tables of the categorical neighbours side by side."""
    n_arms = first.shape[0] - 1
    n_columns = first[n_arms]
    joined = np.empty(width * n_columns)
    for i in range(n_arms):
        n = first[i + 1] - first[i]
        for y in range(width):
            for x in range(n):
                joined[y * n_columns + first[i] + x] = tables[place[lo + i] + y * n + x]
    return joined


@part
def _split_state(
    joined: FloatArray, source: int, first: LongArray, sign: float, target: FloatArray, place: int
) -> None:
    """One half of a state: every other probability rises, those between fall, or vice versa."""
    for i in range(first.shape[0] - 1):
        total, push = 0.0, sign
        for c in range(first[i], first[i + 1]):
            target[place + c] = joined[source + c] * (1.0 + push)
            total += target[place + c]
            push = -push
        for c in range(first[i], first[i + 1]):
            target[place + c] /= total


@part
def _split_all(
    tables: FloatArray,
    prior: int,
    width: int,
    joined: FloatArray,
    first: LongArray,
    priors: FloatArray,
    target: FloatArray,
) -> None:
    """Split each state in turn; its second half comes last."""
    n, card = first[first.shape[0] - 1], width + 1
    for k in range(width):
        for y in range(width):
            priors[k * card + y] = tables[prior + y]
            for c in range(n):
                target[(k * card + y) * n + c] = joined[y * n + c]
        priors[k * card + k] = priors[k * card + width] = 0.5 * tables[prior + k]
        _split_state(joined, k * n, first, APART, target, (k * card + k) * n)
        _split_state(joined, k * n, first, -APART, target, (k * card + width) * n)


@part
def _merge_all(
    tables: FloatArray,
    prior: int,
    width: int,
    joined: FloatArray,
    n: int,
    priors: FloatArray,
    target: FloatArray,
) -> None:
    """Merge each pair of states in turn, the second into the first."""
    row = 0
    for i in range(width):
        for j in range(i + 1, width):
            both = tables[prior + i] + tables[prior + j]
            share = tables[prior + i] / both if both > 0.0 else 0.5
            for y in range(width - 1):
                source = y if y < j else y + 1
                priors[row] = both if y == i else tables[prior + source]
                for c in range(n):
                    entry = joined[source * n + c]
                    if y == i:
                        entry = share * entry + (1.0 - share) * joined[j * n + c]
                    target[row * n + c] = entry
                row += 1


@part
def soften(row: FloatArray, lo: int, hi: int) -> None:
    """Mix a part of a row with the uniform distribution."""
    for c in range(lo, hi):
        row[c] = (1.0 - SOFT) * row[c] + SOFT / (hi - lo)


@part
def draw_row(
    noise: FloatArray, place: int, base: FloatArray, n: int, row: FloatArray, lo: int
) -> None:
    """Set a part of a row halfway between a distribution and a draw from the simplex."""
    total = 0.0
    for x in range(n):
        total += noise[place + x]
    for x in range(n):
        row[lo + x] = 0.5 * (base[x] + noise[place + x] / total)


@part
def fill_base(
    tables: FloatArray,
    prior: int,
    width: int,
    joined: FloatArray,
    n_columns: int,
    lo: int,
    n: int,
    is_latent: bool,
    base: FloatArray,
) -> None:
    """Find the distribution of a neighbour; uniform if it is latent."""
    for x in range(n):
        base[x] = 1.0 / n if is_latent else 0.0
        for y in range(0 if is_latent else width):
            base[x] += tables[prior + y] * joined[y * n_columns + lo + x]


@kernel
def start_star(arms: Arms, values: Values, task: LocalTask) -> FloatArray:
    """Return the starts of a task of kind ``STAR_AROUND``, one in each row.

    A row has the tables of the root, of the hub (if an arm of it is the root) and of the arms.
    ``task.drafts`` has random numbers, exponentially distributed, for the tables of the categorical
    neighbours, ``(n_starts, n_states, columns)``, and of the hub, ``(n_starts, n_states)``; then
    for each start, guessed or random, the tables of the continuous neighbours.
    """
    hub, card, n_random, noise, tables = (
        task.hub,
        task.marks[0],
        task.n_starts,
        task.drafts,
        values.tables,
    )
    lo, hi, cards, source = arms.first[hub], arms.first[hub + 1], arms.card, arms.source
    first, prior, width = find_first(arms.facts, cards, lo, hi), arms.prior[hub], arms.width[lo]
    n_arms, n_columns = hi - lo, first[hi - lo]
    joined = gather_tables(tables, arms.table, lo, width, first)
    n_guesses = width if card > width else width * (width - 1) // 2
    n_starts = n_guesses + n_random
    priors, target = np.empty(n_starts * card), np.empty(n_starts * card * n_columns)
    if card > width:
        _split_all(tables, prior, width, joined, first, priors, target)
    else:
        _merge_all(tables, prior, width, joined, n_columns, priors, target)
    for row in range(n_guesses * card):
        if row < n_guesses:
            soften(priors, row * card, (row + 1) * card)
        for i in range(n_arms):
            soften(target, row * n_columns + first[i], row * n_columns + first[i + 1])
    base, behind = np.empty(max(card, n_columns)), n_random * card * n_columns
    for i in range(n_arms):
        n, is_latent = first[i + 1] - first[i], source[lo + i] >= 0
        fill_base(tables, prior, width, joined, n_columns, first[i], n, is_latent, base)
        for row in range(n_random * card):
            place = row * n_columns + first[i]
            draw_row(noise, place, base, n, target, n_guesses * card * n_columns + place)
    for y in range(card):
        base[y] = 1.0 / card
    for s in range(n_random):
        draw_row(noise, behind + s * card, base, card, priors, (n_guesses + s) * card)
    behind += n_random * card
    return _lay_out(cards, lo, task.arm, card, first, priors, target, noise, behind)


@part
def _lay_out(
    cards: LongArray,
    lo: int,
    root: int,
    card: int,
    first: LongArray,
    priors: FloatArray,
    tables: FloatArray,
    numbers: FloatArray,
    taken: int,
) -> FloatArray:
    """Put the tables of each start in the order of the region."""
    n_arms, n = first.shape[0] - 1, priors.shape[0] // card
    n_columns, n_values = first[n_arms], card
    for i in range(n_arms):
        n_values += card * cards[lo + i]
    if root >= 0:
        n_values += cards[root] - card
    starts, row = np.empty((n, n_values)), np.empty(n_values)
    for s in range(n):
        place, filled = s * card * n_columns, card
        if root < 0:
            for y in range(card):
                row[y] = priors[s * card + y]
        else:
            i = root - lo
            filled = cards[root] * (1 + card)
            _turn(
                priors,
                s * card,
                card,
                tables,
                place + first[i],
                n_columns,
                cards[root],
                row,
                0,
                cards[root],
            )
        for i in range(n_arms):
            for y in range(0 if lo + i == root else card):
                for x in range(cards[lo + i]):
                    if first[i + 1] > first[i]:
                        row[filled] = tables[place + y * n_columns + first[i] + x]
                    else:
                        row[filled] = numbers[taken]
                        taken += 1
                    filled += 1
        for k in range(n_values):
            starts[s, k] = row[k]
    return starts


@part
def _turn(
    priors: FloatArray,
    prior: int,
    n_rows: int,
    tables: FloatArray,
    table: int,
    step: int,
    n_columns: int,
    target: FloatArray,
    marginal: int,
    turned: int,
) -> None:
    """From P(a) and P(b | a) to P(b) and P(a | b); ``step`` is from row to row of P(b | a)."""
    for x in range(n_columns):
        total = 0.0
        for y in range(n_rows):
            total += priors[prior + y] * tables[table + y * step + x]
        target[marginal + x] = total
        for y in range(n_rows):
            joint = priors[prior + y] * tables[table + y * step + x]
            target[turned + x * n_rows + y] = joint / total if total > 0.0 else 1.0 / n_rows


@step
def read_star(
    arms: Arms, task: LocalTask, starts: FloatTable, best: int, results: FloatTable, c: int
) -> None:
    """Bring tables around a hub in the order P(hub), P(neighbour | hub) for all its neighbours."""
    cards, root, card = arms.card, task.arm, task.marks[0]
    lo, hi = arms.first[task.hub], arms.first[task.hub + 1]
    found, taken = np.empty(starts.shape[1]), card
    for k in range(starts.shape[1]):
        found[k] = starts[best, k]
    n_states = cards[root] if root >= 0 else 0
    source = n_states * (1 + card) if root >= 0 else card
    turned = np.empty(card * (1 + n_states))
    if root >= 0:
        _turn(found, 0, n_states, found, n_states, card, card, turned, 0, card)
    for y in range(card):
        results[c, y] = turned[y] if root >= 0 else found[y]
    for a in range(lo, hi):
        for k in range(card * cards[a]):
            if a == root:
                results[c, taken] = turned[card + k]
            else:
                results[c, taken] = found[source]
                source += 1
            taken += 1
