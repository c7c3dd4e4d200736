"""Recursive grouping: exact distances give the exact forest; short edges; bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import Variable
from latentforest.errors import ParameterError
from latentforest.search.distances.grouping import ComparisonRules, Metric, compare
from latentforest.search.distances.spanning import find_spanning_tree, grow_forest
from latentforest.search.distances.tree import DistanceTree, Edge, build_structure, contract
from reference.distance_trees import draw_tree, list_splits, measure

BOTH = pytest.mark.parametrize("along_spanning_tree", [False, True], ids=["RG", "CLRG"])


def assert_same(found, edges, n_observed):
    ends = [edge[:2] for edge in found.edges]
    assert list_splits(ends, n_observed) == list_splits(edges, n_observed)
    degrees = np.bincount(np.array(ends, int).ravel(), minlength=found.n_nodes)
    assert np.all(degrees[n_observed:] >= 3)


@BOTH
@given(
    seed=st.integers(0, 10**6),
    n_hidden=st.integers(0, 7),
    n_more=st.integers(3, 7),
    is_inner=st.booleans(),
    are_equal=st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_exact_distances_give_the_tree(
    along_spanning_tree, seed, n_hidden, n_more, is_inner, are_equal
):
    """Also with observed inner nodes, and with edges of equal length: ties everywhere."""
    rng = np.random.default_rng(seed)
    edges, n_observed = draw_tree(rng, n_hidden if is_inner else n_hidden + 1, n_more, is_inner)
    lengths = np.ones(len(edges)) if are_equal else rng.uniform(0.05, 2.0, len(edges))
    values = measure(edges, lengths, n_observed)
    found = grow_forest(values, along_spanning_tree=along_spanning_tree, leaves_only=not is_inner)
    assert_same(found, edges, n_observed)
    again = measure(
        [edge[:2] for edge in found.edges], [edge.length for edge in found.edges], n_observed
    )
    np.testing.assert_allclose(again, values, atol=1e-6)


@BOTH
def test_observed_inner_nodes_get_a_hidden_neighbour_if_they_must_be_leaves(along_spanning_tree):
    rng = np.random.default_rng(4)
    edges, n = draw_tree(rng, 3, 8, True)
    values = measure(edges, rng.uniform(0.2, 1.0, len(edges)), n)
    found = grow_forest(values, along_spanning_tree=along_spanning_tree, leaves_only=True)
    degrees = np.bincount(np.array([edge[:2] for edge in found.edges]).ravel())
    assert np.all(degrees[:n] == 1)
    lengths = [edge.length for edge in found.edges]
    again = measure([edge[:2] for edge in found.edges], lengths, n)
    np.testing.assert_allclose(again, values, atol=1e-6)


@BOTH
def test_a_forest(along_spanning_tree):
    rng = np.random.default_rng(0)
    values = np.full((21, 21), np.inf)
    order, start, all_edges = rng.permutation(21), 0, []
    for n_hidden, n_more in ((2, 5), (1, 5), (0, 1), (0, 3)):
        edges, n = draw_tree(rng, n_hidden, n_more, True)
        here = order[start : start + n]
        values[np.ix_(here, here)] = measure(edges, rng.uniform(0.2, 1, len(edges)), n)
        all_edges.append((here, edges))
        start += n
    assert start == 21
    found = grow_forest(values, along_spanning_tree=along_spanning_tree)
    expected = []
    n_nodes = 21
    for here, edges in all_edges:
        n_hidden = max([len(here) - 1, *(max(edge) for edge in edges)]) + 1 - len(here)
        names = [*here.tolist(), *range(n_nodes, n_nodes + n_hidden)]
        n_nodes += n_hidden
        expected += [(names[a], names[b]) for a, b in edges]
    assert_same(found, expected, 21)


@BOTH
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_nodes(along_spanning_tree, n):
    values = 1.0 - np.eye(n)
    found = grow_forest(values, along_spanning_tree=along_spanning_tree, leaves_only=True)
    assert len(found.edges) == {1: 0, 2: 1, 3: 3}[n]
    assert found.n_nodes == {1: 1, 2: 2, 3: 4}[n]


@BOTH
@pytest.mark.parametrize("leaves_only", [True, False])
def test_nodes_in_the_same_place(along_spanning_tree, leaves_only):
    rng = np.random.default_rng(1)
    edges, n = draw_tree(rng, 4, 3, False)
    values = measure(edges, rng.uniform(0.2, 1.0, len(edges)), n)
    doubled = np.kron(values, np.ones((2, 2)))
    found = grow_forest(doubled, along_spanning_tree=along_spanning_tree, leaves_only=leaves_only)
    ends, lengths = [edge[:2] for edge in found.edges], [edge.length for edge in found.edges]
    assert len(ends) == found.n_nodes - 1
    np.testing.assert_allclose(measure(ends, lengths, 2 * n), doubled, atol=1e-6)


@BOTH
def test_all_nodes_in_one_place(along_spanning_tree):
    found = grow_forest(np.zeros((5, 5)), along_spanning_tree=along_spanning_tree, leaves_only=True)
    assert (found.n_nodes, len(found.edges)) == (6, 5)


@BOTH
def test_order_does_not_matter(along_spanning_tree):
    rng = np.random.default_rng(5)
    edges, n = draw_tree(rng, 6, 6, False)
    values = measure(edges, rng.uniform(0.2, 1.0, len(edges)), n)
    noise = np.triu(rng.normal(0, 0.01, (n, n)), 1)
    values = values + (noise + noise.T)
    errors = np.full((n, n), 0.01)
    order = rng.permutation(n)
    turned = [
        (order[a] if a < n else a, order[b] if b < n else b)
        for a, b, *_ in grow_forest(
            values[np.ix_(order, order)],
            errors,
            along_spanning_tree=along_spanning_tree,
            leaves_only=True,
        ).edges
    ]
    found = grow_forest(values, errors, along_spanning_tree=along_spanning_tree, leaves_only=True)
    assert list_splits(turned, n) == list_splits([edge[:2] for edge in found.edges], n)


@BOTH
@given(st.integers(0, 10**6), st.integers(3, 14))
@settings(max_examples=60, deadline=None)
def test_any_distances_give_a_tree(along_spanning_tree, seed, n):
    """Nonsense, with errors of all sizes, still gives a tree of all nodes."""
    rng = np.random.default_rng(seed)
    values, errors = np.triu(rng.exponential(1.0, (2, n, n)), 1)
    errors[rng.random((n, n)) < 0.2] = np.inf
    found = grow_forest(
        values + values.T,
        np.maximum(errors, errors.T),
        along_spanning_tree=along_spanning_tree,
        leaves_only=bool(seed % 2),
    )
    assert len(found.edges) == found.n_nodes - 1
    splits = list_splits([edge[:2] for edge in found.edges], n)
    assert all(sorted(left + right) == list(range(n)) for left, right in splits)


def test_a_late_search_ends_in_one_family():
    edges, n = draw_tree(np.random.default_rng(0), 5, 4, False)
    values = measure(edges, np.ones(len(edges)), n)
    found = grow_forest(values, leaves_only=True, grouping=ComparisonRules(is_late=lambda: True))
    assert found.n_nodes == n + 1


def test_large_errors_give_a_star():
    edges, n = draw_tree(np.random.default_rng(0), 5, 4, False)
    values = measure(edges, np.ones(len(edges)), n)
    errors = np.full((n, n), 0.9)
    found = grow_forest(values, errors, leaves_only=True, grouping=ComparisonRules(10.0))
    assert found.n_nodes == n + 1


@pytest.mark.parametrize(("reach", "are_siblings"), [(np.inf, False), (4.0, True)])
def test_far_nodes_are_not_compared_beyond_the_reach(reach, are_siblings):
    edges = [(0, 6), (1, 6), (6, 7), (2, 7), (7, 8), (3, 8), (8, 9), (4, 9), (5, 9)]
    values = measure(edges, np.ones(9), 6)
    values[0, 5] = values[5, 0] = 4.5  # not 5
    comparison = compare(values, np.full((6, 6), 0.05), ComparisonRules(1.0, reach))
    assert (comparison.difference[0, 1] <= 1) is np.bool_(are_siblings)


def test_the_spanning_tree_is_minimal():
    rng = np.random.default_rng(0)
    values = np.triu(rng.random((9, 9)), 1)
    values += values.T
    found = find_spanning_tree(Metric(values, np.zeros((9, 9))))
    total, reached = 0.0, {0}  # Prim
    while len(reached) < 9:
        length, new = min((values[a, b], b) for a in reached for b in set(range(9)) - reached)
        total += length
        reached.add(new)
    assert sum(edge.length for edge in found) == pytest.approx(total)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 3)), "square matrix"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "not negative"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "symmetric"),
        (np.eye(2), "diagonal"),
    ],
)
def test_matrices_that_are_no_distances(values, message):
    with pytest.raises(ParameterError, match=message):
        grow_forest(values)


def test_contraction():
    edges = [Edge(0, 4, 0.0, 1.0), Edge(1, 4, 0.5, 1.0), Edge(4, 5, 0.5, 1.0)]
    edges += [Edge(2, 5, 5.0, 1.0), Edge(3, 5, 5.0, 1.0)]
    leaves = contract(edges, 4, 1.0, True)
    assert (leaves.n_nodes, {edge[:2] for edge in leaves.edges}) == (
        5,
        {(0, 4), (1, 4), (2, 4), (3, 4)},
    )
    inner = contract(edges, 4, 1.0, False)
    assert (inner.n_nodes, {edge[:2] for edge in inner.edges}) == (4, {(1, 0), (2, 0), (3, 0)})
    assert contract(edges, 4, 0.1, True).n_nodes == 6


def test_a_structure_of_a_tree():
    edges = (Edge(0, 3, 1.0, 0.0), Edge(1, 3, 1.0, 0.0), Edge(2, 3, 1.0, 0.0))
    variables = [Variable(name, ("0", "1")) for name in ("a", "Y1", "c", "alone")]
    moved = tuple(Edge(e.a, 4, e.length, e.error) for e in edges)
    structure = build_structure(DistanceTree(4, 5, moved), variables)
    assert structure.latents == ("Y2",)
    assert structure.neighbours("Y2") == ("a", "Y1", "c")
    assert structure.neighbours("alone") == ()


def test_continuous_columns_have_no_children():
    variables = [Variable("a", ("0", "1")), *map(Variable, "xyz")]
    edges = (Edge(0, 1, 1.0, 0.1), Edge(2, 3, 1.0, 0.1))
    structure = build_structure(DistanceTree(4, 4, edges), variables)
    assert {name: structure.parents(name) for name in "axyz"} == {
        "a": (),
        "x": ("a",),
        "y": (),
        "z": (),
    }
