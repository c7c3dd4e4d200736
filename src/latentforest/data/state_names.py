"""How values become state names: one canonical text per value, and what counts as missing."""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Iterable
from decimal import Decimal

import numpy as np

#: Texts that mean "no value" in a table unless other ones are given.
DEFAULT_MISSING: tuple[str, ...] = (
    "",
    "?",
    "NA",
    "N/A",
    "n/a",
    "<NA>",
    "NaN",
    "nan",
    "NULL",
    "null",
)

_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_BOOLS = (bool, np.bool_)
_PANDAS_NULLS = ("NAType", "NaTType")


def is_null(value: object) -> bool:
    """True for ``None``, NaN, and the missing values of pandas and NumPy."""
    if value is None or type(value).__name__ in _PANDAS_NULLS:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))


def is_date(value: object) -> bool:
    """True for a date, a time or a span of time."""
    return isinstance(value, _DATES)


def is_bool(value: object) -> bool:
    """True for a Python or NumPy boolean."""
    return isinstance(value, _BOOLS)


def parse_number(text: str) -> float | None:
    """Read a number, possibly infinite; ``None`` if the text is not one."""
    if "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def to_number(value: object) -> float | None:
    """Value as a float: numbers, booleans and texts that are numbers; else ``None``."""
    if isinstance(value, str):
        return parse_number(value)
    if isinstance(value, bytes):
        return parse_number(value.decode("utf-8", "replace"))
    if isinstance(value, numbers.Real | Decimal | np.bool_):
        return _to_float(value)
    return None


def _to_float(value: numbers.Real | Decimal | np.bool_) -> float:
    try:
        return float(value)
    except OverflowError:  # of a whole number or fraction that is too large
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def name_number(value: object) -> str:
    """Shortest text of a number: 1, 1.0 and np.int8(1) are all ``"1"``."""
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, np.floating) and not isinstance(value, float):
        value = str(value)  # the short decimal of a float32, not its float64 expansion
    number = float(value)  # type: ignore[arg-type]
    if math.isfinite(number) and number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return repr(number)


def name_numeric_text(text: str) -> str | None:
    """Canonical text of a number written as text; ``None`` if it is not a number."""
    number = parse_number(text)
    if number is None:
        return None
    try:
        return str(int(text))
    except ValueError:
        return name_number(number)


def name_value(value: object) -> str:
    """Name of the state that a non-missing value stands for."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if is_bool(value):
        return str(bool(value))
    if isinstance(value, numbers.Real | Decimal):
        return name_number(value)
    return str(value)


def sort_names(names: Iterable[str]) -> list[str]:
    """Sort numerically if all names are numbers, else alphabetically."""
    listed = list(names)
    keys = [parse_number(name) for name in listed]
    if any(key is None for key in keys):
        return sorted(listed)
    return sorted(listed, key=lambda name: (float(name), name))
