"""Where the variables of a forest stand: cards left and right of a centre, columns beside them.

Rows never overlap, so labels never do. Lengths are pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from latentforest.model.pictures.names import drop_card
from latentforest.model.pictures.shapes import SIZE, TINY, Measure, shorten, wrap
from latentforest.model.pictures.sketch import GraphSketch, SketchNode, walk

CARD = 104.0  # width of a card
WIDE_CARD = 128.0
FEW_COLUMNS = 14  # cards are wide up to here
CARD_BAR = 8.0
CARD_MARGIN = 7.0
CARD_LINE = 14.0  # height of a line of text
ROW = 17.0  # of a column
BRANCH_GAP = 9.0
GAPS = (58.0, 24.0)  # between cards, widest and narrowest
LEAF_GAP = 26.0  # between a card and its columns
LEAF_BAR = 22.0
LEAF_TEXT = LEAF_BAR + 6.0  # from the beginning of a column's bar to its text
MIN_LABEL = 72.0
FAN = 6  # columns of a card; more of them stand farther away
SPREAD = 0.12  # how much the largest distance counts when the centre is chosen
MANY_OWN = 8  # columns of the centre; more of them stand on both sides


@dataclass
class Leaf:
    """A column beside a card, or a line that stands for several (then it has no name)."""

    name: str | None
    text: str
    bits: float
    y: float = 0.0
    x: float = 0.0
    label: str = ""


@dataclass
class Card:
    """A variable with a frame, and what hangs on it; ``side`` is -1 or 1, 0 for the centre."""

    name: str
    lines: list[str]
    width: float
    bits: float = 0.0
    parent: Card | None = None
    leaves: list[Leaf] = field(default_factory=list)
    branches: list[Card] = field(default_factory=list)
    n_folded: int = 0
    side: int = 0
    depth: int = 0
    x: float = 0.0  # middle
    y: float = 0.0
    up: float = 0.0  # how far it and what hangs on it reach above and below its middle
    down: float = 0.0
    offset: float = 0.0  # of its middle below that of its parent
    tag: float = 0.0  # room for the name in the model, where the card says something else

    @property
    def height(self) -> float:
        """Height of the frame."""
        return CARD_LINE * len(self.lines) + CARD_BAR + 12.0

    @property
    def leaf_gap(self) -> float:
        """Distance of the columns; where many fan out, lines need room to bend."""
        return LEAF_GAP + 4.0 * min(max(len(self.leaves) - FAN, 0), 20)

    def edge(self, side: int) -> float:
        """Where the frame ends at one side."""
        return self.x + side * self.width / 2


@dataclass
class PlacedTree:
    """One component: all its cards, the centre first, between ``left`` and ``right``."""

    cards: list[Card]
    left: float
    right: float
    top: float
    bottom: float


def find_centre(sketch: GraphSketch, names: Sequence[str]) -> str:
    """The centre of a component; without latent variables one from which all others are near."""
    for name in sketch.centres:
        if name in names:
            return name
    neighbours = sketch.neighbours
    costs = []
    for place, name in enumerate(names):
        distances = walk(neighbours, name)
        is_end = len(neighbours[name]) < 2
        costs.append(
            (is_end, sum(distances.values()) + SPREAD * len(names) * max(distances.values()), place)
        )
    return names[min(costs)[2]]


def hang(sketch: GraphSketch, names: Sequence[str], measure: Measure) -> list[Card]:
    """Hang a component on its centre; cards in the order of their distance from it."""
    centre, nodes = find_centre(sketch, names), sketch.nodes
    is_wide = sketch.n_columns <= FEW_COLUMNS or not nodes[centre].is_latent
    width = WIDE_CARD if is_wide else CARD

    def make(name: str, bits: float, parent: Card | None) -> Card:
        lines = wrap(nodes[name].text, width - 2 * CARD_MARGIN, measure, 3, SIZE, bold=True)
        card = Card(name, lines, width, bits, parent, depth=parent.depth + 1 if parent else 0)
        card.tag = find_tag(nodes[name], width, measure)
        return card

    cards = [make(centre, 0.0, None)]
    together = {name: pouch for pouch in sketch.pouches for name in pouch}
    for card in cards:
        for name, bits in sketch.neighbours[card.name]:
            if card.parent is not None and name == card.parent.name:
                continue
            if nodes[name].is_latent or len(sketch.neighbours[name]) > 1:
                cards.append(make(name, bits, card))
                card.branches.append(cards[-1])
            else:
                text = drop_card(nodes[name].text, nodes[card.name].text)
                card.leaves.append(Leaf(name, text, bits))
        _group(card.leaves, together)
    return cards


def find_tag(node: SketchNode, width: float, measure: Measure) -> float:
    """Room for a latent variable's name beside its bar, if its text is another and it is short."""
    if not node.is_latent or node.text == node.name or not node.name.isprintable():
        return 0.0
    wide = measure(node.name[:20], TINY, False)
    return wide if wide <= 0.4 * width and len(node.name) <= 20 else 0.0


def _group(leaves: list[Leaf], together: Mapping[str, tuple[str, ...]]) -> None:
    """Put columns of one pouch beside each other, at the place of the strongest."""
    first: dict[tuple[str, ...], int] = {}
    for k, leaf in enumerate(leaves):
        first.setdefault(together.get(leaf.name or "", (leaf.name or "",)), k)
    leaves.sort(key=lambda leaf: first[together.get(leaf.name or "", (leaf.name or "",))])


