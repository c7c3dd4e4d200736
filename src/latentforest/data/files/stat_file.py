"""Reads files of SPSS, Stata and SAS: value labels, user-missing codes, labels of columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from latentforest.data.columns.raw_column import (
    MAX_INTEGER_STATES,
    Categories,
    RawColumn,
    RawTable,
    drop_missing,
    label_numbers,
    smallest_code_type,
    to_floats,
)
from latentforest.data.columns.state_names import is_null, name_value, to_number
from latentforest.data.encode import Encoding
from latentforest.data.files.spss_weight import find_weight
from latentforest.data.intern import intern_objects
from latentforest.errors import FileFormatError, MissingExtraError, ParameterError, ReadingWarning

ValueLabels: TypeAlias = Mapping[Any, str]
#: User-missing values: ranges by column, ``{"lo": 9, "hi": 9}``.
Ranges: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]

_TRANSPORT = b"HEADER RECORD"
_SYSTEM = (b"$FL2", b"$FL3")


def read_stat(
    path: Path,
    format: str,
    encoding: Encoding,
    *,
    use_labels: bool = True,
    weights: object = None,
    catalog: Path | None = None,
    text_encoding: str | None = None,
) -> RawTable:
    """Read a file of SPSS, Stata or SAS.

    Parameters
    ----------
    path
        The file.
    format
        ``"spss"``, ``"stata"`` or ``"sas"``.
    encoding
        What the caller wants of each column: labels do not take the place of numbers in a
        column that is to be continuous, and codes may be listed as missing.
    use_labels
        Whether value labels become the names of states.
    weights
        Name of the column of weights, if there is one: its labels are left out.
    catalog
        SAS catalog with the value labels of a ``.sas7bdat`` file.
    text_encoding
        Of an old file that does not tell.
    """
    if catalog is not None and format != "sas":
        raise ParameterError("catalog= is for SAS files (.sas7bdat)")
    values, meta, ranges = _load(path, format, catalog, text_encoding)
    names = tuple(meta.column_names)
    if not names or not len(next(iter(values.values()), ())):
        raise FileFormatError(f"{path} has no rows")
    if format == "spss":
        _tell_weight(path, names, encoding, weights)
    labels: Mapping[str, ValueLabels] = meta.variable_value_labels if use_labels else {}

    def column(i: int) -> RawColumn:
        name = names[i]
        raw = _open_values(values[name], name)
        found = {} if isinstance(weights, str) and name == weights else labels.get(name, {})
        return _apply_labels(raw, name, found, ranges, encoding)

    texts = {name: text for name, text in meta.column_names_to_labels.items() if text}
    return RawTable(names, len(values[names[0]]), column, labels=texts)


def _load(
    path: Path, format: str, catalog: Path | None, text_encoding: str | None
) -> tuple[dict[str, Any], Any, Ranges]:
    """Columns by name, what the file says of them, and ranges of user-missing values."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError(
            "files of SPSS, Stata and SAS need pyreadstat: pip install 'latentforest[stats]'"
        ) from None
    options: dict[str, Any] = {"output_format": "dict"}
    if text_encoding is not None:
        options["encoding"] = text_encoding
    reader, more = _choose_reader(pyreadstat, path, format, catalog)
    try:
        values, meta = reader(str(path), **options, **more)
        ranges: Ranges = {}
        if reader is pyreadstat.read_sav:
            full = {**options, "metadataonly": True, "user_missing": True}
            ranges = reader(str(path), **full)[1].missing_ranges
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError) as error:
        what = {"spss": "an SPSS", "stata": "a Stata", "sas": "a SAS"}[format]
        raise FileFormatError(
            f"{path} cannot be read as {what} file: {error}; if its text is of another encoding, "
            "pass its encoding= (such as 'latin-1')"
        ) from None
    return values, meta, ranges


def _choose_reader(
    pyreadstat: Any, path: Path, format: str, catalog: Path | None
) -> tuple[Callable[..., Any], dict[str, Any]]:
    with path.open("rb") as file:
        start = file.read(13)
    if format == "stata":
        return pyreadstat.read_dta, {}
    if format == "spss":
        return (pyreadstat.read_sav if start[:4] in _SYSTEM else pyreadstat.read_por), {}
    if start == _TRANSPORT:
        if catalog is not None:
            raise ParameterError("catalog= is for .sas7bdat files; a transport file has no labels")
        return pyreadstat.read_xport, {}
    return pyreadstat.read_sas7bdat, {"catalog_file": None if catalog is None else str(catalog)}


