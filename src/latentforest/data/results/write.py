"""Writes tables of results to CSV, TSV, Parquet or Excel files."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.state_names import is_null
from latentforest.errors import DataError, ParameterError
from latentforest.files import open_atomically
from latentforest.visible import make_encodable

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_EXCEL = ".xlsx"
_PIECE = 10_000


def write_table(columns: Mapping[str, NDArray[Any]], path: str | os.PathLike[str]) -> None:
    """Write a table; a file that exists is replaced once the new one is complete.

    Parameters
    ----------
    columns
        Arrays of shape (n_rows,) by name. ``None`` and NaN become empty fields (CSV, TSV) or
        nulls (Parquet).
    path
        A file ending in ``.csv``, ``.tsv``, ``.parquet`` or ``.xlsx``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "classes.csv"
    >>> write_table({"row": np.arange(2), "class": np.array(["a", None], dtype=object)}, path)
    >>> path.read_text().splitlines()
    ['row,class', '0,a', '1,']
    """
    lengths = {name: len(values) for name, values in columns.items()}
    if not lengths or len(set(lengths.values())) > 1:
        raise DataError(f"a table needs columns of equal length, got {lengths}")
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in _PARQUET:
        _write_parquet(columns, file)
    elif suffix in _DELIMITERS:
        _write_text(columns, file, _DELIMITERS[suffix])
    elif suffix == _EXCEL:
        _write_excel(columns, file)
    else:
        known = ", ".join((*_DELIMITERS, *_PARQUET, _EXCEL))
        raise ParameterError(f"cannot write {file}: its name must end in one of {known}")


def _write_text(columns: Mapping[str, NDArray[Any]], path: Path, delimiter: str) -> None:
    n_rows = len(next(iter(columns.values())))
    with open_atomically(path) as file:
        lines = CsvLines(file)
        writer = csv.writer(lines, delimiter=delimiter, lineterminator=CsvLines.END)
        writer.writerow(columns)
        for start in range(0, n_rows, _PIECE):
            piece = [_to_fields(values[start : start + _PIECE]) for values in columns.values()]
            writer.writerows(zip(*piece, strict=True))


class CsvLines:
    """Ends lines with a line feed, while the csv module quotes both characters of its own end."""

    END = "\r\n"

    def __init__(self, file: IO[Any]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        """Write a line of the csv module."""
        self._file.write(line.removesuffix(self.END) + "\n")


def _to_fields(values: NDArray[Any]) -> Iterable[object]:
    """Values for the csv module, which writes ``None`` as an empty field."""
    array = np.asarray(values)
    listed: list[object] = array.tolist()
    if array.dtype.kind in "OfMm":
        return [None if is_null(value) else value for value in listed]
    return listed


def _write_parquet(columns: Mapping[str, NDArray[Any]], path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    arrays = {
        make_encodable(name): pa.array(_encodable(values), from_pandas=True)
        for name, values in columns.items()
    }
    with open_atomically(path, binary=True) as file:
        parquet.write_table(pa.table(arrays), file)


def _write_excel(columns: Mapping[str, NDArray[Any]], path: Path) -> None:
    from latentforest.data.results.table import Table  # which needs this module

    Table({name: np.asarray(values).tolist() for name, values in columns.items()}).to(path)


def _encodable(values: NDArray[Any]) -> NDArray[Any]:
    """The same values; halves of characters, which files do not hold, are escaped."""
    if values.dtype != object:
        return values
    texts = {text: make_encodable(text) for text in set(values.tolist()) if isinstance(text, str)}
    if all(text == written for text, written in texts.items()):
        return values
    return np.array([texts.get(value, value) for value in values.tolist()], dtype=object)
