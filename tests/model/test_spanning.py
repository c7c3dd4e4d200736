"""Spanning forests against Kruskal's and Prim's algorithms."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

from latentforest.model.spanning import direct, spanning_forest
from reference.spanning import kruskal, prim


def make_gains(seed, n, values=None):
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(n, n)) if values is None else rng.choice(values, (n, n))
    upper = np.triu(drawn, 1)
    return upper + upper.T


@given(seed=st.integers(0, 10**6), n=st.integers(1, 9))
def test_kruskal_and_prim_give_the_same_tree(seed, n):
    gains = make_gains(seed, n)
    found = set(spanning_forest(gains))
    assert found == kruskal(gains) == prim(gains)


@pytest.mark.parametrize("n", [2, 30, 200])
def test_the_same_tree_as_scipy(n):
    gains = make_gains(n, n)
    tree = minimum_spanning_tree(gains.max() + 1.0 - gains).tocoo()
    pairs = zip(tree.row.tolist(), tree.col.tolist(), strict=True)
    assert set(spanning_forest(gains)) == {(min(pair), max(pair)) for pair in pairs}


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8))
def test_ties_are_taken_in_order(seed, n):
    gains = make_gains(seed, n, [0.0, 1.0, 2.0])
    assert set(spanning_forest(gains)) == kruskal(gains)
    assert set(spanning_forest(gains, 0.0)) == kruskal(gains, 0.0)


@given(seed=st.integers(0, 10**6))
def test_differences_by_rounding_are_ties(seed):
    gains = make_gains(seed, 6, [0.0, 1.0, 2.0])
    noise = make_gains(seed + 1, 6) * 1e-15
    assert spanning_forest(gains + noise) == spanning_forest(gains)


def test_zero_gains_are_edges_of_a_tree():
    assert spanning_forest(np.zeros((4, 4))) == [(0, 1), (0, 2), (0, 3)]
    assert spanning_forest(np.zeros((4, 4)), 0.0) == []


def test_the_greatest_gain_comes_first():
    gains = make_gains(3, 7)
    kept = [gains[edge] for edge in spanning_forest(gains)]
    assert kept == sorted(kept, reverse=True)


@pytest.mark.parametrize("root", range(5))
def test_rooting(root):
    edges = [(0, 1), (1, 2), (1, 3)]
    parents = direct(edges, 5, [root])
    assert parents[root] == -1
    arcs = {(min(i, j), max(i, j)) for i, j in enumerate(parents) if j >= 0}
    assert arcs == set(edges)
    assert parents.count(-1) == 2


def test_the_tree_of_most_information():
    rng = np.random.default_rng(1)
    information = rng.random((5, 5))
    information += information.T
    above = direct(spanning_forest(information), 5)
    assert above[0] == -1
    edges = {frozenset((i, int(above[i]))) for i in range(1, 5)}
    best = max(
        (tree for tree in combinations(combinations(range(5), 2), 4) if connects(tree)),
        key=lambda tree: sum(information[edge] for edge in tree),
    )
    assert edges == {frozenset(edge) for edge in best}


def connects(edges):
    """Whether some edges make a tree of five variables."""
    reached = {0}
    for _ in range(5):
        reached |= {z for edge in edges if reached & set(edge) for z in edge}
    return len(reached) == 5
