"""Suggested names of latent variables, and what they are made of."""

import numpy as np
import pytest

from latentforest import Labels, Network, Variable, suggest_names
from latentforest.datasets.generate import random_latent_tree
from latentforest.model.showing.centre import find_centres, find_ways
from latentforest.model.showing.profiles import compute_profile, compute_profiles, compute_sizes
from latentforest.model.showing.suggestions import drop_beginnings, find_stem
from latentforest.model.showing.telling import rank_columns

STRENGTHS = (0.95, 0.9, 0.85, 0.8)


def make_tree(parents, strengths=STRENGTHS):
    """A forest of variables of two states; those with children are latent."""
    above = list(dict.fromkeys(parents.values()))
    names = [*dict.fromkeys([*above, *parents])]
    variables = [
        Variable.hidden(name, 2) if name in above else Variable(name, ("no", "yes"))
        for name in sorted(names)
    ]
    tables, used = {}, dict.fromkeys(above, 0)
    for name in names:
        if name not in parents:
            tables[name] = [0.5, 0.5]
            continue
        p = strengths[used[parents[name]] % len(strengths)]
        used[parents[name]] += 1
        tables[name] = [[p, 1 - p], [1 - p, p]]
    return Network.from_tables(variables, parents, tables)


def test_the_stem_of_the_best_own_column():
    network = make_tree({"Car, price": "Y1", "Car, size": "Y1", "age": "Y1"})
    assert suggest_names(network).variables == {"Y1": "Car"}


def test_never_the_name_of_a_column():
    assert suggest_names(make_tree({"a": "Y1", "b": "Y1"})).variables == {"Y1": "a + b"}
    assert suggest_names(make_tree({"a": "Y1"})).variables == {"Y1": "a (hidden)"}


def test_names_are_unique():
    network = make_tree({"Car, a": "Y1", "Car, b": "Y1", "Car, c": "Y2", "Bus": "Y2", "Y2": "Y1"})
    assert len(set(suggest_names(network).variables.values())) == 2


def test_two_neighbours_where_own_columns_tell_little():
    edges = {"Y2": "Y1", "Y3": "Y1", "weak": "Y1"}
    edges |= {f"Car, {i}": "Y2" for i in range(3)} | {f"Moped, {i}": "Y3" for i in range(3)}
    network = make_tree(edges, (0.99, 0.98, 0.6))
    assert suggest_names(network).variables == {"Y1": "Car + Moped", "Y2": "Car", "Y3": "Moped"}


def test_labels_stand_for_names():
    network = make_tree({"a": "Y1", "b": "Y1", "Y2": "Y1", "c": "Y2", "d": "Y2"})
    labelled = network.with_labels(Labels({"a": "Smoking: daily", "Y2": "given"}))
    assert suggest_names(labelled).variables == {"Y1": "Smoking"}


def test_names_that_say_something_stay():
    assert not suggest_names(make_tree({"a": "health", "b": "health"}))


def test_hostile_names():
    network = make_tree({"<b>\x1b[31m" * 2000: "Y1", "\u202e": "Y1", ",": "Y1"})
    (name,) = suggest_names(network).variables.values()
    assert len(name) < 150


@pytest.mark.parametrize(
    ("text", "stem"),
    [("Car – premium", "Car"), ("a - b", "a"), ("x-ray", "x-ray"), ("a, b", "a"), (", b", ", b")],
)
def test_stems(text, stem):
    assert find_stem(text) == stem


def test_beginnings_of_two_columns_stay():
    texts = ["Do you eat this? fish", "Do you eat this? meat", "age"]
    assert drop_beginnings(texts) == texts
    assert drop_beginnings([*texts, "Do you eat this? nuts"]) == ["fish", "meat", "age", "nuts"]


def test_columns_are_ranked_as_elimination_does():
    network = random_latent_tree(25, width=3, n_states=[2, 3], random_state=1)
    for latent in network.latents:
        sizes = compute_sizes(network, latent)
        slow = {name: compute_profile(network, latent, name, sizes) for name in network.observed}
        ranked = list(rank_columns(network, latent))
        values = [profile.information for profile in ranked]
        assert sorted(profile.name for profile in ranked) == sorted(network.observed)
        np.testing.assert_allclose(values, sorted(values, reverse=True), atol=1e-12)
        for profile in (*ranked, *compute_profiles(network, latent, network.observed)):
            np.testing.assert_allclose(profile.given, slow[profile.name].given, atol=1e-12)


def test_continuous_columns_behind_a_neighbour():
    variables = [Variable.hidden("x", 2), Variable.hidden("y", 2), Variable("a"), Variable("b")]
    tables = {"x": [0.4, 0.6], "y": [[0.9, 0.1], [0.3, 0.7]]}
    tables |= {"a": [[0.0, 1.0], [2.0, 3.0]], "b": [[0.0, 1.0], [5.0, 1.0]]}
    network = Network.from_tables(variables, {"y": "x", "a": "x", "b": "y"}, tables)
    for latent, first in (("x", "a"), ("y", "b")):
        sizes = compute_sizes(network, latent)
        for profile in rank_columns(network, latent):
            slow = compute_profile(network, latent, profile.name, sizes)
            np.testing.assert_allclose(profile.given, slow.given)
            np.testing.assert_allclose(profile.information, slow.information, rtol=1e-9)
        assert next(rank_columns(network, latent)).name == first


def test_centres():
    chain = {"Y2": "Y1", "Y3": "Y2", "a": "Y1", "b": "Y2", "c": "Y3", "z": "Y9"}
    structure = make_tree(chain).structure
    assert find_centres(structure) == ["Y2", "Y9"]
    toward, depths = find_ways(structure)
    assert (toward["Y1"], toward["a"], depths["c"]) == ("Y2", "Y1", 2)
    assert "Y2" not in toward
