"""Settings of learners that are written as text."""

from __future__ import annotations

import ast
from typing import Any


def read_value(text: str) -> Any:
    """Read a value that is written as in Python, or is a text.

    Examples
    --------
    >>> read_value("3"), read_value("(1, 4)"), read_value("true"), read_value("aic")
    (3, (1, 4), True, 'aic')
    """
    words = {"true": True, "false": False, "none": "none"}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
