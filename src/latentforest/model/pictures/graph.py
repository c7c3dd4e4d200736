"""The picture of a network with arcs: layers from left to right, arrows by information."""

from __future__ import annotations

from latentforest.model.pictures import palette
from latentforest.model.pictures.key import draw_key
from latentforest.model.pictures.layering import (
    Way,
    choose_layers,
    make_ways,
    place_rows,
    sort_layers,
)
from latentforest.model.pictures.marks import Scale, draw_card
from latentforest.model.pictures.placing import CARD_MARGIN, Card, find_tag
from latentforest.model.pictures.shapes import (
    SIZE,
    Caption,
    Curve,
    Measure,
    Patch,
    Picture,
    Point,
    Shape,
    wrap,
)
from latentforest.model.pictures.sketch import GraphSketch

MOST = 100  # variables that are drawn
NARROW_CARD, WIDE_CARD = 84.0, 146.0
GAP = 56.0  # between layers
ROW_GAP = 10.0
WAY_HEIGHT = 12.0  # room of an arc that passes a layer
MARGIN = 12.0


def draw_graph(sketch: GraphSketch, measure: Measure, width: float = 0.0) -> Picture:
    """Draw a network with arrows; of very many variables those with the strongest arcs."""
    shown, n_left_out = _choose(sketch)
    parents: dict[str, list[str]] = {name: [] for name in shown}
    bits = {}
    for link in sketch.links:
        if link.parent in parents and link.child in parents:
            parents[link.child].append(link.parent)
            bits[link.parent, link.child] = link.bits
    order = _sort_topologically(parents)
    layers = choose_layers(order, parents)
    ways = make_ways(order, parents, layers)
    columns = sort_layers(order, layers, ways)
    texts = [sketch.nodes[name].text for name in order]
    widest = max(measure(text, SIZE, True) for text in texts) + 2 * CARD_MARGIN + 2
    card_width = min(max(widest, NARROW_CARD), WIDE_CARD)
    cards = {name: _make_card(sketch, name, measure, card_width) for name in order}
    heights = {name: WAY_HEIGHT for column in columns for name in column}
    heights |= {name: card.height + ROW_GAP for name, card in cards.items()}
    ys = place_rows(columns, heights, ways)
    picture = _place(cards, layers, ys)
    picture.width = max(picture.width, min(width, 640.0))
    scale = Scale(sketch)
    for way in sorted(ways, key=lambda each: -(bits[each[0], each[-1]] or 0.0)):
        is_hidden = all(sketch.nodes[name].is_latent for name in (way[0], way[-1]))
        colour = palette.HIDDEN_EDGE if is_hidden else palette.COLUMN_EDGE
        points = _trace(way, cards, ys, layers)
        picture.add(*draw_arrow(points, scale.width(bits[way[0], way[-1]]), colour))
    for card in cards.values():
        picture.add(*draw_card(card, sketch))
    y = picture.height
    if n_left_out:
        text = f"{n_left_out:,} variables with weaker arcs are left out."
        picture.add(Caption(MARGIN, y + 8, text, SIZE, palette.CARE))
        y += 20
    picture.height = draw_key(picture, sketch, measure, y)
    return picture


def _choose(sketch: GraphSketch) -> tuple[list[str], int]:
    """The variables that are drawn, and how many are not."""
    names = list(sketch.nodes)
    if len(names) <= MOST:
        return names, 0
    total = dict.fromkeys(names, 0.0)
    for link in sketch.links:
        for name in (link.parent, link.child):
            total[name] += link.bits or 0.0
    ranked = sorted(names, key=lambda name: -round(total[name], 9))[:MOST]
    return [name for name in names if name in set(ranked)], len(names) - MOST


def _sort_topologically(parents: dict[str, list[str]]) -> list[str]:
    """Parents before children, otherwise in the given order."""
    order: dict[str, None] = {}
    stack = list(reversed(parents))
    while stack:
        name = stack[-1]
        waiting = [each for each in reversed(parents[name]) if each not in order]
        if waiting:
            stack += waiting
        else:
            order[stack.pop()] = None
    return list(order)


def _make_card(sketch: GraphSketch, name: str, measure: Measure, width: float) -> Card:
    lines = wrap(sketch.nodes[name].text, width - 2 * CARD_MARGIN, measure, 2, SIZE, bold=True)
    return Card(name, lines, width, tag=find_tag(sketch.nodes[name], width, measure))


def _place(cards: dict[str, Card], layers: dict[str, int], ys: dict[str, float]) -> Picture:
    """Give cards their places, and the picture its size."""
    tops = [ys[name] - card.height / 2 for name, card in cards.items()]
    bottoms = [ys[name] + card.height / 2 for name, card in cards.items()]
    others = [y for name, y in ys.items() if name not in cards]
    low, high = min([*tops, *others]), max([*bottoms, *others])
    for name in ys:
        ys[name] += MARGIN - low
    for name, card in cards.items():
        card.x = MARGIN + card.width / 2 + layers[name] * (card.width + GAP)
        card.y = ys[name]
    right = max(card.edge(1) for card in cards.values())
    return Picture(right + MARGIN, high - low + 2 * MARGIN)


def _trace(
    way: Way, cards: dict[str, Card], ys: dict[str, float], layers: dict[str, int]
) -> tuple[Point, ...]:
    """Points of an arc: from the edge of a card, straight through layers, to another card."""
    start, end = cards[way[0]], cards[way[-1]]
    points = [(start.edge(1), start.y)]
    for k, name in enumerate(way[1:-1], start=layers[way[0]] + 1):
        x = MARGIN + k * (start.width + GAP)
        points += [(x, ys[name]), (x + start.width, ys[name])]
    return (*points, (end.edge(-1), end.y))


def draw_arrow(points: tuple[Point, ...], width: float, colour: str) -> list[Shape]:
    """A curve whose end is a small triangle; it arrives horizontally."""
    x, y = points[-1]
    length, half = 6.0 + 0.8 * width, 3.0 + 0.6 * width
    head = Patch(((x, y), (x - length, y - half), (x - length, y + half)), colour)
    line = Curve((*points[:-1], (x - length + 0.5, y)), width, colour)
    return [line, head]
