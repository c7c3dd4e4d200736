import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.data import Dataset
from latentforest.errors import DataError

text = st.sampled_from(["a", "b", "?", "NA", "10", "9"])


def rows_of(values):
    return st.lists(st.one_of(st.none(), values), min_size=4, max_size=4)


tables = st.fixed_dictionaries(
    {
        "text": rows_of(text).map(lambda v: [*v, "a"]),
        "number": rows_of(st.sampled_from([0.5, 1.0, -3.25])).map(lambda v: [*v, 0.5]),
        "integer": rows_of(st.integers(-3, 3)).map(lambda v: [*v, 1]),
        "boolean": rows_of(st.booleans()).map(lambda v: [*v, True]),
    }
)


def assert_same(one: Dataset, other: Dataset) -> None:
    assert one.variables == other.variables
    for left, right in zip(one.columns, other.columns, strict=True):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)


@given(tables)
@settings(deadline=None, max_examples=40)
def test_every_kind_of_table_gives_the_same_data(table):
    expected = Dataset.from_table(table)
    frames = [
        pd.DataFrame(table),
        pd.DataFrame(table).convert_dtypes(),
        pd.DataFrame(table, dtype=object),
        pl.DataFrame(table),
        pl.DataFrame(table).lazy(),
        pa.table(table),
        {name: pl.Series(values) for name, values in table.items()},
        {name: np.array(values, dtype=object) for name, values in table.items()},
    ]
    for frame in frames:
        assert_same(Dataset.from_table(frame), expected)
    array = np.array(list(table.values()), dtype=object).T
    assert_same(Dataset.from_table(array, names=list(table)), expected)


STATES = ["low", "mid", "high", "?"]
VALUES = ["high", None, "low", "?"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(VALUES, categories=STATES)),
        pl.Series(VALUES, dtype=pl.Enum(STATES)),
        pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 3]), pa.array(STATES)),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_declared_categories_keep_their_order(column):
    data = Dataset.from_table({"v": column})
    assert data.variables[0].states == ("low", "mid", "high")
    assert data.columns[0].tolist() == [2, -1, 0, -1]


def test_polars_categoricals_are_sorted_and_know_only_their_own_values():
    other = pl.Series(["zz"], dtype=pl.Categorical)
    data = Dataset.from_table({"v": pl.Series(["b", "a", None], dtype=pl.Categorical)})
    assert data.variables[0].states == ("a", "b")
    assert len(other) == 1


def test_pandas_categories_of_numbers_and_intervals():
    cut = pd.cut(pd.Series([0.2, 1.5]), [0, 1, 2, 3])
    data = Dataset.from_table(
        pd.DataFrame({"v": pd.Categorical([2, 1], categories=[2, 1]), "c": cut})
    )
    assert data.variable("v").states == ("2", "1")
    assert data.variable("c").states == ("(0, 1]", "(1, 2]", "(2, 3]")


def test_arrow_dictionaries_of_several_chunks():
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    data = Dataset.from_table(pa.table({"v": pa.chunked_array(chunks)}))
    assert data.decode("v").tolist() == ["b", "a", "c", "b"]


def test_decimals_and_nulls():
    table = pa.table({"v": pa.array([Decimal("1.50"), None]), "n": pa.nulls(2)})
    data = Dataset.from_table(table, states={"n": ["x"]})
    np.testing.assert_array_equal(data.column("v"), [1.5, np.nan])
    assert data.column("n").tolist() == [-1, -1]
    with pytest.raises(DataError, match=r"'n' .no value at all"):
        Dataset.from_table(pl.DataFrame({"n": [None]}))


def test_sparse_pandas_columns():
    table = pd.DataFrame({"v": pd.arrays.SparseArray([0, 0, 1])})
    assert Dataset.from_table(table).column("v").tolist() == [0, 0, 1]


def test_pandas_periods_are_refused_by_name():
    table = pd.DataFrame({"v": pd.period_range("2020", periods=2, freq="M")})
    with pytest.raises(DataError, match=r"'v' has the type period\[M\]"):
        Dataset.from_table(table)


def test_pandas_integer_names_become_text():
    assert Dataset.from_table(pd.DataFrame([[1, 2]])).names == ("0", "1")


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
)
def test_duplicate_names(table):
    with pytest.raises(DataError, match=r"unique(.|\n)*'a'"):
        Dataset.from_table(table)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_of_dates_only_is_refused(make):
    with pytest.raises(DataError, match=r"'when' .dates or times"):
        Dataset.from_table(make({"when": [datetime.datetime(2020, 1, 1)]}))


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_nested_columns_are_refused(make):
    with pytest.raises(DataError, match=r"'v' has the type List\(Int64\)"):
        Dataset.from_table(make({"v": [[1, 2]]}))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_empty_frames(make):
    with pytest.raises(DataError, match="at least one column"):
        Dataset.from_table(make({}))
    with pytest.raises(DataError, match="at least one row"):
        Dataset.from_table(make({"v": np.array([], dtype=float)}), kinds="continuous")


def test_large_integers_with_nulls_stay_apart():
    ids = [2**63 + 1, None, 2**63 + 2]
    tables = [
        pd.DataFrame({"id": pd.array(ids, dtype="UInt64")}),
        pl.DataFrame({"id": pl.Series(ids, dtype=pl.UInt64)}),
        pa.table({"id": pa.array(ids, type=pa.uint64())}),
    ]
    for table in tables:
        data = Dataset.from_table(table, kinds="categorical")
        assert data.variable("id").states == (str(2**63 + 1), str(2**63 + 2))
        assert data.column("id").tolist() == [0, -1, 1]
