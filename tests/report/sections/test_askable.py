"""What the page can compute from the content is what the network says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.data.values import Code
from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import Network, Structure
from latentforest.report.content import make_content
from latentforest.report.opening import open_subject
from latentforest.report.sections.askable import describe_model
from reference.mixed_networks import draw_mixed
from reference.page_inference import ask
from reference.pouch_networks import SHAPES, make_pouch_structure
from reference.random_networks import networks

TOLERANCE = 1e-9


def check(network, evidence, which="reported"):
    """Compare all answers with those of the network; evidence is by name, in codes and numbers."""
    content = make_content(network)
    assert content["model"]["is_askable"]
    places = {name: place for place, name in enumerate(network.names)}
    found = ask(content, {places[name]: value for name, value in evidence.items()}, which)
    numbers = set(network.structure.continuous)
    asked = {n: v if n in numbers else Code(v) for n, v in evidence.items()}
    judge = network if which == "reported" else network.predictive
    try:
        judge.log_probability(asked)
        probability = judge.log_probability(asked)
    except ModelError:
        probability = -np.inf
    if probability == -np.inf:
        assert found is None
        return
    for name in network.names:
        if name in evidence:
            continue
        if name in numbers:
            mixture = judge.mixture(name, asked)
            assert found[places[name]] == pytest.approx(
                (mixture.mean, mixture.variance), rel=TOLERANCE, abs=TOLERANCE
            )
        else:
            expected = judge.query(name, asked).values
            assert np.abs(found[places[name]] - expected).max() < TOLERANCE


@st.composite
def questions(draw, max_parents):
    network = draw(networks(max_variables=6, max_parents=max_parents))
    known = draw(st.lists(st.sampled_from(network.names), unique=True, max_size=3))
    return network, {
        name: draw(st.integers(0, len(network.structure.states(name)) - 1)) for name in known
    }


@settings(max_examples=40, deadline=None)
@given(questions(max_parents=1))
def test_forests_are_answered_exactly(question):
    check(*question)


@settings(max_examples=40, deadline=None)
@given(questions(max_parents=3))
def test_general_networks_are_answered_exactly(question):
    check(*question)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("known", [{}, {"a": 0.7}, {"K": 1}, {"a": -0.4, "d": 1.2, "L": 0}])
def test_pouches_are_answered_exactly(shape, known):
    network = draw_mixed(make_pouch_structure(shape), 3)
    check(network, {name: value for name, value in known.items() if name in network.names})


def make_linear():
    """Lines below two latent variables that meet in one block, and a categorical collider."""
    variables = [Variable.hidden("Y", 2), Variable.hidden("Z", 3), Variable("c", ("0", "1", "2"))]
    variables += [Variable(name) for name in "pqrs"]
    parents = {"c": ("Y", "Z"), "p": "Y", "q": ("p", "Z"), "r": ("q",), "s": ()}
    return draw_mixed(Structure(variables, parents), 5)


@pytest.mark.parametrize(
    "known", [{}, {"r": 0.5}, {"p": 1.0, "r": -2.0}, {"c": 1}, {"c": 2, "q": 0.3, "s": 1.0}]
)
def test_linear_gaussians_are_multiplied_out(known):
    check(make_linear(), known)


def test_predictive_parameters_have_answers_of_their_own():
    variables = [Variable.hidden("Y", 2), Variable("a", ("0", "1")), Variable("x")]
    structure = Structure(variables, {"a": "Y", "x": "Y"})
    one, other = (draw_mixed(structure, seed) for seed in (1, 2))
    network = one.with_predictive(other.parameters)
    check(network, {"a": 1, "x": 0.2})
    check(network, {"a": 1, "x": 0.2}, "predictive")


def test_too_many_configurations_are_not_asked():
    variables = [Variable(f"k{i}", tuple("abcdefghij")) for i in range(6)]
    variables += [Variable("x"), Variable("y")]
    parents = {"x": ("k0", "k1", "k2"), "y": ("x", "k3", "k4", "k5")}
    found = describe_model(open_subject(draw_mixed(Structure(variables, parents), 0)))
    assert not found["is_askable"]
    assert "4,000,000 covariances" in found["why_not"]
    assert found["families"] == []


def test_large_tables_leave_out_the_predictive_parameters_first():
    variables = [Variable(f"k{i}", tuple("abcdefghij")) for i in range(5)]
    some = Structure([*variables[:4], Variable("l", tuple("abc"))], {"l": ("k0", "k1", "k2", "k3")})
    network = draw_mixed(some, 0)
    model = describe_model(open_subject(network.with_predictive(network.parameters)))
    assert model["is_askable"]
    assert model["families"][-1]["predictive"] is None
    many = Structure(variables, {"k4": ("k0", "k1", "k2", "k3")})
    assert "100,040 numbers" in describe_model(open_subject(draw_mixed(many, 0)))["why_not"]


def test_a_dense_network_is_not_asked():
    n = 24
    variables = [Variable(f"a{i}", ("0", "1")) for i in range(n)] + [
        Variable(f"b{i}_{j}", ("0", "1")) for i in range(n) for j in range(i)
    ]
    parents = {f"b{i}_{j}": (f"a{i}", f"a{j}") for i in range(n) for j in range(i)}
    structure = Structure(variables, parents)
    theta = np.full(structure.n_values, 0.5)
    found = describe_model(open_subject(Network(structure, theta)))
    assert "cells would have to be summed" in found["why_not"]
