"""The picture of a network: cards of hidden variables, bars of columns, edges by information."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latentforest.model.pictures import palette
from latentforest.model.pictures.folding import place_component
from latentforest.model.pictures.graph import draw_graph
from latentforest.model.pictures.key import draw_key
from latentforest.model.pictures.marks import Scale, draw_card, draw_mark
from latentforest.model.pictures.placing import (
    LEAF_BAR,
    LEAF_TEXT,
    ROW,
    Card,
    Leaf,
    PlacedTree,
)
from latentforest.model.pictures.shapes import (
    SIZE,
    Caption,
    Curve,
    Measure,
    Picture,
    Shape,
    wrap,
)
from latentforest.model.pictures.sketch import GraphSketch, sketch_network

if TYPE_CHECKING:
    from latentforest.model.network import Network

WIDTH = 1152.0
MARGIN = 12.0
NARROWEST = 640.0  # of a picture with room for its key
TREE_GAP = 22.0  # between components
LINKLESS_LINES = 3


def draw_network(network: Network, measure: Measure, width: float = WIDTH) -> Picture:
    """Draw a forest around its centres, any other network in layers.

    Parameters
    ----------
    network
        Any network.
    measure
        Gives the width of a text.
    width
        Of the page. A picture that cannot be as narrow is wider.
    """
    sketch = sketch_network(network)
    draw = draw_forest if network.structure.is_forest else draw_graph
    picture = draw(sketch, measure, width)
    n_latents = len(network.latents)
    picture.title = f"{n_latents:,} hidden variables over {sketch.n_columns:,} columns"
    return picture


def draw_forest(sketch: GraphSketch, measure: Measure, width: float = WIDTH) -> Picture:
    """Draw the components below each other, the largest first."""
    names = sketch.components()
    trees = [
        place_component(sketch, each, measure, width - 2 * MARGIN)
        for each in names
        if len(each) > 1 or sketch.nodes[each[0]].is_latent
    ]
    single = [each[0] for each in names if len(each) == 1 and not sketch.nodes[each[0]].is_latent]
    narrowest = min(width, NARROWEST)
    width = max([narrowest, *(tree.right - tree.left + 2 * MARGIN for tree in trees)])
    picture, pen = Picture(width, 0.0), ForestPen(sketch)
    y = MARGIN
    for tree in trees:
        shift = (width - (tree.right - tree.left)) / 2 - tree.left, y - tree.top
        picture.add(*pen.draw_tree(tree, shift))
        y += tree.bottom - tree.top + TREE_GAP
    if single:
        y = _list_single(picture, sketch, single, measure, y)
    picture.height = draw_key(picture, sketch, measure, y)
    return picture


def _list_single(
    picture: Picture, sketch: GraphSketch, names: list[str], measure: Measure, y: float
) -> float:
    """Name the columns that are linked to nothing."""
    text = "Linked to nothing: " + ", ".join(sketch.nodes[name].text for name in names)
    for line in wrap(text, picture.width - 2 * MARGIN, measure, LINKLESS_LINES):
        picture.add(Caption(MARGIN, y + ROW / 2, line, SIZE, palette.SECOND))
        y += ROW
    return y + TREE_GAP / 2


class ForestPen:
    """Draws placed trees with one scale of widths."""

    def __init__(self, sketch: GraphSketch) -> None:
        self.sketch = sketch
        self.scale = Scale(sketch)
        self.pouches = {name: pouch for pouch in sketch.pouches for name in pouch}

    def draw_tree(self, tree: PlacedTree, shift: tuple[float, float]) -> list[Shape]:
        """Draw edges, then cards and columns on top of them."""
        for card in tree.cards:
            card.x, card.y = card.x + shift[0], card.y + shift[1]
            for leaf in card.leaves:
                leaf.x, leaf.y = leaf.x + shift[0], leaf.y + shift[1]
        edges = [shape for card in tree.cards for shape in self._draw_edges(card)]
        cards = [shape for card in tree.cards for shape in draw_card(card, self.sketch)]
        leaves = [
            shape
            for card in tree.cards
            for leaf in card.leaves
            for shape in self._draw_leaf(card, leaf)
        ]
        brackets = [shape for card in tree.cards for shape in self._draw_pouches(card)]
        return [*edges, *brackets, *cards, *leaves]

    def _draw_edges(self, card: Card) -> list[Shape]:
        """Edges leave a card stacked by width, so that thick ones do not cover thin ones."""
        shapes: list[Shape] = []
        for side in (-1, 1):
            ends = [
                (each.y, each.edge(-side), each.bits, self._is_hidden(card, each))
                for each in card.branches
                if each.side == side
            ]
            ends += [
                (leaf.y, leaf.x - 3.0 * side, leaf.bits, False)
                for leaf in card.leaves
                if (leaf.x > card.x) == (side > 0)
            ]
            ends.sort()
            widths = [self.scale.width(bits) for _, _, bits, _ in ends]
            room = card.height - 12.0
            squeeze = min(1.0, room / sum(widths)) if widths else 1.0
            cursor = card.y - squeeze * sum(widths) / 2
            for (y, x, _, is_hidden), width in zip(ends, widths, strict=True):
                start = card.edge(side), cursor + squeeze * width / 2
                cursor += squeeze * width
                colour = palette.HIDDEN_EDGE if is_hidden else palette.COLUMN_EDGE
                shapes.append(Curve((start, (x, y)), width, colour))
        return shapes

    def _is_hidden(self, one: Card, other: Card) -> bool:
        return self.sketch.nodes[one.name].is_latent and self.sketch.nodes[other.name].is_latent

    def _draw_leaf(self, card: Card, leaf: Leaf) -> list[Shape]:
        side = 1 if leaf.x > card.x else -1
        align = "left" if side > 0 else "right"
        if leaf.name is None:
            return [Caption(leaf.x, leaf.y, leaf.label, SIZE, palette.SECOND, align)]
        left = leaf.x if side > 0 else leaf.x - LEAF_BAR
        text = Caption(leaf.x + side * LEAF_TEXT, leaf.y, leaf.label, SIZE, palette.INK, align)
        return [*draw_mark(self.sketch.nodes[leaf.name], left, leaf.y, LEAF_BAR), text]

    def _draw_pouches(self, card: Card) -> list[Shape]:
        """A line along the columns that vary together within the states."""
        shapes: list[Shape] = []
        for pouch in dict.fromkeys(self.pouches.get(leaf.name or "") for leaf in card.leaves):
            members = [leaf for leaf in card.leaves if pouch and leaf.name in pouch]
            for side in (-1, 1):
                ys = [leaf.y for leaf in members if (leaf.x > card.x) == (side > 0)]
                if len(ys) > 1:
                    x = card.edge(side) + side * (card.leaf_gap + LEAF_BAR + 3.0)
                    points = (x, min(ys) - 4), (x, max(ys) + 4)
                    shapes.append(Curve(points, 1.5, palette.COLUMN_EDGE, is_plain=True))
        return shapes
