"""Random tables of the neighbours of a latent variable, for the starts of local EM."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.random import Generator

from latentforest.data.variable import Variable
from latentforest.estimation.starts import Seeder
from latentforest.inference.messages import Messages
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure


def draw_tables(
    messages: Messages, hub: str, names: Sequence[str], rng: Generator, n_starts: int, card: int
) -> dict[str, FloatArray]:
    """Draw tables of neighbours of a latent variable, were it to have ``card`` states.

    Each is ``(n_starts, card, n_states)``, halfway between the distribution of the neighbour
    (uniform, if it is latent) and a uniform draw. Gaussians have the values of rows that lie apart
    as their means, the same rows for all neighbours.
    """
    tables = draw_gaussians(messages, hub, names, rng, n_starts, card)
    others = [z for z in names if z not in tables]
    edges = list(accumulate(map(messages.card, others), initial=0))
    noise = rng.standard_exponential((n_starts, card, edges[-1]))
    for z, (low, high) in zip(others, pairwise(edges), strict=True):
        base = messages.table(hub) @ messages.table(hub, z)
        if z in messages.number:
            base = np.full(high - low, 1 / (high - low))
        drawn = noise[:, :, low:high]
        tables[z] = 0.5 * (base + drawn / drawn.sum(axis=2, keepdims=True))
    return tables


def draw_gaussians(
    messages: Messages, hub: str, names: Sequence[str], rng: Generator, n_starts: int, card: int
) -> dict[str, FloatArray]:
    """Draw tables of the continuous ones among neighbours, ``(n_starts, card, 2)`` each."""
    numbers = [z for z in names if z in messages.network.structure.continuous]
    if not numbers:
        return {}
    variables = [Variable.hidden(hub, card), *map(messages.network.structure.variable, numbers)]
    structure = Structure(variables, dict.fromkeys(numbers, hub))
    seeder = Seeder(structure, messages.data.dataset, (hub,), numbers, messages.data.summary)
    starts = np.empty((n_starts, structure.n_values))
    seeder.fill(starts, [seeder.draw(rng) for _ in range(n_starts)])
    places = {z: structure.offset(z) for z in numbers}
    return {
        z: starts[:, place : place + 2 * card].reshape(n_starts, card, 2)
        for z, place in places.items()
    }
