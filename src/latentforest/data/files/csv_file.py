"""Reads tables of separated values: a piece at a time, or the rest at once through Arrow.

The first rows are always read here. A large file that Arrow can read gives the same table sooner;
whatever Arrow refuses is read here to the end, where errors name the line.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from itertools import chain, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from latentforest.data.columns.raw_column import Categories, RawColumn, RawTable
from latentforest.data.files.arrow_csv import CsvColumn, CsvLayout, read_with_arrow
from latentforest.data.files.text_file import fail, open_text
from latentforest.data.intern import TextColumn
from latentforest.data.lookup import list_briefly
from latentforest.errors import FileFormatError, ReadingWarning

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

_DELIMITERS = (",", ";", "\t", "|")
_QUOTED_NAMES = re.compile(r'("[^"]*" )+"[^"]*"\s*')
_LONGEST_FIELD = 2**31 - 1
_PIECE = 1_000
#: Rows that are read before the rest is left to Arrow.
_FIRST_ROWS = 1_000
#: Files of fewer bytes are read here, sooner than Arrow is imported.
_LARGE = 1 << 20


class _Header(NamedTuple):
    """Column names, with the line (counted from 1) that they end in.

    An empty first name is that of row names, which are not data. ``is_short`` says that the
    header leaves it out, as R writes it.
    """

    names: tuple[str, ...]
    line: int
    is_short: bool = False


def read_csv(
    path: Path,
    *,
    delimiter: str | None,
    missing: Collection[str],
    encoding: str = "utf-8",
    needs_text: Callable[[str], bool] = lambda name: True,
) -> RawTable:
    """Read a file with a header line; the delimiter is found in the header if not given.

    A first column without a name holds row names, which are left out with a warning.
    ``needs_text`` says of which columns the text matters even if all of it is numbers.
    """
    with open_text(path, encoding) as text:
        blank, header = _find_header(text)
        if not header:
            raise FileFormatError(f"{path}, line 1: expected a header with the column names")
        delimiter = delimiter or _find_delimiter(header)
        limit = csv.field_size_limit(_LONGEST_FIELD)  # of the process: put back below
        reader = csv.reader(chain(repeat("\n", blank), [header], text), delimiter=delimiter)
        try:
            table = _CsvTable(path, reader, missing)
            table.read(_FIRST_ROWS)
            if not table.is_complete and path.stat().st_size >= _LARGE and ord(delimiter) < 128:
                layout = CsvLayout(path, encoding, delimiter, table.header.line)
                rest = read_with_arrow(layout, table.plan(needs_text), missing)
                if rest is not None:
                    return table.finish(*rest)
            table.read(None)
            return table.finish(table.n_rows, [column.finish for column in table.columns])
        except csv.Error as error:
            fail(path, reader.line_num, str(error))
        finally:
            csv.field_size_limit(limit)


class _CsvTable:
    """Columns of a file, as far as they are read."""

    def __init__(self, path: Path, reader: CsvReader, missing: Collection[str]) -> None:
        self._path = path
        self._missing = missing
        header = _check_header(path, reader)
        first = next((row for row in reader if row), [])
        self._first_line = reader.line_num
        if len(first) == len(header.names) + 1 and header.names[0]:
            header = header._replace(names=("", *header.names), is_short=True)
        self.header = header
        self.columns = [TextColumn(missing, only_text=not name) for name in header.names]
        self.n_rows = 0
        self.is_complete = False
        self._rows = _check_rows(path, chain([first] if first else [], reader), reader, header)

    def read(self, n_rows: int | None) -> None:
        """Read so many rows, or all."""
        pieces = n_rows and -(-n_rows // _PIECE)
        for _ in repeat(None) if pieces is None else range(pieces):
            piece = list(islice(self._rows, _PIECE))
            if not piece:
                self.is_complete = True
                return
            self.n_rows += len(piece)
            for column, values in zip(self.columns, zip(*piece, strict=True), strict=True):
                column.extend(values)

    def plan(self, needs_text: Callable[[str], bool]) -> list[CsvColumn]:
        """What the rows so far say of each column."""
        return [
            CsvColumn(not name or needs_text(name), column.is_numeric())
            for name, column in zip(self.header.names, self.columns, strict=True)
        ]

    def finish(self, n_rows: int, columns: Sequence[Callable[[], RawColumn]]) -> RawTable:
        """Give the table; row names are checked and left out."""
        if n_rows == 0:
            raise FileFormatError(f"{self._path} has a header but no rows")
        names = self.header.names
        if names[0]:
            return RawTable(names, n_rows, lambda i: columns[i]())
        if self.header.is_short:
            columns = [cache(column) for column in columns]
            self._check_row_names(n_rows, columns[0](), columns[-1]())
            problem = "the header has one name fewer than each row has values"
        else:
            problem = "the first column has no name"
        warnings.warn(
            f"{self._path}: {problem}, so the first values are taken for row names and not for "
            "data",
            ReadingWarning,
            stacklevel=5,
        )
        return RawTable(names[1:], n_rows, lambda i: columns[i + 1]())

    def _check_row_names(self, n_rows: int, first: RawColumn, last: RawColumn) -> None:
        """Row names are not repeated; a last column without values is a needless delimiter."""
        is_empty = isinstance(last, Categories) and not any(last.labels)
        if isinstance(first, Categories) and len(set(first.labels)) == n_rows and not is_empty:
            return
        width = len(self.header.names)
        problem = f"{width} values, expected {width - 1} as in the header"
        fail(self._path, self._first_line, problem)


def _find_header(text: TextIO) -> tuple[int, str]:
    """Number of blank lines before the header, and the header; it is empty if there is none."""
    for number, line in enumerate(text):
        if line.strip():
            return number, line
    return 0, ""


def _find_delimiter(header: str) -> str:
    """The mark that splits the header into most names; a space only if each name is quoted."""
    if _QUOTED_NAMES.fullmatch(header):  # as R's write.table writes them
        return " "
    return max(_DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark))))


def _check_header(path: Path, reader: CsvReader) -> _Header:
    header = next(row for row in reader if row)
    names = tuple(name.strip() for name in header)
    line = reader.line_num
    if "" in names[1:] or names == ("",):
        fail(path, line, _describe_unnamed(names))
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        fail(path, line, f"column names must be unique; repeated: {list_briefly(repeated)}")
    return _Header(names, line)


def _describe_unnamed(names: Sequence[str]) -> str:
    place = names.index("", 1 if len(names) > 1 else 0)
    problem = f"column {place + 1} of {len(names)} has no name"
    if place == len(names) - 1:
        hint = "the header ends with a delimiter: remove it, or name the last column"
    else:
        hint = "expected a name for each column"
    return f"{problem}; {hint}"


def _check_rows(
    path: Path, rows: Iterator[list[str]], reader: CsvReader, header: _Header
) -> Iterator[list[str]]:
    """Rows of the right length.

    Empty lines are skipped, but in the middle of a single column they are empty values.
    """
    width = len(header.names)
    blank = 0
    for row in rows:
        if len(row) == width:
            yield from repeat([""], blank)
            blank = 0
            yield row
        elif not row and width == 1:
            blank += 1
        elif row:
            n_names = width - header.is_short
            fail(path, reader.line_num, f"{len(row)} values, expected {n_names} as in the header")
