"""When two structures are the same model."""

import pytest

from latentforest import Structure, Variable
from latentforest.search.averaging.identity import describe_model

COLUMNS = [Variable(name, ("0", "1")) for name in "abcd"]


def make(parents, **latents):
    hidden = [Variable.hidden(name, n_states) for name, n_states in latents.items()]
    return Structure([*COLUMNS, *hidden], parents)


TREE = make({"a": "X", "b": "X", "c": "Y", "d": "Y", "Y": "X"}, X=2, Y=3)


@pytest.mark.parametrize(
    "other",
    [
        make({"a": "P", "b": "P", "c": "Q", "d": "Q", "P": "Q"}, Q=3, P=2),
        make({"X": "a", "b": "X", "c": "Y", "d": "Y", "Y": "X"}, Y=3, X=2),
    ],
)
def test_the_same_tree(other):
    assert describe_model(other) == describe_model(TREE)


@pytest.mark.parametrize(
    "other",
    [
        make({"a": "X", "b": "X", "c": "Y", "d": "Y", "Y": "X"}, X=3, Y=2),
        make({"a": "X", "c": "X", "b": "Y", "d": "Y", "Y": "X"}, X=2, Y=3),
        make({"a": "X", "b": "X", "c": "Y", "d": "Y"}, X=2, Y=3),
        make({"a": "X", "b": "X", "c": "X", "d": "X"}, X=2),
    ],
)
def test_other_trees(other):
    assert describe_model(other) != describe_model(TREE)


def test_directions_matter_where_arcs_meet():
    one = make({"c": ("a", "X"), "d": "X", "b": "X"}, X=2)
    two = make({"a": "c", "c": "X", "d": "X", "b": "X"}, X=2)
    assert describe_model(one) != describe_model(two)


def test_without_latent_variables_independences_count():
    chain, back = make({"b": "a", "c": "b"}), make({"a": "b", "b": "c"})
    collider = make({"b": ("a", "c")})
    assert describe_model(chain) == describe_model(back) != describe_model(collider)
