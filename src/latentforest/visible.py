"""Text that is safe to print: control characters become visible escapes, files keep the data.

A name or value may hold bytes that a terminal obeys, characters that turn the direction of the
text around, or half of a character, which no encoding can write.
"""

from __future__ import annotations

import re
from functools import partial

# C0 and C1 controls, separators of lines, marks of direction, invisible spaces, lone surrogates.
# The joiners U+200C and U+200D stay, for words and emoji need them.
_ODD = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
)
_IN_TEXT = re.compile(f"[{_ODD}]")
_IN_LINE = re.compile(f"[{_ODD}\t\n]")
_LONE = re.compile("[\ud800-\udfff]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


_escape_text = partial(_IN_TEXT.sub, _escape)
_escape_line = partial(_IN_LINE.sub, _escape)


def make_visible(text: str) -> str:
    r"""Escape what a terminal would obey; tabs and line ends stay.

    Examples
    --------
    >>> print(make_visible("a\x1b[31m\nb"))
    a\x1b[31m
    b
    """
    return text if text.isprintable() else _escape_text(text)


def make_label(text: str) -> str:
    r"""Escape what a terminal would obey, and what would not stay in one line.

    Examples
    --------
    >>> print(make_label("two\nlines\r"))
    two\nlines\r
    """
    return text if text.isprintable() else _escape_line(text)


def make_encodable(text: str) -> str:
    r"""Escape halves of characters, which files cannot hold; all else stays.

    Examples
    --------
    >>> print(make_encodable("half: \ud800"))
    half: \ud800
    """
    return text if text.isascii() else _LONE.sub(_escape, text)
