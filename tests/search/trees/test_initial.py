"""Any forest becomes a regular latent tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import BinaryForest, ChowLiu, Dataset, Variable
from latentforest.datasets.generate import random_latent_tree
from latentforest.inference.forest import PatternedData
from latentforest.inference.messages import check_latent_forest
from latentforest.model import Network, Structure
from latentforest.search.regularity import find_irregular
from latentforest.search.trees.initial import (
    cut_constant,
    dissolve,
    join_trees,
    lift_columns,
    make_regular,
    open_pouches,
    reduce_states,
)
from reference.joint import joint_table
from reference.random_networks import fill_randomly, networks


def observed_joint(network):
    """Distribution of the observed variables, sorted by name."""
    joint, names = joint_table(network), list(network.names)
    hidden = tuple(names.index(name) for name in network.latents)
    kept = [name for name in names if name not in network.latents]
    return joint.sum(axis=hidden).transpose(np.argsort(kept))


def sample_for(network, n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    variables = [network.structure.variable(name) for name in network.observed]
    return Dataset(variables, [rng.integers(0, v.n_states, n_rows) for v in variables])


def make(parents, cards, seed=0):
    """A network in which names with Y are latent."""
    variables = [
        Variable.hidden(name, card)
        if name.startswith("Y")
        else Variable(name, tuple("abcdefgh"[:card]))
        for name, card in cards.items()
    ]
    return fill_randomly(Structure(variables, parents), seed, share_of_zeros=0.0)


def assert_regular_tree(network, table):
    check_latent_forest(network.structure)
    assert not find_irregular(network.structure)
    assert set(network.observed) == set(table.names)
    roots = [name for name in network.structure.roots if network.structure.shape(name)[-1] > 1]
    assert len(roots) == 1
    assert np.all(network.parameters >= 0)
    for name in network.names:
        np.testing.assert_allclose(network.cpd(name).sum(axis=-1), 1.0)


@settings(deadline=None, max_examples=50)
@given(network=networks(max_variables=9), seed=st.integers(0, 100))
def test_any_forest(network, seed):
    n_columns = sum(network.structure.shape(name)[-1] > 1 for name in network.observed)
    if n_columns < 3:
        return
    table = sample_for(network, seed=seed)
    result = make_regular(network, PatternedData(table))
    if result is None:
        varying = {x for x in network.observed if network.structure.shape(x)[-1] > 1}
        assert not any(varying & {*network.structure.parents(x)} for x in varying)
    else:
        assert_regular_tree(result, table)


def test_a_regular_tree_stays_as_it_is():
    network = random_latent_tree(8, random_state=1)
    table = network.sample(200, random_state=1)
    result = make_regular(network, PatternedData(table))
    assert set(result.names) == set(network.names)
    np.testing.assert_allclose(observed_joint(result), observed_joint(network))


def test_summing_out_changes_nothing_but_the_variable():
    arcs = {"Y2": "Y1", "Y3": "Y2", "a": "Y1", "b": "Y1", "c": "Y3", "d": "Y3"}
    network = make(arcs, {"Y1": 2, "Y2": 3, "Y3": 2, "a": 2, "b": 2, "c": 3, "d": 2})
    result = dissolve(network, 2)
    assert result.latents == ("Y1", "Y3")
    np.testing.assert_allclose(observed_joint(result), observed_joint(network))


def test_latent_leaves_disappear():
    arcs = {"Y2": "Y1", "Y3": "Y2", "a": "Y1", "b": "Y1", "c": "Y1"}
    network = make(arcs, {"Y1": 2, "Y2": 3, "Y3": 2, "a": 2, "b": 2, "c": 3, "Y4": 2})
    result = dissolve(network, 1)
    assert result.latents == ("Y1",)
    np.testing.assert_allclose(observed_joint(result), observed_joint(network))


def test_inner_columns_become_leaves_of_copies(monkeypatch):
    monkeypatch.setattr("latentforest.search.trees.initial.BLUR", 0.0)
    network = make({"b": "a", "c": "b", "d": "b"}, {"a": 2, "b": 3, "c": 2, "d": 2})
    result = lift_columns(network)
    check_latent_forest(result.structure)
    assert len(result.latents) == 2
    np.testing.assert_allclose(observed_joint(result), observed_joint(network))


def test_constant_variables_are_cut_off():
    arcs = {"a": "Y1", "b": "Y1", "c": "Y1", "k": "Y1", "Y2": "Y1", "d": "Y2"}
    network = make(arcs, {"Y1": 2, "a": 2, "b": 2, "c": 2, "k": 1, "Y2": 1, "d": 2})
    result = cut_constant(network)
    assert result.latents == ("Y1",)
    assert set(result.structure.roots) == {"Y1", "k", "d"}
    np.testing.assert_allclose(observed_joint(result), observed_joint(network))


def test_columns_of_pouches_become_leaves_with_their_variances():
    variables = [Variable.hidden("Y", 2), Variable("a"), Variable("b"), Variable("c")]
    tables = {
        "Y": [0.25, 0.75],
        "a": [[1.0, 4.0, 0.5], [2.0, 9.0, 1.5]],
        "b": [[3.0, 0.5, 1.0], [4.0, 1.5, 16.0]],
        "c": [[5.0, 25.0], [6.0, 36.0]],
    }
    joint = Network.from_tables(variables, dict.fromkeys("abc", "Y"), tables, [["a", "b"]])
    network = open_pouches(joint)
    assert not network.structure.pouches
    assert network.cpd("a").tolist() == [[1.0, 4.0], [2.0, 9.0]]
    assert network.cpd("b").tolist() == [[3.0, 1.0], [4.0, 16.0]]
    assert np.array_equal(network.cpd("c"), tables["c"])
    assert open_pouches(network) is network


def test_trees_are_joined_where_they_depend():
    """Y1 and Y2 depend, Y3 is on its own: it may hang anywhere, but these two are joined."""
    variables = [Variable.hidden(y, 2) for y in ("Y1", "Y2", "Y3")]
    variables += [Variable(f"x{y}{i}", ("0", "1")) for y in (1, 2, 3) for i in range(3)]
    arcs = {"Y2": "Y1"} | {f"x{y}{i}": f"Y{y}" for y in (1, 2, 3) for i in range(3)}
    sharp = [[0.95, 0.05], [0.05, 0.95]]
    tables = {"Y1": [0.5, 0.5], "Y3": [0.5, 0.5]} | dict.fromkeys(arcs, sharp)
    network = Network.from_tables(variables, arcs, tables)
    table = network.sample(2000, random_state=0)
    apart = Network.from_tables(
        variables,
        {name: above for name, above in arcs.items() if name not in ("Y2", "x32")},
        tables | {"Y2": [0.5, 0.5], "x32": [0.5, 0.5]},
    )
    joined = join_trees(apart, PatternedData(table))
    assert len(joined.structure.roots) == 1
    assert "Y2" in joined.structure.neighbours("Y1")
    assert joined.structure.neighbours("x32") == ("Y3",)
    np.testing.assert_allclose(joined.cpd("x32"), sharp, atol=0.1)


def test_states_are_merged_until_all_is_regular():
    arcs = dict.fromkeys("abc", "Y1") | dict.fromkeys("def", "Y2") | {"Y2": "Y1"}
    network = make(arcs, {"Y1": 9, "Y2": 7} | dict.fromkeys("abcdef", 2))
    result = reduce_states(network)
    assert not find_irregular(result.structure)
    limited = reduce_states(network, 3)
    assert [limited.structure.shape(name)[-1] for name in limited.latents] == [3, 3]
    for each in (result, limited):
        assert observed_joint(each).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("learner", [BinaryForest(random_state=0), ChowLiu(), ChowLiu("bic")])
def test_results_of_learners(learner):
    table = random_latent_tree(9, random_state=2).sample(400, random_state=2)
    network = learner.fit(table).network_
    assert_regular_tree(make_regular(network, PatternedData(table)), table)


def test_without_an_edge_there_is_nothing_to_begin_with():
    network = make({}, {"a": 2, "b": 2, "c": 2})
    assert make_regular(network, PatternedData(sample_for(network))) is None
