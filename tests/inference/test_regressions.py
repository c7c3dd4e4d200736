"""Regressions from moments, against least squares."""

import numpy as np

from latentforest import Dataset, Variable
from latentforest.inference import regressions
from latentforest.inference.moments import MomentTable
from latentforest.inference.regressions import eliminate, fit_lines, leave, solve
from latentforest.kernels.gaussian import block_updates


def covariances(seed, n_groups, n_columns):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_groups, 20, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    return np.stack([np.cov(each.T) for each in values])


def test_what_parents_leave():
    matrices = covariances(0, 3, 5)
    found = leave(matrices, 0, [2, 4], [1, 3, 2, 0])
    for k, matrix in enumerate(matrices):
        for i, parents in enumerate(([2, 4, 1], [2, 4, 3], [2, 4], [2, 4])):
            inside = matrix[np.ix_(parents, parents)]
            left = matrix[0, 0] - matrix[0, parents] @ np.linalg.solve(inside, matrix[parents, 0])
            np.testing.assert_allclose(found[k, i], left, rtol=1e-9)


def test_slopes():
    matrices = covariances(1, 3, 4)
    found = solve(matrices, 3, [0, 2, 1])
    for matrix, slopes in zip(matrices, found, strict=True):
        expected = np.linalg.solve(matrix[np.ix_([0, 2, 1], [0, 2, 1])], matrix[[0, 2, 1], 3])
        np.testing.assert_allclose(slopes, expected, rtol=1e-9)


def test_a_factor_explains_its_parents():
    matrices = covariances(2, 2, 4)
    factor = eliminate(matrices, [1, 3])
    explained = np.einsum("ika,ikb->kab", factor, factor)
    np.testing.assert_allclose(explained[:, [1, 3]], matrices[:, [1, 3]], rtol=1e-9)


def test_parents_without_anything_of_their_own_get_no_slope():
    matrix = np.array(
        [[[1.0, 0.5, 0.5, 0.0], [0.5, 1.0, 1.0, 0.0], [0.5, 1.0, 1.0, 0.0], [0.0] * 4]]
    )
    np.testing.assert_array_equal(solve(matrix, 0, [1, 2, 3]), [[0.5, 0.0, 0.0]])
    noise = np.array([[[1.0, 1e-9], [1e-9, 1e-16]]])  # a constant, but for rounding
    np.testing.assert_array_equal(solve(noise, 0, [1]), [[0.0]])


def test_thresholds_are_those_of_em():
    assert block_updates.COLLINEAR == regressions.COLLINEAR
    assert block_updates.NEGLIGIBLE == regressions.NEGLIGIBLE


def test_thin_groups_take_the_line_of_all_rows():
    variables = [Variable("a", ("0", "1")), Variable("x"), Variable("y")]
    columns = [[0, 0, 0, 0, 1, 1], [0.0, 1, 2, 3, 4, 5], [0.0, 2, 1, 3, 9, 9]]
    table = MomentTable(Dataset(variables, columns))
    lines, pooled = fit_lines(table, 1, [0], 0b1), fit_lines(table, 1, [0], 0)
    assert lines.slopes[1] == pooled.slopes[0]
    assert lines.variances[1] == pooled.variances[0]
    assert lines.slopes[0] != pooled.slopes[0]
