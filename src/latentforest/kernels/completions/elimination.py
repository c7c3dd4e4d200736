"""The joint distribution of the open cells of a row, as a chain of conditional distributions.

Open cells (missing ones, and latent variables) are eliminated one after the other, those with the
smallest tables first. The product of the tables in which a cell occurs, divided by its sum over the
states of the cell, is the distribution of the cell given the cells that are eliminated later; the
sum is passed on to these. So a row's completions, built up from the last cell to the first, have
exact probabilities at each step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import part
from latentforest.kernels.types import BoolArray, FloatArray, LongArray

IMPOSSIBLE, TOO_WIDE = -1, -2  # rows that cannot be completed: no probability, too large a table


class FamilyLayout(NamedTuple):
    """Where the probabilities of families lie.

    Attributes
    ----------
    offsets
        Where the table of each variable begins.
    first, members, strides
        The variables of family v are ``members[first[v]:first[v + 1]]``, and this far apart lie
        probabilities for their next states.
    cards
        Numbers of states.
    """

    offsets: LongArray
    first: LongArray
    members: LongArray
    strides: LongArray
    cards: LongArray


class Chain(NamedTuple):
    """Distributions of the cells, each given some that come earlier in ``order``.

    Attributes
    ----------
    order
        Cells in the order in which they get their states.
    begins
        Where the table of each cell begins.
    strides
        ``strides[cell, other]``: how far apart the rows of a cell's table lie; zero for cells that
        it does not depend on. Probabilities of a cell's own states are side by side.
    """

    order: LongArray
    begins: LongArray
    strides: LongArray


@part
def find_factors(
    row: LongArray, local: LongArray, n_cells: int, families: FamilyLayout, theta: FloatArray
) -> tuple[LongArray, LongArray, int]:
    """Find the families with open cells: begins and strides of their tables for the row.

    ``local`` numbers the open cells. The third value is ``IMPOSSIBLE`` if a family without open
    cells has no probability.
    """
    n_factors = 0
    for v in range(families.offsets.shape[0]):
        place, n_open = families.offsets[v], 0
        for m in range(families.first[v], families.first[v + 1]):
            state = row[families.members[m]]
            if state < 0:
                n_open += 1
            else:
                place += state * families.strides[m]
        if n_open > 0:
            n_factors += 1
        elif not theta[place] > 0.0:
            return np.empty(0, np.int64), np.empty((0, 0), np.int64), IMPOSSIBLE
    begins = np.empty(n_factors + n_cells, np.int64)  # sums are added behind
    strides = np.zeros((n_factors + n_cells, n_cells), np.int64)
    filled = 0
    for v in range(families.offsets.shape[0]):
        place, n_open = families.offsets[v], 0
        for m in range(families.first[v], families.first[v + 1]):
            variable = families.members[m]
            if row[variable] < 0:
                n_open += 1
                strides[filled, local[variable]] = families.strides[m]
            else:
                place += row[variable] * families.strides[m]
        if n_open > 0:
            begins[filled] = place
            filled += 1
    return begins, strides, n_factors


@part
def order_cells(strides: LongArray, n_factors: int, cards: LongArray) -> LongArray:
    """Order cells for elimination: always the one with the smallest table, of equal ones the first.

    Returns them backwards, the last one eliminated first.
    """
    n_cells = cards.shape[0]
    is_linked = np.zeros((n_cells, n_cells), np.bool_)
    for f in range(n_factors):
        for a in range(n_cells):
            if strides[f, a] > 0:
                for b in range(n_cells):
                    if strides[f, b] > 0:
                        is_linked[a, b] = True
    order = np.empty(n_cells, np.int64)
    is_left = np.ones(n_cells, np.bool_)
    for place in range(n_cells - 1, -1, -1):
        chosen = _find_smallest(is_linked, is_left, cards)
        is_left[chosen] = False
        order[place] = chosen
        for a in range(n_cells):
            if is_linked[chosen, a]:
                for b in range(n_cells):
                    if is_linked[chosen, b]:
                        is_linked[a, b] = True
    return order


@part
def _find_smallest(is_linked: BoolArray, is_left: BoolArray, cards: LongArray) -> int:
    chosen, least = -1, np.inf
    for a in range(cards.shape[0]):
        if is_left[a]:
            size = float(cards[a])
            for b in range(cards.shape[0]):
                if b != a and is_left[b] and is_linked[a, b]:
                    size *= float(cards[b])
            if size < least:
                chosen, least = a, size
    return chosen


@part
def eliminate(
    memory: FloatArray,
    n_theta: int,
    begins: LongArray,
    strides: LongArray,
    n_factors: int,
    cards: LongArray,
    most_cells: float,
) -> tuple[Chain, FloatArray, int]:
    """Make the chain of a row's open cells.

    ``memory`` has the parameters, then tables; it is replaced by a larger one where needed. The
    last value is negative if the row cannot be completed.
    """
    n_cells = cards.shape[0]
    order = order_cells(strides, n_factors, cards)
    chain = Chain(order, np.zeros(n_cells, np.int64), np.zeros((n_cells, n_cells), np.int64))
    is_used = np.zeros(begins.shape[0], np.bool_)
    here, scope, digits = (
        np.empty(begins.shape[0], np.int64),
        np.empty(n_cells, np.int64),
        np.zeros(n_cells, np.int64),
    )
    places = np.empty(begins.shape[0], np.int64)
    end = n_theta
    for position in range(n_cells - 1, -1, -1):
        cell = order[position]
        card = cards[cell]
        n_here = 0
        for f in range(n_factors):
            if not is_used[f] and strides[f, cell] > 0:
                is_used[f] = True
                here[n_here] = f
                n_here += 1
        n_scope, n_rows = 0, 1
        for other in range(n_cells):
            if other != cell:
                for i in range(n_here):
                    if strides[here[i], other] > 0:
                        scope[n_scope] = other
                        chain.strides[cell, other] = n_rows * card
                        n_scope += 1
                        n_rows *= cards[other]
                        break
                if float(n_rows) * card > most_cells:
                    return chain, memory, TOO_WIDE
        needed = end + n_rows * (card + 1)
        if needed > memory.shape[0]:
            larger = np.empty(2 * needed)
            larger[:end] = memory[:end]
            memory = larger
        sums = end + n_rows * card
        chain.begins[cell] = end
        for i in range(n_here):
            places[i] = begins[here[i]]
        for s in range(n_scope):
            digits[s] = 0
        highest = 0.0
        for r in range(n_rows):
            total = 0.0
            for state in range(card):
                value = 1.0
                for i in range(n_here):
                    value *= memory[places[i] + state * strides[here[i], cell]]
                memory[end + r * card + state] = value
                total += value
            for state in range(card):
                memory[end + r * card + state] /= total if total > 0.0 else 1.0
            memory[sums + r] = total
            highest = max(highest, total)
            for s in range(n_scope):  # to the next states of the scope
                other = scope[s]
                digits[s] += 1
                is_over = digits[s] == cards[other]
                for i in range(n_here):
                    step = strides[here[i], other]
                    places[i] += step - step * cards[other] if is_over else step
                if not is_over:
                    break
                digits[s] = 0
        if not highest > 0.0:
            return chain, memory, IMPOSSIBLE
        if n_scope > 0:
            for r in range(n_rows):
                memory[sums + r] /= highest
            begins[n_factors] = sums
            for s in range(n_scope):
                strides[n_factors, scope[s]] = chain.strides[cell, scope[s]] // card
            n_factors += 1
            end = needed
        else:
            end = sums
    return chain, memory, n_factors
