"""How values become state names: one canonical text per value, and what counts as missing."""

from __future__ import annotations

import contextlib
import datetime
import math
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import TypeAlias

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

#: A number without loss: whole, a float whose short text it is, or else a decimal.
Exact: TypeAlias = int | float | Decimal

_LONG = 10**22  # whole floats from here on are written with an exponent
_MANY_DIGITS = 400  # of a decimal with an exponent that is not written out
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


def read_exactly(value: object) -> Exact | None:
    """Value of a number, or of a text that is one, without loss; ``None`` if it is not a number.

    Equal numbers are equal here, whatever their type: 1, 1.0, ``"1.0"``, ``Decimal(1)``; others
    are not, also where a float could not tell them apart. Booleans are not numbers.
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, Decimal):
        return None if value.is_nan() else _simplify(value)
    if is_bool(value) or is_null(value) or not isinstance(value, numbers.Real):
        return None
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, np.floating) and not isinstance(value, float):
        return _read_text(str(value))  # the short decimal of a float32, not its float64 expansion
    return _from_float(_to_float(value))


def _read_text(text: str) -> Exact | None:
    number = parse_number(text)
    if number is None:
        return None
    try:
        return int(text)
    except ValueError:
        if repr(number) == text:  # the usual case, which needs no decimals
            return _from_float(number)
        with contextlib.suppress(ArithmeticError, ValueError):
            exact = Decimal(text.strip())
            if "e" not in text.lower() or Decimal(repr(number)) != exact:
                return _simplify(exact)
        return _from_float(number)


def _from_float(number: float) -> Exact:
    return int(number) if number.is_integer() else number


def _simplify(number: Decimal) -> Exact:
    """The same number as a whole number or a float if it is exactly that, written shortly."""
    if not number.is_finite():
        return float(number)
    if number.adjusted() < _MANY_DIGITS and number == number.to_integral_value():
        return int(number)
    nearest = float(number)
    return nearest if Decimal(repr(nearest)) == number else number


def name_number(value: object) -> str:
    """Shortest text of a number: 1, 1.0 and np.int8(1) are all ``"1"``."""
    if isinstance(value, numbers.Integral):
        return str(int(value))
    number = read_exactly(value)
    if number is None:
        return str(value)
    if isinstance(number, int) and abs(number) >= _LONG:
        return repr(_to_float(value)) if isinstance(value, numbers.Real) else str(value)
    return repr(number) if isinstance(number, float) else str(number)


def name_numeric_text(text: str) -> str | None:
    """Canonical text of a number written as text; ``None`` if it is not a number."""
    number = read_exactly(text)
    if number is None:
        return None
    if isinstance(number, int) and abs(number) >= _LONG and not _is_whole(text):
        return repr(float(text))
    return repr(number) if isinstance(number, float) else str(number)


def _is_whole(text: str) -> bool:
    return text.strip().lstrip("+-").isdigit()


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
    keys = {name: read_exactly(name) for name in listed}
    if any(key is None for key in keys.values()):
        return sorted(listed)
    return sorted(listed, key=lambda name: (keys[name], name))
