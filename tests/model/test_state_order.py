"""The order of latent states."""

import itertools

import numpy as np
import pandas as pd
import pytest

from latentforest import (
    ConfirmatoryModel,
    Dataset,
    IncrementalForest,
    LatentClass,
    Network,
    Variable,
    datasets,
)
from latentforest.data.columns.scales import place_states
from latentforest.datasets.generate import random_latent_tree
from latentforest.model.state_order import find_order, order_states
from reference.cases import by_code
from reference.random_networks import fill_randomly


def make_classes(states, tables, sizes=(0.5, 0.3, 0.2)):
    """A latent class model of columns with the same states."""
    latent = Variable.hidden("class", len(sizes))
    columns = [Variable(name, states) for name in tables]
    parents = dict.fromkeys(tables, "class")
    return Network.from_tables([latent, *columns], parents, {"class": sizes, **tables})


LOW_TO_HIGH = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]


@pytest.mark.parametrize(
    "states", [("1", "2", "10"), ("never", "often", "always"), ("x", "b", "a")]
)
def test_states_follow_the_column_that_tells_most(states):
    network = make_classes(states, {"a": LOW_TO_HIGH[::-1]})
    assert find_order(network, "class") == [2, 1, 0]


def test_without_order_the_largest_is_first():
    network = make_classes(("blue", "green", "red"), {"a": LOW_TO_HIGH}, (0.2, 0.5, 0.3))
    assert find_order(network, "class") == [1, 2, 0]
    assert find_order(network, "class", declared=["a"]) == [0, 1, 2]


def test_any_order_ends_in_the_same():
    network = make_classes(("+", "-"), {"a": [[0.9, 0.1], [0.2, 0.8]]}, (0.5, 0.5))
    equal = make_classes(("1", "2", "3"), {"a": LOW_TO_HIGH, "b": LOW_TO_HIGH[::-1]})
    tree = random_latent_tree(9, width=3, n_latent_states=3, random_state=2)
    for each in (network, equal, tree):
        name = each.latents[0]
        n_states = each.structure.variable(name).n_states
        turned = [each.relabelled(name, order) for order in itertools.permutations(range(n_states))]
        ordered = [order_states(one) for one in turned]
        for one in ordered[1:]:
            np.testing.assert_allclose(one.parameters, ordered[0].parameters)


def test_last_bits_do_not_decide():
    tables = {"b": LOW_TO_HIGH, "a": LOW_TO_HIGH[::-1]}
    for shift in (-1e-9, 1e-9):
        moved = {**tables, "a": np.add(LOW_TO_HIGH[::-1], [shift, 0.0, -shift])}
        network = make_classes(("1", "2", "3"), moved, (1 / 3, 1 / 3, 1 / 3))
        assert find_order(network, "class") == [2, 1, 0]


def test_answers_that_are_none_do_not_count():
    assert place_states(["no", "yes", "don't know"])[:2] == [0.0, 1.0]
    table = [[0.1, 0.2, 0.7], [0.5, 0.1, 0.4]]
    network = make_classes(("no", "yes", "don't know"), {"a": table}, (0.5, 0.5))
    assert find_order(network, "class") == [1, 0]


def test_ordering_keeps_the_distribution():
    structure = (
        LatentClass(3, random_state=0).fit(datasets.load("role-conflict")).network_.structure
    )
    network = fill_randomly(structure, seed=3)
    ordered = order_states(network)
    for cell in np.ndindex(2, 2, 2, 2):
        row = by_code(network, dict(zip("ABCD", cell, strict=True)))
        assert ordered.log_probability(row) == pytest.approx(network.log_probability(row))


def test_predictive_parameters_are_in_step():
    table = {"age": [20.0, 21.5, 22.0, 60.0, 61.5, 62.0, 64.5], "b": list("xxxyyyy")}
    model = LatentClass(2, random_state=0).fit(table)
    for network in (model.network_, model.predictive_network_):
        means = network.cpd("age")[:, 0]
        assert means[0] < means[1]
    assert model.predict(table).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert model.class_sizes_.tolist() == model.network_.cpd("class").tolist()


def test_ordered_categories_of_pandas():
    grades = pd.Categorical(list("aabbbcc") * 9, categories=list("abc"), ordered=True)
    data = Dataset.from_table(pd.DataFrame({"grade": grades, "other": list("aabbcbc") * 9}))
    assert data.origin.ordered == {"grade"}
    means = LatentClass(2, random_state=0).fit(data).network_.cpd("grade").values @ [0, 1, 2]
    assert means[0] < means[1]
    assert Dataset.from_table({"a": list("xy")}, states={"a": ["y", "x"]}).origin.ordered == {"a"}


def test_posteriors_are_in_step():
    network = random_latent_tree(8, width=2, n_latent_states=2, strength=0.9, random_state=1)
    model = IncrementalForest(random_state=0).fit(network.sample(400, random_state=0))
    assert order_states(model.network_).parameters.tolist() == model.network_.parameters.tolist()
    for name in model.network_.latents:
        found = model.posterior_[name].concentration
        assert found.tolist() == model.network_.posterior[name].concentration.tolist()


def test_states_of_a_network_that_was_given_stay():
    data = datasets.load("role-conflict")
    first = LatentClass(2, random_state=0).fit(data).network_
    turned = first.relabelled("class", [1, 0])
    again = ConfirmatoryModel(turned, random_state=0).fit(data).network_
    np.testing.assert_allclose(again.cpd("class"), turned.cpd("class"), atol=1e-3)
