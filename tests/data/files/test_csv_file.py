import gzip

import numpy as np
import pytest

from latentforest.data import read
from latentforest.data.files import csv_file
from latentforest.errors import DataError, FileFormatError, ReadingWarning


@pytest.fixture
def csv(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_kinds_and_missing_values(csv):
    data = read(csv("sex,age,score\nm,31.5,1\nf,?,2\n,40.25,NA\n"))
    assert data.variable("sex").states == ("f", "m")
    assert data.column("sex").tolist() == [1, 0, -1]
    np.testing.assert_array_equal(data.column("age"), [31.5, np.nan, 40.25])
    assert data.variable("score").states == ("1", "2")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_delimiter_is_found_in_the_header(csv, mark):
    assert read(csv(f"a{mark}b\n1{mark}2\n")).names == ("a", "b")
    assert read(csv(f'"a,;x"{mark}b{mark}c\n1{mark}2{mark}3\n')).names == ("a,;x", "b", "c")


def test_the_delimiter_can_be_given(csv):
    assert read(csv("a|b\n1|2\n"), delimiter="|").names == ("a", "b")


def test_tsv_files_use_tabs(csv):
    assert read(csv("a,x\tb\n1\t2\n", "table.tsv")).names == ("a,x", "b")


def test_quotes_line_ends_byte_order_mark_and_blank_lines(csv):
    data = read(csv('\ufeff"a" , b\r\n"x, y",1\r\n\r\n"two\r\nlines", 1.0\r\n'))
    assert data.names == ("a", "b")
    assert data.variable("a").states == ("two\r\nlines", "x, y")
    assert data.variable("b").states == ("1",)


def test_compressed_files(csv):
    data = read(csv(gzip.compress(b"a,b\n1,2\n"), "table.csv.gz"))
    assert data.names == ("a", "b")
    with pytest.raises(FileFormatError, match="damaged gzip"):
        read(csv(gzip.compress(b"a,b\n1,2\n" * 99)[:-12], "cut.csv.gz"))


def test_weights_from_a_column(csv):
    data = read(csv("a,n\nx,3\ny,4\n"), weights="n")
    assert (data.names, data.total_weight) == (("a",), 7)


def test_many_pieces(csv, monkeypatch):
    monkeypatch.setattr(csv_file, "_PIECE", 3)
    data = read(csv("a\n" + "".join(f"s{i % 4}\n" for i in range(20))))
    assert data.column("a").tolist() == [i % 4 for i in range(20)]


def test_encodings(csv):
    path = csv("a\nJosé\n".encode("latin-1"))
    assert read(path, encoding="latin-1").variable("a").states == ("José",)
    with pytest.raises(FileFormatError, match="is not utf-8 text: byte 0xe9"):
        read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n1\n", "line 3: 1 values, expected 2"),
        ("a,b\n1,2\n\n1,2,3\n", "line 4: 3 values, expected 2"),
        ("a,a\n1,2\n", "line 1: column names must be unique; repeated: 'a'"),
        ("a,,b\n1,2,3\n", "line 1: column 2 of 3 has no name"),
        ("a,b\n", "has a header but no rows"),
        ("\n\n", "line 1: expected a header"),
    ],
)
def test_damaged_files(csv, content, message):
    with pytest.raises(FileFormatError, match=message):
        read(csv(content))


def test_text_in_a_column_of_numbers(csv):
    path = csv("a\n" + "".join(f"{i}.5\n" for i in range(6000)) + "tall\n")
    with pytest.raises(DataError, match=r"'a', row 6000 .*'tall' is not a number"):
        read(path, kinds={"a": "continuous"})


def test_blank_lines_of_a_single_column_are_missing_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\nx\n\ny\n\n\n")
    assert read(path).column("a").tolist() == [0, -1, 1]


def test_blank_lines_before_the_header_are_skipped(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n \na|b\nx|y\n")
    assert read(path).names == ("a", "b")
    path.write_text("\n\na|b\nx\n")
    with pytest.raises(FileFormatError, match="line 4: 1 values, expected 2"):
        read(path)


def test_a_header_that_ends_with_a_delimiter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,\n1,2,\n")
    with pytest.raises(FileFormatError, match="column 3 of 3 has no name; the header ends with"):
        read(path)


def test_long_fields(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{'x' * 200_000},1\n")
    assert len(read(path).variable("a").states[0]) == 200_000


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_of_write_table(tmp_path, end):
    lines = ['"q one" "k"', '"1" "ja nein" 3', '"2" NA 4', '"3" "nie" 3', ""]
    (tmp_path / "t.txt").write_text(end.join(lines), newline="")
    with pytest.warns(ReadingWarning, match="one name fewer"):
        data = read(tmp_path / "t.txt")
    assert data.names == ("q one", "k")
    assert data.variable("q one").states == ("ja nein", "nie")
    assert data.n_missing == 1
