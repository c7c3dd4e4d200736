import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from latentforest.data import Dataset, read
from latentforest.errors import FileFormatError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.parquet"


def test_every_type_is_encoded_as_from_memory(path):
    table = pa.table(
        {
            "text": ["b", "?", None, "a"],
            "large": pa.array(["x", "y", "x", None], pa.large_string()),
            "number": [1.5, None, 2.0, 0.0],
            "integer": [1, 2, None, 1],
            "flag": [True, None, False, True],
            "with.dot": [1, 1, 1, 1],
        }
    )
    pq.write_table(table, path, row_group_size=2)
    data, expected = read(path), Dataset.from_table(table)
    assert data.variables == expected.variables
    for left, right in zip(data.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(left, right)


def test_pandas_categories_keep_their_order(path):
    values = pd.Categorical(["low", "high"], categories=["low", "mid", "high"])
    pd.DataFrame({"v": values}).to_parquet(path)
    assert read(path).variable("v").states == ("low", "mid", "high")


def test_unnamed_pandas_indexes_are_skipped(path):
    pd.DataFrame({"v": [1, 2]}, index=[7, 9]).to_parquet(path)
    assert read(path).names == ("v",)


def test_weights_from_a_column(path):
    pq.write_table(pa.table({"v": ["a", "b"], "n": [2, 3]}), path)
    assert read(path, weights="n").total_weight == 5


def test_a_file_of_another_format(path):
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="is not a Parquet file"):
        read(path)


def test_duplicate_names(path):
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(FileFormatError, match="unique; repeated: 'a'"):
        read(path)


def test_a_damaged_page(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": list(range(1000))}), path, compression="gzip")
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="column 'a' is damaged"):
        read(path)


def test_an_enum_of_polars_with_missing_values(tmp_path):
    polars = pytest.importorskip("polars")
    values = polars.Series("q", ["ja", None, "nein"], dtype=polars.Enum(["nie", "nein", "ja"]))
    polars.DataFrame([values]).write_parquet(tmp_path / "q.parquet")
    data = read(tmp_path / "q.parquet")
    assert data.variable("q").states == ("nie", "nein", "ja")
    assert data.column("q").tolist() == [2, -1, 1]
