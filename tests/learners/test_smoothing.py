"""Pseudo-counts chosen by cross-validation."""

import numpy as np
import pytest

from latentforest.learners.smoothing import PSEUDO_COUNTS, choose_pseudo_count
from reference.searches import clear_tree, learn


@pytest.fixture(scope="module")
def table():
    """A table that is quickly searched."""
    return clear_tree(
        {"Y1": (2, None), "Y2": (2, "Y1")}, {"Y1": 4, "Y2": 3}, n_states=2, strength=0.85
    ).sample(600, random_state=0)


def test_smoothing_by_cross_validation_is_one_of_the_grid_and_leaves_no_zeros(table):
    plain = learn(table)
    smooth = learn(table, smoothing="cv")
    assert smooth.network_.structure == plain.network_.structure
    assert smooth.network_.parameters.min() > 0
    count = choose_pseudo_count(plain.network_, table, 1)
    assert count in PSEUDO_COUNTS
    assert count == choose_pseudo_count(plain.network_, table, 2)
    again = learn(table, smoothing=count)
    np.testing.assert_allclose(again.network_.parameters, smooth.network_.parameters, rtol=1e-12)
