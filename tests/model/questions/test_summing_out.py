import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import Network, Structure
from latentforest.model.questions.summing_out import (
    count_parameters_without,
    find_parents_without,
    sum_out,
)
from reference.enumeration import tree_joint
from reference.random_networks import networks


@given(network=networks(max_variables=6, max_parents=3), data=st.data())
def test_the_rest_keeps_its_joint_distribution(network, data):
    if len(network.names) < 2:
        return
    name = data.draw(st.sampled_from(network.names))
    smaller = Network(*sum_out(network.structure, network.parameters, name))
    names = list(smaller.names)
    assert sorted([*names, name]) == sorted(network.names)
    whole = tree_joint(network.structure, network.parameters, [*names, name])
    part = tree_joint(smaller.structure, smaller.parameters, names)
    np.testing.assert_allclose(part, whole.sum(axis=-1), atol=1e-12)
    change = count_parameters_without(network.structure, name)
    assert smaller.structure.dimension - network.structure.dimension == change


def test_a_variable_in_a_chain_hands_its_parent_on():
    structure = Structure(
        [Variable.hidden("X", 2), Variable.hidden("Y", 3), *columns("AB")],
        {"Y": "X", "A": ["B", "Y"]},
    )
    assert find_parents_without(structure, "Y") == {"A": ("B", "X")}


def test_children_depend_on_each_other_in_the_order_asked_for():
    structure = Structure([Variable.hidden("X", 2), *columns("ABC")], {"A": ["X", "C"], "B": "X"})
    assert find_parents_without(structure, "X", ["B", "A"]) == {"B": (), "A": ("C", "B")}
    assert find_parents_without(structure, "X", ["A", "B"]) == {"A": ("C",), "B": ("C", "A")}


def test_a_variable_of_one_state_leaves_no_links():
    structure = Structure(
        [Variable.hidden("X", 2), Variable.hidden("Y", 1), *columns("AB")],
        {"Y": "X", "A": "Y", "B": ["Y", "X"]},
    )
    assert find_parents_without(structure, "Y") == {"A": (), "B": ("X",)}


def test_a_variable_of_one_state_may_have_continuous_children():
    structure = Structure(
        [Variable.hidden("X", 2), Variable.hidden("Y", 1), *map(Variable, ("weight", "height"))],
        {"height": ["weight", "Y", "X"]},
    )
    network = Network(structure, [0.5, 0.5, 1.0, 60.0, 9.0, *(1.0, 0.5, 4.0), *(2.0, 0.6, 5.0)])
    smaller = Network(*sum_out(structure, network.parameters, "Y"))
    assert smaller.structure.parents("height") == ("weight", "X")
    np.testing.assert_array_equal(smaller.table_view("height"), [[1.0, 0.5, 4.0], [2.0, 0.6, 5.0]])
    np.testing.assert_array_equal(smaller.table_view("weight"), [60.0, 9.0])


def test_mixtures_of_gaussians_are_not_summed():
    structure = Structure([Variable.hidden("X", 2), Variable("height")], {"height": "X"})
    with pytest.raises(ModelError, match="'X' cannot be summed out: 'height' is continuous"):
        find_parents_without(structure, "X")


def test_too_many_parents():
    names = [f"A{i}" for i in range(40)]
    variables = [Variable.hidden("X", 2), *columns(names)]
    structure = Structure(variables, dict.fromkeys(names, "X"))
    with pytest.raises(ModelError, match="without 'X', variable 'A32' would have 32 parents"):
        find_parents_without(structure, "X")


def columns(names):
    return [Variable(name, ("no", "yes")) for name in names]
