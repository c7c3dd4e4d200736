"""Columns of a table file exactly as they are written there, to stand beside results."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.csv_file import _find_delimiter, _find_header
from latentforest.data.lookup import find_name
from latentforest.data.parquet_file import require_parquet
from latentforest.data.read import choose_format, read
from latentforest.data.text_file import open_text
from latentforest.errors import DataError, ParameterError

#: What a first column without a name is called.
ROW_NAMES = "row"
_LONGEST_FIELD = 2**31 - 1


def read_as_written(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> dict[str, NDArray[Any]]:
    """Read columns of a file, or of several one after the other, without understanding them.

    Of text files the values are their text: ``007`` stays ``007``, and so do signs of missing
    values. Parquet files keep their values. Other formats give the names of states.

    Parameters
    ----------
    paths
        One file or several, as for `read`. Standard input cannot be read a second time.
    names
        Columns, in the order wanted; all if left out. A first column without a name is ``row``.
    format, delimiter, encoding
        As for `read`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,age,smokes\\n007,31.50,yes\\n008,NA,no\\n")
    >>> {name: list(values) for name, values in read_as_written(path, ["id", "age"]).items()}
    {'id': ['007', '008'], 'age': ['31.50', 'NA']}
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    parts = [_read_one(Path(path), names, format, delimiter, encoding) for path in listed]
    for path, part in zip(listed, parts, strict=True):
        if set(part) != set(parts[0]):
            raise DataError(f"{path} has other columns than {listed[0]}")
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _read_one(
    path: Path,
    names: Sequence[str] | None,
    format: str | None,
    delimiter: str | None,
    encoding: str,
) -> dict[str, NDArray[Any]]:
    if str(path) == "-":
        raise ParameterError(
            "columns to keep cannot be read from standard input, which is read once; name a file"
        )
    kind = choose_format(path, format)
    if kind in ("csv", "tsv"):
        mark = "\t" if kind == "tsv" and delimiter is None else delimiter
        return _read_texts(path, names, mark, encoding)
    if kind == "parquet":
        table = require_parquet().read_table(path)
        chosen = [table.column_names[i] for i in _find(names, table.column_names)]
        return {name: _as_objects(table.column(name).to_pylist()) for name in chosen}
    data = read(path, format=format, encoding=encoding, kinds="categorical", missing=())
    return {data.names[i]: data.decode(data.names[i]) for i in _find(names, data.names)}


def _read_texts(
    path: Path, names: Sequence[str] | None, delimiter: str | None, encoding: str
) -> dict[str, NDArray[Any]]:
    with open_text(path, encoding) as text:
        _, header = _find_header(text)
        limit = csv.field_size_limit(_LONGEST_FIELD)
        try:
            mark = delimiter or _find_delimiter(header)
            rows = csv.reader(chain([header], text), delimiter=mark)
            return _take_columns([name.strip() for name in next(rows)], rows, names)
        finally:
            csv.field_size_limit(limit)


def _take_columns(
    header: list[str], rows: Iterator[list[str]], names: Sequence[str] | None
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
        header[i]: _as_objects([row[i] if row else "" for row in table])
        for i in _find(names, header)
    }


def _find(names: Sequence[str] | None, known: Sequence[str]) -> list[int]:
    if names is None:
        return list(range(len(known)))
    return [find_name(name, tuple(known)) for name in names]


def _as_objects(values: Sequence[object]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
