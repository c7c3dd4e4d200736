import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from climbing import leap, list_tables
from latentforest.kernels.forest.em import log_prior, update

# One table of two rows and three states after an entry that is not free.
FAMILIES = list_tables([1], [2], [3])


def test_counts_are_normalized_and_others_left_alone():
    theta = np.full(8, 0.125)
    counts = np.array([9.0, 1.0, 2.0, 1.0, 0.0, 3.0, 0.0, 9.0])
    prior = np.array([9.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 9.0])
    update(FAMILIES, prior, counts, theta)
    assert theta.tolist() == [0.125, 0.25, 0.5, 0.25, 1 / 6, 4 / 6, 1 / 6, 0.125]


def test_a_row_without_counts_keeps_its_probabilities():
    theta = np.array([0.0, 0.2, 0.3, 0.5, 0.2, 0.3, 0.5])
    update(FAMILIES, np.zeros(7), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0]), theta)
    assert theta.tolist() == [0.0, 0.2, 0.3, 0.5, 0.0, 1.0, 0.0]


def test_log_prior_counts_only_free_tables():
    prior = np.array([5.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    theta = np.array([0.5, 0.25, 0.0, 0.5, 1.0, 0.0, 0.0])
    expected = np.log(0.25) + 2 * np.log(0.5)
    assert log_prior(FAMILIES, prior, theta) == pytest.approx(expected)
    theta[3] = 0.0
    assert log_prior(FAMILIES, prior, theta) == -np.inf


simplex_points = st.integers(0, 2**32 - 1).map(
    lambda seed: np.r_[0.7, np.random.default_rng(seed).dirichlet(np.full(3, 0.3), 2).ravel()]
)


@settings(deadline=None)
@given(simplex_points, simplex_points, simplex_points, st.sampled_from([1.0, 4.0, 64.0]))
def test_extrapolation_stays_inside_the_simplex(first, second, third, longest):
    result = third.copy()
    length = leap(FAMILIES, first, second, third, np.zeros(7), longest, result)
    assert 1.0 <= length <= longest
    rows = result[1:].reshape(2, 3)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(result[1:] >= 0)
    assert np.all((result[1:] > 0) | (third[1:] == 0))
    assert result[0] == third[0]


def test_extrapolation_of_tables_with_a_single_state():
    families = list_tables([0, 3], [3, 1], [1, 2])
    points = [np.array([1.0, 1.0, 1.0, p, 1 - p, 0.7]) for p in (0.4, 0.5, 0.55)]
    result = points[2].copy()
    leap(families, *points, np.zeros(6), 100.0, result)
    np.testing.assert_allclose(result, [1.0, 1.0, 1.0, 0.6, 0.4, 0.7], rtol=1e-12)


def test_a_step_of_length_one_is_the_em_iterate():
    rng = np.random.default_rng(0)
    points = [np.r_[0.7, rng.dirichlet(np.full(3, 5.0), 2).ravel()] for _ in range(3)]
    result = points[2].copy()
    assert leap(FAMILIES, *points, np.zeros(7), 1.0, result) == 1.0
    np.testing.assert_allclose(result, points[2], rtol=1e-12)


def test_a_geometric_sequence_is_extrapolated_to_its_limit():
    limit, step = np.array([0.7, 0.2, 0.3, 0.5, 0.1, 0.1, 0.8]), np.zeros(7)
    step[1:] = [0.01, 0.02, -0.03, 0.03, -0.01, -0.02]
    points = [limit + ratio * step for ratio in (1.0, 0.75, 0.75**2)]
    result = points[2].copy()
    length = leap(FAMILIES, *points, np.zeros(7), 100.0, result)
    assert length == pytest.approx(4.0)
    np.testing.assert_allclose(result, limit, atol=1e-12)
