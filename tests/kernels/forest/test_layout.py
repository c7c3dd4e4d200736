import numpy as np
import pytest

from latentforest.kernels import layout as P
from latentforest.kernels.forest.layout import Sketch, lay_out
from latentforest.kernels.vector import LANES


def sketch(nodes):
    """Make a sketch of records: kind, card, width, n_patterns, root, stride, children."""
    kind, card, width, n_patterns, is_root, stride, children = zip(*nodes, strict=True)
    arrays = [kind, card, width, n_patterns, is_root, [1] * len(kind), range(len(kind))]
    arrays += [[len(each) for each in children], stride, [c for each in children for c in each]]
    return Sketch(*(np.array(list(each), np.int64) for each in arrays))


# A root of five states, a product of a leaf and a hidden node with fixed messages.
TREE = [
    (P.HIDDEN, 5, 5, 30, 1, 0, [1, 4]),
    (P.PRODUCT, 5, 5, 7, 0, 0, [2, 3]),
    (P.LEAF, 3, 5, 4, 0, 0, []),
    (P.HIDDEN, 2, 5, 6, 0, 0, [5]),
    (P.LEAF, 9, 5, 9, 0, 0, []),
    (P.DENSE, 2, 2, 6, 0, 0, []),
]
# Two trees; the second is a single root with an observed value.
FOREST = [*TREE, (P.HIDDEN, 3, 3, 4, 1, 0, [7]), (P.DENSE, 3, 3, 4, 0, 0, [])]
# A root with a base over a middle variable of one state more than a vector has.
BASED = [
    (P.HIDDEN, 3, 3, 41, 1, 48, [1]),
    (P.HIDDEN, 5, 3, 8, 0, 0, [2]),
    (P.PRODUCT, 5, 5, 8, 0, 0, [3, 4]),
    (P.LEAF, 2, 5, 3, 0, 0, []),
    (P.LEAF, 4, 5, 4, 0, 0, []),
]
ALL = pytest.mark.parametrize("nodes", [TREE, FOREST, BASED], ids=["tree", "forest", "based"])


def records(nodes):
    return nodes.reshape(-1, P.N_FIELDS)


@ALL
def test_places_in_the_buffer_do_not_overlap(nodes):
    laid, _, _, sizes = lay_out(sketch(nodes))
    taken = np.zeros(sizes[P.N_DOUBLES], int)

    def take(place, size):
        assert place % LANES == 0
        taken[place : place + size] += 1

    for record in records(laid):
        n, row, column = record[[P.N_PATTERNS, P.ROW, P.COLUMN]]
        if not record[P.IS_ROOT]:
            take(record[P.MESSAGES], n * column)
            take(record[P.MESSAGES] + sizes[P.OUTSIDE], n * column)
        if record[P.KIND] == P.HIDDEN:
            n_rows = 1 if record[P.IS_ROOT] else record[P.WIDTH]
            take(record[P.TABLE], n_rows * row)
            take(record[P.COUNTS], n_rows * row)
            if not record[P.IS_ROOT]:
                take(record[P.BELIEFS], n * row)
                take(record[P.TRANSPOSED], record[P.CARD] * column)
    assert (taken[: sizes[P.SCRATCH]] == 1).all()
    assert (taken[sizes[P.SCRATCH] :] == 0).all()
    assert len(taken) - sizes[P.SCRATCH] == LANES * sizes[P.DEGREE]


@ALL
def test_slots_and_links_follow_each_other(nodes):
    laid, slot_child, slot_index, sizes = lay_out(sketch(nodes))
    children = [child for node in nodes for child in node[-1]]
    assert slot_child.tolist() == [child * P.N_FIELDS for child in children]
    link, slot = 0, 0
    for (*_, n_patterns, _, stride, below), record in zip(nodes, records(laid), strict=True):
        assert record[P.FIRST_SLOT] == slot
        for child in below:
            assert slot_index[slot] == link
            link += nodes[child][3] + 1 if stride else n_patterns
            slot += 1
        assert record[P.LAST_SLOT] == slot
    assert sizes[P.DEGREE] == max(len(node[-1]) for node in nodes) + 1


@ALL
def test_exponents_and_weights_do_not_overlap(nodes):
    laid, _, _, sizes = lay_out(sketch(nodes))
    exponents, weights = np.zeros(sizes[P.N_SHIFTS], int), []
    for record in records(laid):
        is_inner = record[P.KIND] in (P.HIDDEN, P.PRODUCT)
        if is_inner and not record[P.IS_ROOT]:
            exponents[record[P.SHIFTS] :][: 2 * record[P.N_PATTERNS]] += 1
        if record[P.IS_ROOT]:
            assert record[P.WEIGHTS] == sum(weights)
            weights.append(record[P.N_PATTERNS])
    assert (exponents == 1).all()
    assert sizes[P.ROOT_PATTERNS] == -(-max(weights) // LANES) * LANES


@ALL
def test_only_fixed_messages_below_inner_nodes_need_no_outside_factors(nodes):
    laid = records(lay_out(sketch(nodes))[0])
    first_of_root = {node[-1][0] for node in nodes if node[4]}
    for i, record in enumerate(laid):
        needs = record[P.KIND] != P.DENSE or i in first_of_root
        assert record[P.NEEDS_OUTSIDE] == needs


@pytest.mark.parametrize(("n", "expected"), [(1, 4), (4, 4), (5, 8), (8, 8), (9, 12)])
def test_states_are_padded_to_whole_vectors(n, expected):
    sizes = lay_out(sketch([(P.HIDDEN, n, n, 1, 1, 0, [1]), (P.LEAF, 2, n, 2, 0, 0, [])]))
    assert records(sizes[0])[0, P.ROW] == records(sizes[0])[1, P.COLUMN] == expected
