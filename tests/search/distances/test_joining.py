"""Edges between trees whose columns depend on each other only weakly."""

import numpy as np
import pytest

from latentforest import Dataset, Network, Structure, Variable
from latentforest.datasets.generate import generate, random_latent_forest, random_latent_tree
from latentforest.estimation.em import fit
from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.distances.joining import join_trees, measure_gain


def fit_to(network, data):
    forest = Forest(network.structure, PatternedData(data))
    return network.with_parameters(fit(forest, network.parameters).parameters), forest


def cut(network, names):
    """Take away the edges above some variables."""
    structure = network.structure.with_parents(dict.fromkeys(names, ()))
    tables = {name: network.cpd(name) for name in network.names}
    tables |= {name: network.marginal(name) for name in names}
    parents = {name: structure.parents(name) for name in structure.names}
    return Network.from_tables(structure.variables, parents, tables)


def test_trees_that_depend_on_each_other_are_joined():
    truth = random_latent_tree(12, depth=2, width=2, strength=0.7, random_state=0)
    data = generate(truth, 3000, random_state=0)
    network, forest = fit_to(cut(truth, ["Y3"]), data)
    joined = join_trees(network, forest.data, data)
    assert len(joined.structure.roots) == 1
    assert "Y3" in [*joined.structure.neighbours("Y1"), *joined.structure.neighbours("Y2")]
    better, _ = fit_to(joined, data)
    value = Forest(better.structure, PatternedData(data)).log_likelihood(better.parameters)[0]
    assert value > forest.log_likelihood(network.parameters)[0] + 4


@pytest.mark.parametrize("seed", range(3))
def test_independent_trees_stay_apart(seed):
    truth = random_latent_forest(3, 12, depth=1, random_state=seed)
    data = generate(truth, 2000, missing_rate=0.1, random_state=seed)
    network, forest = fit_to(truth, data)
    assert join_trees(network, forest.data, data) is network


@pytest.mark.parametrize("missing_rate", [0.0, 0.2])
def test_a_column_alone_is_joined_to_a_latent_variable(missing_rate):
    truth = random_latent_tree(8, depth=1, strength=0.6, random_state=2)
    data = generate(truth, 2000, missing_rate, random_state=2)
    network, forest = fit_to(cut(truth, ["X5"]), data)
    joined = join_trees(network, forest.data, data)
    assert joined.structure.parents("X5") == ("Y1",)
    np.testing.assert_allclose(joined.cpd("X5").sum(axis=1), 1.0)


def test_columns_alone_are_not_joined_to_each_other():
    x = np.random.default_rng(0).integers(0, 2, 100)
    data = Dataset([Variable(name, ("0", "1")) for name in "ab"], [x, x])
    network = Network(Structure(data.variables, {}), [0.5, 0.5, 0.5, 0.5])
    forest = Forest(network.structure, PatternedData(data))
    assert join_trees(network, forest.data, data) is network


def test_gain():
    assert measure_gain(np.full((2, 3), 10.0)) == pytest.approx(-np.log(60))
    assert measure_gain(np.eye(2) * 50) == pytest.approx(100 * np.log(2) - 0.5 * np.log(100))
    assert measure_gain(np.zeros((2, 2))) == 0
