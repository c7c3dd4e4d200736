import subprocess
import sys

import pytest

from latentforest.data import read
from latentforest.errors import FileFormatError, ParameterError


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
    (tmp_path / "table.xlsx").write_text("a\n1\n")
    with pytest.raises(FileFormatError, match=r"ends in none of \.csv.*pass format="):
        read(tmp_path / "table.xlsx")
    with pytest.raises(ParameterError, match="format: got 'excel', expected one of arff, csv"):
        read(tmp_path / "table.xlsx", format="excel")


def test_the_format_can_be_given(tmp_path):
    path = tmp_path / "table"
    path.write_text("a,b\n1,2\n")
    assert read(str(path), format="csv").names == ("a", "b")


@pytest.mark.parametrize("delimiter", ["", "ab"])
def test_bad_delimiters(tmp_path, delimiter):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="expected one character"):
        read(path, delimiter=delimiter)


def test_importing_the_package_loads_no_data_frame_library():
    heavy = "{'narwhals', 'pandas', 'polars', 'pyarrow', 'scipy', 'numba'}"
    code = f"import sys, latentforest.data; assert not {heavy} & set(sys.modules), sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
