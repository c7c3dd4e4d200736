"""Reads sheets of Excel and OpenDocument workbooks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latentforest.data.columns.raw_column import RawTable
from latentforest.data.columns.state_names import name_value
from latentforest.data.intern import intern_objects
from latentforest.data.lookup import list_briefly
from latentforest.errors import FileFormatError, MissingExtraError, ParameterError, ReadingWarning


def read_excel(path: Path, sheet: str | int | None = None) -> RawTable:
    """Read a sheet whose first row that is not empty has the column names.

    Empty cells are missing, empty rows and columns are skipped, space around texts is dropped.
    A first column without a name holds row names, which are left out with a warning.

    Parameters
    ----------
    path
        A file ending in ``.xlsx``, ``.xlsm``, ``.xlsb``, ``.xls`` or ``.ods``.
    sheet
        Name of the sheet, or its number counted from 1; the first if left out, with a warning
        if there are others with values.
    """
    name, rows = _load(path, sheet)
    rows = [[_clean(cell) for cell in row] for row in rows]
    width = max((len(row) for row in rows), default=0)
    rows = [row + [None] * (width - len(row)) for row in rows]
    while rows and _is_empty(rows[0]):
        rows = rows[1:]
    where = f"{path}, sheet {name!r}"
    if not rows:
        raise FileFormatError(f"{where} is empty")
    used = [i for i in range(width) if any(row[i] is not None for row in rows)]
    names = ["" if rows[0][i] is None else name_value(rows[0][i]) for i in used]
    body = _skip_empty([[row[i] for i in used] for row in rows[1:]])
    if not body:
        raise FileFormatError(f"{where} has a header but no rows")
    first = _check_names(where, names)
    columns = list(zip(*body, strict=True))[first:]
    kept = tuple(names[first:])
    return RawTable(kept, len(body), lambda i: intern_objects(columns[i], kept[i]))


def _load(path: Path, sheet: str | int | None) -> tuple[str, list[list[Any]]]:
    try:
        import python_calamine as calamine
    except ImportError:
        raise MissingExtraError(
            "Excel and ODS files need python-calamine: pip install 'latentforest[excel]'"
        ) from None
    try:
        with path.open("rb") as file:
            book = calamine.CalamineWorkbook.from_filelike(file)
            name = _choose_sheet(path, book.sheet_names, sheet)
            rows = book.get_sheet_by_name(name).to_python()
            if sheet is None:
                _tell_other_sheets(path, book, name)
            return name, rows
    except (calamine.CalamineError, OSError) as error:
        raise FileFormatError(f"{path} is not a workbook that can be read: {error}") from None


def _choose_sheet(path: Path, names: Sequence[str], sheet: str | int | None) -> str:
    if not names:
        raise FileFormatError(f"{path} has no sheet")
    if sheet is None:
        return names[0]
    if isinstance(sheet, str) and sheet in names:
        return sheet
    if isinstance(sheet, int) and not isinstance(sheet, bool) and 1 <= sheet <= len(names):
        return names[sheet - 1]
    raise ParameterError(
        f"sheet: got {sheet!r}, expected a name or a number from 1; {path} has the sheets "
        f"{list_briefly(names)}"
    )


def _tell_other_sheets(path: Path, book: Any, name: str) -> None:
    others = [n for n in book.sheet_names if n != name and book.get_sheet_by_name(n).to_python()]
    if others:
        warnings.warn(
            f"{path} has several sheets; the first, {name!r}, is read, and pass sheet= for another "
            f"({list_briefly(others)})",
            ReadingWarning,
            stacklevel=6,
        )


def _clean(cell: Any) -> Any:
    """Cell value; texts without the space around them, ``None`` for empty cells."""
    if isinstance(cell, str):
        cell = cell.strip()
    return None if cell == "" else cell


def _is_empty(row: Sequence[Any]) -> bool:
    return all(cell is None for cell in row)


def _skip_empty(rows: list[list[Any]]) -> list[list[Any]]:
    """Rows without the empty ones; in the middle of a single column they are empty values."""
    while rows and _is_empty(rows[-1]):
        rows = rows[:-1]
    return rows if rows and len(rows[0]) == 1 else [row for row in rows if not _is_empty(row)]


def _check_names(where: str, names: Sequence[str]) -> int:
    """Position of the first column that is data: 1 after row names."""
    first = int(len(names) > 1 and not names[0])
    if "" in names[first:]:
        place = names.index("", first) + 1
        raise FileFormatError(f"{where}: column {place} of {len(names)} with values has no name")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise FileFormatError(
            f"{where}: column names must be unique; repeated: {list_briefly(repeated)}"
        )
    if first:
        warnings.warn(
            f"{where}: the first column has no name, so it is taken for row names and not for data",
            ReadingWarning,
            stacklevel=5,
        )
    return first
