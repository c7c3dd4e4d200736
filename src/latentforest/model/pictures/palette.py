"""Colours of all pictures: blue is hidden, grey is observed, orange is set by you or needs care."""

from __future__ import annotations

PAGE = "#ffffff"
PANEL = "#f5f7f9"
INK = "#17202b"
SECOND = "#56616f"
ZERO = "#636e7c"
LINE = "#dfe4e9"
RULE = "#c3cbd4"
HIDDEN = "#1b5e9e"
HIDDEN_SOFT = "#e9f1f9"
HIDDEN_BAR = "#5a8fc8"
COLUMN_BAR = "#828e9b"
HIDDEN_EDGE = "#6e9acb"
COLUMN_EDGE = "#929daa"
CARE = "#b04700"
CARE_SOFT = "#fdefe4"
RESIDUALS = ((10.0, "#b04700"), (4.0, "#ef9b56"), (2.0, "#fbe3cf"))  # from these values on
STATES = ("#b9d2ec", "#134377")  # first to last state of a hidden variable
VALUES = ("#d3d9e0", "#414c59")  # first to last value of a column
HEAT = ("#f5f7f9", "#134f8a")  # from nothing to all


def blend(ends: tuple[str, str], share: float) -> str:
    """Mix two colours.

    Examples
    --------
    >>> blend(("#000000", "#ffffff"), 0.5)
    '#808080'
    """
    low, high = (_split(each) for each in ends)
    mixed = [round(a + (b - a) * share) for a, b in zip(low, high, strict=True)]
    return "#" + "".join(f"{each:02x}" for each in mixed)


def ramp(ends: tuple[str, str], n: int) -> list[str]:
    """Colours of n states in order; a single one gets the lighter end.

    Examples
    --------
    >>> ramp(("#000000", "#ffffff"), 3)
    ['#000000', '#808080', '#ffffff']
    """
    return [blend(ends, k / max(n - 1, 1)) for k in range(n)]


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG defines it, from 1 to 21.

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def text_on(ground: str) -> str:
    """The colour of text, dark or white, that is read better on a ground."""
    return max((INK, PAGE), key=lambda colour: contrast(colour, ground))


def _split(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def _luminance(colour: str) -> float:
    shares = [each / 255 for each in _split(colour)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
