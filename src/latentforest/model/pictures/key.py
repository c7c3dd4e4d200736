"""What marks mean: the line below the picture of a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from latentforest.model.pictures import palette
from latentforest.model.pictures.marks import Scale
from latentforest.model.pictures.shapes import (
    SIZE,
    Box,
    Caption,
    Curve,
    Measure,
    Picture,
    Shape,
    cut_bar,
    draw_density,
)
from latentforest.model.pictures.sketch import GraphSketch

MARGIN = 12.0
SHARES = (0.5, 0.3, 0.2)


@dataclass(frozen=True)
class KeyEntry:
    """A mark and what it says; ``draw`` takes the left end and the middle."""

    width: float
    draw: Callable[[float, float], list[Shape]]


def _list_entries(sketch: GraphSketch, scale: Scale, measure: Measure) -> list[KeyEntry]:
    """Entries for what occurs in a picture."""
    nodes = sketch.nodes.values()
    entries = []
    if any(node.is_latent for node in nodes):
        entries.append(
            _explain(_draw_card, 62.0, "hidden variable, cut by the sizes of its states", measure)
        )
    if any(node.shares and not node.is_latent for node in nodes):
        entries.append(
            _explain(_draw_bar, 22.0, "column, cut by the shares of its values", measure)
        )
    if any(node.density for node in nodes):
        entries.append(_explain(_draw_hill, 22.0, "column of numbers, its density", measure))
    if sketch.pouches:
        entries.append(_explain(_draw_bracket, 3.0, "vary together within a state", measure))
    examples = scale.examples()
    edge = palette.HIDDEN_EDGE if any(node.is_latent for node in nodes) else palette.COLUMN_EDGE
    if examples:
        text = (
            ", ".join(f"{bits:g}" for bits in examples) + f" bit{'s' * (examples[-1] != 1)} shared"
        )

        def draw(x: float, y: float) -> list[Shape]:
            return [
                Curve(((x + 40 * k, y), (x + 40 * k + 32, y)), scale.width(bits), edge, True)
                for k, bits in enumerate(examples)
            ]

        entries.append(_explain(draw, 40.0 * len(examples) - 8, text, measure))
    return entries


def _explain(
    draw: Callable[[float, float], list[Shape]], width: float, text: str, measure: Measure
) -> KeyEntry:
    def both(x: float, y: float) -> list[Shape]:
        return [*draw(x, y), Caption(x + width + 8, y, text, SIZE, palette.SECOND)]

    return KeyEntry(width + 8 + measure(text, SIZE, False), both)


def _draw_card(x: float, y: float) -> list[Shape]:
    frame = Box(x, y - 9, 62, 18, palette.PAGE, palette.HIDDEN, 1.4, 5.0)
    return [frame, *cut_bar(x + 6, y - 4, 50, 8, SHARES, palette.ramp(palette.STATES, 3))]


def _draw_bar(x: float, y: float) -> list[Shape]:
    return list(cut_bar(x, y - 4, 22, 8, SHARES, palette.ramp(palette.VALUES, 3)))


def _draw_hill(x: float, y: float) -> list[Shape]:
    heights = (0.0, 0.05, 0.3, 0.8, 1.0, 0.7, 0.35, 0.4, 0.3, 0.1, 0.0)
    return [draw_density(x, y - 6, 22, 11, heights, palette.COLUMN_BAR)]


def _draw_bracket(x: float, y: float) -> list[Shape]:
    return [Curve(((x + 1, y - 9), (x + 1, y + 9)), 1.5, palette.COLUMN_EDGE, True)]


def draw_key(picture: Picture, sketch: GraphSketch, measure: Measure, y: float) -> float:
    """Explain the marks in lines below the picture; returns where it ends."""
    x, row = MARGIN, 30.0
    for entry in _list_entries(sketch, Scale(sketch), measure):
        if x > MARGIN and x + entry.width > picture.width - MARGIN:
            x, y = MARGIN, y + row
        picture.width = max(picture.width, x + entry.width + MARGIN)
        picture.add(*entry.draw(x, y + row / 2))
        x += entry.width + 34.0
    return y + row + MARGIN / 2
