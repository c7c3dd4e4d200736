import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentforest.data.variable import Variable
from latentforest.errors import DataError, ModelError
from latentforest.model import Network
from reference.joint import joint_table, marginal_table
from reference.random_networks import networks


@given(network=networks(), data=st.data())
def test_rooting_anywhere_keeps_the_joint(network, data):
    name = data.draw(st.sampled_from(network.names))
    rerooted = network.rooted_at(name)
    assert rerooted.names == network.names
    assert rerooted.structure.parents(name) == ()
    assert rerooted.dimension == network.dimension
    np.testing.assert_allclose(joint_table(rerooted), joint_table(network), rtol=0, atol=1e-12)


@given(network=networks(), data=st.data())
def test_rooting_there_and_back_keeps_the_structure(network, data):
    name = data.draw(st.sampled_from(network.names))
    root = name
    while parents := network.structure.parents(root):
        root = parents[0]
    back = network.rooted_at(name).rooted_at(root)
    assert back.structure == network.structure


def test_rooting_leaves_other_trees_untouched():
    variables = [Variable(name, ("0", "1")) for name in "ABCD"]
    table = [[0.9, 0.1], [0.3, 0.7]]
    tables = {"A": [0.6, 0.4], "B": table, "C": [0.1, 0.9], "D": table}
    network = Network.from_tables(variables, {"B": "A", "D": "C"}, tables)
    rerooted = network.rooted_at("B")
    assert rerooted.structure.roots == ("B", "C")
    assert np.array_equal(rerooted.cpd("D"), network.cpd("D"))
    np.testing.assert_allclose(rerooted.cpd("B"), [0.66, 0.34])
    np.testing.assert_allclose(rerooted.cpd("A")[0], [0.54 / 0.66, 0.12 / 0.66])


def test_rows_of_impossible_states_become_uniform():
    variables = [Variable(name, ("0", "1")) for name in "AB"]
    tables = {"A": [0.6, 0.4], "B": [[1.0, 0.0], [1.0, 0.0]]}
    rerooted = Network.from_tables(variables, {"B": "A"}, tables).rooted_at("B")
    assert np.array_equal(rerooted.cpd("A")[1], [0.5, 0.5])


def test_rooting_a_long_chain_of_nearly_normalised_tables():
    variables = [Variable.hidden(f"Y{i}", 2) for i in range(2000)]
    row = [0.7, 0.3 + 9e-7]
    tables = {f"Y{i}": [row, row[::-1]] for i in range(1, 2000)} | {"Y0": row}
    parents = {f"Y{i}": f"Y{i - 1}" for i in range(1, 2000)}
    rerooted = Network.from_tables(variables, parents, tables).rooted_at("Y1999")
    assert rerooted.structure.roots == ("Y1999",)


def test_only_forests_are_rooted():
    variables = [Variable(name, ("0", "1")) for name in "ABC"]
    tables = {"A": [0.5, 0.5], "B": [0.5, 0.5], "C": np.full((2, 2, 2), 0.5)}
    network = Network.from_tables(variables, {"C": ["A", "B"]}, tables)
    with pytest.raises(ModelError, match="only a forest can be rooted at 'C'"):
        network.rooted_at("C")


@given(network=networks(max_parents=2), data=st.data())
def test_relabelling_keeps_the_distribution_of_the_observed(network, data):
    if not network.latents:
        return
    name = data.draw(st.sampled_from(network.latents))
    order = data.draw(st.permutations(range(network.structure.variable(name).n_states)))
    relabelled = network.relabelled(name, order)
    assert relabelled.structure == network.structure
    expected = joint_table(network).take(order, axis=network.names.index(name))
    np.testing.assert_allclose(joint_table(relabelled), expected, rtol=1e-12)
    np.testing.assert_allclose(
        marginal_table(relabelled, network.observed),
        marginal_table(network, network.observed),
        atol=1e-12,
    )


@pytest.mark.parametrize("order", [[0], [0, 0], [1, 2], [0.0, 1.0], "01", None])
def test_orders_that_are_no_permutation_are_refused(order):
    network = Network.from_tables([Variable.hidden("Y", 2)], {}, {"Y": [0.5, 0.5]})
    with pytest.raises(
        ModelError, match="order of the states of 'Y' must hold each of 0 to 1 once"
    ):
        network.relabelled("Y", order)


def test_observed_states_are_not_relabelled():
    network = Network.from_tables([Variable("X", ("a", "b"))], {}, {"X": [0.5, 0.5]})
    with pytest.raises(ModelError, match="variable 'X' is observed; only latent states"):
        network.relabelled("X", [1, 0])


@given(network=networks(max_parents=2))
def test_renaming_there_and_back(network):
    away = {name: name + "!" for name in network.names}
    renamed = network.renamed(away)
    assert renamed.names == tuple(away.values())
    assert renamed.renamed({new: old for old, new in away.items()}) == network


def test_names_can_be_swapped():
    variables = [Variable("A", ("0", "1")), Variable("B", ("0",))]
    network = Network.from_tables(variables, {"B": "A"}, {"A": [0.1, 0.9], "B": [[1.0], [1.0]]})
    swapped = network.renamed({"A": "B", "B": "A"})
    assert swapped.structure.parents("A") == ("B",)


def test_bad_names_are_refused():
    variables = [Variable("A", ("0", "1")), Variable("B", ("0", "1"))]
    network = Network.from_tables(variables, {}, {"A": [0.1, 0.9], "B": [0.5, 0.5]})
    with pytest.raises(ModelError, match="no variable named 'Z'"):
        network.renamed({"Z": "C"})
    with pytest.raises(ModelError, match="two variables are named 'B'"):
        network.renamed({"A": "B"})
    with pytest.raises(DataError, match="non-empty string, got ''"):
        network.renamed({"A": ""})
