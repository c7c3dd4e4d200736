"""From the log-densities of a pattern to its message."""

from __future__ import annotations

import numpy as np

from latentforest.kernels.compilation import part
from latentforest.kernels.types import FloatArray
from latentforest.kernels.vector import LANES, exponential, front, load, splat, store


@part
def send_pattern(
    buffer: FloatArray, source: int, place: int, column: int, width: int, floor: float
) -> float:
    """Write a message: densities over the largest of them, whose logarithm is returned.

    If squares have overflown, all are zero, and the pattern is left to the log domain.
    """
    largest = -np.inf
    for k in range(source, source + width):
        largest = max(largest, buffer[k])
    if largest == -np.inf:
        for k in range(place, place + column):
            buffer[k] = 0.0
        return 0.0
    for k in range(0, column, LANES):
        value = exponential(load(buffer, source + k) + splat(-largest))
        store(buffer, place + k, front(value, width - k, 0.0))
    if floor > 0.0:
        for k in range(place, place + width):
            buffer[k] = max(buffer[k], floor)
    return largest
