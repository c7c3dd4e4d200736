"""Which branches of a large tree are shown: those that hold most, until the page is full."""

from __future__ import annotations

from collections.abc import Sequence

from latentforest.model.pictures.placing import Card, Leaf, PlacedTree, hang, place
from latentforest.model.pictures.shapes import SIZE, Measure
from latentforest.model.pictures.sketch import GraphSketch

OPEN_COLUMNS = 60  # up to here everything is shown
LISTED_COLUMNS = 80  # up to here the columns of a card are listed, then one line has their names
MAX_LISTED = 8
WORDS = 3  # names in such a line, at most
LINE = 170.0  # width of such a line
MAX_HEIGHT = 780.0
MIN_HEIGHT = 160.0
WIDEST = 2.5  # times the page: a tree that is open, and so deep, is folded after all


def place_component(
    sketch: GraphSketch, names: Sequence[str], measure: Measure, width: float
) -> PlacedTree:
    """Place a component; fold branches if there are too many columns, or it is too deep."""
    if sketch.n_columns <= OPEN_COLUMNS:
        placed = place(hang(sketch, names, measure), measure, width)
        if placed.right - placed.left <= WIDEST * width:
            return placed
    whole = hang(sketch, names, measure)
    if len(whole) == 1:
        _list_some(whole[0], OPEN_COLUMNS)
        return place(whole, measure, width)
    n_columns = sum(not sketch.nodes[name].is_latent for name in names)
    height = max(MAX_HEIGHT * n_columns / sketch.n_columns, MIN_HEIGHT)
    return _open_some(sketch, names, measure, (width, height))


def _open_some(
    sketch: GraphSketch, names: Sequence[str], measure: Measure, room: tuple[float, float]
) -> PlacedTree:
    """Open the branch with the most information in it while the drawing fits; repeat."""
    holdings = _sum_up(hang(sketch, names, measure))
    is_open, closed = {next(iter(holdings))}, set[str]()
    placed = place(_prune(sketch, names, measure, is_open), measure, room[0], LINE)
    while True:
        folded = [card for card in placed.cards if card.n_folded and card.name not in closed]
        if not folded:
            return placed
        best = max(folded, key=lambda card: round(holdings[card.name][0], 9))
        tried = place(_prune(sketch, names, measure, is_open | {best.name}), measure, room[0], LINE)
        if tried.bottom - tried.top <= room[1] and tried.right - tried.left <= room[0]:
            is_open.add(best.name)
            placed = tried
        else:
            closed.add(best.name)


def _sum_up(cards: list[Card]) -> dict[str, tuple[float, int]]:
    """Information and number of columns in the branch of each card, the centre first."""
    found: dict[str, tuple[float, int]] = {card.name: (0.0, 0) for card in cards}
    for card in reversed(cards):
        bits = card.bits + sum(leaf.bits for leaf in card.leaves)
        bits += sum(found[each.name][0] for each in card.branches)
        n_columns = len(card.leaves) + sum(found[each.name][1] for each in card.branches)
        found[card.name] = bits, n_columns
    return found


def _prune(
    sketch: GraphSketch, names: Sequence[str], measure: Measure, is_open: set[str]
) -> list[Card]:
    """Hang the component without what is folded."""
    cards = hang(sketch, names, measure)
    holdings, best = _sum_up(cards), _find_strongest(cards)
    kept: list[Card] = []
    shown = {cards[0].name}
    for card in cards:
        if card.name not in shown:
            continue
        kept.append(card)
        if card.name in is_open or not card.branches:
            shown.update(each.name for each in card.branches)
            _list_leaves(card, sketch.n_columns, measure)
            continue
        card.n_folded, card.branches = holdings[card.name][1], []
        card.leaves = [Leaf(None, _summarize(best[card.name], card.n_folded, measure), 0.0)]
    return kept


def _find_strongest(cards: list[Card]) -> dict[str, Leaf | None]:
    """The column with the strongest edge in the branch of each card."""
    found: dict[str, Leaf | None] = {}
    for card in reversed(cards):
        others = (found[each.name] for each in card.branches)
        leaves = [leaf for leaf in (*card.leaves, *others) if leaf is not None]
        found[card.name] = max(leaves, key=lambda leaf: round(leaf.bits, 9), default=None)
    return found


def _summarize(leaf: Leaf | None, n_columns: int, measure: Measure) -> str:
    """Say how many columns are folded, and which is the strongest."""
    text = f"{n_columns:,} column{'s' * (n_columns != 1)}"
    longer = text if leaf is None else f"{text}: {leaf.text} …"
    return longer if measure(longer, SIZE, False) <= LINE else text


def _list_leaves(card: Card, n_columns: int, measure: Measure) -> None:
    """Keep some columns of a card, or one line with the names of the first."""
    if n_columns <= LISTED_COLUMNS:
        _list_some(card, MAX_LISTED)
    elif card.leaves:
        texts = [leaf.text for leaf in card.leaves]
        lines = [_join(texts, n) for n in range(1, min(WORDS, len(texts)) + 1)]
        fitting = [line for line in lines[1:] if measure(line, SIZE, False) <= LINE]
        bits = sum(leaf.bits for leaf in card.leaves) / len(texts)
        card.leaves = [Leaf(None, fitting[-1] if fitting else lines[0], bits)]


def _join(texts: list[str], n: int) -> str:
    more = len(texts) - n
    return ", ".join(texts[:n]) + (f" + {more}" if more else "")


def _list_some(card: Card, most: int) -> None:
    """Keep the strongest columns; a single one more is listed, too."""
    more = len(card.leaves) - most
    if more > 1:
        card.leaves[most:] = [Leaf(None, f"{more:,} more", 0.0)]
