import datetime
import zipfile

import numpy as np
import pandas as pd
import pytest
import xlsxwriter

from latentforest.data import read
from latentforest.errors import (
    DataWarning,
    FileFormatError,
    ParameterError,
    ReadingWarning,
)


@pytest.fixture
def workbook(tmp_path):
    def write(sheets, name="t.xlsx"):
        path = tmp_path / name
        with xlsxwriter.Workbook(str(path)) as book:
            for title, rows in sheets.items():
                sheet = book.add_worksheet(title)
                for i, row in enumerate(rows):
                    for j, cell in enumerate(row):
                        if cell is not None:
                            sheet.write(i, j, cell)
        return path

    return write


ROWS = [
    [None, None, None, None],
    ["item", "age", "agrees", 2019],
    [" yes ", 31.5, True, 1],
    [None, None, None, None],
    ["no", "40.25", False, 2],
    [None, 27, True, "NA"],
]


def test_cells(workbook):
    data = read(workbook({"Data": ROWS}))
    assert data.names == ("item", "age", "agrees", "2019")
    assert data.variable("item").states == ("no", "yes")
    assert data.column("item").tolist() == [1, 0, -1]
    np.testing.assert_array_equal(data.column("age"), [31.5, 40.25, 27])  # a number kept as text
    assert data.variable("agrees").states == ("False", "True")
    assert data.column("2019").tolist() == [0, 1, -1]
    assert data.variable("2019").states == ("1", "2")


def test_options_are_those_of_every_source(workbook):
    path = workbook({"Data": ROWS})
    data = read(path, missing=["NA", "no"], exclude=["age"], kinds={"2019": "continuous"})
    assert data.variable("item").states == ("yes",)
    assert data.names == ("item", "agrees", "2019")
    assert not data.variable("2019").is_categorical


def test_sheets(workbook):
    path = workbook({"One": [["a"], ["x"], ["y"]], "Two": [["b"], ["u"], ["v"]], "None": []})
    with pytest.warns(ReadingWarning, match=r"several sheets; the first, 'One'.*\('Two'\)"):
        assert read(path).names == ("a",)
    assert read(path, sheet="Two").names == read(path, sheet=2).names == ("b",)
    for wrong in ("Three", 0, 4):
        with pytest.raises(ParameterError, match="has the sheets 'One', 'Two', 'None'"):
            read(path, sheet=wrong)
    with pytest.raises(FileFormatError, match="sheet 'None' is empty"):
        read(path, sheet="None")
    with pytest.raises(ParameterError, match="is for workbooks"):
        read(__file__, format="csv", sheet="Two")


def test_pandas_row_names(tmp_path):
    path = tmp_path / "t.xlsx"
    pd.DataFrame({"a": ["x", "y"]}, index=[7, 9]).to_excel(path, engine="xlsxwriter")
    with pytest.warns(ReadingWarning, match="taken for row names"):
        assert read(path).names == ("a",)


def test_dates_are_said_to_be_dates(tmp_path):
    path = tmp_path / "t.xlsx"
    frame = pd.DataFrame({"d": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "a": [1, 2]})
    frame.to_excel(path, engine="xlsxwriter", index=False)
    with pytest.warns(DataWarning, match="dates or times are left out: 'd'"):
        assert read(path).names == ("a",)
    assert read(path, exclude=["d"]).names == ("a",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "a"], [1, 2]], "unique; repeated: 'a'"),
        ([["a", None, "b"], [1, 2, 3]], "column 2 of 3 with values has no name"),
        ([["a", "b"]], "a header but no rows"),
    ],
)
def test_bad_sheets(workbook, rows, message):
    with pytest.raises(FileFormatError, match=message):
        read(workbook({"S": rows}))


def test_a_file_of_another_format(tmp_path):
    (tmp_path / "t.xlsx").write_text("a,b\n")
    with pytest.raises(FileFormatError, match="not a workbook"):
        read(tmp_path / "t.xlsx")


def test_a_workbook_called_csv(workbook):
    file = workbook({"S": [["a"], ["x"]]}, "t.csv")
    with pytest.raises(FileFormatError, match="is a workbook"):
        read(file)
    assert read(file, format="excel").names == ("a",)


_ODS = """<?xml version="1.0"?><office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="S">%s</table:table></office:spreadsheet></office:body>
</office:document-content>"""


_MANIFEST = """<?xml version="1.0"?><manifest:manifest
 xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>"""


def test_ods(tmp_path):
    def cell(value):
        if isinstance(value, str):
            text = f"<text:p>{value}</text:p>"
            return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'

    rows = [["a", "b"], ["x", 1.5], ["y", 2.5]]
    body = "".join(f"<table:table-row>{''.join(map(cell, r))}</table:table-row>" for r in rows)
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", _MANIFEST)
        archive.writestr("content.xml", _ODS % body)
    data = read(tmp_path / "t.ods")
    assert data.variable("a").states == ("x", "y")
    assert data.column("b").tolist() == [1.5, 2.5]
