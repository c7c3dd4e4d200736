"""Reads Parquet files, one column at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from latentforest.data.columns.raw_column import RawColumn, RawTable
from latentforest.data.files.arrow_file import drop_indexes
from latentforest.data.frames import convert_arrow_dictionary, convert_series, open_series
from latentforest.errors import FileFormatError


def read_parquet(path: Path) -> RawTable:
    """Open a file; its columns are read when they are asked for.

    Text is read in dictionary form, as Parquet stores it. Unnamed pandas indexes are skipped.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(path)
        text = [field.name for field in schema if _is_text(field.type)]
        file = parquet.ParquetFile(path, read_dictionary=text)
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(f"{path} is not a Parquet file: {error}") from None
    names = tuple(drop_indexes(path, schema.names))
    return RawTable(
        names, file.metadata.num_rows, lambda i: _read_column(path, file, names[i], set(text))
    )


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _read_column(path: Path, file: Any, name: str, text: set[str]) -> RawColumn:
    import pyarrow as pa

    try:
        column = file.read(columns=[name]).column(name)
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(f"{path}: column {name!r} is damaged: {error}") from None
    if name in text and hasattr(column.type, "index_type"):
        return convert_arrow_dictionary(column, declared=False)
    series = open_series(column)
    if series is None:
        raise FileFormatError(f"column {name!r} cannot be read as a table column: {column.type}")
    return convert_series(series, name)
