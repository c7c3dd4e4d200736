"""The hash of a table."""

import numpy as np
import pytest

from latentforest import Dataset, Variable

TABLE = Dataset.from_table(
    {"a": ["x", "y", "x", None], "b": [1.5, 2.5, 1.5, np.nan], "c": [0, 1, 0, 1]},
    weights=[1.0, 0.1, 0.2, 3.0],
)


def test_order_and_merging_do_not_matter():
    others = (
        TABLE.take([3, 1, 2, 0]),
        TABLE.select(["c", "a", "b"]),
        TABLE.merged()[0],
        Dataset.from_table(
            {name: TABLE.decode(name) for name in TABLE.names}, states={"a": list("zyx")}
        )
        .with_weights(TABLE.weights)
        .take([1, 0, 2, 3]),
    )
    assert {each.hash for each in others} == {TABLE.hash}


def test_rows_of_weight_zero_do_not_matter():
    assert TABLE.with_weights([1, 0, 1, 1]).hash == TABLE.take([0, 2, 3]).with_weights(None).hash


@pytest.mark.parametrize(
    "other",
    [
        TABLE.take([0, 1, 2]),
        TABLE.with_weights(None),
        TABLE.select(["a", "b"]),
        Dataset([Variable("A", ("x", "y")), *TABLE.variables[1:]], TABLE.columns, TABLE.weights),
        Dataset([Variable("a", ("x", "z")), *TABLE.variables[1:]], TABLE.columns, TABLE.weights),
        Dataset(TABLE.variables, [TABLE.columns[0], [1.5, 2.5, 1.5, 2.5], TABLE.columns[2]]),
    ],
)
def test_content_matters(other):
    assert other.hash != TABLE.hash


def test_values_belong_to_their_columns():
    one = Dataset.from_table({"a": ["x", "y"], "b": ["y", "x"]})
    assert one.hash != Dataset.from_table({"a": ["x", "y"], "b": ["x", "y"]}).hash


def test_zero_has_no_sign_and_names_may_be_anything():
    variables = [Variable("a\ud800")]
    assert Dataset(variables, [[0.0, 1.5]]).hash == Dataset(variables, [[-0.0, 1.5]]).hash
