"""Random tables of the neighbours of a latent variable, for the starts of local EM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.estimation.starts import Seeder
from latentforest.inference.messages import Messages
from latentforest.kernels.types import FloatArray
from latentforest.search.candidate import Stream


def draw_tables(
    messages: Messages, hub: str, names: Sequence[str], stream: Stream, n_starts: int, card: int
) -> dict[str, FloatArray]:
    """Draw tables of neighbours of a latent variable, were it to have ``card`` states.

    Each is ``(n_starts, card, n_states)``, halfway between the distribution of the neighbour
    (uniform, if it is latent) and a uniform draw. Gaussians have the values of rows that lie apart
    as their means, the same rows for all neighbours.
    """
    structure = messages.network.structure
    tables = _draw_gaussians(messages, names, stream, n_starts, card)
    for z in names:
        if z in tables:
            continue
        n_states = structure.shape(z)[-1]
        base = np.full(n_states, 1.0 / n_states)
        if z not in messages.number:
            base = messages.table(hub) @ messages.table(hub, z)
        tables[z] = stream.draw_around(base, n_starts, card)
    return tables


def _draw_gaussians(
    messages: Messages, names: Sequence[str], stream: Stream, n_starts: int, card: int
) -> dict[str, FloatArray]:
    numbers = [z for z in names if z in messages.network.structure.continuous]
    if not numbers:
        return {}
    seeder = Seeder(numbers, messages.data.dataset)
    drawn = np.empty((n_starts, len(numbers), card, 2))
    for each in drawn:
        each[...] = seeder.draw(card, stream.generator)
    return {z: drawn[:, i] for i, z in enumerate(numbers)}
