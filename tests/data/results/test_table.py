import math
import sys

import numpy as np
import pytest

from latentforest.data.results.table import Table
from latentforest.data.results.table_text import format_cell
from latentforest.errors import DataError, MissingExtraError

TABLE = Table({"n": [1, 20], "bic": [-1234.5, math.nan], "name": ["a", None], "ok": [True, False]})


def test_printing_aligns_numbers_to_the_right():
    assert str(TABLE).splitlines() == [
        " n         bic  name     ok",
        " 1  -1,234.500     a   True",
        "20                    False",
    ]


def test_lines_have_no_blanks_at_their_end():
    assert str(Table({"a": ["long"], "b": [None]})) == "   a  b\nlong"


def test_printing_for_programmers():
    assert repr(TABLE) == "Table(2 rows: n, bic, name, ok)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (-0.0005, "-0.0005"),
        (0.001, "0.001"),
        (1234567.8914, "1,234,567.891"),
        (1e7, "1e+07"),
        (2.5e-13, "2.5e-13"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, ""),
        (None, ""),
        (np.float64(0.25), "0.250"),
        (12, "12"),
        (2**70, str(2**70)),
        (True, "True"),
        ("text", "text"),
    ],
)
def test_cells_are_short(value, text):
    assert format_cell(value) == text


def test_columns_by_name():
    assert TABLE.columns == ("n", "bic", "name", "ok")
    assert TABLE["n"] == [1, 20]
    assert len(TABLE) == 2


def test_rows_are_dictionaries():
    assert list(Table({"a": [1, 2], "b": ["x", "y"]}).rows()) == [
        {"a": 1, "b": "x"},
        {"a": 2, "b": "y"},
    ]


def test_rows_there_and_back():
    rows = [{"a": 1, "b": 2.5}, {"a": 3, "b": 4.5}]
    assert list(Table.from_rows(rows).rows()) == rows


def test_no_rows():
    empty = Table({"a": [], "b": []})
    assert len(empty) == 0
    assert list(empty.rows()) == []
    assert str(empty) == "a  b"


def test_no_columns():
    for empty in (Table({}), Table.from_rows([])):
        assert len(empty) == 0
        assert empty.columns == ()
        assert str(empty) == ""
        assert list(empty.rows()) == []


def test_an_unknown_column_is_named():
    with pytest.raises(KeyError, match="no column 'aic'; the columns are n, bic, name, ok"):
        TABLE["aic"]


def test_columns_of_unequal_lengths():
    with pytest.raises(DataError, match=r"must have equal lengths, got \[1, 2\]"):
        Table({"a": [1], "b": [1, 2]})


def test_asking_whether_there_is_a_column():
    assert "bic" in TABLE
    assert "aic" not in TABLE


def test_going_over_the_columns():
    assert list(TABLE) == ["n", "bic", "name", "ok"]


def test_the_given_columns_are_copied():
    given = [1, 2]
    table = Table({"a": given})
    given.append(3)
    table.to_dict()["a"].append(3)
    assert table["a"] == [1, 2]


def test_to_pandas():
    frame = TABLE.to_pandas()
    assert list(frame.columns) == list(TABLE.columns)
    assert frame["n"].tolist() == [1, 20]


def test_to_polars():
    frame = TABLE.to_polars()
    assert frame.columns == list(TABLE.columns)
    assert frame["name"].to_list() == ["a", None]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_package_that_is_not_installed(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'latentforest\[{package}\]'"):
        getattr(TABLE, f"to_{package}")()
