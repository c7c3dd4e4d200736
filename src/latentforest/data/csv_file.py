"""Reads tables of separated values, a piece at a time."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from latentforest.data.intern import TextColumn
from latentforest.data.lookup import list_briefly
from latentforest.data.raw_column import RawTable
from latentforest.data.text_file import fail, open_text
from latentforest.errors import FileFormatError

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_FIELD = 2**31 - 1
_PIECE = 1_000


def read_csv(
    path: Path, *, delimiter: str | None, missing: Collection[str], encoding: str = "utf-8"
) -> RawTable:
    """Read a file with a header line; the delimiter is found in the header if not given."""
    with open_text(path, encoding) as text:
        blank, header = _find_header(text)
        if not header:
            raise FileFormatError(f"{path}, line 1: expected a header with the column names")
        delimiter = delimiter or _find_delimiter(header)
        limit = csv.field_size_limit(_LONGEST_FIELD)  # of the process: put back below
        reader = csv.reader(chain(repeat("\n", blank), [header], text), delimiter=delimiter)
        try:
            return _read_columns(path, reader, missing)
        except csv.Error as error:
            fail(path, reader.line_num, str(error))
        finally:
            csv.field_size_limit(limit)


def _find_header(text: TextIO) -> tuple[int, str]:
    """Number of blank lines before the header, and the header; it is empty if there is none."""
    for number, line in enumerate(text):
        if line.strip():
            return number, line
    return 0, ""


def _find_delimiter(header: str) -> str:
    return max(_DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark))))


def _read_columns(path: Path, reader: CsvReader, missing: Collection[str]) -> RawTable:
    names = _check_header(path, reader)
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


def _check_header(path: Path, reader: CsvReader) -> tuple[str, ...]:
    header = next(row for row in reader if row)
    names = tuple(name.strip() for name in header)
    line = reader.line_num
    if "" in names:
        fail(path, line, _describe_unnamed(names))
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        fail(path, line, f"column names must be unique; repeated: {list_briefly(repeated)}")
    return names


def _describe_unnamed(names: Sequence[str]) -> str:
    place = names.index("")
    problem = f"column {place + 1} of {len(names)} has no name"
    if place == 0:
        hint = "a table saved with its row numbers has such a column: save it without them"
    elif place == len(names) - 1:
        hint = "the header ends with a delimiter: remove it, or name the last column"
    else:
        hint = "expected a name for each column"
    return f"{problem}; {hint}"


def _check_rows(path: Path, reader: CsvReader, width: int) -> Iterator[list[str]]:
    """Rows of the right length.

    Empty lines are skipped, but in the middle of a single column they are empty values.
    """
    blank = 0
    for row in reader:
        if len(row) == width:
            yield from repeat([""], blank)
            blank = 0
            yield row
        elif not row and width == 1:
            blank += 1
        elif row:
            fail(path, reader.line_num, f"{len(row)} values, expected {width} as in the header")
