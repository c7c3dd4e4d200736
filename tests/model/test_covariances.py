"""Singular and nearly singular covariances."""

import numpy as np
import pytest

from latentforest.model.covariances import (
    COLLINEAR,
    SINGULAR,
    factorize,
    find_collinear,
    find_least_eigenvalue,
    find_principal_axis,
    invert,
    is_definite,
    log_determinant,
    orient,
    raise_eigenvalues,
    standardize,
)

UNITS = np.array([1e-8, 1.0, 1e9])


def make_correlations(least, size=3, seed=0):
    """Correlations with a given least eigenvalue, the others far from it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(500, size))
    matrix = np.corrcoef(x, rowvar=False)
    matrix[0, -1] = matrix[-1, 0] = 0.0
    low, high = 0.0, 1.0
    for _ in range(200):  # the last column comes closer to the first one
        middle = (low + high) / 2
        matrix[0, -1] = matrix[-1, 0] = middle
        is_above = np.linalg.eigvalsh(matrix)[0] > least
        low, high = (middle, high) if is_above else (low, middle)
    return matrix


def shake(matrix, seed):
    """Change the last bits of a matrix."""
    noise = np.random.default_rng(seed).uniform(-4, 4, matrix.shape) * np.finfo(float).eps
    noise = np.tril(noise, -1)
    return matrix + noise + noise.T


@pytest.mark.parametrize("seed", range(10))
def test_last_bits_do_not_decide_what_is_singular(seed):
    copied = np.ones((3, 3))
    copied[1, [0, 2]] = copied[[0, 2], 1] = 0.3
    assert not is_definite(shake(copied, seed) * np.outer(UNITS, UNITS))
    assert is_definite(shake(make_correlations(1e-10), seed) * np.outer(UNITS, UNITS))
    assert find_collinear(shake(copied, seed)) == [0, 2]
    raised = [raise_eigenvalues(shake(copied, s)) for s in (seed, seed + 1)]
    np.testing.assert_allclose(*raised, rtol=0, atol=1e-14)
    np.testing.assert_allclose(*map(log_determinant, raised), rtol=1e-9)


def test_a_sum_of_many_columns_is_collinear_with_all_of_them():
    x = np.random.default_rng(0).normal(size=(300, 40))
    alone = np.random.default_rng(1).normal(size=300)
    columns = np.column_stack([x, x.sum(axis=1), alone])
    assert find_collinear(np.corrcoef(columns, rowvar=False)) == list(range(41))


@pytest.mark.parametrize(("share", "expected"), [(0.5, [0, 1]), (2.0, [])])
def test_the_threshold_of_collinear_columns_is_the_share_that_is_left(share, expected):
    r = np.sqrt(1 - share * COLLINEAR)
    assert find_collinear(np.array([[1.0, r], [r, 1.0]])) == expected


@pytest.mark.parametrize("least", [0.2, 1e-3, 1e-5])
def test_correlations_far_from_singular_are_left_alone(least):
    matrix = make_correlations(least)
    assert raise_eigenvalues(matrix) is matrix
    assert find_collinear(matrix) == []


def test_raised_correlations_are_correlations_and_near():
    matrix = make_correlations(1e-9)
    raised = raise_eigenvalues(matrix)
    np.testing.assert_allclose(np.diag(raised), 1.0, atol=1e-15)
    np.testing.assert_array_equal(raised, raised.T)
    assert np.linalg.eigvalsh(raised)[0] == pytest.approx(COLLINEAR, rel=1e-3)
    np.testing.assert_allclose(raised, matrix, atol=2 * COLLINEAR)


def test_only_singular_ones_among_several_are_raised():
    good, bad = make_correlations(0.1), make_correlations(1e-9)
    raised = raise_eigenvalues(np.stack([good, bad]))
    np.testing.assert_array_equal(raised[0], good)
    np.testing.assert_array_equal(raised[1], raise_eigenvalues(bad))


def test_factors_inverses_and_determinants_in_any_unit():
    matrix = make_correlations(0.1) * np.outer(UNITS, UNITS)
    spread, root = factorize(matrix)
    np.testing.assert_allclose(root @ root.T * np.outer(spread, spread), matrix, rtol=1e-12)
    np.testing.assert_allclose(standardize(matrix)[0], UNITS)
    scaled = invert(matrix) * np.outer(UNITS, UNITS) @ make_correlations(0.1)
    np.testing.assert_allclose(scaled, np.eye(3), atol=1e-12)
    assert log_determinant(matrix) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12)


def test_singular_matrices_are_factorized_at_the_threshold():
    assert log_determinant(np.ones((2, 2))) == pytest.approx(np.log(2 * SINGULAR), rel=1e-3)
    assert np.all(np.isfinite(invert(np.ones((2, 2)))))


@pytest.mark.parametrize("seed", range(10))
def test_axes_of_copied_columns_have_a_sign(seed):
    x = np.random.default_rng(seed).normal(size=(50, 4))
    x[:, 3] = -x[:, 0]
    covariance = np.cov(x, rowvar=False)
    size, axis = find_principal_axis(covariance)
    np.testing.assert_allclose(covariance @ axis, size * axis, atol=1e-12)
    _, shaken = find_principal_axis(shake(covariance, seed))
    np.testing.assert_allclose(axis, shaken, atol=1e-12)
    largest = np.flatnonzero(np.abs(axis) > np.abs(axis).max() - 1e-9)[0]
    assert axis[largest] > 0


def test_of_equal_entries_the_first_gives_the_sign():
    np.testing.assert_array_equal(orient(np.array([-0.5, 0.5 + 1e-13])), [0.5, -0.5 - 1e-13])


def test_the_least_eigenvalue_in_a_metric():
    metric = np.diag([1.0, 4.0])
    assert find_least_eigenvalue(np.diag([3.0, 8.0]), metric)[0] == pytest.approx(2.0)
    value, error = find_least_eigenvalue(np.diag([1e9, 1.0]), np.eye(2))
    assert value == pytest.approx(1.0)
    assert 1e-6 < error < 1e-4