def _tell_weight(path: Path, names: Sequence[str], encoding: Encoding, given: object) -> None:
    weight = find_weight(path, names)
    if weight is not None and given is None and encoding.keeps(weight):
        warnings.warn(
            f"{path} is weighted by {weight!r}, which is read as a column like any other; pass "
            f"weights={weight!r} to use it",
            ReadingWarning,
            stacklevel=5,
        )


def _open_values(values: Sequence[Any], name: str) -> RawColumn:
    """Column without labels; space around texts is dropped, as in text files."""
    if any(isinstance(value, str) for value in values):
        values = [value.strip() if isinstance(value, str) else value for value in values]
    return intern_objects(list(values), name)


def _apply_labels(
    column: RawColumn, name: str, labels: ValueLabels, ranges: Ranges, encoding: Encoding
) -> RawColumn:
    """Column whose labelled codes are named, unless it is one of numbers."""
    is_text = isinstance(column, Categories) and any(isinstance(x, str) for x in column.labels)
    known = {
        code: text.strip()
        for code, text in labels.items()
        if isinstance(code, str) == is_text and not _is_missing(code, ranges.get(name, ()))
    }
    if not known or encoding.kind_of(name) == "continuous":
        return column
    column = drop_missing(column, encoding.missing)
    codes = {code: text for code, text in known.items() if not _is_marked(code, encoding.missing)}
    if is_text:
        return _name_codes(column, codes)
    if encoding.kind_of(name) is None and name not in encoding.states:
        others = _find_others(column, codes)
        if others is not None:
            _tell_numbers(name, codes, column, encoding)
            return column
    return _name_codes(column, codes)


def _is_missing(code: Any, ranges: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a code is declared to mean that there is no value."""
    return any(bounds["lo"] <= code <= bounds["hi"] for bounds in ranges)


def _is_marked(code: Any, markers: Collection[str]) -> bool:
    number = to_number(code)
    return name_value(code) in markers or any(
        number is not None and to_number(marker) == number for marker in markers
    )


def _find_others(column: RawColumn, labels: ValueLabels) -> list[float] | None:
    """Values without a label if they make the column one of numbers: fractions, or many."""
    values = to_floats(column, "")
    found = np.unique(values[~np.isnan(values)])
    others = [x for x in found.tolist() if x not in labels]
    many = len(others) + len(labels) > MAX_INTEGER_STATES
    return others if others and (many or not all(x.is_integer() for x in others)) else None


def _tell_numbers(name: str, labels: ValueLabels, column: RawColumn, encoding: Encoding) -> None:
    """Say that labelled codes stand among numbers: they may mean that there is none."""
    seen = set(np.unique(to_floats(column, name)).tolist())
    listed = [f"{name_value(code)} {text!r}" for code, text in labels.items() if code in seen]
    if listed and encoding.keeps(name):
        warnings.warn(
            f"column {name!r} is continuous, with labels for some of its values "
            f"({', '.join(listed[:5])}); codes that are no amounts go in missing=",
            ReadingWarning,
            stacklevel=7,
        )


def _name_codes(column: RawColumn, labels: ValueLabels) -> Categories:
    """Dictionary form: states in the order of their codes, seen or not, named by their labels."""
    table = column if isinstance(column, Categories) else label_numbers(column.values)
    values = [_plain(label) for label in table.labels]
    order = _sort_codes({*values, *map(_plain, labels)})
    place = {code: k for k, code in enumerate(order)}
    names = _make_unique(order, {_plain(code): text for code, text in labels.items()})
    recoded = np.array([*(place[v] for v in values), -1], dtype=smallest_code_type(len(order)))
    return Categories(names, recoded[table.codes], declared=True, kind="categorical")


def _plain(code: Any) -> Any:
    """Code in a form in which 1, 1.0 and numpy's 1 are equal."""
    return code if isinstance(code, str) else float(code)


def _sort_codes(codes: set[Any]) -> list[Any]:
    return sorted(code for code in codes if not is_null(code))


def _make_unique(codes: Sequence[Any], labels: ValueLabels) -> list[str]:
    """Name of each code; a name that several would have is followed by the code."""
    names = [labels.get(code) or name_value(code) for code in codes]
    return [
        name if names.count(name) == 1 else f"{name} ({name_value(code)})"
        for name, code in zip(names, codes, strict=True)
    ]
