"""Interning: values to small integers with one dictionary look-up each, in bounded memory."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.raw_column import (
    Codes,
    Labels,
    Numbers,
    RawColumn,
    drop_missing,
    smallest_code_type,
)
from latentforest.data.state_names import is_date, is_null, name_number, name_value, parse_number
from latentforest.errors import DataError

#: A column of text with more distinct numbers than this is stored as floats.
_MANY_NUMBERS = 4096


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
    kept as floats, which takes a tenth of the memory, unless ``only_text`` is set. Space
    around a text is dropped.
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
        return Labels([text.strip() for text in self._index], whole)

    def _read_floats(self, texts: Iterable[str]) -> NDArray[np.float64] | None:
        """Texts as floats, NaN for missing; ``None`` if one of them is not a number."""
        try:
            return np.array(list(map(float, texts)))
        except ValueError:
            numbers = [
                np.nan if text.strip() in self._markers else parse_number(text) for text in texts
            ]
        return None if None in numbers else np.array(numbers, dtype=np.float64)

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
        self._pieces = [
            self._index.encode(["" if np.isnan(x) else name_number(x) for x in piece.tolist()])
            for piece in self._pieces
        ]


def intern_objects(values: Sequence[object], name: str) -> RawColumn:
    """Encode a column of Python objects: numbers, texts, booleans or a mixture."""
    types = {type(value) for value in values}
    if types <= {int, float, type(None)} and types & {int, float}:
        return Numbers(np.array(values, dtype=np.int64 if _all_small(values, types) else float))
    # True == 1, so a mixture of booleans with numbers is told apart by name.
    if bool in types and len(types - {type(None)}) > 1:
        values = [None if is_null(value) else name_value(value) for value in values]
    index = _Index()
    try:
        codes = index.encode(values)
    except TypeError:
        raise DataError(_describe_unusable(values, name)) from None
    labels = list(index)
    if any(is_date(label) and not is_null(label) for label in labels):
        raise DataError(describe_dates(name))
    return drop_missing(Labels(labels, codes), ())


def describe_dates(name: str) -> str:
    """Message for a column of dates or times."""
    return (
        f"column {name!r} holds dates or times, which have no place in a model; "
        "turn them into numbers (such as days) or categories (such as the month), or drop them"
    )


def _all_small(values: Iterable[Any], types: set[type]) -> bool:
    return types == {int} and all(-(2**63) <= value < 2**63 for value in values)


def _describe_unusable(values: Iterable[object], name: str) -> str:
    row, value = next((i, x) for i, x in enumerate(values) if not isinstance(x, Hashable))
    return (
        f"column {name!r}, row {row} (counted from 0): a value of type {type(value).__name__}; "
        "expected text, numbers or booleans"
    )
