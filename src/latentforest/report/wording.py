"""Numbers and lists as a reader wants them: thousands separated, a real minus, whole words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

MINUS = "\u2212"
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

Span = str | dict[str, Any]


def write_number(value: float, digits: int = 0) -> str:
    """Write a number with separators of thousands and so many decimals.

    Examples
    --------
    >>> write_number(-49476.53, 1), write_number(5822)
    ('−49,476.5', '5,822')
    """
    text = f"{abs(value):,.{digits}f}"
    return MINUS + text if value < 0 and text.strip("0.,") else text


def write_weight(value: float) -> str:
    """Write a count that may be a sum of weights: one decimal if it is not whole."""
    return write_number(value, 0 if abs(value - round(value)) < 5e-5 else 1)


def write_share(value: float) -> str:
    """Write a share in percent; a small one is not zero, and a large one not all.

    Examples
    --------
    >>> write_share(0.304), write_share(0.0004), write_share(0.9996), write_share(1.0)
    ('30%', '<1%', '>99%', '100%')
    """
    if 0 < value < 0.005:
        return "<1%"
    if 0.995 <= value < 1:
        return ">99%"
    return f"{100 * value:.0f}%"


def write_seconds(value: float) -> str:
    """Write a time as one would say it."""
    if value < 1:
        return "under 1 s"
    if value < 100:
        return f"{value:.1f} s"
    if value < 6000:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def write_small(value: float) -> str:
    """Write a number with the digits that mean something.

    Examples
    --------
    >>> write_small(47.51), write_small(0.0471), write_small(1234.5), write_small(0.0)
    ('47.5', '0.047', '1,234', '0')
    """
    size = abs(value)
    if size == 0.0:
        return "0"
    if size >= 1.0:
        return write_number(value, 0 if size >= 100.0 else 1)
    return write_number(value, 1 - math.floor(math.log10(size)))


def count(number: float, noun: str, plural: str | None = None) -> str:
    """Write a number of things.

    Examples
    --------
    >>> count(1, "column"), count(1200, "column"), count(2, "class", "classes")
    ('1 column', '1,200 columns', '2 classes')
    """
    return f"{write_weight(number)} {pluralize(number, noun, plural)}"


def count_in_words(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number of things at the beginning of a sentence."""
    word = WORDS[number].capitalize() if number < len(WORDS) else write_number(number)
    return f"{word} {pluralize(number, noun, plural)}"


def pluralize(number: float, noun: str, plural: str | None = None) -> str:
    """Return the right form of a noun."""
    return noun if number == 1 else (plural or f"{noun}s")


def singularize(noun: str) -> str:
    """Return what one row is called, of what rows are called.

    Examples
    --------
    >>> singularize("customers"), singularize("bodies"), singularize("people")
    ('customer', 'body', 'people')
    """
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def join_spans(parts: Sequence[Sequence[Span]], last: str = " and ") -> list[Span]:
    """Join parts of a sentence: one, two and three."""
    joined: list[Span] = []
    for place, part in enumerate(parts):
        if place:
            joined.append(last if place == len(parts) - 1 else ", ")
        joined += part
    return joined


def round_values(values: Any, digits: int = 6) -> Any:
    """Round numbers, or arrays as lists, to significant digits; what is not finite is None."""
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = np.floor(np.log10(np.abs(array)))
        units = 10.0 ** np.where(np.isfinite(scale), digits - 1 - scale, 0.0)
        rounded = np.where(np.isfinite(units), np.rint(array * units) / units, array)
    return _list(rounded)


def _list(array: Any) -> Any:
    """Turn an array into lists; whole numbers lose their decimals, which saves room."""
    if array.ndim:
        return (
            [_list(row) for row in array] if array.ndim > 1 else [_plain(x) for x in array.tolist()]
        )
    return _plain(float(array))


def _plain(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.12g}")


def list_exactly(values: Any) -> Any:
    """Turn an array into lists of the same numbers, to the last bit."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [list_exactly(row) for row in array]
    return [int(value) if value == int(value) else value for value in array.tolist()]
