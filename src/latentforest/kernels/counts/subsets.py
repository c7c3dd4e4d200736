"""Sums of n log n over the configurations of all subsets of a few columns.

A walk in depth through the subsets refines groups of rows that agree: a set's groups are those of
the set without its last column, split by that column. Rows that are alone in their group stay
alone and leave the walk, with their terms; deep in the walk little is left to do. Nothing is as
large as a table of all configurations.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.counts.terms import (
    FEW_COUNTS,
    find_gamma_term,
    find_term,
    tabulate_gamma_terms,
)
from latentforest.kernels.types import AnyArray, FloatArray, IntArray, LongArray


@kernel
def measure_subsets(
    codes: AnyArray,
    cards: LongArray,
    weights: FloatArray,
    terms: FloatArray,
    scale: float,
    most_cells: float,
    most_columns: int,
    sums: FloatArray,
) -> None:
    """Set ``sums`` (2^columns) for all sets of at most so many cells and columns.

    Bit j of an index stands for column j; the other sums are left as they are.
    """
    n_columns, n_rows = codes.shape
    rows = np.empty((n_columns + 1, n_rows), np.int32)  # of the groups, by depth of the walk
    starts = np.zeros((n_columns + 1, n_rows // 2 + 2), np.int32)
    n_groups = np.zeros(n_columns + 1, np.int64)
    alone = np.zeros(n_columns + 1)  # terms of the rows that have left
    cells = np.ones(n_columns + 1)
    sets = np.zeros(n_columns + 1, np.int64)
    columns = np.zeros(n_columns + 1, np.int64)  # the next to be added
    size, split = np.zeros(cards.max()), np.zeros(cards.max(), np.int64)
    sums[0] = _begin(weights, terms, scale, rows[0], starts[0], n_groups, alone)
    depth = 0
    while depth >= 0:
        column = columns[depth]
        if column == n_columns or depth == most_columns:
            depth -= 1
            continue
        columns[depth] += 1
        if cells[depth] * cards[column] > most_cells:
            continue
        is_last = column == n_columns - 1
        here, edges = rows[depth], starts[depth]
        there, new_edges = rows[depth + 1], starts[depth + 1]
        states, card = codes[column], cards[column]
        more, total = alone[depth], 0.0
        filled, n_new = 0, 0
        for group in range(n_groups[depth]):
            first, last = edges[group], edges[group + 1]
            for state in range(card):
                size[state], split[state] = 0.0, 0
            for place in range(first, last):
                row = here[place]
                state = states[row]
                size[state] += weights[row]
                split[state] += 1
            for state in range(card):
                n_here = split[state]
                if n_here == 1:
                    more += find_term(size[state], terms, scale)
                    split[state] = -1
                elif n_here > 1:
                    total += find_term(size[state], terms, scale)
                    split[state] = filled
                    new_edges[n_new] = filled
                    filled += n_here
                    n_new += 1
            if not is_last:  # those that are alone are left out
                for place in range(first, last):
                    row = here[place]
                    state = states[row]
                    target = split[state]
                    if target >= 0:
                        there[target] = row
                        split[state] = target + 1
        sums[sets[depth] | (1 << column)] = more + total
        if not is_last:
            starts[depth + 1, n_new] = filled
            n_groups[depth + 1] = n_new
            alone[depth + 1] = more
            cells[depth + 1] = cells[depth] * cards[column]
            sets[depth + 1] = sets[depth] | (1 << column)
            columns[depth + 1] = column + 1
            depth += 1


@part
def _begin(
    weights: FloatArray,
    terms: FloatArray,
    scale: float,
    rows: IntArray,
    starts: IntArray,
    n_groups: LongArray,
    alone: FloatArray,
) -> float:
    """Put all rows into one group; return the sum of the empty set."""
    n_rows = weights.shape[0]
    total = 0.0
    for row in range(n_rows):
        rows[row] = row
        total += weights[row]
    term = find_term(total, terms, scale)
    if n_rows > 1:
        starts[1] = n_rows
        n_groups[0] = 1
    else:
        alone[0] = term
    return term


@kernel
def measure_dirichlet_subsets(
    codes: AnyArray,
    cards: LongArray,
    sizes: LongArray,
    weights: FloatArray,
    amount: float,
    is_shared: bool,
    scale: float,
    most_columns: int,
    sums: FloatArray,
) -> None:
    """Set ``sums`` (2^columns) to sums of log Γ(a + n) - log Γ(a), in units of ``1 / scale``.

    The prior count a of a cell is the amount, divided by the number of cells if it is shared. The
    weight of row i is ``weights[sizes[i]]``. The walk is that of ``measure_subsets``; rows that are
    alone are counted by their weight, because a is another one for each set.
    """
    n_columns, n_rows = codes.shape
    rows = np.empty((n_columns + 1, n_rows), np.int32)
    starts = np.zeros((n_columns + 1, n_rows // 2 + 2), np.int32)
    n_groups = np.zeros(n_columns + 1, np.int64)
    alone = np.zeros((n_columns + 1, weights.shape[0]))
    cells = np.ones(n_columns + 1)
    sets = np.zeros(n_columns + 1, np.int64)
    columns = np.zeros(n_columns + 1, np.int64)
    size, split = np.zeros(cards.max()), np.zeros(cards.max(), np.int64)
    terms = np.empty(FEW_COUNTS)
    total = 0.0
    for row in range(n_rows):
        rows[0, row] = row
        total += weights[sizes[row]]
    tabulate_gamma_terms(amount, terms, scale)
    sums[0] = find_gamma_term(total, amount, terms, scale)
    if n_rows > 1:
        starts[0, 1], n_groups[0] = n_rows, 1
    else:
        alone[0, sizes[0]] += 1.0
    depth = 0
    while depth >= 0:
        column = columns[depth]
        if column == n_columns or depth == most_columns:
            depth -= 1
            continue
        columns[depth] += 1
        there = depth + 1
        states, card = codes[column], cards[column]
        cells[there] = cells[depth] * card
        prior = amount / cells[there] if is_shared else amount
        tabulate_gamma_terms(prior, terms, scale)
        for kind in range(weights.shape[0]):
            alone[there, kind] = alone[depth, kind]
        total = 0.0
        filled, n_new = 0, 0
        for group in range(n_groups[depth]):
            first, last = starts[depth, group], starts[depth, group + 1]
            for state in range(card):
                size[state], split[state] = 0.0, 0
            for place in range(first, last):
                row = rows[depth, place]
                size[states[row]] += weights[sizes[row]]
                split[states[row]] += 1
            for state in range(card):
                n_here = split[state]
                if n_here == 1:
                    split[state] = -1
                elif n_here > 1:
                    total += find_gamma_term(size[state], prior, terms, scale)
                    split[state] = filled
                    starts[there, n_new] = filled
                    filled += n_here
                    n_new += 1
            for place in range(first, last):
                row = rows[depth, place]
                target = split[states[row]]
                if target >= 0:
                    rows[there, target] = row
                    split[states[row]] = target + 1
                else:
                    alone[there, sizes[row]] += 1.0
        for kind in range(weights.shape[0]):
            if alone[there, kind] > 0.0:
                total += alone[there, kind] * find_gamma_term(weights[kind], prior, terms, scale)
        sets[there] = sets[depth] | (1 << column)
        sums[sets[there]] = total
        if column < n_columns - 1:
            starts[there, n_new] = filled
            n_groups[there] = n_new
            columns[there] = column + 1
            depth = there
