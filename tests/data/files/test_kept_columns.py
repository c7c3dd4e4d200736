"""Columns as they are written in the file."""

import gzip

import numpy as np
import pytest

from latentforest.data import write_table
from latentforest.data.files.kept_columns import read_as_written
from latentforest.errors import DataError, ParameterError


def read_lists(*arguments, **options):
    return {name: list(values) for name, values in read_as_written(*arguments, **options).items()}


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_text_stays_text(tmp_path, mark):
    path = tmp_path / "people.csv"
    lines = [
        ["id", "x", "note"],
        ["007", "1.50", " a "],
        ["", "NA", '"b, ""c"""'],
        ["1e3", "?", ""],
    ]
    path.write_text("\n\n" + "\n".join(mark.join(line) for line in lines) + "\n\n")
    found = read_lists(path)
    assert found["id"] == ["007", "", "1e3"]
    assert found["x"] == ["1.50", "NA", "?"]
    assert found["note"] == [" a ", 'b, "c"', ""]
    assert list(read_as_written(path, ["x", "id"])) == ["x", "id"]


def test_compressed_and_several_files(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv.gz"
    one.write_text("a,b\n01,x\n")
    two.write_bytes(gzip.compress(b"b,a\ny,02\n"))
    assert read_lists([one, two], ["a"]) == {"a": ["01", "02"]}
    two.write_bytes(gzip.compress(b"b,c\ny,02\n"))
    with pytest.raises(DataError, match="has other columns than"):
        read_as_written([one, two])


@pytest.mark.parametrize("header", ["ä,b", ",ä,b"])
def test_row_names_without_a_name(tmp_path, header):
    path = tmp_path / "r.csv"
    path.write_text(f"{header}\n001,x,y\n002,x,z\n", encoding="latin-1")
    found = read_lists(path, encoding="latin-1")
    assert found == {"row": ["001", "002"], "ä": ["x", "x"], "b": ["y", "z"]}


def test_a_single_column_with_empty_lines(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("a\n1\n\n2\n\n")
    assert read_lists(path) == {"a": ["1", "", "2"]}


def test_parquet_keeps_its_values(tmp_path):
    path = tmp_path / "people.parquet"
    columns = {"id": np.array([7, 8]), "name": np.array(["a", None], dtype=object)}
    write_table(columns, path)
    assert read_lists(path) == {"id": [7, 8], "name": ["a", None]}


def test_other_formats_give_names_of_states(tmp_path):
    path = tmp_path / "people.arff"
    path.write_text("@relation r\n@attribute a {x,y}\n@attribute b numeric\n@data\ny,1.5\nx,2\n")
    assert read_lists(path) == {"a": ["y", "x"], "b": ["1.5", "2"]}


def test_unknown_columns_and_standard_input(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("person,b\n1,2\n")
    with pytest.raises(DataError, match="there is no column 'persn'; did you mean 'person'"):
        read_as_written(path, ["persn"])
    with pytest.raises(ParameterError, match="standard input, which is read once"):
        read_as_written("-", ["a"])
