"""Marks of a picture: cards, bars, small densities, widths of edges."""

from __future__ import annotations

from latentforest.model.pictures import palette
from latentforest.model.pictures.placing import CARD_BAR, CARD_LINE, CARD_MARGIN, Card
from latentforest.model.pictures.shapes import (
    SIZE,
    TINY,
    Box,
    Caption,
    Shape,
    cut_bar,
    draw_density,
)
from latentforest.model.pictures.sketch import GraphSketch, SketchNode

THICKEST, THINNEST = 11.0, 0.8  # widths of edges


class Scale:
    """Widths of edges: linear in bits, the strongest edge thickest."""

    def __init__(self, sketch: GraphSketch) -> None:
        self.most = max((link.bits or 0.0 for link in sketch.links), default=0.0)

    def width(self, bits: float | None) -> float:
        """Width of an edge in pixels."""
        if not bits or self.most <= 0:
            return THINNEST
        return max(THICKEST * bits / self.most, THINNEST)

    def examples(self) -> list[float]:
        """Three round numbers of bits for the key, the last not above the strongest edge."""
        if self.most <= 0:
            return []
        top = _round_down(self.most)
        return [top / 10, top / 2, top]


def _round_down(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above a value."""
    power = 10.0 ** int(f"{value:e}".partition("e")[2])
    return max(step * power for step in (1, 2, 5) if step * power <= value * (1 + 1e-9))


def draw_card(card: Card, sketch: GraphSketch) -> list[Shape]:
    """Draw the frame, the name and the bar of a variable."""
    node = sketch.nodes[card.name]
    left, top = card.x - card.width / 2, card.y - card.height / 2
    line = palette.HIDDEN if node.is_latent else palette.COLUMN_BAR
    shapes: list[Shape] = [Box(left, top, card.width, card.height, palette.PAGE, line, 1.4, 6.0)]
    for k, text in enumerate(card.lines):
        y = top + 4.0 + CARD_LINE * (k + 0.5)
        shapes.append(Caption(card.x, y, text, SIZE, palette.INK, "middle", bold=True))
    y, room = top + card.height - CARD_BAR / 2 - 5.0, card.width - 2 * CARD_MARGIN
    if card.tag:  # what the model calls it
        right = left + card.width - CARD_MARGIN
        shapes.append(Caption(right, y, card.name, TINY, palette.SECOND, "right"))
        room -= card.tag + 5.0
    return [*shapes, *draw_mark(node, left + CARD_MARGIN, y, room)]


def draw_mark(node: SketchNode, x: float, y: float, width: float) -> list[Shape]:
    """A bar cut by the shares of values or states, or a small density; y is its middle."""
    if node.density:
        return [draw_density(x, y - 6.0, width, 11.0, node.density, palette.COLUMN_BAR)]
    ends = palette.STATES if node.is_latent else palette.VALUES
    return cut_bar(x, y - 4.0, width, 8.0, node.shares, palette.ramp(ends, len(node.shares)))
