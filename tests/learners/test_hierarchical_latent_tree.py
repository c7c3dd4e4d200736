"""Hierarchies of topics."""

import numpy as np
import pytest

from latentforest import HierarchicalLatentTree, Network, Variable
from latentforest.datasets.generate import generate, random_latent_tree, with_missing
from latentforest.errors import ParameterError
from latentforest.learners.hierarchical_latent_tree import name_topics, stack
from latentforest.learners.topics import choose_words, describe_topics, switch_on


@pytest.fixture(scope="module")
def truth():
    return random_latent_tree(48, depth=3, width=4, strength=0.8, random_state=1)


@pytest.fixture(scope="module")
def table(truth):
    return generate(truth, 1000, random_state=1)


@pytest.fixture(scope="module")
def model(table):
    return learn(table)


def learn(table, **settings):
    return HierarchicalLatentTree(**{"random_state": 0, "max_top": 4, **settings}).fit(table)


def groups(network, names):
    found = {}
    for name in names:
        found.setdefault(network.structure.parents(name), set()).add(name)
    return set(map(frozenset, found.values()))


def test_the_first_layer_has_the_true_groups(truth, table, model):
    assert groups(model.network_, table.names) == groups(truth, table.names)


def test_layers_get_smaller_and_are_stacked(model):
    assert [len(layer) for layer in model.layers_] == [16, 4]
    first, second = map(set, model.layers_)
    structure = model.network_.structure
    assert all(structure.parents(name)[0] in second for name in first)
    assert len(structure.roots) == 1


def test_topics(model, table):
    topics = model.topics_
    assert topics["level"] == [2] * 4 + [1] * 16
    assert topics["parent"][:4] == [""] * 4
    assert set(topics["parent"][4:]) == set(model.layers_[1])
    assert np.all(np.diff(topics["share"][:4]) <= 0)
    structure = model.network_.structure
    for name, words in zip(topics["topic"][4:], topics["words"][4:], strict=True):
        assert set(words.split()) == set(structure.children(name))


def test_shares_are_those_of_the_documents(model, table):
    posteriors = dict(zip(model.network_.latents, model.predict_proba(table), strict=True))
    for name, share in zip(model.topics_["topic"], model.topics_["share"], strict=True):
        assert posteriors[name][:, 1].mean() == pytest.approx(share, abs=0.02)


def test_the_last_state_has_more_words(model, table):
    network = model.network_
    for name in model.layers_[0]:
        present = sum(network.cpd(word)[:, 1] for word in network.structure.children(name))
        assert present[1] >= present[0]


def test_assignments(model, table):
    found = model.assign(table, level=2, threshold=0.7)
    assert set(found["level"]) == {2}
    posteriors = dict(zip(model.network_.latents, model.predict_proba(table), strict=True))
    expected = {
        (i, name): posteriors[name][i, 1]
        for name in model.layers_[1]
        for i in np.flatnonzero(posteriors[name][:, 1] >= 0.7)
    }
    rows = list(found.rows())
    assert {(row["document"], row["topic"]): row["probability"] for row in rows} == pytest.approx(
        expected
    )
    assert found["document"] == sorted(found["document"])
    assert len(model.assign(table)) >= len(found)
    with pytest.raises(ParameterError, match="level must be from 1 to 2, got 3"):
        model.assign(table, level=3)


def test_stepwise_em_comes_near_to_em(table, model, monkeypatch):
    monkeypatch.setattr("latentforest.learners.hierarchical_latent_tree.BATCH_ROWS", 100)
    stepwise = learn(table, stepwise=True)
    assert stepwise.layers_ == model.layers_
    assert stepwise.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=5e-3)
    assert stepwise.log_likelihood_ == pytest.approx(stepwise.score_samples(table).sum())


def test_missing_values_weights_and_threads(table):
    some = with_missing(table, 0.1, random_state=1).with_weights(np.arange(1000) % 3)
    one, two = learn(some, n_jobs=1), learn(some, n_jobs=2)
    assert one.network_ == two.network_
    assert one.log_likelihood_ == pytest.approx(some.weights @ one.score_samples(some))


def test_a_tiny_time_limit_gives_a_model(table):
    model = learn(table, time_limit=1e-9)
    assert model.stopped_ == "the time limit was reached"
    assert len(model.layers_) == 1


def test_names_of_topics_are_not_those_of_words():
    assert name_topics(2, 2, ["a"]) == ["Z2.1", "Z2.2"]
    assert name_topics(1, 1, ["Zebra"]) == ["ZZ1.1"]


def binary(name):
    return Variable(name, ("0", "1"))


def test_stacking_drops_the_links_of_the_lower_layer():
    below = Network.from_tables(
        [Variable.hidden("a", 2), Variable.hidden("b", 2), binary("x"), binary("y")],
        {"x": "a", "y": "b", "b": "a"},
        {"a": [0.3, 0.7], "b": np.eye(2), "x": np.eye(2), "y": np.eye(2)},
    )
    above = Network.from_tables(
        [Variable.hidden("top", 2), binary("a"), binary("b")],
        {"a": "top", "b": "top"},
        {"top": [0.5, 0.5], "a": [[0.9, 0.1], [0.2, 0.8]], "b": [[0.6, 0.4], [0.1, 0.9]]},
    )
    network = stack(above, below)
    parents = {name: network.structure.parents(name) for name in network.names}
    assert parents == {"top": (), "a": ("top",), "b": ("top",), "x": ("a",), "y": ("b",)}
    assert network.latents == ("top", "a", "b")
    np.testing.assert_array_equal(network.cpd("a"), above.cpd("a"))


def test_switching_on_changes_no_probability():
    network = Network.from_tables(
        [Variable.hidden("t", 2), binary("x"), binary("y")],
        {"x": "t", "y": "t"},
        {"t": [0.3, 0.7], "x": [[0.1, 0.9], [0.8, 0.2]], "y": [[0.4, 0.6], [0.5, 0.5]]},
    )
    switched = switch_on(network, [["t"]])
    np.testing.assert_allclose(switched.cpd("t"), [0.7, 0.3])
    np.testing.assert_allclose(switched.query(["x", "y"]), network.query(["x", "y"]))
    assert describe_topics(switched, [["t"]], 1)["words"] == ["x"]


def test_words_are_chosen_by_information():
    sizes = np.array([0.5, 0.5])
    given = {"weak": np.array([[0.6, 0.4], [0.4, 0.6]]), "strong": np.eye(2)}
    assert choose_words(sizes, given, 5) == ["strong", "weak"]
    assert choose_words(sizes, given, 1) == ["strong"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_top": 0}, "max_top must be a whole number from 1, got 0"),
        ({"n_words": 0}, "n_words must be a whole number from 1"),
        ({"max_island": 2}, "max_island must be a whole number from 3"),
        ({"threshold": None}, "threshold must be a number, got None"),
        ({"max_iterations": 0}, "max_iterations must be at least 1"),
    ],
)
def test_bad_settings(table, settings, message):
    with pytest.raises(ParameterError, match=message):
        learn(table, **settings)
