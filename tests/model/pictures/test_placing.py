"""Places in pictures: rows never overlap, arcs go forward, names are shortened in the middle."""

import itertools

import pytest

import latentforest as lf
from latentforest import datasets
from latentforest.model.pictures.folding import place_component
from latentforest.model.pictures.layering import (
    choose_layers,
    keep_apart,
    make_ways,
    place_rows,
    sort_layers,
)
from latentforest.model.pictures.placing import ROW, find_centre, hang, place
from latentforest.model.pictures.shapes import estimate_width, shorten, wrap
from latentforest.model.pictures.sketch import sketch_network


def list_boxes(tree):
    """Boxes of cards and rows of columns: left, right, top, bottom."""
    for card in tree.cards:
        half = card.width / 2, card.height / 2
        yield card.x - half[0], card.x + half[0], card.y - half[1], card.y + half[1]
        for leaf in card.leaves:
            side = 1 if leaf.x > card.x else -1
            indent = 0.0 if leaf.name is None else 28.0
            end = leaf.x + side * (indent + estimate_width(leaf.label, 12.0))
            low, high = sorted((leaf.x, end))
            yield low, high, leaf.y - ROW / 2, leaf.y + ROW / 2


@pytest.mark.parametrize("n_columns", [16, 40, 60, 120])
@pytest.mark.parametrize("seed", range(4))
def test_boxes_never_overlap(n_columns, seed):
    network = datasets.random_latent_tree(n_columns, depth=3, width=4, random_state=seed)
    sketch = sketch_network(network)
    tree = place_component(sketch, sketch.components()[0], estimate_width, 1100.0)
    boxes = list(list_boxes(tree))
    for k, (a, b, c, d) in enumerate(boxes):
        assert tree.left - 1e-6 <= a < b <= tree.right + 1
        assert tree.top - 1e-6 <= c < d <= tree.bottom + 1e-6
        for e, f, g, h in boxes[:k]:
            assert min(b, f) <= max(a, e) + 1e-6 or min(d, h) <= max(c, g) + 1e-6


def test_the_centre_is_near_all_columns():
    latents = [lf.Variable.hidden(f"Y{k}", 2) for k in range(3)]
    columns = [lf.Variable(f"x{k}", ("a", "b")) for k in range(6)]
    parents = {"Y1": "Y0", "Y2": "Y1"} | {f"x{k}": f"Y{k % 3}" for k in range(6)}
    table = [[0.9, 0.1], [0.1, 0.9]]
    tables = dict.fromkeys(parents, table) | {"Y0": [0.5, 0.5]}
    network = lf.Network.from_tables([*latents, *columns], parents, tables)
    sketch = sketch_network(network)
    assert find_centre(sketch, sketch.components()[0]) == "Y1"
    cards = hang(sketch, sketch.components()[0], estimate_width)
    tree = place(cards, estimate_width, 1000.0)
    assert {card.name: card.side for card in tree.cards}["Y1"] == 0
    assert {card.side for card in tree.cards[1:]} == {-1, 1}
    assert [card.y for card in tree.cards if card.name == "Y1"] == [0.0]


def test_arcs_go_forward_and_ways_have_a_place_in_every_layer():
    parents = {"a": [], "b": ["a"], "c": ["b"], "d": ["a", "c"], "e": []}
    layers = choose_layers(list(parents), parents)
    assert all(layers[p] < layers[name] for name in parents for p in parents[name])
    ways = make_ways(list(parents), parents, layers)
    assert {len(way) for way in ways if (way[0], way[-1]) == ("a", "d")} == {4}
    columns = sort_layers(list(parents), layers, ways)
    assert sorted(len(column) for column in columns) == sorted(
        sum(layer == k for layer in layers.values())
        + sum(layers[way[0]] < k < layers[way[-1]] for way in ways)
        for k in range(4)
    )
    ys = place_rows(columns, dict.fromkeys((n for c in columns for n in c), 10.0), ways)
    for column in columns:
        places = [ys[name] for name in column]
        assert all(b - a >= 10.0 - 1e-9 for a, b in itertools.pairwise(places))


def test_crossings_are_undone():
    parents = {"a": [], "b": [], "c": ["b"], "d": ["a"]}
    layers = choose_layers(list(parents), parents)
    columns = sort_layers(list(parents), layers, make_ways(list(parents), parents, layers))
    assert [columns[0].index(x) for x in "ab"] == [columns[1].index(x) for x in "dc"]


def test_places_stay_where_there_is_room():
    assert keep_apart([0.0, 5.0, 20.0], [2.0, 2.0]) == [0.0, 5.0, 20.0]
    assert keep_apart([], []) == []


def test_texts_are_shortened_in_the_middle():
    text = "a question about something else: how much"
    short = shorten(text, 120.0, estimate_width)
    assert estimate_width(short, 12.0) <= 120.0
    assert short.startswith("a que")
    assert short.endswith("how much")
    assert len(shorten("x" * 100_000, 1e9, estimate_width)) < 500
    assert shorten("abc", 0.0, estimate_width) == "…"
    assert wrap("one + two", 50.0, estimate_width, 3) == ["one", "+ two"]
    assert wrap("", 50.0, estimate_width, 3) == [""]
