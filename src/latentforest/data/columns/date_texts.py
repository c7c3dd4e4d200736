"""Recognizes columns of texts that are dates or times."""

from __future__ import annotations

import re
from collections.abc import Sequence

_YEAR, _SHORT_YEAR = r"(?:1[5-9]|20|21)\d\d", r"\d\d"
_MONTH, _DAY = r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_NAME = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\.?"
)
_CLOCK = r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?"
_ZONE = r"(?:\s?(?:z|utc|gmt|[+-]\d\d:?(?:\d\d)?))?"
_DATES = (
    rf"{_YEAR}([-/.]){_MONTH}\1{_DAY}",
    rf"{_DAY}([-/.]){_DAY}\1{_YEAR}",
    rf"{_DAY}([/.]){_DAY}\1{_SHORT_YEAR}",
    rf"{_DAY}[-\s.]\s?{_NAME}[-\s,]\s?(?:{_YEAR}|{_SHORT_YEAR})",
    rf"{_NAME}\s{_DAY},?\s{_YEAR}",
)
_PATTERNS = [
    *(re.compile(rf"{date}(?:[t\s,]\s?{_CLOCK}{_ZONE})?", re.IGNORECASE) for date in _DATES),
    re.compile(rf"{_CLOCK}{_ZONE}", re.IGNORECASE),
]


def are_dates(texts: Sequence[str]) -> bool:
    """Whether all texts are dates or times of one form.

    Examples
    --------
    >>> are_dates(["2020-01-31", "1999-12-01 23:59"]), are_dates(["3/4/2021", "31/12/2020"])
    (True, True)
    >>> are_dates(["3 Apr 2021", "May 2021"]), are_dates(["2020", "2021"])
    (False, False)
    """
    for pattern in _PATTERNS:
        if texts and pattern.fullmatch(texts[0].strip()):
            return all(pattern.fullmatch(text.strip()) for text in texts)
    return False


def are_compact_dates(numbers: Sequence[float]) -> bool:
    """Whether all numbers are dates such as 20210331.

    Examples
    --------
    >>> are_compact_dates([20210331, 19991201]), are_compact_dates([20210331, 20211301])
    (True, False)
    """
    return all(
        1800_00_00 < number < 2200_00_00
        and 1 <= number // 100 % 100 <= 12
        and 1 <= number % 100 <= 31
        for number in numbers
    )
