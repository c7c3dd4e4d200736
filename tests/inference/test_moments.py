"""Moments of groups of rows, against numpy."""

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.errors import DataError
from latentforest.inference.moments import MomentTable, sort_rows
from reference.gaussian_families import random_mixed_table


@pytest.mark.parametrize("weights", ["ones", "whole", "broken"])
@pytest.mark.parametrize("rows_at_once", [7, 1 << 14])
def test_moments_are_those_of_numpy(weights, rows_at_once, monkeypatch):
    monkeypatch.setattr("latentforest.inference.moments.ROWS_AT_ONCE", rows_at_once)
    data = random_mixed_table(1, (2, 3), 3, 80, weights)
    table = MomentTable(data)
    means = np.array([about.mean for about in table.about])
    units = np.sqrt([about.variance for about in table.about])
    values = (np.stack(data.columns[2:], axis=1) - means) / units
    moments = table.measure(0b11)
    for k, states in enumerate(table.configurations([0, 1])):
        here = (data.columns[0] == states[0]) & (data.columns[1] == states[1])
        w = data.weights[here]
        np.testing.assert_allclose(moments.weights[k], w.sum(), rtol=1e-12)
        np.testing.assert_allclose(moments.means[k], w @ values[here] / w.sum(), atol=1e-12)
        expected = np.cov(values[here].T, aweights=w, bias=True)
        np.testing.assert_allclose(moments.covariances[k], expected, atol=1e-12)


def test_states_that_do_not_occur_are_no_groups():
    variables = [Variable("a", ("0", "1", "2")), Variable("x")]
    table = MomentTable(Dataset(variables, [[2, 2, 0], [1.0, 2.0, 3.0]]))
    assert table.configurations([0]).tolist() == [[2], [0]]
    assert table.measure(1).n_rows.tolist() == [2, 1]
    assert table.count_groups(1) == 3.0
    assert table.configurations([]).shape == (1, 0)


def test_rows_are_sorted_and_merged():
    variables = [Variable("a", ("0", "1")), Variable("x"), Variable("y")]
    columns = [[1, 0, 1, 0, 1], [2.0, 2.0, 2.0, 1.0, 2.0], [5.0, 5.0, 5.0, 9.0, 5.0]]
    rows = sort_rows(Dataset(variables, columns, [1.0, 2.0, 3.0, 4.0, 0.0]))
    assert [column.tolist() for column in rows.columns] == [[0, 0, 1], [1, 2, 2], [9, 5, 5]]
    assert rows.weights.tolist() == [4.0, 2.0, 4.0]


def test_what_is_refused():
    with pytest.raises(DataError, match="'x' has 1 missing values"):
        MomentTable(Dataset([Variable("x")], [[1.0, np.nan]]))
    with pytest.raises(DataError, match="no continuous column"):
        MomentTable(Dataset([Variable("a", ("0", "1"))], [[0, 1]]))
