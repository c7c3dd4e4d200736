"""Tables of results as text and files."""

import json
import math
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from python_calamine import load_workbook

from latentforest.data.results.table import Table
from latentforest.data.results.table_groups import TableGroup
from latentforest.errors import DataError, MissingExtraError, ParameterError

TABLE = Table({"n": [1, 20], "bic": [-1234.5, math.nan], "name": ["a_b|c", "<i>&\\"]})


def test_frames_take_a_table():
    for frame in (
        pd.DataFrame(TABLE),
        pl.DataFrame(TABLE).to_pandas(),
        pa.table(TABLE).to_pandas(),
    ):
        assert list(frame.columns) == ["n", "bic", "name"]
        assert frame["name"].tolist() == TABLE["name"]
    assert pd.DataFrame(Table({"a": [], "b": []})).shape == (0, 2)


def test_json_is_valid():
    table = Table({"x": [np.float64(0.5), math.nan, math.inf], "n": [np.int64(1), 2, True]})
    rows = json.loads(table.to_json())
    assert rows == [{"x": 0.5, "n": 1}, {"x": None, "n": 2}, {"x": None, "n": True}]
    assert table.to_dict() == {"x": [0.5, None, None], "n": [1, 2, True]}
    assert type(table.to_dict()["n"][0]) is int
    assert Table({"a": [(1, np.float64(math.nan))]}).to_dict() == {"a": [[1, None]]}


def test_markdown():
    assert TABLE.to("markdown").splitlines() == [
        "|   n |        bic | name             |",
        "| --: | ---------: | ---------------- |",
        "|   1 | -1,234.500 | a_b\\|c           |",
        "|  20 |            | &lt;i&gt;&amp;\\\\ |",
    ]
    assert Table({}).to("markdown") == ""


def test_latex():
    assert TABLE.to("latex").splitlines()[2:6] == [
        r"n & bic & name \\",
        r"\hline",
        r"1 & -1,234.500 & a\_b\textbar{}c \\",
        r"20 &  & \textless{}i\textgreater{}\&\textbackslash{} \\",
    ]


def test_csv_has_whole_numbers():
    table = Table({"x": [1 / 3, None], "t": ["a,b", ("c", "d")]})
    assert table.to("csv") == 'x,t\n0.3333333333333333,"a,b"\n,"c, d"\n'


def test_html_escapes():
    page = Table({"<script>alert(1)</script>": ["<b>", "\ud800"]}, notes=["<u>"]).to("html")
    assert not re.search("<(script|b|u)>", page)
    page.encode("utf-8")


