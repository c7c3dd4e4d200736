import warnings

import numpy as np
import pandas as pd
import pytest

from latentforest.data import Dataset, Variable, encode_like
from latentforest.errors import DataError, ParameterError, UnseenStatesWarning

A = Variable("a", ("1", "2"))
X = Variable("x")


@pytest.mark.parametrize(
    "table",
    [
        {"x": [0.5, 1], "a": [2, 1], "other": ["p", "q"]},
        pd.DataFrame({"x": [0.5, 1], "a": ["2", "1.0"]}),
        np.array([[2, 0.5], [1, 1]]),
        [[2, 0.5], ["1", "1"]],
        Dataset.from_table({"x": [0.5, 1], "a": [2, 1]}),
        Dataset.from_table({"x": ["0.5", "1"], "a": ["2", "1"]}, kinds="categorical"),
    ],
    ids=["dict", "pandas", "array", "rows", "dataset", "other kinds"],
)
def test_columns_are_matched(table):
    data = encode_like(table, [A, X])
    assert data.variables == (A, X)
    assert data.column("a").tolist() == [1, 0]
    assert data.column("x").tolist() == [0.5, 1]


def test_encoding_again_changes_nothing():
    data = Dataset.from_table({"a": ["01", "x", None], "b": [1.5, 2, None]}, weights=[1, 2, 3])
    again = encode_like(data.to_columns(), data.variables, weights=data.weights)
    for left, right in zip(data.columns, again.columns, strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_dataset_keeps_its_weights():
    data = Dataset([A], [[0, 1]], [2, 3])
    assert encode_like(data, [A]).weights.tolist() == [2, 3]
    assert encode_like(data, [A], weights=[1, 1]).weights.tolist() == [1, 1]


def test_unseen_states_give_one_warning():
    table = {"a": [1, 3, 4], "b": ["u", "v", "w"]}
    with pytest.warns(UnseenStatesWarning) as caught:
        data = encode_like(table, [A, Variable("b", ("u",))])
    assert len(caught) == 1
    assert "column 'a': '3', '4'; column 'b': 'v', 'w'" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert data.column("a").tolist() == [0, -1, -1]


def test_long_lists_of_unseen_states_are_cut():
    table = {f"c{i}": [*range(1, 10)] for i in range(8)}
    variables = [Variable(f"c{i}", ("1",)) for i in range(8)]
    with pytest.warns(UnseenStatesWarning, match=r"'6' and 3 more; .*and 3 more columns"):
        encode_like(table, variables)


def test_unseen_states_can_be_an_error():
    with pytest.raises(DataError, match="not known: column 'a': '3'"):
        encode_like({"a": [3]}, [A], unseen="error")
    with pytest.raises(ParameterError, match="unseen: got 'drop'"):
        encode_like({"a": [1]}, [A], unseen="drop")


def test_unused_categories_are_not_unseen_states():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = pd.DataFrame({"a": pd.Categorical(["1", "2"], categories=["1", "2", "3"])})
        assert encode_like(table, [A]).column("a").tolist() == [0, 1]


def test_a_state_named_like_a_marker_stays_a_state():
    data = encode_like({"a": ["NA", "?", "u"]}, [Variable("a", ("NA", "u"))])
    assert data.column("a").tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [1.5]}, "lacks the column 'a'; it has 'x'"),
        ({"b": [1.5]}, "lacks the columns 'a', 'x'"),
        (np.zeros((2, 3)), "the array has 3 columns, expected 2: 'a', 'x'"),
        ({"a": [1], "x": ["tall"]}, "'x', row 0 .*'tall' is not a number"),
        ({"a": [1], "x": [np.inf]}, "'x', row 0 .* inf"),
    ],
)
def test_tables_that_do_not_fit(table, message):
    with pytest.raises(DataError, match=message):
        encode_like(table, [A, X])
