"""Interning: values to small integers with one dictionary look-up each, in bounded memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.raw_column import (
    MAX_INTEGER_STATES,
    Categories,
    Codes,
    Numbers,
    RawColumn,
    drop_missing,
    is_padded,
    mask_integers,
    smallest_code_type,
)
from latentforest.data.columns.state_names import is_null, name_number, name_value, parse_number
from latentforest.errors import DataError

#: A column of text with more distinct numbers than this is stored as floats.
_MANY_NUMBERS = 4096
#: So many texts tell whether a column seems to hold numbers.
_LOOKED_AT = 300
#: Floats below this tell all whole numbers apart, and ``name_number`` writes them in full.
_EXACT = 1e15


class _Index(dict[Any, int]):
    """Maps a value to its number; a new value gets the next one."""

    def __missing__(self, value: object) -> int:
        number = self[value] = len(self)
        return number

    def encode(self, values: Sequence[object]) -> Codes:
        codes = np.fromiter(map(self.__getitem__, values), dtype=np.int32, count=len(values))
        return codes.astype(smallest_code_type(len(self)))


class TextColumn:
    """Collects a column of text that arrives in pieces.

    Few distinct texts are kept in dictionary form. A column of many distinct numbers is
    kept as floats, which takes a tenth of the memory, unless ``only_text`` is set or a text
    could not be had back from its float (``007``, ``1.50``). Space around a text is dropped.
    """

    def __init__(self, markers: Collection[str], *, only_text: bool = False) -> None:
        self._markers = markers
        self._index = _Index()
        self._pieces: list[NDArray[Any]] = []
        self._watching = not only_text
        self._as_floats = False

    def extend(self, texts: Sequence[str]) -> None:
        """Append the values of some more rows."""
        if self._as_floats:
            numbers = self._read_floats(texts)
            if numbers is not None:
                self._pieces.append(numbers)
                return
            self._return_to_text()
        self._pieces.append(self._index.encode(texts))
        if self._watching and len(self._index) > _MANY_NUMBERS:
            self._try_floats()

    def finish(self) -> RawColumn:
        """Return the whole column and forget it."""
        pieces, self._pieces = self._pieces, []
        whole = np.concatenate(pieces)
        if self._as_floats:
            return Numbers(whole)
        return Categories([text.strip() for text in self._index], whole)

    def is_numeric(self) -> bool:
        """Whether the first texts are numbers or missing, none a code such as 007, and many."""
        if self._as_floats:
            return True
        numbers = self._read_floats(islice(self._index, _LOOKED_AT), _parse_unpadded)
        return numbers is not None and len(np.unique(numbers)) > MAX_INTEGER_STATES + 1

    def _read_floats(
        self, texts: Iterable[str], parse: Callable[[str], float | None] | None = None
    ) -> NDArray[np.float64] | None:
        """Texts as floats, NaN for missing; ``None`` if one of them is not a plain number."""
        parse = parse or _read_plain
        numbers = []
        for text in map(str.strip, texts):
            number = np.nan if text in self._markers else parse(text)
            if number is None:
                return None
            numbers.append(number)
        return np.array(numbers, dtype=np.float64)

    def _try_floats(self) -> None:
        table = self._read_floats(self._index)
        if table is None:
            self._watching = False
            return
        self._pieces = [table[codes] for codes in self._pieces]
        self._index = _Index()
        self._as_floats = True

    def _return_to_text(self) -> None:
        """Go back to dictionary form after text among thousands of numbers."""
        self._as_floats = self._watching = False
        self._pieces = [self._name_floats(piece) for piece in self._pieces]

    def _name_floats(self, numbers: NDArray[Any]) -> Codes:
        known = ~np.isnan(numbers)
        codes = np.full(len(numbers), -1, dtype=np.int32)
        codes[known] = self._index.encode([name_number(x) for x in numbers[known].tolist()])
        return codes


def _parse_unpadded(text: str) -> float | None:
    """Read a number that does not begin with a needless zero."""
    return None if is_padded(text) else parse_number(text)


def _read_plain(text: str) -> float | None:
    """Number whose canonical name is this very text; ``None`` if there is none."""
    number = parse_number(text)
    if number is None or abs(number) >= _EXACT or text == "-0":
        return None
    return number if repr(number).removesuffix(".0") == text else None


def intern_objects(values: Sequence[object], name: str) -> RawColumn:
    """Encode a column of Python objects: numbers, texts, booleans or a mixture."""
    types = {type(value) for value in values}
    if types <= {int, float, type(None)} and types & {int, float} and _fit_floats(values, types):
        with contextlib.suppress(OverflowError):  # of integers too large for an array
            return _store_numbers(values, types)
    # True == 1, so a mixture of booleans with numbers is told apart by name.
    if types & {bool, np.bool_} and len(types - {type(None)}) > 1:
        values = [None if is_null(value) else name_value(value) for value in values]
    index = _Index()
    try:
        codes = index.encode(values)
    except TypeError:
        raise DataError(_describe_unusable(values, name)) from None
    return drop_missing(Categories(list(index), codes), ())


def _fit_floats(values: Sequence[Any], types: set[type]) -> bool:
    """Whether whole numbers beside others can be told apart as floats."""
    if not {int, float} <= types:
        return True
    return all(abs(value) <= 2**53 for value in values if type(value) is int)


def _store_numbers(values: Sequence[Any], types: set[type]) -> RawColumn:
    if types == {int}:
        return Numbers(np.array(values, dtype=np.int64))
    missing = np.array([is_null(value) for value in values])
    if any(type(value) is float and value == value for value in values) or missing.all():
        return Numbers(np.array(values, dtype=np.float64))
    filled = [0 if null else value for value, null in zip(values, missing, strict=True)]
    return mask_integers(np.array(filled, dtype=np.int64), missing)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _describe_unusable(values: Iterable[object], name: str) -> str:
    row, value = next((i, x) for i, x in enumerate(values) if not _is_hashable(x))
    return (
        f"column {name!r}, row {row} (counted from 0): a value of type {type(value).__name__}; "
        "expected text, numbers or booleans"
    )
