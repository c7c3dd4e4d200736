"""Hierarchies of topics."""

import numpy as np
import pytest

from latentforest import Code, HierarchicalLatentTree, Network, Variable
from latentforest.datasets.generate import generate, random_latent_tree, with_missing
from latentforest.errors import ParameterError
from latentforest.learners.hierarchical_latent_tree import name_topics, stack
from latentforest.learners.parts.topics import (
    TopicGaussian,
    choose_words,
    describe_topics,
    find_words,
    switch_on,
)
from latentforest.model.gaussian import information_of_mixtures
from reference.reported import reported


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
    assert stepwise.log_likelihood_ == pytest.approx(reported(stepwise).score_samples(table).sum())


def test_missing_values_weights_and_threads(table):
    some = with_missing(table, 0.1, random_state=1).with_weights(np.arange(1000) % 3)
    one, two = learn(some, n_jobs=1), learn(some, n_jobs=2)
    assert one.network_ == two.network_
    assert one.log_likelihood_ == pytest.approx(some.weights @ reported(one).score_samples(some))


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


def make_mixed(n_groups=9, seed=0):
    """Groups of three columns below three topics; two columns of a group are continuous."""
    rng = np.random.default_rng(seed)
    variables, parents = [Variable.hidden("top", 2)], {}
    tables = {"top": [0.5, 0.5]}
    for g in range(n_groups):
        middle, latent = f"middle{g // 3}", f"low{g}"
        if g % 3 == 0:
            variables.append(Variable.hidden(middle, 2))
            parents[middle], tables[middle] = "top", [[0.75, 0.25], [0.25, 0.75]]
        variables.append(Variable.hidden(latent, 2))
        parents[latent], tables[latent] = middle, [[0.85, 0.15], [0.15, 0.85]]
        for k in range(3):
            name = f"x{g}{k}"
            parents[name] = latent
            if k == 0:
                variables.append(Variable(name, ("no", "yes")))
                tables[name] = [[0.95, 0.05], [0.05, 0.95]]
            else:
                variables.append(Variable(name))
                means = 10.0 * g + 4.0 * np.arange(2)
                tables[name] = np.stack([means, rng.uniform(0.7, 1.3, 2)], axis=1)
    return Network.from_tables(variables, parents, tables)


@pytest.fixture(scope="module")
def mixed_truth():
    return make_mixed()


@pytest.fixture(scope="module")
def mixed_table(mixed_truth):
    table = with_missing(mixed_truth.sample(1000, random_state=1), 0.05, random_state=2)
    return table.with_weights(np.random.default_rng(3).choice([0.5, 1.0, 2.0], 1000))


@pytest.fixture(scope="module")
def mixed_model(mixed_table):
    return learn(mixed_table, max_top=3)


def test_hierarchies_of_mixed_columns(mixed_truth, mixed_table, mixed_model):
    network = mixed_model.network_
    assert groups(network, mixed_table.names) == groups(mixed_truth, mixed_table.names)
    assert [len(layer) for layer in mixed_model.layers_] == [9, 3]
    columns = {
        frozenset(name for low in network.structure.children(y) for name in below(network, low))
        for y in mixed_model.layers_[1]
    }
    expected = {
        frozenset(f"x{g}{k}" for g in range(3 * m, 3 * m + 3) for k in range(3)) for m in range(3)
    }
    assert columns == expected
    weights = mixed_table.weights
    values = reported(mixed_model).score_samples(mixed_table)
    assert mixed_model.log_likelihood_ == pytest.approx(weights @ values)


def below(network, name):
    return [z for z in network.structure.children(name) if z in network.observed]


