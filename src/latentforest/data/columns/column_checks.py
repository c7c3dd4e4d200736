"""What a column turns out to be when it is read: numbers in disguise, dates, texts of no use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.date_texts import are_dates
from latentforest.data.columns.findings import Finding
from latentforest.data.columns.missing_texts import AMONG_NUMBERS, DOUBTFUL
from latentforest.data.columns.number_formats import NumberFormat, are_plain, find_format
from latentforest.data.columns.raw_column import (
    MAX_INTEGER_STATES,
    Categories,
    Kind,
    RawColumn,
    drop_missing,
    label_numbers,
)
from latentforest.data.columns.sentinels import find_sentinels
from latentforest.data.columns.state_names import (
    is_date,
    name_numeric_text,
    name_value,
    parse_number,
)
from latentforest.data.lookup import list_briefly
from latentforest.data.variable import Variable

#: A text column with more distinct texts than this, all distinct, has no states to speak of.
FEW_UNIQUE = 50
_MOSTLY = 0.9
_LEAST_ROWS = 20  # for a rare number to be odd


def relabel(column: RawColumn, labels: Mapping[str, str]) -> RawColumn:
    """Replace values by labels; the states are the labels in their order, then other values."""
    if not labels:
        return column
    held = column if isinstance(column, Categories) else label_numbers(column.values)
    names = [_find_label(name_value(label), labels) for label in held.labels]
    states = list(dict.fromkeys((*labels.values(), *names)))
    index = {state: code for code, state in enumerate(states)}
    codes = np.array([*(index[name] for name in names), -1])[held.codes]
    return Categories(states, codes, declared=True)


def _find_label(name: str, labels: Mapping[str, str]) -> str:
    return labels.get(name) or labels.get(name_numeric_text(name) or "", name)


class Reader:
    """Understands the columns of one table, and remembers what was odd.

    ``decimal`` is the decimal mark: given, or found in one of the columns.
    """

    def __init__(self, decimal: str | None) -> None:
        self.decimal = decimal
        self._is_given = decimal is not None
        self.findings: list[Finding] = []
        self.ordered: set[str] = set()

    def note_order(self, column: RawColumn, name: str) -> None:
        """Remember that the source put the states of a column in order."""
        if isinstance(column, Categories) and column.ordered:
            self.ordered.add(name)

    def note(self, oddity: str, column: str, detail: str = "", code: str = "") -> None:
        """Remember an oddity."""
        self.findings.append(Finding(oddity, column, detail, code))

    def is_unsure(self, column: RawColumn) -> bool:
        """Whether the decimal mark of a column may be told by those after it."""
        if self.decimal is not None or not isinstance(column, Categories) or not len(column.labels):
            return False
        first = column.labels[0]
        if not isinstance(first, str) or not ("," in first or "." in first):
            return False
        texts = _drop_markers(_list_texts(column) or [])
        return bool(texts) and _could_be_either(texts)

    def read_numbers(self, column: RawColumn, name: str, kind: Kind | None) -> RawColumn:
        """Read texts that are numbers in another format, and drop markers among numbers."""
        texts = _list_texts(column)
        kind = kind or column.kind
        if texts is None or kind == "categorical" or not isinstance(column, Categories):
            return column
        others = _drop_markers(texts)
        if not others:
            return column
        found = self._find_format(others, name)
        is_plain = found is None and are_plain(others)
        if found is None and not is_plain:
            self._note_texts(texts, name, kind)
            return column
        if len(others) < len(texts):
            column = drop_missing(column, AMONG_NUMBERS)
        if found is None:
            return column
        numbers = [found.parse(str(label)) for label in column.labels]
        return Categories(numbers, column.codes, kind=column.kind)

    def _find_format(self, texts: list[str], name: str) -> NumberFormat | None:
        found = find_format(texts, self.decimal)
        if found is None:
            return None
        if found.decimal == "." and are_plain(texts):
            return None  # in a table with commas elsewhere
        if not self._is_given and _could_be_either(texts):
            marked = next(text for text in texts if "," in text or "." in text)
            self.note("ambiguous marks", name, f"{marked!r} is read as {found.parse(marked):.10g}")
        elif found.decimal == "," and _has_commas(texts):
            self.decimal = ","
        if found.unit:
            self.note("units", name, repr(found.unit))
        return found

    def _note_texts(self, texts: list[str], name: str, kind: Kind | None) -> None:
        """Note texts that may mean no value, and those that make numbers categories."""
        if kind is not None:
            return
        odd = [text for text in texts if parse_number(text) is None and text not in DOUBTFUL]
        n_numbers = sum(parse_number(text) is not None for text in texts)
        if n_numbers > MAX_INTEGER_STATES and n_numbers >= _MOSTLY * len(texts):
            self.note("mostly numbers", name, list_briefly(odd or texts, 3), (odd or texts)[0])
            return
        doubtful = [text for text in texts if text in DOUBTFUL]
        if doubtful and len(texts) > len(doubtful):
            self.note("doubtful states", name, list_briefly(doubtful, 3), doubtful[0])

    def is_left_out(self, column: RawColumn, name: str) -> bool:
        """Whether a column that nobody asked for has no place in a model; this is noted."""
        if not isinstance(column, Categories):
            if not np.isnan(column.values).all():
                return False
            self.note("no value", name)
            return True
        if column.declared:
            return False
        oddity = _find_useless(column)
        if oddity is not None:
            example = repr(name_value(column.labels[0])) if column.labels else ""
            self.note(oddity, name, f"such as {example}" if example else "")
        return oddity is not None

    def check_values(self, variable: Variable, values: NDArray[Any]) -> None:
        """Note codes for "no value" among the numbers of an encoded column."""
        if variable.states is not None:
            numbers = [parse_number(state) for state in variable.states]
            if len(numbers) > 4 * MAX_INTEGER_STATES or any(n is None for n in numbers):
                return
            values = np.array([*numbers, np.nan], dtype=np.float64)[values]
        is_long = int(np.count_nonzero(~np.isnan(values))) >= _LEAST_ROWS
        codes = [name_value(code) for code in find_sentinels(values)] if is_long else []
        if codes:
            self.note("sentinels", variable.name, ", ".join(codes[:4]), codes[0])


def _find_useless(column: Categories) -> str | None:
    if not len(column.labels):
        return "no value"
    first = column.labels[0]
    if is_date(first) and all(map(is_date, column.labels)):
        return "dates"
    texts = _list_texts(column)
    if texts is None:
        return None
    if are_dates(texts):
        return "dates"
    n_values = int(np.count_nonzero(column.codes >= 0))
    is_unique = FEW_UNIQUE < len(texts) == n_values
    is_number = parse_number(texts[0]) is not None and all(
        parse_number(text) is not None for text in texts
    )
    return "unique text" if is_unique and not is_number else None


def _list_texts(column: RawColumn) -> list[str] | None:
    """Texts of a column that has nothing but texts; ``None`` for others."""
    if not isinstance(column, Categories) or column.declared or not len(column.labels):
        return None
    if not all(isinstance(label, str) for label in column.labels):
        return None
    return [str(label).strip() for label in column.labels]


def _drop_markers(texts: list[str]) -> list[str]:
    return [text for text in texts if text not in AMONG_NUMBERS]


def _has_commas(texts: list[str]) -> bool:
    return any("," in text for text in texts)


def _has_groups(texts: list[str]) -> bool:
    """Whether all points stand before three digits, as thousands marks do."""
    pointed = [text for text in texts if "." in text]
    return bool(pointed) and all(
        len(text.rsplit(".", 1)[1]) == 3 and text.lstrip("+-")[0] not in "0." for text in pointed
    )


def _could_be_either(texts: list[str]) -> bool:
    """Whether the marks of all numbers may be decimal ones or thousands marks."""
    found = find_format(texts)
    if found is not None:
        return found.other is not None
    return _has_groups(texts) and find_format(texts, ",") is not None
