"""Tables of results as files and as text: CSV, Parquet, Excel, LaTeX, Markdown, HTML, JSON."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from latentforest.data.results import table_text
from latentforest.data.results.write import CsvLines, write_table
from latentforest.errors import DataError, ParameterError
from latentforest.files import write_atomically
from latentforest.visible import make_encodable

if TYPE_CHECKING:
    from latentforest.data.results.table import Table

EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_TEXT = 1_048_576, 16_384, 32_767  # what a sheet and a cell hold
EXACT = 2**53  # whole numbers above this are text in Excel, which would round them
PAGE = '<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n{}\n</body></html>\n'


def export(table: Table, target: str | os.PathLike[str]) -> str | None:
    """Write a table to a file, or as text in a format."""
    if isinstance(target, str) and target.lower() in TEXTS:
        return TEXTS[target.lower()](table)
    path = Path(target)
    suffix = path.suffix.lower()
    if suffix not in FILES:
        raise ParameterError(
            f"cannot write a table to {os.fspath(target)!r}: expected a file that ends in "
            f"{', '.join(FILES)}, or one of the formats {', '.join(TEXTS)}"
        )
    FILES[suffix](table, path)
    return None


def _write_separated(table: Table, delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.writer(CsvLines(text), delimiter=delimiter, lineterminator=CsvLines.END)
    writer.writerow(table)
    writer.writerows(zip(*(map(_plain, values) for values in table.values()), strict=True))
    return text.getvalue()


def _plain(value: Any) -> Any:
    """A cell of a file: a number, text, or nothing."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return None if isinstance(value, float) and math.isnan(value) else value


def _write_parquet(table: Table, path: Path) -> None:
    columns = {}
    for name, values in table.items():
        columns[name] = np.empty(len(values), dtype=object)
        columns[name][:] = _make_uniform([_plain(value) for value in values])
    write_table(columns, path)


def _make_uniform(values: list[Any]) -> list[Any]:
    """The same values if they are of one kind that a file of typed columns holds, or else texts."""
    kinds = {_find_kind(value) for value in values if value is not None}
    if len(kinds) <= 1 and None not in kinds:
        return values
    return [None if value is None else str(value) for value in values]


def _find_kind(value: Any) -> str | None:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "text"
    is_number = isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63)
    return "number" if is_number else None


def _write_excel(table: Table, path: Path) -> None:
    write_sheets({"table": table}, path)


def write_sheets(tables: Mapping[str, Table], path: Path) -> None:
    """Write a workbook with a sheet for each table."""
    from latentforest.data.results.table import load_package

    for table in tables.values():
        _check_sheet(table, path)
    file = io.BytesIO()
    book = load_package("xlsxwriter", "excel").Workbook(file, {"in_memory": True})
    bold = book.add_format({"bold": True})
    for title, table in tables.items():
        sheet = book.add_worksheet(title)
        for column, (name, values) in enumerate(table.items()):
            _write_excel_text(sheet, path, 0, column, name, bold)
            for row, value in enumerate(values, start=1):
                _write_excel_cell(sheet, path, row, column, _plain(value))
        sheet.freeze_panes(1, 0)
    book.close()
    write_atomically(path, file.getvalue())


def _check_sheet(table: Table, path: Path) -> None:
    if len(table) >= EXCEL_ROWS or len(table.columns) > EXCEL_COLUMNS:
        raise DataError(
            f"cannot write {path}: a sheet holds {EXCEL_ROWS - 1:,} rows and {EXCEL_COLUMNS:,} "
            f"columns, the table has {len(table):,} and {len(table.columns):,}; "
            "CSV and Parquet hold more"
        )


def _write_excel_cell(sheet: Any, path: Path, row: int, column: int, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float) and math.isfinite(value) and abs(value) <= EXACT:
        sheet.write_number(row, column, value)
    else:  # text as such, never a formula or a link, whatever it looks like
        _write_excel_text(sheet, path, row, column, str(value))


def _write_excel_text(
    sheet: Any, path: Path, row: int, column: int, text: str, style: Any = None
) -> None:
    if len(text) > EXCEL_TEXT:
        raise DataError(
            f"cannot write {path}: a cell holds {EXCEL_TEXT:,} characters, the text of row {row} "
            f"has {len(text):,}; CSV and Parquet hold more"
        )
    sheet.write_string(row, column, make_encodable(text), style)


def _write_html(table: Table) -> str:
    return table_text.write_html(table, notes=table.notes)


TEXTS: dict[str, Callable[[Table], str]] = {
    "csv": lambda table: _write_separated(table, ","),
    "tsv": lambda table: _write_separated(table, "\t"),
    "latex": table_text.write_latex,
    "markdown": table_text.write_markdown,
    "html": _write_html,
    "json": lambda table: table.to_json(),
}


def _as_text(format: str) -> Callable[[Table, Path], None]:
    def write(table: Table, path: Path) -> None:
        text = TEXTS[format](table)
        write_atomically(path, text if text.endswith("\n") else text + "\n")

    return write


FILES: dict[str, Callable[[Table, Path], None]] = {
    ".csv": _as_text("csv"),
    ".tsv": _as_text("tsv"),
    ".parquet": _write_parquet,
    ".xlsx": _write_excel,
    ".tex": _as_text("latex"),
    ".md": _as_text("markdown"),
    ".html": lambda table, path: write_atomically(path, PAGE.format(_write_html(table))),
    ".json": _as_text("json"),
}
