"""The tree over the latent variables of islands."""

import pytest

from latentforest.datasets.generate import generate, random_latent_tree
from latentforest.estimation.small import count_patterns
from latentforest.inference.association.information import mutual_information
from latentforest.inference.forest import PatternedData
from latentforest.search.greedy.bridges import bridge
from latentforest.search.greedy.islands import IslandBuilder, IslandSettings


@pytest.fixture(scope="module")
def truth():
    return random_latent_tree(20, depth=2, width=4, strength=0.8, random_state=2)


@pytest.fixture(scope="module")
def builder(truth):
    data = PatternedData(generate(truth, 2000, random_state=2))
    return IslandBuilder(data, mutual_information(data.dataset), IslandSettings(), 0)


def join(builder, islands, names):
    counts = [count_patterns(builder.data, island) for island in islands]
    models = [builder.fit_one(each) for each in counts]
    return bridge(builder.data, islands, counts, models, names)


def test_bridges_make_a_network_over_all_columns(builder):
    islands = builder.build(range(20), lambda *_: True)
    network = join(builder, islands, ["A", "B", "C", "D"])
    assert set(network.observed) == set(builder.data.dataset.names)
    assert network.latents == ("A", "B", "C", "D")
    assert len(network.structure.roots) == 1
    assert all(network.structure.parents(name)[0] in "ABCD" for name in network.observed)


def test_columns_outside_the_islands_stay_alone(builder):
    network = join(builder, [[0, 1, 2]], ["A"])
    names = builder.data.dataset.names
    assert network.structure.children("A") == names[:3]
    assert all(not network.structure.neighbours(name) for name in names[3:])
