"""Random tables of the neighbours of a latent variable, for the starts of local EM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.data.variable import Variable
from latentforest.estimation.starts import Seeder
from latentforest.inference.messages import Messages
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure
from latentforest.search.candidate import Stream
from latentforest.search.tables import SideBySide


def draw_tables(
    messages: Messages, hub: str, names: Sequence[str], stream: Stream, n_starts: int, card: int
) -> dict[str, FloatArray]:
    """Draw tables of neighbours of a latent variable, were it to have ``card`` states.

    Each is ``(n_starts, card, n_states)``, halfway between the distribution of the neighbour
    (uniform, if it is latent) and a uniform draw. Gaussians have the values of rows that lie apart
    as their means, the same rows for all neighbours.
    """
    tables = draw_gaussians(messages, hub, names, stream, n_starts, card)
    others = [z for z in names if z not in tables]
    beside = SideBySide([messages.card(z) for z in others])
    drawn = draw_side_by_side(messages, hub, others, beside, stream, n_starts, card)
    return tables | dict(zip(others, beside.parts(drawn), strict=True))


def draw_side_by_side(
    messages: Messages,
    hub: str,
    names: Sequence[str],
    beside: SideBySide,
    stream: Stream,
    n_starts: int,
    card: int,
) -> FloatArray:
    """Draw tables of categorical neighbours, ``(n_starts, card, columns of all tables)``."""
    prior, bases = messages.table(hub), [np.empty(0)]
    for z in names:
        n_states, is_latent = messages.card(z), z in messages.number
        bases.append(
            np.full(n_states, 1 / n_states) if is_latent else prior @ messages.table(hub, z)
        )
    noise = stream.generator.standard_exponential((n_starts, card, beside.edges[-1]))
    drawn: FloatArray = 0.5 * (np.concatenate(bases) + beside.normalised(noise))
    return drawn


def draw_gaussians(
    messages: Messages, hub: str, names: Sequence[str], stream: Stream, n_starts: int, card: int
) -> dict[str, FloatArray]:
    """Draw tables of the continuous ones among neighbours, ``(n_starts, card, 2)`` each."""
    numbers = [z for z in names if z in messages.network.structure.continuous]
    if not numbers:
        return {}
    variables = [Variable.hidden(hub, card), *map(messages.network.structure.variable, numbers)]
    structure = Structure(variables, dict.fromkeys(numbers, hub))
    seeder = Seeder(structure, messages.data.dataset, hub, numbers, messages.data.summary)
    starts = np.empty((n_starts, structure.n_values))
    seeder.fill(starts, [seeder.draw(stream.generator) for _ in range(n_starts)])
    places = {z: structure.offset(z) for z in numbers}
    return {
        z: starts[:, place : place + 2 * card].reshape(n_starts, card, 2)
        for z, place in places.items()
    }
