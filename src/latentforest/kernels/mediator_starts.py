"""Starts of new latent variables between a hub and two of its neighbours.

The first start is a copy of the hub, the others are random. The starts of a neighbour's table are
the same in all candidates of the hub.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.arms import LEAF_ARM, Arms, Values, find_upper_arm
from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.star_starts import (
    draw_row,
    find_base,
    find_first,
    gather_tables,
    soften,
)
from latentforest.kernels.types import FloatArray, LongArray


@kernel
def start_mediators(
    arms: Arms,
    values: Values,
    hub: int,
    card: int,
    n_random: int,
    noise: FloatArray,
    numbers: FloatArray,
) -> tuple[FloatArray, LongArray]:
    """Return tables in one vector, and where each of them begins.

    Parameters
    ----------
    arms, values
        The current model.
    hub
        The latent variable.
    card
        Most states of a mediator.
    n_random
        Random starts.
    noise
        Exponentially distributed: for P(mediator | hub), for the tables of the categorical
        neighbours side by side, and if the hub has a parent, for P(mediator | parent) and
        P(hub | mediator); each ``(n_random, rows, columns)``.
    numbers
        Random tables of the continuous neighbours, ``(n_random, n_states, 2)`` each.

    The tables are, one start after another: P(mediator | hub), P(mediator | parent),
    P(hub | mediator), and P(neighbour | mediator) for each arm.
    """
    lo, first = arms.first[hub], find_first(arms, hub)
    width, n_arms, n_columns = arms.width[lo], first.shape[0] - 1, first[-1]
    above = find_upper_arm(arms, hub)
    above_card = arms.card[above] if above >= 0 else 0
    sizes = np.empty(3 + n_arms, np.int64)
    sizes[0], sizes[1], sizes[2] = width * card, above_card * card, 0 if above < 0 else card * width
    for i in range(n_arms):
        sizes[3 + i] = card * arms.card[lo + i]
    places, n_starts = np.zeros(3 + n_arms, np.int64), 1 + n_random
    for i in range(1, 3 + n_arms):
        places[i] = places[i - 1] + n_starts * sizes[i - 1]
    blocks = np.empty(places[-1] + n_starts * sizes[-1])
    copies = blocks[: sizes[0]].reshape((width, card))
    _copy_hub(copies)
    taken = _draw_tables(noise, 0, blocks, sizes[0], n_random * width, card)
    if above >= 0:
        _start_upper(arms, values, above, copies, blocks, places)
        drawn = taken + n_random * card * n_columns
        drawn = _draw_tables(
            noise, drawn, blocks, places[1] + sizes[1], n_random * above_card, card
        )
        _draw_tables(noise, drawn, blocks, places[2] + sizes[2], n_random * card, width)
    prior = values.tables[arms.prior[hub] : arms.prior[hub] + width]
    joined, n_numbers = gather_tables(arms, values, hub, first), 0
    for i in range(n_arms):
        n, place = arms.card[lo + i], places[3 + i]
        table = values.tables[arms.table[lo + i] : arms.table[lo + i] + card * n]
        blocks[place : place + card * n] = table
        if arms.belief[lo + i] < LEAF_ARM:
            size = n_random * card * n
            rows = numbers[n_numbers : n_numbers + size]
            blocks[place + card * n : place + card * n + size] = rows
            n_numbers += size
            continue
        for y in range(card):
            soften(blocks, place + y * n, place + (y + 1) * n)
        base = find_base(arms, hub, prior, joined, first, i)
        for k in range(n_random * card):
            draw_row(noise, taken + k * n_columns + first[i], base, blocks, place + (card + k) * n)
    return blocks, places


@part
def _copy_hub(copies: FloatArray) -> None:
    """P(mediator | hub) of a copy; surplus states of the hub share those of the copy."""
    width, card = copies.shape
    for y in range(width):
        for z in range(card):
            copies[y, z] = 1.0 if z == y % card else 0.0
        soften(copies[y], 0, card)


@part
def _draw_tables(
    noise: FloatArray, drawn: int, blocks: FloatArray, place: int, n_rows: int, n: int
) -> int:
    """Draw rows of tables uniformly from the simplex; return how many numbers are used up."""
    for _ in range(n_rows):
        total = 0.0
        for x in range(n):
            total += noise[drawn + x]
        for x in range(n):
            blocks[place + x] = noise[drawn + x] / total
        place += n
        drawn += n
    return drawn


@part
def _start_upper(
    arms: Arms,
    values: Values,
    above: int,
    copies: FloatArray,
    blocks: FloatArray,
    places: LongArray,
) -> None:
    """Tables of a copy of the hub between the hub and its parent."""
    (width, card), below = copies.shape, arms.table[arms.reverse[above]]
    place = places[1]
    for x in range(arms.card[above]):
        for z in range(card):
            blocks[place + z] = 0.0
        for y in range(width):
            blocks[place + y % card] += values.tables[below + x * width + y]
        soften(blocks, place, place + card)
        place += card
    place = places[2]
    for z in range(card):
        n_same = (width - z + card - 1) // card  # states of the hub that share this one
        for y in range(width):
            blocks[place + y] = 1.0 / n_same if y % card == z else 0.0
        soften(blocks, place, place + width)
        place += width
