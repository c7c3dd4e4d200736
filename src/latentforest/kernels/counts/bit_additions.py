"""Counts of a set of columns with one more, 64 rows at a time: for whole weights and few groups.

Every row is a bit, a row of weight w is w bits. A state, or a configuration of several columns, is
the set of rows that have it; what two of them have in common is counted word by word.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.bits import WORD_BITS, Words, count_ones
from latentforest.kernels.compilation import kernel
from latentforest.kernels.types import AnyArray, FloatArray, LongArray


@kernel
def mark_rows(numbers: AnyArray, repeats: LongArray, sets: Words, least: int) -> None:
    """Set the bits of each row in the set of its number; numbers below ``least`` have none."""
    bit = 0
    for row in range(numbers.shape[0]):
        number = np.int64(numbers[row]) - least
        for _ in range(repeats[row]):
            if number >= 0:
                sets[number, bit // WORD_BITS] |= np.uint64(1) << np.uint64(bit % WORD_BITS)
            bit += 1


@kernel
def count_bit_additions(
    groups: Words,
    states: Words,
    firsts: LongArray,
    cards: LongArray,
    added: LongArray,
    counts: FloatArray,
    ends: LongArray,
) -> None:
    """Count the configurations of a set of columns together with each of some others.

    ``groups`` are the configurations of the set; their words lie in pieces that stay in the
    cache. The states of column j but its first are ``states`` from ``firsts[j]`` on. The result is
    that of ``count_additions`` up to order.
    """
    n_groups, n_pieces, n_words = groups.shape
    totals = np.zeros(n_groups, np.int64)
    n_states = 0
    for i in range(added.shape[0]):
        n_states += cards[added[i]] - 1
    common = np.zeros((n_states, n_groups), np.int64)
    for piece in range(n_pieces):
        for group in range(n_groups):
            for word in range(n_words):
                totals[group] += np.int64(count_ones(groups[group, piece, word]))
        place = 0
        for i in range(added.shape[0]):
            for state in range(firsts[added[i]], firsts[added[i]] + cards[added[i]] - 1):
                for group in range(n_groups):
                    n_ones = np.uint64(0)
                    for word in range(n_words):
                        n_ones += count_ones(
                            groups[group, piece, word] & states[state, piece, word]
                        )
                    common[place, group] += np.int64(n_ones)
                place += 1
    place, filled = 0, 0
    for i in range(added.shape[0]):
        last = place + cards[added[i]] - 1
        for group in range(n_groups):
            left = totals[group]
            for state in range(place, last):
                if common[state, group] > 0:
                    counts[filled] = common[state, group]
                    filled += 1
                    left -= common[state, group]
            if left > 0:
                counts[filled] = left
                filled += 1
        ends[i] = filled
        place = last
