"""Pictures as SVG text, for notebooks and pages: no style sheet, no script, names are text."""

from __future__ import annotations

from latentforest.data.results.table_text import escape_html
from latentforest.model.pictures import palette
from latentforest.model.pictures.shapes import (
    Box,
    Caption,
    Curve,
    Patch,
    Picture,
    Point,
    Ribbon,
    Shape,
)

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
ANCHORS = {"left": "start", "middle": "middle", "right": "end"}


def write_svg(picture: Picture) -> str:
    """Write a picture as one ``svg`` element that shrinks with the page.

    Examples
    --------
    >>> picture = Picture(10, 5, [Box(0, 0, 10, 5, "#000000")], title="<black>")
    >>> write_svg(picture)[:43]
    '<svg xmlns="http://www.w3.org/2000/svg" rol'
    """
    width, height = round(picture.width), round(picture.height)
    title = escape_html(picture.title)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" '
        f'viewBox="0 0 {width} {height}" width="{width}" '
        f'style="max-width:100%;height:auto;background:{palette.PAGE}" font-family="{FONT}">'
    )
    return head + "".join(map(_write_shape, picture.shapes)) + "</svg>"


def _write_shape(shape: Shape) -> str:
    if isinstance(shape, Box):
        return _write_box(shape)
    if isinstance(shape, Caption):
        weight = ' font-weight="600"' if shape.bold else ""
        return (
            f'<text x="{_n(shape.x)}" y="{_n(shape.y + 0.35 * shape.size)}" '
            f'font-size="{_n(shape.size)}" fill="{shape.colour}" '
            f'text-anchor="{ANCHORS[shape.align]}"{weight} '
            f'xml:space="preserve">{escape_html(shape.text)}</text>'
        )
    if isinstance(shape, Curve):
        return (
            f'<path d="{_write_path(shape)}" fill="none" stroke="{shape.colour}" '
            f'stroke-width="{_n(shape.width)}"/>'
        )
    if isinstance(shape, Patch):
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points)
        return (
            f'<polygon points="{points}" fill="{shape.fill}" fill-opacity="{_n(shape.opacity)}"/>'
        )
    return _write_ribbon(shape)


def _write_box(box: Box) -> str:
    line = f' stroke="{box.line}" stroke-width="{_n(box.line_width)}"' if box.line else ""
    radius = f' rx="{_n(box.radius)}"' if box.radius else ""
    return (
        f'<rect x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}" '
        f'fill="{box.fill or "none"}"{line}{radius}/>'
    )


def _write_ribbon(band: Ribbon) -> str:
    (left, right), (a, b), (c, d) = band.x, band.tops, band.bottoms
    top, bottom = _bend((left, a), (right, b)), _bend((right, d), (left, c))
    return (
        f'<path d="M{_n(left)},{_n(a)}{top}L{_n(right)},{_n(d)}{bottom}Z" '
        f'fill="{band.fill}" fill-opacity="{_n(band.opacity)}"/>'
    )


def _write_path(curve: Curve) -> str:
    x, y = curve.points[0]
    path = f"M{_n(x)},{_n(y)}"
    for start, end in zip(curve.points, curve.points[1:], strict=False):
        path += f"L{_n(end[0])},{_n(end[1])}" if curve.is_plain else _bend(start, end)
    return path


def _bend(start: Point, end: Point) -> str:
    """A cubic curve with horizontal ends."""
    middle = _n((start[0] + end[0]) / 2)
    return f"C{middle},{_n(start[1])} {middle},{_n(end[1])} {_n(end[0])},{_n(end[1])}"


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
