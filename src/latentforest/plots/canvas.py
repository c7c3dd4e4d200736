"""Shapes on matplotlib's axes: sizes, texts that are never taken for mathematics, no global state.

matplotlib is imported here only, when a picture is drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from latentforest.data.results.table import load_package
from latentforest.model.pictures.shapes import (
    Box,
    Caption,
    Curve,
    Measure,
    Patch,
    Picture,
    Ribbon,
)

PIXELS = 96.0  # in an inch
POINTS = 72.0
MIN_WIDTH = 240.0  # pixels that a picture is laid out for, at least
SAFETY = 1.02  # texts on screens are a little wider than their outlines
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}  # of every text

Draw = Callable[[Measure, float], Picture]


def load_matplotlib(module: str = "matplotlib") -> Any:
    """Import matplotlib or one of its modules, or say how to install it."""
    load_package("matplotlib", "plots")
    return load_package(module, "plots")


def measure_text(text: str, size: float, bold: bool = False) -> float:
    """Width of a text in matplotlib's current font, in the unit of its size."""
    family = tuple(load_matplotlib().rcParams["font.family"])
    return SAFETY * size * _measure(text, bold, family)


@lru_cache(maxsize=1 << 14)
def _measure(text: str, bold: bool, family: tuple[str, ...]) -> float:
    """Width of a text of size 1; the family is that of the settings."""
    paths = load_matplotlib("matplotlib.textpath")
    weight = "bold" if bold else "normal"
    font = load_matplotlib("matplotlib.font_manager").FontProperties(
        family=list(family), size=10.0, weight=weight
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of signs that the font lacks; drawing says it
        width, _, _ = paths.text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) / 10.0


def draw_shapes(make: Draw, ax: Any, width: float) -> Any:
    """Lay a picture out for the axes, or for a new figure of its own size, and draw it.

    Parameters
    ----------
    make
        Makes the picture, given a measure of texts and a width in pixels.
    ax
        Axes of matplotlib, or none.
    width
        Of a new figure, in pixels.
    """
    load_matplotlib()
    if ax is None:
        picture = make(measure_text, width)
        pyplot = load_matplotlib("matplotlib.pyplot")
        size = (picture.width / PIXELS, picture.height / PIXELS)
        ax = pyplot.figure(figsize=size).add_axes((0.0, 0.0, 1.0, 1.0))
    else:
        room = find_size(ax)[0] * PIXELS
        picture = make(measure_text, max(room, MIN_WIDTH))
    put_shapes(picture, ax)
    return ax


def find_size(ax: Any) -> tuple[float, float]:
    """Width and height of axes in inches."""
    figure = ax.figure
    engine = getattr(figure, "get_layout_engine", lambda: None)()
    if engine is not None:
        figure.draw_without_rendering()
    extent = ax.get_window_extent()
    return extent.width / figure.dpi, extent.height / figure.dpi


def new_axes(ax: Any, width: float, height: float) -> Any:
    """The axes given, or those of a new figure of this size in pixels."""
    load_matplotlib()
    if ax is not None:
        return ax
    pyplot = load_matplotlib("matplotlib.pyplot")
    figure = pyplot.figure(figsize=(width / PIXELS, height / PIXELS), layout="constrained")
    return figure.add_subplot()


def put_shapes(picture: Picture, ax: Any) -> None:
    """Draw a picture as large as the axes allow, but not above its own size."""
    width, height = find_size(ax)
    unit = min(width * POINTS / picture.width, height * POINTS / picture.height, POINTS / PIXELS)
    ax.set_axis_off()
    span = width * POINTS / unit, height * POINTS / unit
    left, top = (picture.width - span[0]) / 2, (picture.height - span[1]) / 2
    ax.set_xlim(left, left + span[0])
    ax.set_ylim(top + span[1], top)
    if picture.title and not ax.get_label():
        ax.set_label(picture.title)
    for shape in picture.shapes:
        _PUT[type(shape)](shape, ax, unit)


def _put_box(box: Box, ax: Any, unit: float) -> None:
    patches = load_matplotlib("matplotlib.patches")
    style = {
        "facecolor": box.fill or "none",
        "edgecolor": box.line or "none",
        "linewidth": box.line_width * unit if box.line else 0.0,
    }
    if box.radius:
        rounding = f"round,pad=0,rounding_size={box.radius}"
        ax.add_patch(
            patches.FancyBboxPatch(
                (box.x, box.y), box.width, box.height, boxstyle=rounding, **style
            )
        )
    else:
        ax.add_patch(patches.Rectangle((box.x, box.y), box.width, box.height, **style))


def _put_caption(caption: Caption, ax: Any, unit: float) -> None:
    ax.text(
        caption.x,
        caption.y + 0.36 * caption.size,
        caption.text,
        fontsize=caption.size * unit,
        color=caption.colour,
        ha="center" if caption.align == "middle" else caption.align,
        va="baseline",
        fontweight="bold" if caption.bold else "normal",
        **PLAIN,
    )


def _put_curve(curve: Curve, ax: Any, unit: float) -> None:
    path = load_matplotlib("matplotlib.path").Path
    vertices, codes = [curve.points[0]], [path.MOVETO]
    for start, end in zip(curve.points, curve.points[1:], strict=False):
        if curve.is_plain:
            vertices.append(end)
            codes.append(path.LINETO)
            continue
        middle = (start[0] + end[0]) / 2
        vertices += [(middle, start[1]), (middle, end[1]), end]
        codes += [path.CURVE4] * 3
    _put_path(ax, path(vertices, codes), fill=False, edgecolor=curve.colour, lw=curve.width * unit)


def _put_ribbon(band: Ribbon, ax: Any, unit: float) -> None:
    path = load_matplotlib("matplotlib.path").Path
    (left, right), (a, b), (c, d) = band.x, band.tops, band.bottoms
    middle = (left + right) / 2
    vertices = [
        *((left, a), (middle, a), (middle, b), (right, b)),
        *((right, d), (middle, d), (middle, c), (left, c), (left, a)),
    ]
    codes = [path.MOVETO, *[path.CURVE4] * 3, path.LINETO, *[path.CURVE4] * 3, path.CLOSEPOLY]
    _put_path(ax, path(vertices, codes), facecolor=band.fill, alpha=band.opacity, lw=0)


def _put_patch(patch: Patch, ax: Any, unit: float) -> None:
    polygon = load_matplotlib("matplotlib.patches").Polygon
    ax.add_patch(polygon(patch.points, facecolor=patch.fill, alpha=patch.opacity, linewidth=0))


def _put_path(ax: Any, path: Any, **style: Any) -> None:
    ax.add_patch(load_matplotlib("matplotlib.patches").PathPatch(path, capstyle="butt", **style))


_PUT: dict[type, Callable[[Any, Any, float], None]] = {
    Box: _put_box,
    Caption: _put_caption,
    Curve: _put_curve,
    Patch: _put_patch,
    Ribbon: _put_ribbon,
}
