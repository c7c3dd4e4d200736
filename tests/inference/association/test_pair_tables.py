"""Tables of pairs of variables, against the network's own answers."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

import latentforest as lf
from latentforest.inference.association.pair_tables import (
    EliminatedTables,
    TreeTables,
    information_in,
    is_tree_like,
    make_pair_tables,
)
from latentforest.model.graphs import find_way
from reference.random_networks import networks


@settings(max_examples=30, deadline=None)
@given(networks(max_variables=6, max_parents=1))
def test_a_forest(network):
    tables = make_pair_tables(network)
    assert isinstance(tables, TreeTables)
    for name in network.names:
        assert tables.marginal(name) == pytest.approx(network.query(name).values, abs=1e-12)
    for a, b in permutations(network.names, 2):
        joint = network.query([a, b]).values
        assert np.abs(tables.joint(a, b) - joint).max() < 1e-12
        assert tables.information(a, [b])[0] == pytest.approx(information_in(joint), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(networks(max_variables=5, max_parents=3))
def test_any_network(network):
    tables = EliminatedTables(network)
    for a, b in permutations(network.names, 2):
        assert np.abs(tables.joint(a, b) - network.query([a, b]).values).max() < 1e-12


@settings(max_examples=20, deadline=None)
@given(networks(max_variables=6, max_parents=1))
def test_all_columns_at_once(network):
    names = network.names
    tables = TreeTables(network)
    found = tables.columns_by_columns(names, names)
    edges = np.cumsum([0, *(len(network.structure.states(name)) for name in names)])
    for i, j in permutations(range(len(names)), 2):
        block = found[edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
        assert np.abs(block - network.query([names[i], names[j]]).values).max() < 1e-12


def test_continuous_variables_with_two_parents_leave_a_tree():
    variables = [lf.Variable.hidden("Y", 2), lf.Variable("x"), lf.Variable("y")]
    assert is_tree_like(lf.Structure(variables, {"y": ("Y", "x")}))
    variables = [lf.Variable(name, ("0", "1")) for name in "abc"]
    assert not is_tree_like(lf.Structure(variables, {"c": ("a", "b")}))


def test_the_way_between_two_variables():
    variables = [lf.Variable(name, ("0", "1")) for name in "abcde"]
    structure = lf.Structure(variables, {"b": "a", "c": "a", "d": "c"})
    assert find_way(structure, "b", "d") == ["b", "a", "c", "d"]
    assert find_way(structure, "a", "d") == ["a", "c", "d"]
    assert find_way(structure, "d", "d") == ["d"]
    assert find_way(structure, "e", "a") is None
