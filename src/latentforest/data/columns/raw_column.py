"""A column between a table and its encoding: distinct labels with codes, or plain numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.state_names import (
    is_bool,
    is_null,
    name_numeric_text,
    name_value,
    parse_number,
    read_exactly,
    to_number,
)
from latentforest.errors import DataError

Kind: TypeAlias = Literal["categorical", "continuous"]
Codes: TypeAlias = NDArray[np.signedinteger[Any]]

#: Whole numbers with more distinct values than this count as continuous.
MAX_INTEGER_STATES = 20

_LEADING_ZERO = re.compile(r"\s*[+-]?0\d")


@dataclass(frozen=True, slots=True)
class Categories:
    """A column in dictionary form.

    ``codes[i]`` is the position of row i's label, or -1 if row i has none. ``declared`` says
    that the labels are all the states in their intended order, seen or not; ``ordered`` that the
    source says that one is more than the other.
    """

    labels: Sequence[object]
    codes: Codes
    declared: bool = False
    kind: Kind | None = None
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of integers or floats; NaN is missing."""

    values: NDArray[Any]
    kind: Kind | None = None


RawColumn: TypeAlias = Categories | Numbers


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table whose columns are fetched one at a time, so that few copies live at once.

    ``weights`` and ``labels`` are what a file says of its rows' weights and of its columns.
    """

    names: tuple[str, ...]
    n_rows: int
    column: Callable[[int], RawColumn]
    positional: bool = False
    weights: NDArray[np.float64] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


def smallest_code_type(n_states: int) -> type[np.signedinteger[Any]]:
    """Smallest signed integer type that holds the codes -1 to n_states - 1."""
    if n_states <= 1 << 7:
        return np.int8
    return np.int16 if n_states <= 1 << 15 else np.int32


def label_booleans(values: NDArray[Any], null: NDArray[np.bool_] | None = None) -> Categories:
    """Booleans in dictionary form."""
    codes = values.astype(np.int8)
    if null is not None:
        codes[null] = -1
    seen = np.unique(codes[codes >= 0])
    return compact_labels([False, True], codes, seen)


def compact_labels(labels: Sequence[object], codes: Codes, seen: NDArray[Any]) -> Categories:
    """Drop the labels that no row has."""
    table = np.full(len(labels) + 1, -1, dtype=smallest_code_type(len(seen)))
    table[seen] = np.arange(len(seen))
    return Categories([labels[k] for k in seen], table[codes])


@overload
def drop_missing(column: Categories, markers: Collection[str]) -> Categories: ...
@overload
def drop_missing(column: RawColumn, markers: Collection[str]) -> RawColumn: ...
def drop_missing(column: RawColumn, markers: Collection[str]) -> RawColumn:
    """Turn nulls and the marker texts into missing values; only observed labels remain.

    A marker that is a number, such as ``"-9"``, also matches that number in numeric columns.
    """
    numeric = {number for number in map(parse_number, markers) if number is not None}
    if isinstance(column, Numbers):
        return _drop_sentinels(column, numeric)
    keep = [not _is_marker(label, markers, numeric) for label in column.labels]
    if all(keep):
        return column
    table = np.full(len(keep) + 1, -1, dtype=smallest_code_type(len(keep)))
    table[:-1][keep] = np.arange(sum(keep))
    labels = [label for label, kept in zip(column.labels, keep, strict=True) if kept]
    return Categories(labels, table[column.codes], column.declared, column.kind)


def _is_marker(label: object, markers: Collection[str], numeric: set[float]) -> bool:
    if is_null(label):
        return True
    if isinstance(label, str):
        return label.strip() in markers or (bool(numeric) and parse_number(label) in numeric)
    return bool(numeric) and not is_bool(label) and to_number(label) in numeric


def _drop_sentinels(column: Numbers, numeric: set[float]) -> RawColumn:
    if not numeric:
        return column
    hit = np.isin(column.values, sorted(numeric))
    if not hit.any():
        return column
    if column.values.dtype.kind in "iu":
        return mask_integers(column.values, hit, column.kind)
    return Numbers(np.where(hit, np.nan, column.values), column.kind)


def mask_integers(
    values: NDArray[Any], missing: NDArray[np.bool_], kind: Kind | None = None
) -> RawColumn:
    """Integers of which some are missing: floats, or dictionary form if floats are too coarse."""
    filled = np.where(missing, 0, values)
    if filled.size and (filled.max() > 2**53 or filled.min() < -(2**53)):
        labels = _label_integers(values, missing)
        return Categories(labels.labels, labels.codes, kind=kind)
    return Numbers(np.where(missing, np.nan, filled), kind)


def label_numbers(values: NDArray[Any]) -> Categories:
    """Numbers in dictionary form, labels ascending."""
    whole = _as_integers(values)
    if whole is not None:
        missing, integers = whole
        return _label_integers(integers, missing)
    missing = np.isnan(values)
    distinct, codes = np.unique(values, return_inverse=True)
    distinct = distinct[~np.isnan(distinct)]
    codes = codes.astype(smallest_code_type(len(distinct) + 1))
    codes[missing] = -1
    return Categories(list(distinct), codes)


def _as_integers(
    values: NDArray[Any],
) -> tuple[NDArray[np.bool_] | None, NDArray[Any]] | None:
    """Mask of the missing values (or ``None``) and whole numbers, if all numbers are whole."""
    if values.dtype.kind in "iu":
        return None, values
    missing = np.isnan(values)
    some = bool(missing.any())
    filled = (np.where(missing, 0, values) if some else values).astype(np.float64, copy=False)
    if not np.isfinite(filled).all() or (np.abs(filled) >= 2**53).any():
        return None
    integers = filled.astype(np.int64)
    if (integers != filled).any():
        return None
    return (missing if some else None), integers


def _label_integers(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> Categories:
    """Dictionary form of integers; a look-up table replaces sorting when the range is small."""
    present = values if missing is None else values[~missing]
    if present.size == 0:
        return Categories([], np.full(len(values), -1, dtype=np.int8))
    low, high = int(present.min()), int(present.max())
    if high - low < 1 << 16 and high < 1 << 62:
        shifted = present.astype(np.intp) - low
        seen = np.flatnonzero(np.bincount(shifted))
        table = np.empty(high - low + 1, dtype=smallest_code_type(len(seen)))
        table[seen] = np.arange(len(seen))
        labels, present_codes = [int(k) + low for k in seen], table[shifted]
    else:
        distinct, inverse = np.unique(present, return_inverse=True)
        labels = distinct.tolist()
        present_codes = inverse.astype(smallest_code_type(len(labels)))
    if missing is None:
        return Categories(labels, present_codes)
    codes = np.full(len(values), -1, dtype=present_codes.dtype)
    codes[~missing] = present_codes
    return Categories(labels, codes)


def infer_kind(column: RawColumn) -> Kind:
    """Kind of a column without missing markers (see ``drop_missing``)."""
    if column.kind is not None:
        return column.kind
    if isinstance(column, Categories):
        return _infer_label_kind(column)
    values = column.values
    head = values[:10_000]
    for part in (head, values):
        whole = _as_integers(part)
        if whole is None:
            return "continuous"
        missing, integers = whole
        present = integers if missing is None else integers[~missing]
        if len(np.unique(present)) > MAX_INTEGER_STATES:
            return "continuous"
    return "categorical"


def _infer_label_kind(column: Categories) -> Kind:
    if column.declared or any(is_bool(label) for label in column.labels):
        return "categorical"
    numbers = [to_number(label) for label in column.labels]
    if not numbers or any(number is None for number in numbers):
        return "categorical"
    distinct = {number for number in numbers if number is not None}
    whole = all(number.is_integer() for number in distinct)
    if any(abs(number) >= 2**53 for number in distinct):  # floats may be too coarse
        return "categorical" if whole and _has_few_numbers(column) else "continuous"
    return "categorical" if whole and len(distinct) <= MAX_INTEGER_STATES else "continuous"


def _has_few_numbers(column: Categories) -> bool:
    """Whether a column has few distinct numbers, which floats may not tell apart."""
    return len({read_exactly(label) for label in column.labels}) <= MAX_INTEGER_STATES


def name_labels(labels: Sequence[object]) -> list[str]:
    """State name of each label.

    Texts are read as numbers only if all of them are numbers and none has a leading zero,
    which codes such as ``02134`` have.
    """
    names = [name_value(label) for label in labels]
    if any(map(is_padded, names)):
        return names
    numeric = [name_numeric_text(name) for name in names]
    if any(name is None for name in numeric):
        return names
    return [name for name in numeric if name is not None]


def is_padded(text: str) -> bool:
    """Whether a text begins as a number with a needless zero, as codes such as 02134 do."""
    return _LEADING_ZERO.match(text) is not None


def find_first(codes: Codes, wanted: Sequence[bool]) -> int | None:
    """First row whose label is marked in ``wanted`` (one mark per label), if there is one."""
    marks = np.array([*wanted, False])[codes]
    return int(marks.argmax()) if marks.any() else None


def find_text(column: RawColumn) -> tuple[int, object] | None:
    """First row whose value is not a number, and that value, if there is one."""
    if isinstance(column, Numbers):
        return None
    row = find_first(column.codes, [to_number(label) is None for label in column.labels])
    return None if row is None else (row, column.labels[int(column.codes[row])])


def to_floats(column: RawColumn, name: str) -> NDArray[np.float64]:
    """Column as floats, NaN for missing; a value that is not a number is an error."""
    if isinstance(column, Numbers):
        return column.values.astype(np.float64)
    numbers = [to_number(label) for label in column.labels]
    found = find_text(column) if None in numbers else None
    if found is not None:
        row, value = found
        raise DataError(
            f"column {name!r}, row {row} (counted from 0): {value!r} is not a number, "
            "but the column is continuous; correct the value, list it in missing=, "
            f"or pass kinds={{{name!r}: 'categorical'}}"
        )
    table = np.array([*(np.nan if n is None else n for n in numbers), np.nan], dtype=np.float64)
    return table[column.codes]
