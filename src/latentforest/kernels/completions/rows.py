"""Rows with all that may stand in their open cells: a weighted table of completions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.completions.elimination import (
    Chain,
    FamilyLayout,
    eliminate,
    find_factors,
)
from latentforest.kernels.types import AnyArray, FloatArray, LongArray


class Bounds(NamedTuple):
    """How many completions a row gets.

    Attributes
    ----------
    exact
        A row with at most so many keeps them all but negligible ones.
    most
        Of others, at most so many are kept,
    left_out
        and no more than hold all but this share.
    negligible
        Completions are dropped that are less probable than the most probable one by this factor.
    cells
        Most cells of a table.
    """

    exact: float
    most: int
    left_out: float
    negligible: float
    cells: float


@kernel
def complete_rows(
    rows: AnyArray,
    weights: FloatArray,
    theta: FloatArray,
    families: FamilyLayout,
    bounds: Bounds,
    lost: FloatArray,
) -> tuple[AnyArray, FloatArray, int, int]:
    """Complete rows of codes, -1 for open cells.

    Sets ``lost`` to the share of each row's probability that was left out; the weights of its
    completions add up to the row's all the same. Returns completions, their weights, and the row
    at which the work ended, with the reason: ``IMPOSSIBLE`` or ``TOO_WIDE``; -1 and 0 if it is
    done.
    """
    n_rows, n_variables = rows.shape
    filled = 0
    table, shares = np.empty((2 * n_rows, n_variables), rows.dtype), np.empty(2 * n_rows)
    memory, n_theta = np.empty(2 * theta.shape[0] + 1024), theta.shape[0]
    memory[:n_theta] = theta
    row, local = np.empty(n_variables, np.int64), np.empty(n_variables, np.int64)
    for i in range(n_rows):
        n_cells, n_joint = 0, 1.0
        for v in range(n_variables):
            row[v] = rows[i, v]
            if row[v] < 0:
                local[v] = n_cells
                n_cells += 1
                n_joint *= float(families.cards[v])
        begins, strides, n_factors = find_factors(row, local, n_cells, families, theta)
        if n_factors < 0:
            return table, shares, i, n_factors
        cards, cells = np.empty(n_cells, np.int64), np.empty(n_cells, np.int64)
        for v in range(n_variables):
            if row[v] < 0:
                cards[local[v]], cells[local[v]] = families.cards[v], v
        chain, memory, state = eliminate(
            memory, n_theta, begins, strides, n_factors, cards, bounds.cells
        )
        if state < 0:
            return table, shares, i, state
        found, chances = _follow(chain, memory, cards, bounds)
        n_kept = chances.shape[0]
        order = np.arange(n_kept)
        if n_joint > bounds.exact:
            order = np.argsort(-chances, kind="mergesort")
            n_kept = _count_kept(chances, order, 1.0 - bounds.left_out)
        if filled + n_kept > shares.shape[0]:
            table, shares = _enlarge(table, shares, filled, 2 * (filled + n_kept))
        mass = 0.0
        for k in range(n_kept):
            mass += chances[order[k]]
        lost[i] = max(0.0, 1.0 - mass)
        for k in range(n_kept):
            for v in range(n_variables):
                table[filled, v] = rows[i, v]
            for c in range(n_cells):
                table[filled, cells[c]] = found[order[k], c]
            shares[filled] = weights[i] * (chances[order[k]] / mass)
            filled += 1
    return table[:filled].copy(), shares[:filled].copy(), -1, 0


@part
def _follow(
    chain: Chain, memory: FloatArray, cards: LongArray, bounds: Bounds
) -> tuple[LongArray, FloatArray]:
    """Build up the completions of a row, cell after cell; where there are too many, keep the best.

    A part that is dropped is less probable than as many others as may be kept.
    """
    n_cells = cards.shape[0]
    found, chances = np.zeros((1, n_cells), np.int64), np.ones(1)
    for position in range(n_cells):
        cell = chain.order[position]
        card, n_parts = cards[cell], chances.shape[0]
        longer = np.empty(n_parts * card)
        highest = 0.0
        for k in range(n_parts):
            place = chain.begins[cell]
            for other in range(n_cells):
                place += found[k, other] * chain.strides[cell, other]
            for state in range(card):
                chance = chances[k] * memory[place + state]
                longer[k * card + state] = chance
                highest = max(highest, chance)
        least = highest * bounds.negligible
        if longer.shape[0] > bounds.most:
            least = max(least, np.sort(longer)[-bounds.most])
        n_kept = 0
        for chance in longer:
            if chance >= least and chance > 0.0:
                n_kept += 1
        n_kept = min(n_kept, bounds.most)
        parts, values = np.empty((n_kept, n_cells), np.int64), np.empty(n_kept)
        filled = 0
        for k in range(n_parts * card):
            if longer[k] >= least and longer[k] > 0.0 and filled < n_kept:
                for other in range(n_cells):
                    parts[filled, other] = found[k // card, other]
                parts[filled, cell] = k % card
                values[filled] = longer[k]
                filled += 1
        found, chances = parts, values
    return found, chances


@part
def _count_kept(chances: FloatArray, order: LongArray, enough: float) -> int:
    """Return how many completions, from the most probable on, hold so much probability."""
    mass = 0.0
    for k in range(order.shape[0]):
        mass += chances[order[k]]
        if mass >= enough:
            return k + 1
    return int(order.shape[0])


@part
def _enlarge(
    table: AnyArray, shares: FloatArray, filled: int, size: int
) -> tuple[AnyArray, FloatArray]:
    """Copy what is there into larger arrays."""
    larger, longer = np.empty((size, table.shape[1]), table.dtype), np.empty(size)
    larger[:filled] = table[:filled]
    longer[:filled] = shares[:filled]
    return larger, longer
