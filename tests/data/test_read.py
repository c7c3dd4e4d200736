import subprocess
import sys
from pathlib import Path

import pytest

from latentforest.data import Variable, read
from latentforest.data.read import choose_format
from latentforest.errors import DataError, FileFormatError, ParameterError, UnseenStatesWarning


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.csv"):
        read(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read(tmp_path, format="csv")


@pytest.mark.parametrize("name", ["t.csv", "t.arff", "t.data", "t.parquet", "t.TSV"])
def test_empty_files(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(FileFormatError, match="is empty"):
        read(tmp_path / name)


def test_unknown_formats(tmp_path):
    (tmp_path / "table.abc").write_text("a\n1\n")
    with pytest.raises(FileFormatError, match=r"ends in none of \.csv.*pass format="):
        read(tmp_path / "table.abc")
    with pytest.raises(ParameterError, match="format: got 'abc', expected one of arff, arrow, csv"):
        read(tmp_path / "table.abc", format="abc")


def test_the_format_can_be_given(tmp_path):
    path = tmp_path / "table"
    path.write_text("a,b\n1,2\n")
    assert read(str(path), format="csv").names == ("a", "b")


@pytest.mark.parametrize("delimiter", ["", "ab", 3, '"', "\n"])
def test_bad_delimiters(tmp_path, delimiter):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="expected one character"):
        read(path, delimiter=delimiter)


def test_importing_the_package_loads_no_data_frame_library():
    heavy = "{'narwhals', 'pandas', 'polars', 'pyarrow', 'scipy', 'numba'}"
    code = f"import sys, latentforest.data; assert not {heavy} & set(sys.modules), sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_file_is_encoded_like_given_variables(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,empty,x,extra,code\n1,,NA,q,01\n2,,b,q,1\n3,,z,q,01\n")
    like = [
        Variable("code", ("1", "01")),
        Variable("x", ("NA", "b")),
        Variable("empty", ("u", "v")),
    ]
    with pytest.warns(UnseenStatesWarning, match="column 'x': 'z'") as caught:
        data = read(path, like=like, weights="n")
    assert len(caught) == 1
    assert data.variables == tuple(like)
    assert [c.tolist() for c in data.columns] == [[1, 0, 1], [0, 1, -1], [-1, -1, -1]]
    assert data.weights.tolist() == [1, 2, 3]
    with pytest.raises(DataError, match="column 'x': 'z'"):
        read(path, like=like, unseen="error")


def test_a_weights_column_may_also_be_a_variable(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n\n1.5\n2\n")
    data = read(path, like=[Variable("n")], weights="n")
    assert data.column("n").tolist() == data.weights.tolist() == [1.5, 2]


@pytest.mark.parametrize(
    "option", [{"kinds": "categorical"}, {"states": {"a": "1"}}, {"columns": []}, {"exclude": "a"}]
)
def test_like_excludes_other_options(tmp_path, option):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(ParameterError, match="like= takes the place of kinds="):
        read(path, like=[Variable("a")], **option)


@pytest.mark.parametrize("encoding", ["utf-9", "base64", None])
def test_bad_encodings(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(ParameterError, match=r"encoding: got .*expected a text encoding"):
        read(path, encoding=encoding)


def test_text_in_another_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(FileFormatError, match="is not utf-16 text"):
        read(path, encoding="utf-16")


def test_feather_is_another_name_of_arrow():
    assert choose_format(Path("table.bin"), "feather") == "arrow"
