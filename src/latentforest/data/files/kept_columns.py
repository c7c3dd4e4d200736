"""Columns of a table file exactly as they are written there, to stand beside results."""

from __future__ import annotations

import csv
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latentforest.data.files.csv_file import _find_delimiter, _find_header
from latentforest.data.files.text_file import open_text
from latentforest.data.lookup import find_name
from latentforest.data.read import choose_format, read
from latentforest.errors import DataError, ParameterError

#: What a first column without a name is called.
ROW_NAMES = "row"
Choice: TypeAlias = Callable[[Sequence[str]], list[int]]
_LONGEST_FIELD = 2**31 - 1


def read_as_written(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    if_present: Sequence[str] = (),
    **others: Any,
) -> dict[str, NDArray[Any]]:
    """Read columns of a file, or of several one after the other, without understanding them.

    Of text files the values are their text: ``007`` stays ``007``, and so do signs of missing
    values. Parquet and Arrow files keep their values. Other formats give the names of states.

    Parameters
    ----------
    paths
        One file or several, as for `read`. Standard input cannot be read a second time.
    names
        Columns, in the order wanted; all if left out. A first column without a name is ``row``.
    if_present
        Further columns to begin with, where the file has them.
    format, delimiter, encoding, **others
        As for `read`; `others` matter for files that are neither text nor Arrow's.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,age,smokes\\n007,31.50,yes\\n008,NA,no\\n")
    >>> {name: list(values) for name, values in read_as_written(path, ["id", "age"]).items()}
    {'id': ['007', '008'], 'age': ['31.50', 'NA']}
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    choose = functools.partial(_find, names, if_present)
    parts = [_read_one(Path(path), choose, format, delimiter, encoding, others) for path in listed]
    for path, part in zip(listed, parts, strict=True):
        if set(part) != set(parts[0]):
            raise DataError(f"{path} has other columns than {listed[0]}")
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _read_one(
    path: Path,
    choose: Choice,
    format: str | None,
    delimiter: str | None,
    encoding: str,
    others: Mapping[str, Any],
) -> dict[str, NDArray[Any]]:
    if str(path) == "-":
        raise ParameterError(
            "columns to keep cannot be read from standard input, which is read once; name a file"
        )
    kind = choose_format(path, format)
    if kind in ("csv", "tsv"):
        mark = "\t" if kind == "tsv" and delimiter is None else delimiter
        return _read_texts(path, choose, mark, encoding)
    if kind in ("parquet", "arrow"):
        table = _read_arrow_table(path, kind)
        chosen = [table.column_names[i] for i in choose(table.column_names)]
        return {name: _as_objects(table.column(name).to_pylist()) for name in chosen}
    data = read(path, format=format, encoding=encoding, kinds="categorical", missing=(), **others)
    return {data.names[i]: data.decode(data.names[i]) for i in choose(data.names)}


def _read_arrow_table(path: Path, kind: str) -> Any:
    from pyarrow import feather, parquet

    return parquet.read_table(path) if kind == "parquet" else feather.read_table(path)


def _read_texts(
    path: Path, choose: Choice, delimiter: str | None, encoding: str
) -> dict[str, NDArray[Any]]:
    with open_text(path, encoding) as text:
        _, header = _find_header(text)
        limit = csv.field_size_limit(_LONGEST_FIELD)
        try:
            mark = delimiter or _find_delimiter(header)
            rows = csv.reader(chain([header], text), delimiter=mark)
            return _take_columns([name.strip() for name in next(rows)], rows, choose)
        finally:
            csv.field_size_limit(limit)


def _take_columns(
    header: list[str], rows: Iterator[list[str]], choose: Choice
) -> dict[str, NDArray[Any]]:
    """Take some columns of rows whose lengths were checked when they were first read."""
    table = [row for row in rows if row or len(header) == 1]
    while table and not table[-1]:  # empty lines at the end of a single column
        table.pop()
    if table and len(table[0]) == len(header) + 1:  # row names without a place in the header
        header = ["", *header]
    if header and not header[0]:
        header = [ROW_NAMES if ROW_NAMES not in header else f"{ROW_NAMES} names", *header[1:]]
    return {
        header[i]: _as_objects([row[i] if row else "" for row in table]) for i in choose(header)
    }


def _find(
    names: Sequence[str] | None, if_present: Sequence[str], known: Sequence[str]
) -> list[int]:
    """Positions of the columns asked for."""
    present = [name for name in if_present if name in known]
    chosen = dict.fromkeys([*present, *(known if names is None else names)])
    return [find_name(name, tuple(known)) for name in chosen]


def _as_objects(values: Sequence[object]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