def test_topics_of_mixed_columns_have_means(mixed_model):
    network = mixed_model.network_
    for row in mixed_model.topics_.rows():
        words = row["words"].split()
        numbers = [name for name in words if name in network.structure.continuous]
        parts = [part.split() for part in row["means"].split(", ")]
        assert [part[0] for part in parts] == numbers
        for name, *means in parts:
            mixtures = [network.mixture(name, {row["topic"]: Code(k)}) for k in range(2)]
            expected = [mixture.mean for mixture in mixtures]
            assert [float(mean) for mean in means] == pytest.approx(expected, rel=1e-3)
            assert expected[1] > expected[0]


def test_mixed_words_are_chosen_by_information(mixed_model):
    network = mixed_model.network_
    given = find_words(network, mixed_model.layers_)
    for row in mixed_model.topics_.rows():
        topic, scores = row["topic"], {}
        sizes = network.marginal(topic)
        for name in given[topic]:
            if name in network.structure.continuous:
                mixtures = [network.mixture(name, {topic: Code(k)}) for k in range(2)]
                scores[name] = information_of_mixtures(sizes, *join_mixtures(mixtures))
            else:
                joint = network.query([topic, name])
                independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
                scores[name] = (joint * np.log(joint / independent)).sum()
        best = sorted(scores.values(), reverse=True)[:7]
        assert [scores[name] for name in row["words"].split()] == pytest.approx(best)


def join_mixtures(mixtures):
    """Weights, means and variances of all components of the states, one after another."""
    n = len(mixtures[0].weights)
    weights = np.zeros((len(mixtures), n * len(mixtures)))
    for k, mixture in enumerate(mixtures):
        weights[k, k * n : (k + 1) * n] = mixture.weights
    means, variances = (
        np.concatenate([getattr(mixture, field) for mixture in mixtures])
        for field in ("means", "variances")
    )
    return weights, means, variances


def test_rows_of_a_mixed_table_are_assigned(mixed_truth, mixed_model):
    complete = mixed_truth.sample(50, random_state=9)
    found = mixed_model.assign(complete, level=1)
    assert set(found["level"]) == {1}
    share = len(found) / (50 * 9)
    assert 0.3 < share < 0.7
    topic = mixed_model.network_.structure.parents("x01")[0]
    rows = [row["document"] for row in found.rows() if row["topic"] == topic]
    is_high = complete.column("x01") + complete.column("x02") > 4.0
    assert np.mean(np.isin(np.arange(50), rows) == is_high) > 0.9


def test_stepwise_em_of_mixed_columns_comes_near_to_em(mixed_table, mixed_model, monkeypatch):
    monkeypatch.setattr("latentforest.learners.hierarchical_latent_tree.BATCH_ROWS", 100)
    stepwise = learn(mixed_table, max_top=3, stepwise=True)
    assert stepwise.layers_ == mixed_model.layers_
    assert stepwise.log_likelihood_ == pytest.approx(mixed_model.log_likelihood_, rel=5e-3)


def test_switching_on_of_numbers_changes_no_probability():
    network = Network.from_tables(
        [Variable.hidden("t", 2), Variable("x"), Variable("y"), Variable("alone")],
        {"x": "t", "y": "t"},
        {
            "t": [0.3, 0.7],
            "x": [[5.0, 1.0], [1.0, 2.0]],
            "y": [[0.0, 1.0], [0.1, 1.0]],
            "alone": [1.0, 1.0],
        },
    )
    switched = switch_on(network, [["t"]])
    np.testing.assert_allclose(switched.cpd("t"), [0.7, 0.3])
    np.testing.assert_allclose(switched.cpd("x"), [[1.0, 2.0], [5.0, 1.0]])
    values = np.linspace(-3, 8, 5)
    for name in "xy":
        density = switched.mixture(name).density(values)
        np.testing.assert_allclose(density, network.mixture(name).density(values))
    topics = describe_topics(switched, [["t"]], 2)
    assert topics["words"] == ["x y"]
    assert topics["means"] == ["x 1 5, y 0.1 0"]
    assert isinstance(find_words(switched, [["t"]])["t"]["x"], TopicGaussian)