def place(
    cards: list[Card], measure: Measure, width: float, min_label: float = MIN_LABEL
) -> PlacedTree:
    """Place a hung component, within a width if that is possible with labels of this width."""
    _choose_sides(cards)
    for card in reversed(cards):
        _stack(card)
    for card in cards[1:]:
        assert card.parent is not None
        card.y = card.parent.y + card.offset
    for card in cards:
        _place_leaves(card)
    left, right = _place_across(cards, measure, (width, min_label))
    return PlacedTree(cards, left, right, -cards[0].up, cards[0].down)


def _choose_sides(cards: list[Card]) -> None:
    """Divide the branches of the centre between left and right, tallest first."""
    centre = cards[0]
    for card in reversed(cards):
        _stack(card)
    pieces: list[tuple[float, list[Card] | list[Leaf]]]
    pieces = [(card.up + card.down, [card]) for card in centre.branches]
    own = centre.leaves
    half = (len(own) + 1) // 2
    parts = [own[:half], own[half:]] if len(own) > MANY_OWN or not pieces else [own]
    pieces += [(ROW * len(part), part) for part in parts if part]
    heights = {-1: 0.0, 1: 0.0}
    for height, piece in sorted(pieces, key=lambda each: -each[0]):
        side = 1 if heights[1] < heights[-1] else -1
        heights[side] += height + BRANCH_GAP
        for each in piece:
            if isinstance(each, Card):
                each.side = side
            else:
                each.x = side
    for card in cards[1:]:
        if card.parent is not centre:
            assert card.parent is not None
            card.side = card.parent.side


def _stack(card: Card) -> None:
    """Stack what hangs on a card, and measure how far it reaches."""
    card.up = card.down = card.height / 2
    for side in (-1, 1) if card.parent is None else (card.side,):
        branches = [each for each in card.branches if each.side == side]
        leaves = [leaf for leaf in card.leaves if card.parent is not None or leaf.x == side]
        up, down = _stack_side(branches, leaves)
        card.up, card.down = max(card.up, up), max(card.down, down)


def _stack_side(branches: Sequence[Card], leaves: Sequence[Leaf]) -> tuple[float, float]:
    """Place branches above and below the columns, the strongest nearest, and say how far."""
    own = ROW * len(leaves)
    above: list[Card] = []
    below: list[Card] = []
    heights = [0.0, 0.0]
    for branch in branches:  # the strongest first
        place = 0 if heights[0] < heights[1] else 1
        heights[place] += branch.up + branch.down + BRANCH_GAP
        (above, below)[place].append(branch)
    cursor = 0.0
    anchor = None
    for item in [*reversed(above), None, *below]:
        if item is None:
            if leaves:
                anchor = cursor + own / 2
                cursor += own + BRANCH_GAP
            continue
        item.offset = cursor + item.up
        cursor += item.up + item.down + BRANCH_GAP
    if not leaves and not branches:
        return 0.0, 0.0
    if anchor is None:
        places = [each.offset for each in branches]
        anchor = (min(places) + max(places)) / 2
    for each in branches:
        each.offset -= anchor
    return anchor, cursor - BRANCH_GAP - anchor


def _place_leaves(card: Card) -> None:
    """Give the columns their rows, in the middle beside their card."""
    sides = (-1, 1) if card.parent is None else (card.side,)
    for side in sides:
        leaves = [leaf for leaf in card.leaves if card.parent is not None or leaf.x == side]
        for k, leaf in enumerate(leaves):
            leaf.y = card.y + (k - (len(leaves) - 1) / 2) * ROW
            leaf.x = side


def _place_across(
    cards: list[Card], measure: Measure, room: tuple[float, float]
) -> tuple[float, float]:
    """Choose the gap between cards and the room of labels, so that the width fits."""
    width, min_label = room
    widths = {id(leaf): measure(leaf.text, SIZE, False) for leaf in _all_leaves(cards)}
    gap = GAPS[0]
    while True:
        _place_cards(cards, gap)
        wanted = _reach(cards, widths)
        if wanted[0] + wanted[1] <= width or gap <= GAPS[1]:
            break
        gap = max(gap - 2.0, GAPS[1])
    least = _reach(cards, {key: min(value, min_label) for key, value in widths.items()})
    spare = max(width - sum(least), 0.0)
    more = [big - small for big, small in zip(wanted, least, strict=True)]
    share = min(spare / sum(more), 1.0) if sum(more) > 0 else 1.0
    left, right = (small + share * each for small, each in zip(least, more, strict=True))
    for card in cards:
        for leaf in card.leaves:
            side = -1 if leaf.x < 0 else 1
            leaf.x = card.edge(side) + side * card.leaf_gap
            free = (right if side > 0 else left) - abs(leaf.x) - _indent(leaf)
            leaf.label = shorten(leaf.text, max(free, 0.0) + 0.5, measure)
    return -left, right


def _indent(leaf: Leaf) -> float:
    return LEAF_TEXT if leaf.name is not None else 0.0


def _place_cards(cards: list[Card], gap: float) -> None:
    for card in cards[1:]:
        assert card.parent is not None
        step = card.width + gap + max(card.parent.leaf_gap - LEAF_GAP - 2 * gap, 0.0)
        card.x = card.parent.x + card.side * step


def _reach(cards: list[Card], widths: Mapping[int, float]) -> tuple[float, float]:
    """How far cards and labels reach to the left and right of the centre."""
    reach = {-1: 0.0, 1: 0.0}
    for card in cards:
        for side in (-1, 1) if card.side == 0 else (card.side,):
            reach[side] = max(reach[side], abs(card.edge(side)))
        for leaf in card.leaves:
            side = -1 if leaf.x < 0 else 1
            end = abs(card.edge(side)) + card.leaf_gap + _indent(leaf) + widths[id(leaf)]
            reach[side] = max(reach[side], end)
    return reach[-1], reach[1]


def _all_leaves(cards: list[Card]) -> Iterator[Leaf]:
    for card in cards:
        yield from card.leaves
