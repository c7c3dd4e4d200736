"""Rounded terms n log n: close to the mathematics, and exact in sums."""

import math

import numpy as np
import pytest

from latentforest.kernels.counts.terms import sum_terms, tabulate_terms

SCALE = 2.0**30


@pytest.mark.parametrize("n_terms", [0, 3, 50])
def test_sums_with_and_without_a_table(n_terms):
    counts = np.array([1.0, 7.0, 2.0, 40.0, 3.0])
    sums = np.empty(2)
    sum_terms(counts, np.array([2, 5]), tabulate_terms(n_terms, SCALE), SCALE, sums)
    expected = [sum(n * math.log(n) for n in part) for part in ([1, 7], [2, 40, 3])]
    np.testing.assert_allclose(sums / SCALE, expected, rtol=0, atol=3 / SCALE)
    assert np.array_equal(sums, np.rint(sums))


def test_table_and_formula_are_the_same():
    counts = np.arange(1.0, 1000.0)
    ends = np.arange(1, 1000)
    looked_up, computed = np.empty(999), np.empty(999)
    sum_terms(counts, ends, tabulate_terms(1000, SCALE), SCALE, looked_up)
    sum_terms(counts, ends, tabulate_terms(0, SCALE), SCALE, computed)
    np.testing.assert_array_equal(looked_up, computed)
