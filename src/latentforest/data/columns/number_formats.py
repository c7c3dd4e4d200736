"""Numbers as people write them: decimal commas, thousands marks, percent and currency signs.

A column is read as numbers if all its texts follow one format. Texts such as ``1,234`` alone fit
two: then the comma is a thousands mark, unless another column of the table has decimal commas or
the caller says ``decimal=","``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from latentforest.data.columns.state_names import parse_number

_UNITS = r"%|[$€£¥₹]|USD|EUR|GBP|CHF|JPY"
_TEXT = re.compile(
    rf"(?P<sign>[+\-−]?)\s*(?P<before>{_UNITS})?\s*(?P<sign2>[+\-−]?)"
    rf"(?P<body>[\d.,]['’\d.,\s]*?(?:[eE][+-]?\d+)?)\s*(?P<after>{_UNITS})?"
)
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_BODIES = {
    ".": re.compile(
        rf"(?:[1-9]\d{{0,2}}([,'’\s])\d{{3}}(?:\1\d{{3}})*(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+){_EXPONENT}"
    ),
    ",": re.compile(
        rf"(?:[1-9]\d{{0,2}}([.'’\s])\d{{3}}(?:\1\d{{3}})*(?:,\d*)?|\d+(?:,\d*)?|,\d+){_EXPONENT}"
    ),
}
_UNGROUPED = re.compile(r"\d{4,}")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How the numbers of a column are written.

    ``other`` is a text that could mean another number with the other decimal mark.
    """

    decimal: str
    unit: str = ""
    other: str | None = None

    def parse(self, text: str) -> float | None:
        """Read a number of this format; ``None`` if the text is not one."""
        match = _TEXT.fullmatch(text.strip())
        unit = "" if match is None else match["before"] or match["after"] or ""
        if match is None or unit != self.unit or not _BODIES[self.decimal].fullmatch(match["body"]):
            return None
        digits = re.sub(r"['’\s]", "", match["body"])
        digits = digits.replace("." if self.decimal == "," else ",", "").replace(",", ".")
        number = parse_number(digits)
        is_negative = (match["sign"] + match["sign2"]) in ("-", "−")
        return -number if number is not None and is_negative else number


def find_format(texts: Sequence[str], decimal: str | None = None) -> NumberFormat | None:
    """Format that all texts follow; ``None`` if there is none, or if they are plain numbers.

    Parameters
    ----------
    texts
        Distinct texts of a column, at least one.
    decimal
        The decimal mark, if it is known.

    Examples
    --------
    >>> find_format(["1,5", "12,25"]).parse("1,5")
    1.5
    >>> find_format(["1.234,5", "7"]).decimal, find_format(["$1,200", "$7.50"]).unit
    (',', '$')
    >>> find_format(["1,234", "12,500"]).other is not None
    True
    """
    first = _TEXT.fullmatch(texts[0].strip())
    if first is None or (decimal != "," and are_plain(texts)):
        return None
    unit = first["before"] or first["after"] or ""
    fitting = [
        found
        for found in (NumberFormat(".", unit), NumberFormat(",", unit))
        if all(found.parse(text) is not None for text in texts)
    ]
    if len(fitting) == 2:
        return _choose(texts, unit, decimal)
    return fitting[0] if fitting else None  # one reading only, whatever other columns have


def _choose(texts: Sequence[str], unit: str, decimal: str | None) -> NumberFormat | None:
    """Decide between two formats that all texts follow."""
    marked = next((text for text in texts if "," in text or "." in text), None)
    if marked is None:  # whole numbers, perhaps with spaces
        return NumberFormat(".", unit)
    mark = "," if "," in marked else "."
    if any(text.count(mark) > 1 for text in texts):
        return NumberFormat("." if mark == "," else ",", unit)
    if any(_UNGROUPED.search(text) for text in texts):
        return NumberFormat(mark, unit)
    return NumberFormat(decimal or ".", unit, other=None if decimal else marked)


def are_plain(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers as programs write them."""
    return all(parse_number(text) is not None for text in texts)
