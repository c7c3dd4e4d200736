"""The picture's places: rows never overlap, whatever the tree."""

import json

import pytest

from reference.page_engine import open_engine, run

# A tree is laid out with texts of seven units for each character, as wide as the page.
LAY = """
const layForTest = (content, width) => {
  const forest = buildForest(content);
  const nColumns = content.variables.filter((one) => !one.latent).length;
  const measure = (text) => 7 * text.length;
  const lay = (open) => {
    const isOpen = (node) => open.has(node.id);
    const parts = { nColumns, isOpen, isListed: () => false };
    const name = (node) => breakName(content.variables[node.id].label, 92, measure);
    const height = (node) => 22 + 14 * name(node).length;
    return layForest(forest.trees, {
      width, card: 104, isOpen, edgeWidth: (link) => Math.max(0.8, 11 * link.bits),
      cardHeight: height,
      lines: (node) => listLines(node, parts).map((line) => ({ ...line, mark: 28, want: 60 })),
    });
  };
  const open = chooseOpen(forest.trees, nColumns, lay);
  const { cards, lines, edges, width: wide, height, fits } = lay(open);
  return {
    wide, height, fits, alone: forest.alone, nTrees: forest.trees.length,
    cards: cards.map((card) => [card.node.id, card.x, card.y - card.card / 2, 104, card.card]),
    lines: lines.map((line) => [line.id, line.side < 0 ? line.x - 28 - line.room : line.x,
      line.y - 8.5, 28 + line.room, 17]),
    ends: edges.map((edge) => [edge.x0, edge.y0, edge.x, edge.y]),
  };
};
"""


def make_tree(n_latents, n_columns, arity, seed=1):
    """A tree of latent variables with columns dealt to them, as the content describes it."""
    variables = [variable(f"Y{k} + Y{k + 1}", True) for k in range(n_latents)]
    edges = [edge((k - 1) // arity, k, 0.9 / k) for k in range(1, n_latents)]
    state = seed
    for k in range(n_columns):
        state = (state * 48271) % 2147483647
        variables.append(variable(f"column {k}", False))
        home = k if k < n_latents else state % n_latents
        edges.append(edge(home, n_latents + k, (state % 97) / 97))
    return {"variables": variables, "graph": {"kind": "forest", "edges": edges, "pouches": []}}


def variable(label, latent):
    return {"label": label, "latent": latent, "kind": "categorical", "states": ["0", "1"]}


def edge(first, second, bits):
    return {"from": first, "to": second, "bits": bits, "share": bits}


def lay(content, width=1200):
    engine = open_engine()
    if not engine.eval("typeof layForTest === 'function'"):
        engine.eval(LAY)
    return run("layForTest", content, width)


def list_overlaps(boxes):
    """Pairs of boxes that cover the same place by more than rounding."""
    found = []
    for k, (one, x, y, w, h) in enumerate(boxes):
        for other, u, v, s, t in boxes[:k]:
            if min(x + w, u + s) - max(x, u) > 0.01 and min(y + h, v + t) - max(y, v) > 0.01:
                found.append((one, other))
    return found


@pytest.mark.parametrize(
    ("n_latents", "n_columns", "arity"),
    [
        (1, 4, 1),
        (1, 58, 1),
        (1, 200, 1),
        (2, 6, 1),
        (6, 12, 1),
        (24, 42, 2),
        (24, 60, 5),
        (65, 344, 3),
        (65, 344, 8),
        (200, 1000, 4),
    ],
)
def test_cards_and_labels_never_overlap(n_latents, n_columns, arity):
    drawing = lay(make_tree(n_latents, n_columns, arity))
    boxes = drawing["cards"] + drawing["lines"]
    assert list_overlaps(boxes) == []
    assert min(y for _, _, y, _, _ in boxes) >= -0.01
    assert max(y + h for _, _, y, _, h in boxes) <= drawing["height"] + 0.01
    assert min(x for _, x, _, _, _ in boxes) >= -0.01
    assert max(x + w for _, x, _, w, _ in boxes) <= drawing["wide"] + 0.01


def test_large_trees_are_folded_until_they_fit():
    drawing = lay(make_tree(200, 1000, 4))
    assert drawing["fits"]
    assert drawing["height"] <= 780
    assert 10 <= len(drawing["cards"]) <= 60


def test_up_to_sixty_columns_everything_is_open():
    drawing = lay(make_tree(24, 42, 2))
    assert len(drawing["cards"]) == 24


def test_one_card_has_columns_on_both_sides():
    drawing = lay(make_tree(1, 20, 1))
    centre = drawing["cards"][0][1]
    sides = [x < centre for _, x, _, _, _ in drawing["lines"]]
    assert 0 < sum(sides) < 20


def test_trees_stand_below_each_other_and_single_columns_apart():
    content = make_tree(3, 9, 2)
    content["variables"] += [variable("alone", False), variable("Y", True), variable("z", False)]
    content["graph"]["edges"].append(edge(13, 14, 0.5))
    drawing = lay(content)
    assert drawing["nTrees"] == 2
    assert drawing["alone"] == [12]
    assert list_overlaps(drawing["cards"] + drawing["lines"]) == []


def test_columns_between_columns_become_cards():
    variables = [variable(name, False) for name in "abcde"]
    edges = [edge(0, 1, 0.5), edge(1, 2, 0.4), edge(2, 3, 0.3), edge(1, 4, 0.2)]
    content = {"variables": variables, "graph": {"kind": "forest", "edges": edges}}
    drawing = lay(content)
    assert sorted(card[0] for card in drawing["cards"]) == [1, 2]


LAY_DAG = """
const layDagForTest = (ids, arcs) => {
  const style = { card: 104, gap: 40, cardHeight: () => 36 };
  const { nodes, routes, width, height } = layDag(ids, arcs, style);
  return {
    width, height, nodes: nodes.map((node) => [node.id, node.x, node.y - 18, 104, 36]),
    arcs: routes.map(({ arc, route }) => [arc.from, arc.to, route[0].x, route[route.length - 1].x]),
  };
};
"""


def lay_dag(n_nodes, arcs):
    engine = open_engine()
    if not engine.eval("typeof layDagForTest === 'function'"):
        engine.eval(LAY_DAG)
    arcs = [{"from": a, "to": b} for a, b in arcs]
    return json.loads(
        engine.eval(
            f"JSON.stringify(layDagForTest({json.dumps(list(range(n_nodes)))}, {json.dumps(arcs)}))"
        )
    )


@pytest.mark.parametrize("n_nodes", [2, 9, 37, 150])
def test_arrows_go_to_the_right_and_cards_do_not_overlap(n_nodes):
    arcs = [((7 * k + 3) % k, k) for k in range(1, n_nodes)]
    arcs += [(k // 3, k) for k in range(4, n_nodes) if (7 * k + 3) % k != k // 3]
    drawing = lay_dag(n_nodes, arcs)
    assert list_overlaps(drawing["nodes"]) == []
    assert all(start < end for _, _, start, end in drawing["arcs"])


def test_crossings_are_undone():
    drawing = lay_dag(6, [(0, 5), (1, 4), (2, 3)])
    heights = {identity: y for identity, _, y, _, _ in drawing["nodes"]}
    assert sorted((0, 1, 2), key=heights.get) == [
        {5: 0, 4: 1, 3: 2}[k] for k in sorted((3, 4, 5), key=heights.get)
    ]
