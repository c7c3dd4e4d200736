"""Counting rows that two sets have in common, 64 rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from latentforest.kernels.compilation import kernel
from latentforest.kernels.types import FloatArray

WORD_BITS = 64
_TILE = 32  # sets of the right side that stay in the cache
_PIECE = 512  # words of each set that are counted at a time

Words = NDArray[np.uint64]


def _instruction(function: Callable[..., Any]) -> Callable[..., Any]:
    made: Callable[..., Any] = intrinsic(function)
    return made


@_instruction
def count_ones(typing: Any, word: Any) -> Any:
    """Number of bits of a word that are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@kernel
def count_common(left: Words, right: Words, counts: FloatArray) -> None:
    """Set ``counts[i, j]`` to the number of bits that ``left[i]`` and ``right[j]`` share."""
    n_words = left.shape[1]
    counts[:] = 0.0
    for start in range(0, n_words, _PIECE):
        stop = min(start + _PIECE, n_words)
        for first in range(0, right.shape[0], _TILE):
            last = min(first + _TILE, right.shape[0])
            for i in range(left.shape[0]):
                for j in range(first, last):
                    n_ones = np.uint64(0)
                    for word in range(start, stop):
                        n_ones += count_ones(left[i, word] & right[j, word])
                    counts[i, j] += n_ones
