"""What the page computes is what the network says, to nine decimals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import LatentClass, datasets
from latentforest.data.values import Code
from latentforest.data.variable import Variable
from latentforest.errors import ModelError
from latentforest.model import Network, Structure
from latentforest.report.content import make_content
from reference.mixed_networks import draw_mixed
from reference.page_engine import ask_page, run
from reference.pouch_networks import SHAPES, make_pouch_structure
from reference.random_networks import networks

TOLERANCE = 1e-9


def check(network, evidence, which="reported"):
    """Compare the page with the network; evidence is by name, in codes and numbers."""
    content = make_content(network)
    places = {name: place for place, name in enumerate(network.names)}
    log, found = ask_page(content, {places[name]: v for name, v in evidence.items()}, which)
    numbers = set(network.structure.continuous)
    asked = {n: v if n in numbers else Code(v) for n, v in evidence.items()}
    judge = network if which == "reported" else network.predictive
    expected_log = log_probability(judge, asked)
    if expected_log == -np.inf:
        assert log is None
        return
    assert log == pytest.approx(expected_log, abs=TOLERANCE)
    for name in set(network.names) - set(evidence):
        if name in numbers:
            mixture = judge.mixture(name, asked)
            expected = (mixture.mean, mixture.variance**0.5)
            assert found[places[name]] == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)
        else:
            shares = judge.query(name, asked).values
            assert np.abs(np.array(found[places[name]]) - shares).max() < TOLERANCE


def log_probability(network, asked):
    try:
        return network.log_probability(asked)
    except ModelError:
        return -np.inf


@st.composite
def questions(draw, max_parents):
    network = draw(networks(max_variables=6, max_parents=max_parents))
    known = draw(st.lists(st.sampled_from(network.names), unique=True, max_size=3))
    return network, {
        name: draw(st.integers(0, len(network.structure.states(name)) - 1)) for name in known
    }


@settings(max_examples=30, deadline=None)
@given(questions(max_parents=1))
def test_forests(question):
    check(*question)


@settings(max_examples=30, deadline=None)
@given(questions(max_parents=3))
def test_general_networks(question):
    check(*question)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("known", [{}, {"a": 0.7}, {"K": 1}, {"a": -0.4, "d": 1.2, "L": 0}])
def test_pouches(shape, known):
    network = draw_mixed(make_pouch_structure(shape), 3)
    check(network, {name: value for name, value in known.items() if name in network.names})


@pytest.mark.parametrize("known", [{}, {"r": 0.5}, {"p": 1.0, "r": -2.0}, {"c": 2, "q": 0.3}])
def test_lines_between_continuous_variables(known):
    variables = [Variable.hidden("Y", 2), Variable.hidden("Z", 3), Variable("c", ("0", "1", "2"))]
    variables += [Variable(name) for name in "pqrs"]
    parents = {"c": ("Y", "Z"), "p": "Y", "q": ("p", "Z"), "r": ("q",), "s": ()}
    check(draw_mixed(Structure(variables, parents), 5), known)


@pytest.mark.parametrize("which", ["reported", "predictive"])
def test_reported_and_predictive_parameters(which):
    variables = [Variable.hidden("Y", 2), Variable("a", ("0", "1")), Variable("x")]
    structure = Structure(variables, {"a": "Y", "x": "Y"})
    one, other = (draw_mixed(structure, seed) for seed in (1, 2))
    check(one.with_predictive(other.parameters), {"a": 1, "x": 0.2}, which)


def test_a_learned_model():
    data = datasets.load("hiv-tests")
    network = LatentClass(2, random_state=0).fit(data).network_
    check(network, dict.fromkeys(network.observed[:3], 1))
    check(network, dict.fromkeys(network.observed[:3], 1), "predictive")


def test_what_cannot_occur_has_no_answers():
    health, fever = Variable.hidden("health", 2), Variable("fever", ("no", "yes"))
    tables = {"health": [0.75, 0.25], "fever": [[1, 0], [0.5, 0.5]]}
    network = Network.from_tables([health, fever], {"fever": "health"}, tables)
    log, answers = ask_page(make_content(network), {0: 0, 1: 1})
    assert log is None
    assert answers == {}


def test_values_far_away_stay_answered():
    """A hundred standard deviations out, only logarithms tell the states apart."""
    variables = [Variable.hidden("Y", 2), Variable("x"), Variable("y")]
    network = draw_mixed(Structure(variables, {"x": "Y", "y": "Y"}), 4)
    check(network, {"x": 300.0, "y": -500.0})


def test_moves_are_divergences_in_bits():
    assert run("bitsMoved", [1, 0], [0.25, 0.75]) == pytest.approx(2)
    same = {"weights": [1], "means": [0], "variances": [1]}
    moved = {"weights": [1], "means": [1], "variances": [1]}
    assert run("bitsMovedBetween", same, same) == pytest.approx(0, abs=1e-9)
    assert run("bitsMovedBetween", moved, same) == pytest.approx(0.5 / np.log(2), rel=1e-4)
