import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import Network, Structure
from latentforest.search.glc.dominance import dominates, includes, marginally_equivalent
from latentforest.search.glc.regularization import regularize
from reference.generalized import random_generalized
from reference.random_networks import fill_randomly


def make(latents, parents):
    columns = sorted(
        {*parents} - {*latents} | {p for ps in parents.values() for p in ps} - {*latents}
    )
    variables = [Variable.hidden(name, card) for name, card in latents.items()]
    return Structure([*variables, *(Variable(name, ("no", "yes")) for name in columns)], parents)


def latent_class(n_states, names="ABC"):
    return make({"X": n_states}, {name: ["X"] for name in names})


SATURATED = make({}, {"A": [], "B": ["A"], "C": ["A", "B"]})


@pytest.mark.parametrize("seed", range(20))
def test_regularization_dominates(seed):
    network = random_generalized(seed)
    regular = regularize(network)
    assert dominates(regular, network)
    assert marginally_equivalent(regular, network)
    if regular.dimension < network.dimension:
        assert not dominates(network, regular)


def test_other_parameters_are_not_equivalent():
    structure = latent_class(2)
    a, b = fill_randomly(structure, 0), fill_randomly(structure, 1)
    assert marginally_equivalent(a, a.relabelled("X", [1, 0]))
    assert not marginally_equivalent(a, b)
    assert not dominates(a, b)


def test_the_order_of_variables_does_not_matter():
    network = fill_randomly(latent_class(2), 0)
    turned = Network.from_tables(
        network.variables[::-1],
        dict.fromkeys("ABC", "X"),
        {name: network.cpd(name) for name in network.names},
    )
    assert marginally_equivalent(network, turned)


def test_large_tables_are_compared_on_sampled_rows():
    names = [f"A{i}" for i in range(25)]
    network = fill_randomly(latent_class(2, names), 0, share_of_zeros=0)
    assert marginally_equivalent(network, network.relabelled("X", [1, 0]))
    tables = {name: network.cpd(name) for name in network.names}
    tables["A7"] = np.add(network.cpd("A7"), [[1e-6, -1e-6], [0, 0]])
    other = Network.from_tables(network.variables, dict.fromkeys(names, "X"), tables)
    assert not marginally_equivalent(network, other)


def test_continuous_networks_are_compared_on_sampled_rows():
    parts = [Variable.hidden("X", 2), Variable("length"), Variable("width")]
    parents = {"length": "X", "width": "X"}
    tables = {"X": [0.7, 0.3], "length": [[0, 1], [3, 1]], "width": [[0, 1], [1, 2]]}
    network = Network.from_tables(parts, parents, tables)
    assert dominates(network.relabelled("X", [1, 0]), network)
    moved = Network.from_tables(parts, parents, tables | {"width": [[0, 1], [1, 2.1]]})
    assert not marginally_equivalent(network, moved)


def test_the_same_dimension_is_not_the_same_model():
    assert latent_class(2).dimension == SATURATED.dimension == 7
    assert dominates(SATURATED, latent_class(2))
    assert not dominates(latent_class(2), SATURATED)
    assert not marginally_equivalent(latent_class(2), SATURATED)


def test_moving_the_root_gives_an_equivalent_structure():
    parents = {"A": ["X"], "B": ["X"], "C": ["Y"], "D": ["Y", "C"]}
    first = make({"X": 2, "Y": 2}, parents | {"Y": ["X"]})
    second = make({"X": 2, "Y": 2}, parents | {"X": ["Y"]})
    assert marginally_equivalent(first, second)
    assert dominates(first, second)
    assert dominates(second, first)


def test_a_tie_that_is_none_loses_something():
    tie = make({"X": 2, "Y": 2}, {"Y": ["X"], "A": ["X"], "B": ["X"], "C": ["Y"]})
    assert dominates(latent_class(2), tie)
    assert not dominates(latent_class(2), latent_class(3))


def test_states_beyond_the_bound_of_a_star_add_nothing():
    assert dominates(latent_class(4), latent_class(5))
    assert not includes(latent_class(2), latent_class(3))


@pytest.mark.parametrize("n_states", [3, 4])
def test_a_printed_star_whose_children_have_other_parents_needs_its_states(n_states):
    """Five states are more than 2 · 2, but four give a set of distributions of lower dimension.

    With a binary other parent, each child is a vector of three numbers in each state: the joint
    distribution is a 3 x 3 x 3 tensor, and those of rank four satisfy Strassen's equation.
    """
    parents = {"A": ["X", "D"], "B": ["X", "E"], "C": ["X", "F"]}
    assert not dominates(make({"X": n_states}, parents), make({"X": 5}, parents))
    assert includes(make({"X": 6}, parents), make({"X": 5}, parents), n_draws=1)


def test_models_that_cannot_be_compared():
    with pytest.raises(ModelError, match=r"differ in their manifest variables.*\['D'\]"):
        dominates(latent_class(2), latent_class(2, "ABCD"))
    with pytest.raises(ModelError, match="two networks can be compared, or two structures"):
        marginally_equivalent(fill_randomly(SATURATED, 0), SATURATED)
    large = latent_class(2, [f"A{i}" for i in range(20)])
    with pytest.raises(ModelError, match="2,097,152 joint states; up to 16,384"):
        includes(large, large)
    numbers = Structure([Variable("height")], {})
    with pytest.raises(ModelError, match="only categorical structures"):
        includes(numbers, numbers)


def test_the_answer_is_repeatable():
    answers = {includes(latent_class(2), SATURATED, n_draws=2, n_starts=3) for _ in range(3)}
    assert len(answers) == 1
