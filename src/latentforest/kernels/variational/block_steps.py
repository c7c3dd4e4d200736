"""The E-step of blocks under a posterior, compiled only when it is needed.

The potentials of a block lie in the place of its sums: they are the tables of ``blocks``.
"""

from __future__ import annotations

from numba import carray

from latentforest.kernels.gaussian.block_steps import evaluate, send
from latentforest.kernels.hooks import ANY_LENGTH, compile_step
from latentforest.kernels.layout import CARD, PARAMETERS, SUMS, TABLE, WIDTH


def _fill_block(  # type: ignore[no-untyped-def]
    u, floor, nodes_, tables_, places_, evidence_, buffer_, potentials_
):
    nodes, tasks = carray(nodes_, (ANY_LENGTH,)), carray(tables_, (ANY_LENGTH,))
    measures, buffer = carray(evidence_, (ANY_LENGTH,)), carray(buffer_, (ANY_LENGTH,))
    potentials, d = carray(potentials_, (ANY_LENGTH,)), nodes[u + CARD]
    source, target = tasks[nodes[u + PARAMETERS] + SUMS], nodes[u + TABLE]
    for i in range(nodes[u + WIDTH] * (1 + d + d * d)):
        buffer[target + i] = potentials[source + i]
    evaluate(u, nodes, tasks, measures, buffer)
    return send(u, floor, nodes, measures, buffer)


# Compute the messages and offsets of a block; the result is the sum of weight times offset.
FILL_ADDRESS = compile_step(_fill_block)
