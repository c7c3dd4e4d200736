import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.patterns import Grouping
from latentforest.inference.plan import draw_forest
from latentforest.kernels import layout as P
from latentforest.model import Structure

BITS = {"A": 1, "B": 2, "C": 4, "D": 8}


def flatten(roots):
    """List all nodes, parents before children, one tree after another."""
    nodes, stack = [], list(reversed(roots))
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack.extend(reversed(node.children))
    return nodes


@pytest.fixture
def structure():
    variables = [Variable(name, ("0", "1")) for name in "ABCD"]
    latents = [Variable.hidden(name, 3) for name in "YZ"]
    # Y has the leaves A and Z, Z has the inner observed B, B has C; D is alone.
    return Structure([*variables, *latents], {"A": "Y", "Z": "Y", "B": "Z", "C": "B"})


def keep_apart(masks):
    return Grouping(masks, ())


def kinds(roots):
    return {node.name: node.kind for node in flatten(roots) if node.name}


def test_kinds_and_masks(structure):
    roots = draw_forest(structure, BITS, keep_apart)
    assert kinds(roots) == {
        "Y": P.HIDDEN,
        "A": P.LEAF,
        "Z": P.HIDDEN,
        "B": P.HIDDEN,
        "C": P.LEAF,
        "D": P.HIDDEN,
    }
    nodes = {node.name: node for node in flatten(roots) if node.name}
    assert {name: node.mask for name, node in nodes.items()} == {
        "Y": 7,
        "A": 1,
        "Z": 6,
        "B": 6,
        "C": 4,
        "D": 8,
    }
    assert [node.name for node in roots] == ["D", "Y"]


def test_the_value_of_an_inner_variable_is_one_more_child(structure):
    nodes = {node.name: node for node in flatten(draw_forest(structure, BITS, keep_apart))}
    for name, own, n_children in [("B", 2, 2), ("D", 8, 1)]:
        value = nodes[name].children[-1]
        assert (value.kind, value.mask, value.name) == (P.DENSE, own, "")
        assert len(nodes[name].children) == n_children
    assert [child.name for child in nodes["Y"].children] == ["A", "Z"]


def test_nothing_below_a_dense_variable_is_drawn(structure):
    roots = draw_forest(structure, BITS, keep_apart, dense=["Z"])
    assert kinds(roots) == {"Y": P.HIDDEN, "A": P.LEAF, "Z": P.DENSE, "D": P.HIDDEN}
    assert next(node.mask for node in flatten(roots) if node.name == "Z") == 6


def test_groups_become_product_nodes():
    names = [f"X{j}" for j in range(4)]
    variables = [Variable(name, ("0", "1")) for name in names]
    structure = Structure([Variable.hidden("Y", 3), *variables], dict.fromkeys(names, "Y"))
    bits = {name: 1 << j for j, name in enumerate(names)}
    grouping = Grouping((0b1011, 0b0100), ((0b1000, 0b0010), (0b0001, 0b1010)))
    (root,) = draw_forest(structure, bits, lambda masks: grouping)
    assert [node.kind for node in root.children] == [P.PRODUCT, P.LEAF]
    product = root.children[0]
    assert (product.mask, product.card, product.width) == (0b1011, 3, 3)
    assert [node.name for node in flatten([product]) if node.name] == ["X0", "X3", "X1"]


def test_memory_does_not_overlap(structure):
    rng = np.random.default_rng(0)
    columns = [rng.integers(-1, 2, 30) for _ in range(4)]
    dataset = Dataset([structure.variable(name) for name in "ABCD"], columns)
    (plan,) = Forest(structure, PatternedData(dataset)).plans
    taken = np.zeros(plan.sizes[P.N_DOUBLES], int)
    for record in plan.nodes.reshape(-1, P.N_FIELDS):
        n_patterns, row, column = record[[P.N_PATTERNS, P.ROW, P.COLUMN]]
        if not record[P.IS_ROOT]:
            start, size = record[P.MESSAGES], n_patterns * column
            taken[start : start + size] += 1
            taken[start + plan.sizes[P.OUTSIDE] :][:size] += 1
        if record[P.KIND] == P.HIDDEN:
            n_rows = 1 if record[P.IS_ROOT] else record[P.WIDTH]
            taken[record[P.TABLE] :][: n_rows * row] += 1
            taken[record[P.COUNTS] :][: n_rows * row] += 1
        if record[P.KIND] == P.HIDDEN and not record[P.IS_ROOT]:
            taken[record[P.BELIEFS] :][: n_patterns * row] += 1
            taken[record[P.TRANSPOSED] :][: record[P.CARD] * column] += 1
    scratch = plan.sizes[P.SCRATCH]
    assert np.all(taken[:scratch] == 1)
    assert np.all(taken[scratch:] == 0)


def test_groups_may_be_deep():
    names = [f"X{j}" for j in range(3000)]
    variables = [Variable(name, ("0", "1")) for name in names]
    structure = Structure([Variable.hidden("Y", 2), *variables], dict.fromkeys(names, "Y"))
    bits = {name: 1 << j for j, name in enumerate(names)}
    merges = tuple(((1 << j) - 1, 1 << j) for j in range(1, 2999))
    grouping = Grouping((merges[-1][0] | merges[-1][1], 1 << 2999), merges)
    (root,) = draw_forest(structure, bits, lambda masks: grouping)
    nodes = flatten([root])
    assert sorted(node.name for node in nodes if node.kind == P.LEAF) == sorted(names)
    assert sum(node.kind == P.PRODUCT for node in nodes) == len(merges)
