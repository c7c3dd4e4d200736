"""Bits in common, counted one by one."""

import numpy as np
import pytest

from latentforest.kernels.bits import count_common


@pytest.mark.parametrize(("n_left", "n_right", "n_words"), [(1, 1, 1), (3, 70, 5), (2, 33, 1100)])
def test_counts(n_left, n_right, n_words):
    rng = np.random.default_rng(0)
    left = rng.integers(0, 2**64, (n_left, n_words), dtype=np.uint64)
    right = rng.integers(0, 2**64, (n_right, n_words), dtype=np.uint64)
    counts = np.full((n_left, n_right), np.nan)
    count_common(left, right, counts)
    a, b = (np.unpackbits(words.view(np.uint8), axis=1).astype(int) for words in (left, right))
    np.testing.assert_array_equal(counts, a @ b.T)
