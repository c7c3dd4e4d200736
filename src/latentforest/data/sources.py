"""Opens anything that holds a table: frames, arrays, mappings of columns, lists of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.raw_column import (
    Categories,
    Numbers,
    RawColumn,
    RawTable,
    label_booleans,
    smallest_code_type,
)
from latentforest.data.columns.state_names import name_value
from latentforest.data.files.sparse import is_sparse, open_sparse
from latentforest.data.frames import convert_series, open_frame, open_series
from latentforest.data.intern import intern_objects
from latentforest.errors import DataError, ParameterError


def open_table(
    table: object,
    names: Sequence[str] | None = None,
    vocabulary: Mapping[str, int] | Sequence[str] | None = None,
    counts: str = "presence",
) -> RawTable:
    """View a table column by column; ``names`` are for tables that have none.

    ``vocabulary`` and ``counts`` are for sparse matrices.
    """
    if isinstance(table, RawTable):
        return table
    if is_sparse(table):
        return open_sparse(table, names, vocabulary, counts)
    if vocabulary is not None:
        raise ParameterError("vocabulary= is for sparse matrices; names= names other columns")
    if isinstance(table, np.matrix):
        table = np.asarray(table)
    if isinstance(table, np.ndarray):
        return _open_array(table, names)
    if isinstance(table, list | tuple):
        return _open_array(_stack_rows(table), names)
    opened = _open_mapping(table) if isinstance(table, Mapping) else open_frame(table)
    if opened is None:
        raise DataError(
            f"cannot read a table from {type(table).__name__}; expected a pandas, polars or "
            "Arrow table, a two-dimensional array, a mapping of columns or a list of rows"
        )
    if names is not None:
        raise ParameterError("names= is for arrays and lists of rows; this table has its own names")
    return opened


def _open_array(array: NDArray[Any], names: Sequence[str] | None) -> RawTable:
    if array.ndim != 2:
        raise DataError(f"an array must have two dimensions, rows and columns, got {array.ndim}")
    width = array.shape[1]
    listed = tuple(f"x{i}" for i in range(width)) if names is None else tuple(map(str, names))
    if len(listed) != width:
        raise DataError(f"the array has {width} columns, but {len(listed)} names were given")
    return RawTable(
        listed, len(array), lambda i: convert_array(array[:, i], listed[i]), positional=True
    )


def _stack_rows(rows: Sequence[Any]) -> NDArray[Any]:
    """Rows of equal length as an object array."""
    if not rows:
        return np.empty((0, 0), dtype=object)
    for number, row in enumerate(rows):
        if not isinstance(row, list | tuple | np.ndarray):
            raise DataError(
                f"row {number} (counted from 0) is of type {type(row).__name__}; "
                "a list must hold rows, each a list, tuple or array"
            )
        if len(row) != len(rows[0]):
            raise DataError(
                f"row {number} (counted from 0) has {len(row)} values, "
                f"expected {len(rows[0])} as in the first row"
            )
    stacked = np.empty((len(rows), len(rows[0])), dtype=object)
    for number, row in enumerate(rows):
        stacked[number, :] = row
    return stacked


def _open_mapping(table: Mapping[Any, Any]) -> RawTable:
    names, columns = tuple(map(str, table)), list(table.values())
    lengths = [_length(column, name) for name, column in zip(names, columns, strict=True)]
    for name, length in zip(names, lengths, strict=True):
        if length != lengths[0]:
            raise DataError(
                f"column {name!r} has {length} values, "
                f"but column {names[0]!r} has {lengths[0]}; all must be equally long"
            )
    n_rows = lengths[0] if lengths else 0
    return RawTable(names, n_rows, lambda i: _convert_column(columns[i], names[i]))


def _length(column: Any, name: str) -> int:
    shape = getattr(column, "shape", (0,))
    if isinstance(column, str | bytes | Mapping | set | frozenset) or not hasattr(
        column, "__len__"
    ):
        raise DataError(f"column {name!r} must be an array or a list, got {column!r:.60}")
    if len(shape) != 1:
        raise DataError(f"column {name!r} must have one dimension, got shape {tuple(shape)}")
    return len(column)


def _convert_column(values: Any, name: str) -> RawColumn:
    if isinstance(values, np.ndarray):
        return convert_array(values, name)
    series = open_series(values)
    return convert_series(series, name) if series is not None else intern_objects(values, name)


def convert_array(values: NDArray[Any], name: str) -> RawColumn:
    """Dictionary form or numbers of a one-dimensional array."""
    if isinstance(values, np.ma.MaskedArray):
        mask, values = np.ma.getmaskarray(values), np.array(values.data, dtype=object)
        values[mask] = None
    kind = values.dtype.kind
    if kind in "iuf":
        return Numbers(np.ascontiguousarray(values))
    if kind == "b":
        return label_booleans(values)
    if kind in "US":
        distinct, codes = np.unique(values, return_inverse=True)
        labels = [name_value(label) for label in distinct.tolist()]
        return Categories(labels, codes.astype(smallest_code_type(len(labels))))
    if kind in "OT":
        return intern_objects(values.tolist(), name)
    if kind in "Mm":  # nanoseconds would become plain integers
        return intern_objects(values.astype(f"{kind}8[us]").tolist(), name)
    raise DataError(
        f"column {name!r} has the type {values.dtype}; expected text, numbers or booleans"
    )
