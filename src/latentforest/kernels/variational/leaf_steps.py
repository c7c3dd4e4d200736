"""The E-step of Gaussian leaves under a posterior, compiled only when it is needed.

See ``variational`` for what lies where among the potentials.
"""

from __future__ import annotations

from numba import carray

from latentforest.kernels.compilation import part
from latentforest.kernels.gaussian.leaf_steps import fill_messages
from latentforest.kernels.gaussian.leaves import N_ROWS
from latentforest.kernels.hooks import ANY_LENGTH, compile_step
from latentforest.kernels.layout import CARD, COLUMN, PARAMETERS, TABLE, WIDTH
from latentforest.kernels.types import FloatArray, LongArray


@part
def _copy_tables(
    nodes: LongArray, places: LongArray, buffer: FloatArray, potentials: FloatArray, u: int
) -> None:
    """Spread the potentials of all columns of a node out."""
    column, place, entry = nodes[u + COLUMN], nodes[u + TABLE], nodes[u + PARAMETERS]
    for j in range(entry, entry + nodes[u + CARD]):
        for k in range(nodes[u + WIDTH]):
            for i in range(N_ROWS):
                buffer[place + i * column + k] = potentials[places[j] + N_ROWS * k + i]
        place += N_ROWS * column


def _fill_densities(  # type: ignore[no-untyped-def]
    u, floor, nodes_, tables_, places_, evidence_, buffer_, potentials_
):
    nodes, places = carray(nodes_, (ANY_LENGTH,)), carray(places_, (ANY_LENGTH,))
    measures, buffer = carray(evidence_, (ANY_LENGTH,)), carray(buffer_, (ANY_LENGTH,))
    _copy_tables(nodes, places, buffer, carray(potentials_, (ANY_LENGTH,)), u)
    return fill_messages(u, floor, nodes, measures, buffer)


# Compute the messages and offsets of a node; the result is the sum of weight times offset.
FILL_ADDRESS = compile_step(_fill_densities)
