"""Reads large tables of separated values through Arrow, with the results of ``csv_file``."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.raw_column import (
    MAX_INTEGER_STATES,
    Categories,
    Numbers,
    RawColumn,
    smallest_code_type,
)
from latentforest.data.files.text_file import is_compressed, open_text, open_utf8
from latentforest.errors import FileFormatError

#: Bytes that Arrow parses at a time.
_BLOCK = 1 << 21
#: Of a column with more distinct texts than this, it is tried whether all are numbers.
_MANY_TEXTS = 4096
#: Larger whole numbers may not be told apart as floats.
_EXACT = 1e15


class CsvLayout(NamedTuple):
    """What the header of a file says; ``n_lines`` is the number of lines until its end."""

    path: Path
    encoding: str
    delimiter: str
    n_lines: int


class CsvColumn(NamedTuple):
    """What is known of a column: its texts matter; all so far are numbers, and many."""

    needs_text: bool
    is_numeric: bool


def read_with_arrow(
    layout: CsvLayout, columns: Sequence[CsvColumn], missing: Collection[str]
) -> tuple[int, list[Callable[[], RawColumn]]] | None:
    """Number of rows, and a function for each column; ``None`` if Arrow cannot read the file."""
    import pyarrow as pa

    if len(columns) < 2:  # empty lines are values there
        return None
    floats = {i for i, known in enumerate(columns) if known.is_numeric and not known.needs_text}
    try:
        parser = _ArrowParser(layout, len(columns), missing)
        try:
            table = parser.parse(floats)
        except pa.ArrowInvalid:
            table, floats = parser.parse(set()), set()
        inexact = [i for i in floats if not _is_exact(table.column(i))]
        if inexact:
            again = parser.parse(set(), inexact)
            for i in inexact:
                table = table.set_column(i, str(i), again.column(str(i)))
        found = [_unify(column) if _is_text(column) else column for column in table.columns]
    except (pa.ArrowException, FileFormatError, UnicodeError, OSError, EOFError):
        return None
    markers = list(missing)

    def finish(i: int) -> RawColumn:
        values = found[i]
        if isinstance(values, tuple):
            texts, codes = values
            return _finish_text(texts, codes, columns[i], markers)
        return Numbers(values.to_numpy())

    return table.num_rows, [partial(finish, i) for i in range(len(columns))]


class _ArrowParser:
    """Parses the rows of a file after its header; columns are called 0, 1, …"""

    def __init__(self, layout: CsvLayout, n_columns: int, missing: Collection[str]) -> None:
        self._layout = layout
        self._names = [str(i) for i in range(n_columns)]
        self._missing = list(missing)
        self._has_quotes = _has_quotes(layout.path)
        with open_text(layout.path, layout.encoding) as text:
            lines = islice(text, layout.n_lines)
            self._n_header_bytes = sum(len(line.encode()) for line in lines)
            if text.read(1) == "\ufeff":  # of the first value, but Arrow would drop it
                raise FileFormatError(f"{layout.path}: a mark behind the header")

    def parse(self, floats: Collection[int], only: Sequence[int] | None = None) -> Any:
        """Parse all columns or some; the others are dictionaries of bytes."""
        import pyarrow as pa
        from pyarrow import csv

        text = pa.dictionary(pa.int32(), pa.binary())
        types = {n: pa.float64() if int(n) in floats else text for n in self._names}
        with open_utf8(self._layout.path, self._layout.encoding) as stream:
            stream.read(self._n_header_bytes)
            return csv.read_csv(
                stream,
                csv.ReadOptions(column_names=self._names, block_size=_BLOCK),
                csv.ParseOptions(
                    delimiter=self._layout.delimiter, newlines_in_values=self._has_quotes
                ),
                csv.ConvertOptions(
                    column_types=types,
                    null_values=self._missing,
                    include_columns=[] if only is None else [str(i) for i in only],
                ),
            )


def _has_quotes(path: Path) -> bool:
    """Whether a value may hold a line end; what is compressed is not looked into."""
    if is_compressed(path):
        return True
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b'"') >= 0


def _is_exact(column: Any) -> bool:
    """Whether floats stand for the texts: no text such as ``nan``, none too large."""
    import pyarrow.compute as pc

    largest = pc.max(pc.abs(column)).as_py()
    found_nan = pc.any(pc.is_nan(column)).as_py()
    return not found_nan and (largest is None or largest < _EXACT)


def _is_text(column: Any) -> bool:
    return hasattr(column.type, "index_type")


def _unify(column: Any) -> tuple[Any, NDArray[Any]]:
    """Distinct texts (an Arrow array, checked to be UTF-8) and the code of each row."""
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    texts = whole.dictionary.cast(pa.string())
    codes = whole.indices.to_numpy(zero_copy_only=False)
    return texts, codes.astype(smallest_code_type(len(texts)))


def _finish_text(
    texts: Any, codes: NDArray[Any], known: CsvColumn, markers: list[str]
) -> RawColumn:
    if len(texts) > _MANY_TEXTS and not known.needs_text:
        numbers = _read_floats(texts, markers)
        if numbers is not None:
            return Numbers(numbers[codes])
    return Categories([text.strip() for text in texts.to_pylist()], codes)


def _read_floats(texts: Any, markers: list[str]) -> NDArray[np.float64] | None:
    """Texts as floats, NaN for missing; ``None`` unless they are many numbers that are exact."""
    import pyarrow as pa
    import pyarrow.compute as pc

    blanked = pc.if_else(pc.is_in(texts, pa.array(markers, pa.string())), None, texts)
    try:
        numbers = pc.cast(blanked, pa.float64())
    except pa.ArrowInvalid:
        return None
    if pc.any(pc.match_substring_regex(blanked, r"^[+-]?0\d")).as_py() or not _is_exact(numbers):
        return None
    values: NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False)
    return values if len(np.unique(values)) > MAX_INTEGER_STATES + 1 else None