def test_notebooks_show_some_rows():
    page = Table({"n": range(1000)})._repr_html_()
    assert page.count("<tr>") == 61
    assert "60 of 1,000 rows are shown." in page


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".xlsx", ".json"])
def test_files_are_read_back(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    assert TABLE.to(path) is None
    read = {
        ".csv": pd.read_csv,
        ".tsv": lambda each: pd.read_csv(each, sep="\t"),
        ".parquet": pd.read_parquet,
        ".xlsx": lambda each: pd.read_excel(each, engine="calamine"),
        ".json": pd.read_json,
    }[suffix]
    frame = read(path)
    assert frame["n"].tolist() == [1, 20]
    assert frame["name"].tolist() == TABLE["name"]
    assert frame["bic"][0] == -1234.5
    assert frame["bic"].isna()[1]


@pytest.mark.parametrize("suffix", [".tex", ".md", ".html"])
def test_text_files(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    TABLE.to(str(path))
    assert "1,234.500" in path.read_text(encoding="utf-8")


def test_excel_cells_are_never_formulas(tmp_path):
    path = tmp_path / "table.xlsx"
    Table({"=1+1": ["=2+2", 2**60, True, math.inf, None]}).to(path)
    frame = pd.read_excel(path, engine="calamine")
    assert list(frame.columns) == ["=1+1"]
    assert frame["=1+1"][:4].tolist() == ["=2+2", str(2**60), True, "inf"]


def test_excel_has_limits(tmp_path):
    with pytest.raises(DataError, match=r"a cell holds 32,767 characters, .* has 40,000"):
        Table({"a": ["x" * 40_000]}).to(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="a sheet holds 1,048,575 rows"):
        Table({"a": range(1_048_576)}).to(tmp_path / "a.xlsx")
    assert not list(tmp_path.iterdir())


def test_unknown_formats_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"'table.doc': expected a file that ends in .csv"):
        TABLE.to("table.doc")
    with pytest.raises(ParameterError, match=r"'xlsx'.*formats csv, tsv, latex"):
        TABLE.to("xlsx")


def test_excel_needs_a_package(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'latentforest\[excel\]'"):
        TABLE.to(tmp_path / "a.xlsx")


def test_notes_are_printed_and_kept():
    table = Table({"n": [1]}, notes=["It is small."])
    assert str(table).splitlines()[-1] == "It is small."
    again = pickle.loads(pickle.dumps(table))
    assert (again, again.notes) == (table, table.notes)


def test_signs_that_a_format_would_obey():
    table = Table({"bin": ["[0,1)", "*", "$x$ ~a~", "a\x1b[31m", "\u202eb"]})
    lines = table.to("latex").splitlines()
    assert lines[4].startswith("{[}0,1)")  # a bracket behind \\ would be its argument
    assert lines[5].startswith("{*}")
    assert r"\[0,1)" in table.to("markdown")
    assert r"\$x\$ \~a\~" in table.to("markdown")
    for format in ("latex", "markdown", "html"):
        assert not {"\x1b", "\u202e"} & set(table.to(format))


def test_a_lone_carriage_return_is_quoted():
    assert Table({"a": ["x\ry"]}).to("csv") == 'a\n"x\ry"\n'


def test_columns_of_mixed_values_are_texts_in_parquet(tmp_path):
    table = Table({"mixed": [1, "x", None, True], "large": [2**70, 1, 2, 3], "n": [1, 2.5, 3, 4]})
    table.to(tmp_path / "t.parquet")
    found = pq.read_table(tmp_path / "t.parquet").to_pydict()
    assert found["mixed"] == ["1", "x", None, "True"]
    assert found["large"][0] == str(2**70)
    assert found["n"] == [1, 2.5, 3, 4]


def test_halves_of_characters_are_shown_in_a_workbook(tmp_path):
    Table({"a\ud800": ["b\udfff"]}).to(tmp_path / "t.xlsx")
    sheet = load_workbook(tmp_path / "t.xlsx").get_sheet_by_index(0)
    assert sheet.to_python() == [["a\\ud800"], ["b\\udfff"]]


def test_groups_of_tables(tmp_path):
    group = TableGroup(
        {"one": Table({"a_b": [1]}), "two": Table({"x": ["<i>"]}, ["a note"])},
        ["first & last"],
        {"two": "The <second>"},
    )
    assert group.to("markdown").split("\n\n")[0] == "first &amp; last"
    assert "**The &lt;second&gt;**" in group.to("markdown")
    assert r"first \& last" in group.to("latex")
    assert "<h3>The &lt;second&gt;</h3>" in group.to("html")
    assert json.loads(group.to("json"))["two"] == [{"x": "<i>"}]
    assert group.to("csv") == "a_b\n1\n"
    for suffix in (".tex", ".md", ".html", ".json", ".csv", ".parquet"):
        group.to(tmp_path / f"g{suffix}")
        assert (tmp_path / f"g{suffix}").stat().st_size > 0
    group.to(tmp_path / "g.xlsx")
    assert load_workbook(tmp_path / "g.xlsx").sheet_names == ["one", "two"]
    with pytest.raises(ParameterError, match=r"cannot write a table to 'g\.doc'"):
        group.to("g.doc")
