"""Starts of new latent variables between a hub and two of its neighbours.

The first start is a copy of the hub, the others are random. The starts of a neighbour's table are
the same in all candidates of the hub.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import kernel, part
from latentforest.kernels.regions.arms import find_upper_arm
from latentforest.kernels.regions.star_starts import (
    draw_row,
    fill_base,
    find_first,
    gather_tables,
    soften,
)
from latentforest.kernels.regions.types import Arms, Values
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
    lo, hi, tables = arms.first[hub], arms.first[hub + 1], values.tables
    cards, table, facts, source = arms.card, arms.table, arms.facts, arms.source
    first, prior, width = find_first(facts, cards, lo, hi), arms.prior[hub], arms.width[lo]
    n_arms, n_columns, above = hi - lo, first[hi - lo], find_upper_arm(arms, hub)
    above_card = cards[above] if above >= 0 else 0
    places, n_starts = np.zeros(4 + n_arms, np.int64), 1 + n_random
    places[1] = n_starts * width * card
    places[2] = places[1] + n_starts * above_card * card
    places[3] = places[2] + (n_starts * card * width if above >= 0 else 0)
    for i in range(n_arms):
        places[4 + i] = places[3 + i] + n_starts * card * cards[lo + i]
    drafts = np.empty(places[3 + n_arms])
    _copy_hub(drafts, width, card)
    taken = _draw_tables(noise, 0, drafts, width * card, n_random * width, card)
    if above >= 0:
        _start_upper(tables, table[arms.reverse[above]], above_card, width, card, drafts, places)
        drawn, place = taken + n_random * card * n_columns, places[1] + above_card * card
        drawn = _draw_tables(noise, drawn, drafts, place, n_random * above_card, card)
        _draw_tables(noise, drawn, drafts, places[2] + card * width, n_random * card, width)
    joined, base = gather_tables(tables, table, lo, width, first), np.empty(n_columns)
    n_numbers = 0
    for i in range(n_arms):
        n, place, is_latent = cards[lo + i], places[3 + i], source[lo + i] >= 0
        for k in range(card * n):
            drafts[place + k] = tables[table[lo + i] + k]
        if facts[lo + i] >= 0:
            for k in range(n_random * card * n):
                drafts[place + card * n + k] = numbers[n_numbers + k]
            n_numbers += n_random * card * n
            continue
        for y in range(card):
            soften(drafts, place + y * n, place + (y + 1) * n)
        fill_base(tables, prior, width, joined, n_columns, first[i], n, is_latent, base)
        for k in range(n_random * card):
            drawn = taken + k * n_columns + first[i]
            draw_row(noise, drawn, base, n, drafts, place + (card + k) * n)
    return drafts, places[: 3 + n_arms]


@part
def _copy_hub(drafts: FloatArray, width: int, card: int) -> None:
    """P(mediator | hub) of a copy; surplus states of the hub share those of the copy."""
    for y in range(width):
        for z in range(card):
            drafts[y * card + z] = 1.0 if z == y % card else 0.0
        soften(drafts, y * card, (y + 1) * card)


@part
def _draw_tables(
    noise: FloatArray, drawn: int, drafts: FloatArray, place: int, n_rows: int, n: int
) -> int:
    """Draw rows of tables uniformly from the simplex; return how many numbers are used up."""
    for _ in range(n_rows):
        total = 0.0
        for x in range(n):
            total += noise[drawn + x]
        for x in range(n):
            drafts[place + x] = noise[drawn + x] / total
        place += n
        drawn += n
    return drawn


@part
def _start_upper(
    tables: FloatArray,
    below: int,
    above_card: int,
    width: int,
    card: int,
    drafts: FloatArray,
    places: LongArray,
) -> None:
    """Tables of a copy of the hub between the hub and its parent."""
    place = places[1]
    for x in range(above_card):
        for z in range(card):
            drafts[place + z] = 0.0
        for y in range(width):
            drafts[place + y % card] += tables[below + x * width + y]
        soften(drafts, place, place + card)
        place += card
    place = places[2]
    for z in range(card):
        n_same = (width - z + card - 1) // card  # states of the hub that share this one
        for y in range(width):
            drafts[place + y] = 1.0 / n_same if y % card == z else 0.0
        soften(drafts, place, place + width)
        place += width
