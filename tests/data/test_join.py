import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from latentforest.data import Dataset, Variable, read
from latentforest.errors import DataError, FileFormatError, ParameterError


@pytest.fixture
def write(tmp_path):
    def make(name, content):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return make


def test_columns_are_found_by_name_and_states_are_united(write):
    first, second = write("a.csv", "x,y\nu,1.5\nv,2.5\n"), write("b.csv", "y,x\n3.5,w\n?,u\n")
    data = read([first, str(second)])
    assert data.names == ("x", "y")
    assert data.variable("x").states == ("u", "v", "w")
    assert data.column("x").tolist() == [0, 1, 2, 0]
    np.testing.assert_array_equal(data.column("y"), [1.5, 2.5, 3.5, np.nan])


def test_whole_numbers_and_texts_of_numbers_are_one(write, tmp_path):
    pd.DataFrame({"x": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    data = read([tmp_path / "a.parquet", write("b.csv", "x\n2.0\n3\n")])
    assert data.variable("x").states == ("1", "2", "3")
    assert data.column("x").tolist() == [0, 1, 1, 2]


def test_other_columns_are_an_error(write):
    files = [write("a.csv", "x,y\n1,2\n"), write("b.csv", "x,z\n1,2\n")]
    with pytest.raises(DataError, match=r"b\.csv lacks 'y' and also has 'z', compared .*a\.csv"):
        read(files)


def test_weights_and_options_go_over_all_files(write):
    files = [write("a.csv", "x,n\nu,2\n"), write("b.csv", "x,n\n-9,3\nv,4\n")]
    data = read(files, weights="n", missing=["-9"])
    assert data.total_weight == 9
    assert data.column("x").tolist() == [0, -1, 1]
    assert read(files, exclude=["n"], weights=[1, 1, 5]).total_weight == 7
    like = [Variable("x", ("v", "u", "-9"))]
    assert read(files, like=like).column("x").tolist() == [1, 2, 0]


def test_weights_of_the_files_themselves(write):
    counts = write("a.data", "A: no yes\n0 3\n1 4\n")
    data = read([counts, write("b.csv", "A\nyes\nno\n")])
    assert data.weights.tolist() == [3, 4, 1, 1]
    assert data.column("A").tolist() == [0, 1, 1, 0]


def test_no_file():
    with pytest.raises(ParameterError, match="empty list"):
        read([])


class FakeInput:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", FakeInput(b"a,b\n1,x\n2,y\n"))
    assert read("-").names == ("a", "b")
    sink = io.BytesIO()
    pa.feather.write_feather(pa.table({"a": ["x", "y"]}), sink)
    monkeypatch.setattr(sys, "stdin", FakeInput(sink.getvalue()))
    assert read("-", format="arrow").variable("a").states == ("x", "y")
    monkeypatch.setattr(sys, "stdin", FakeInput(b"a,b\n1\n"))
    with pytest.raises(FileFormatError, match=r"^standard input, line 2: 1 values, expected 2"):
        read("-")
    monkeypatch.setattr(sys, "stdin", FakeInput(b""))
    with pytest.raises(FileFormatError, match=r"^standard input is empty"):
        read("-")


@pytest.mark.parametrize("is_stream", [False, True])
def test_arrow_files(tmp_path, is_stream):
    path = tmp_path / "t.feather"
    states = pd.Categorical(["low", "high"], categories=["low", "mid", "high"])
    frame = pd.DataFrame({"v": states, "x": [1.5, np.nan], "t": ["b", "?"]}, index=[7, 9])
    table = pa.Table.from_pandas(frame)
    if is_stream:
        with pa.ipc.new_stream(path, table.schema) as sink:
            sink.write_table(table)
    else:
        pa.feather.write_feather(table, path)
    data, expected = read(path), Dataset.from_table(frame)
    assert data.variables == expected.variables
    for left, right in zip(data.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(left, right)


def test_an_arrow_file_of_another_format(tmp_path):
    (tmp_path / "t.arrow").write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="is not an Arrow file"):
        read(tmp_path / "t.arrow")
