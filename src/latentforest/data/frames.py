"""Columns of pandas, polars and Arrow tables, in dictionary form without per-value Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from latentforest.data.columns.raw_column import (
    Categories,
    Numbers,
    RawColumn,
    RawTable,
    label_booleans,
    mask_integers,
)
from latentforest.data.intern import intern_objects
from latentforest.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw


def open_frame(table: object) -> RawTable | None:
    """View a pandas, polars, Arrow or other narwhals table; ``None`` if it is none of these."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame: Any = nw.from_native(table, pass_through=True)
    except DuplicateError as error:
        raise DataError(f"the table's column names must be unique: {error}") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return None
    names = tuple(str(name) for name in frame.columns)
    columns = list(frame.iter_columns())
    return RawTable(names, len(frame), lambda i: convert_series(columns[i], names[i]))


def open_series(values: object) -> nw.Series[Any] | None:
    """View a pandas, polars or Arrow column; ``None`` if it is none of these."""
    import narwhals as nw

    if type(values).__module__.startswith("pyarrow") and hasattr(values, "dictionary_encode"):
        values = _as_chunked(values)
    series: Any = nw.from_native(values, allow_series=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def _as_chunked(values: Any) -> Any:
    """Arrow column; narwhals does not know plain Arrow arrays."""
    import pyarrow as pa

    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])


def convert_series(series: nw.Series[Any], name: str) -> RawColumn:
    """Dictionary form or numbers of one column."""
    import narwhals as nw

    kind = series.dtype
    if isinstance(kind, nw.Categorical | nw.Enum):
        return _convert_categorical(series)
    if isinstance(kind, nw.String):
        return _convert_text(series)
    if isinstance(kind, nw.Boolean):
        null = series.is_null().to_numpy()
        return label_booleans(series.fill_null(False).to_numpy().astype(np.bool_), null)
    if kind.is_numeric():
        return _convert_numbers(series, name)
    if kind.is_temporal() or isinstance(kind, nw.Object):
        return intern_objects(series.to_list(), name)
    return _convert_other(series, name)


def _convert_other(series: nw.Series[Any], name: str) -> RawColumn:
    """Sparse pandas columns and columns of nulls; anything else is an error."""
    import narwhals as nw

    native: Any = series.to_native()
    if hasattr(native, "sparse"):
        dense: nw.Series[Any] = nw.from_native(native.sparse.to_dense(), series_only=True)
        return convert_series(dense, name)
    if bool(series.is_null().all()):
        return Categories([], np.full(len(series), -1, dtype=np.int8))
    kind = getattr(native, "dtype", "") if isinstance(series.dtype, nw.Unknown) else series.dtype
    raise DataError(
        f"column {name!r} has the type {kind}; expected text, numbers, booleans or categories"
    )


def _convert_numbers(series: nw.Series[Any], name: str) -> RawColumn:
    import narwhals as nw

    if _is_coarse(series):
        return intern_objects(series.to_list(), name)
    if series.dtype.is_integer() and bool(series.is_null().any()):
        unsigned = series.dtype.is_unsigned_integer()
        integers = series.fill_null(0).to_numpy().astype(np.uint64 if unsigned else np.int64)
        return mask_integers(integers, series.is_null().to_numpy())
    if series.dtype.is_decimal() or bool(series.is_null().any()):
        series = series.cast(nw.Float64)
    values = series.to_numpy()
    return Numbers(values.astype(np.float64) if values.dtype == object else values)


def _is_coarse(series: nw.Series[Any]) -> bool:
    """Whether the numbers of a column are of a type that has none in NumPy, and too long for it."""
    import narwhals as nw

    if not (series.dtype.is_decimal() or isinstance(series.dtype, nw.Int128 | nw.UInt128)):
        return False
    size = series.cast(nw.Float64).abs().max()
    return size is not None and float(size) > 2**53


def _convert_categorical(series: nw.Series[Any]) -> RawColumn:
    native: Any = series.to_native()
    if series.implementation.is_pyarrow():
        return convert_arrow_dictionary(native, declared=True)
    if series.implementation.is_polars():
        return _convert_polars_categorical(native)
    if series.implementation.is_pandas() and hasattr(native, "cat"):
        labels, codes = native.cat.categories.tolist(), native.cat.codes.to_numpy()
        return Categories(labels, codes, declared=True, ordered=bool(native.cat.ordered))
    return _convert_text(series)


def _convert_polars_categorical(native: Any) -> Categories:
    """An Enum declares its states; a Categorical shares its categories with other columns."""
    categories = getattr(native.dtype, "categories", None)
    if type(native.dtype).__name__ != "Enum" or categories is None:
        return _intern_polars_text(native.cast(str))
    codes = native.to_physical().cast(int).fill_null(-1).to_numpy()
    return Categories(categories.to_list(), codes, declared=True, ordered=True)


def _convert_text(series: nw.Series[Any]) -> RawColumn:
    native: Any = series.to_native()
    if series.implementation.is_pyarrow():
        return convert_arrow_dictionary(native.dictionary_encode(), declared=False)
    if series.implementation.is_polars():
        return _intern_polars_text(native)
    if series.implementation.is_pandas():
        codes, labels = native.factorize()
        return Categories(labels.tolist(), codes)
    return intern_objects(series.to_list(), str(series.name))


def _intern_polars_text(native: Any) -> Categories:
    import polars as pl

    labels = native.drop_nulls().unique()
    if len(labels) == 0:
        return Categories([], np.full(len(native), -1, dtype=np.int8))
    physical = native.cast(pl.Enum(labels)).to_physical()
    return Categories(labels.to_list(), physical.cast(int).fill_null(-1).to_numpy())


def convert_arrow_dictionary(column: Any, *, declared: bool) -> Categories:
    """Dictionary form of an Arrow dictionary column (chunked or not)."""
    column = column.unify_dictionaries() if hasattr(column, "unify_dictionaries") else column
    column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    codes = column.indices.cast("int64").fill_null(-1).to_numpy()  # polars has unsigned ones
    labels = column.dictionary.to_pylist()
    return Categories(labels, codes.astype(np.int32), declared=declared)
