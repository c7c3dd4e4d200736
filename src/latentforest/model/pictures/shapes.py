"""Shapes that pictures consist of, in pixels from the upper left corner, and widths of texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from latentforest.model.pictures import palette
from latentforest.visible import make_label

SIZE = 12.0  # of texts
SMALL = 11.0
TINY = 9.5
LONGEST = 400  # characters of a name that are looked at
ELLIPSIS = "…"

Align = str  # left, middle or right
Measure = Callable[[str, float, bool], float]  # width of a text of this size, bold or not
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle, maybe with round corners and an outline."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None
    line: str | None = None
    line_width: float = 1.0
    radius: float = 0.0


@dataclass(frozen=True)
class Caption:
    """One line of text; ``y`` is its middle."""

    x: float
    y: float
    text: str
    size: float = SIZE
    colour: str = palette.INK
    align: Align = "left"
    bold: bool = False


@dataclass(frozen=True)
class Curve:
    """A line through points, whose ends and bends are horizontal; straight if it is plain."""

    points: tuple[Point, ...]
    width: float
    colour: str
    is_plain: bool = False


@dataclass(frozen=True)
class Patch:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Ribbon:
    """A band with horizontal ends between two upright lines: tops and bottoms, left and right."""

    x: tuple[float, float]
    tops: Point
    bottoms: Point
    fill: str
    opacity: float = 0.5


Shape = Box | Caption | Curve | Patch | Ribbon


@dataclass
class Picture:
    """Shapes, the first below the others, and how large they are together."""

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)
    title: str = ""

    def add(self, *shapes: Shape) -> None:
        """Put shapes on top."""
        self.shapes += shapes


@lru_cache(maxsize=1 << 14)
def estimate_width(text: str, size: float, bold: bool = False) -> float:
    """Guess the width of a text in a sans-serif font that is not known, rather too wide.

    Examples
    --------
    >>> round(estimate_width("width", 10.0), 1)
    28.2
    """
    total = sum(map(_guess, text))
    return size * total * (1.07 if bold else 1.0)


@lru_cache(maxsize=1 << 12)
def _guess(sign: str) -> float:
    """Width of a character as a share of the size."""
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.02
    if unicodedata.combining(sign):
        return 0.0
    for signs, width in (("iljI|!.,:;'`", 0.3), ("tfr()[]{}/\\- ", 0.4), ("mwMW@%&…", 0.92)):
        if sign in signs:
            return width
    return 0.7 if sign.isupper() else 0.6


def shorten(
    text: str, width: float, measure: Measure, size: float = SIZE, bold: bool = False
) -> str:
    """Cut the middle out of a text that is too wide: 40% of the rest is head, 60% tail.

    Control characters become visible.

    Examples
    --------
    >>> shorten("a long name of a column", 60.0, estimate_width)
    'a l…lumn'
    """
    text = _keep(make_label(text if len(text) <= LONGEST else _keep(text, LONGEST)), LONGEST)
    if measure(text, size, bold) <= width:
        return text
    low, high = 0, len(text) - 1  # as many characters as fit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high)
            if measure(_keep(text, middle), size, bold) <= width
            else (low, middle - 1)
        )
    return _keep(text, low)


def _keep(text: str, n: int) -> str:
    """Keep n characters of a text, and a sign for the others."""
    if len(text) <= n:
        return text
    head = round(0.4 * n)
    tail = n - head
    return text[:head].rstrip() + ELLIPSIS + (text[-tail:].lstrip() if tail else "")


def wrap(
    text: str, width: float, measure: Measure, most: int, size: float = SIZE, bold: bool = False
) -> list[str]:
    """Break a text into lines, before a plus sign or at spaces; the last one is cut if need be."""
    words = make_label(text[: 4 * LONGEST]).replace(" + ", " +\u00a0").split(" ")
    lines: list[str] = []
    for word in (each for each in words if each):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and measure(joined, size, bold) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    if len(lines) > most:
        lines[most - 1 :] = [" ".join(lines[most - 1 :])]
    return [shorten(line.replace("\u00a0", " "), width, measure, size, bold) for line in lines] or [
        ""
    ]


def cut_bar(
    x: float, y: float, width: float, height: float, shares: Sequence[float], colours: Iterable[str]
) -> list[Shape]:
    """A bar cut by shares, with a thin gap between them if there is room for it."""
    shapes: list[Shape] = []
    total = sum(shares) or 1.0
    gap = 1.0 if len(shares) <= 20 else 0.0
    place = x
    for share, colour in zip(shares, colours, strict=True):
        wide = width * share / total
        if wide > 0.2:
            shapes.append(
                Box(place, y, max(wide - (gap if wide > 2 * gap else 0.0), 0.3), height, colour)
            )
        place += wide
    return shapes


def draw_density(
    x: float,
    y: float,
    width: float,
    height: float,
    values: Sequence[float],
    fill: str,
    opacity: float = 1.0,
) -> Patch:
    """A density over its ground line; its peak has the full height."""
    top = max(values, default=0.0) or 1.0
    step = width / max(len(values) - 1, 1)
    points = [(x + k * step, y + height * (1 - value / top)) for k, value in enumerate(values)]
    return Patch(((x, y + height), *points, (x + width, y + height)), fill, opacity)
