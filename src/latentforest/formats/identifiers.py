"""Names in formats that allow only some characters: escaped, and read back.

A character that is not allowed becomes ``_x``, its number in hexadecimal, ``_``: ``body heat`` is
``body_x20_heat``. An identifier begins with a letter, so ``2`` is ``x_2``. A name in which one of
these forms stands by itself has its ``_`` escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_ESCAPED = re.compile(r"_x([0-9a-f]{1,6})_")
_NOT_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]|_(?=x[0-9a-f]{1,6}_)|(?<=\Ax)_(?=[0-9_]|\Z)", re.ASCII)
_PREFIX = "x_"
# What XML 1.0 cannot hold or does not keep, and space at the ends, which readers strip.
_NOT_XML = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff\\ufffe\\uffff]|\\A\\s|\\s\\Z|_(?=x[0-9a-f]{1,6}_)"
)


def to_identifier(name: str) -> str:
    """Write a name with letters, digits and underscores only, a letter first.

    Examples
    --------
    >>> to_identifier("body heat"), to_identifier("2nd"), to_identifier("x_2")
    ('body_x20_heat', 'x_2nd', 'x_x5f_2')
    """
    text = _NOT_IDENTIFIER.sub(_escape, name)
    return text if text[:1].isalpha() else _PREFIX + text


def from_identifier(text: str) -> str:
    """Return the name that `to_identifier` wrote, or the text if that wrote none.

    Examples
    --------
    >>> from_identifier("body_x20_heat"), from_identifier("x_2"), from_identifier("a_x62_")
    ('body heat', '2', 'a_x62_')
    """
    plain = text.removeprefix(_PREFIX)
    is_prefixed = plain != text and not plain[:1].isalpha()
    return _restore(text, plain if is_prefixed else text, to_identifier)


def to_xml_text(name: str) -> str:
    """Write a name so that it can stand between tags."""
    return _NOT_XML.sub(_escape, name)


def from_xml_text(text: str) -> str:
    """Return the name that `to_xml_text` wrote, or the text if that wrote none."""
    return _restore(text, text, to_xml_text)


def _escape(found: re.Match[str]) -> str:
    return f"_x{ord(found.group()):x}_"


def _restore(text: str, escaped: str, write: Callable[[str], str]) -> str:
    try:
        name = _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), escaped)
    except (ValueError, OverflowError):  # no such character
        return text
    return name if write(name) == text else text
