"""Reads tables of separated values, a piece at a time."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from latentforest.data.intern import TextColumn
from latentforest.data.lookup import list_briefly
from latentforest.data.raw_column import RawTable
from latentforest.data.text_file import fail, open_text
from latentforest.errors import FileFormatError

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

_DELIMITERS = (",", ";", "\t")
_PIECE = 1_000


def read_csv(
    path: Path, *, delimiter: str | None, missing: Collection[str], encoding: str = "utf-8"
) -> RawTable:
    """Read a file with a header line; the delimiter is found in the header if not given."""
    with open_text(path, encoding) as text:
        header = text.readline()
        if not header.strip():
            raise FileFormatError(f"{path}, line 1: expected a header with the column names")
        delimiter = delimiter or _find_delimiter(header)
        reader = csv.reader(chain([header], text), delimiter=delimiter)
        try:
            return _read_columns(path, reader, missing)
        except csv.Error as error:
            fail(path, reader.line_num, str(error))


def _find_delimiter(header: str) -> str:
    return max(_DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark))))


def _read_columns(path: Path, reader: CsvReader, missing: Collection[str]) -> RawTable:
    names = _check_header(path, next(reader))
    columns = [TextColumn(missing) for _ in names]
    rows = _check_rows(path, reader, len(names))
    n_rows = 0
    while piece := list(islice(rows, _PIECE)):
        n_rows += len(piece)
        for column, values in zip(columns, zip(*piece, strict=True), strict=True):
            column.extend(values)
    if n_rows == 0:
        raise FileFormatError(f"{path} has a header but no rows")
    return RawTable(names, n_rows, lambda i: columns[i].finish())


def _check_header(path: Path, header: Sequence[str]) -> tuple[str, ...]:
    names = tuple(name.strip() for name in header)
    if "" in names:
        fail(
            path,
            1,
            f"column {names.index('') + 1} of {len(names)} has no name; "
            "a table saved with its row numbers has such a column: save it without them",
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        fail(path, 1, f"column names must be unique; repeated: {list_briefly(repeated)}")
    return names


def _check_rows(path: Path, reader: CsvReader, width: int) -> Iterator[list[str]]:
    """Rows of the right length; empty lines are skipped."""
    for row in reader:
        if len(row) == width:
            yield row
        elif row:
            fail(path, reader.line_num, f"{len(row)} values, expected {width} as in the header")
