import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import generate, random_latent_forest
from latentforest.errors import ModelError
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.priors import pseudo_counts
from latentforest.estimation.region import find_top, fit_region, make_region
from latentforest.estimation.starts import random_starts
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData
from latentforest.model import Network, Structure
from reference.enumeration import trees_of
from reference.random_networks import networks, tables_for

# Below Y1 are Y3, Y4, Y5 and below Y2 are Y6, Y7, Y8, each with leaves.
NETWORK = random_latent_forest(
    2, 24, depth=2, n_states=(2, 3), n_latent_states=(2, 3), random_state=0
)
REGIONS = [
    ["Y1"],
    ["Y3"],
    ["X1"],
    ["X1", "X2"],
    ["Y1", "Y3", "Y4", "Y5"],
    ["Y3", *NETWORK.structure.children("Y3")],
    ["Y3", "Y4", "X1", "X5"],
    ["X1", "X12"],
    ["Y8", "X24"],
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    dataset = generate(NETWORK, 150, 0.05, random_state=1)
    return PatternedData(dataset.with_weights(rng.integers(0, 3, 150)))


def stop_at(max_iterations):
    return EMSettings(max_iterations, tolerance=0.0, accelerate=False)


def put_free(network, start, free):
    """The network's parameters with the free tables of a start."""
    theta = np.array(network.parameters)
    for name in free:
        table = network.structure.table_view(start, name)
        network.structure.table_view(theta, name)[...] = table
    return theta


@pytest.mark.parametrize("free", REGIONS, ids=str)
def test_local_em_is_em_with_the_rest_frozen(data, free):
    region = make_region(NETWORK, data, free)
    structure = region.network.structure
    start = random_starts(structure, data.dataset, 1, 0)[0]
    local = fit_region(region, start, settings=stop_at(20))
    whole = Forest(structure, data, free=free)
    theta = put_free(region.network, start, free)
    expected = fit(whole, theta, settings=stop_at(20))
    np.testing.assert_allclose(local.parameters, expected.parameters, rtol=1e-9, atol=1e-11)
    assert local.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
    trajectory = local.monitor.trajectory + region.constant
    np.testing.assert_allclose(trajectory, expected.monitor.trajectory, rtol=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_local_em_on_random_forests(data):
    network = data.draw(networks(max_variables=8, share_of_zeros=0.0))
    table = PatternedData(data.draw(tables_for(network)))
    tree = data.draw(st.sampled_from(trees_of(network.structure)))
    free = data.draw(st.lists(st.sampled_from(tree), min_size=1, max_size=4, unique=True))
    region = make_region(network, table, free)
    structure = region.network.structure
    start = random_starts(structure, table.dataset, 1, data.draw(st.integers(0, 99)))[0]
    prior = pseudo_counts(structure, data.draw(st.sampled_from([0.0, 0.5])))
    local = fit_region(region, start, prior, stop_at(4))
    whole = Forest(structure, table, free=free)
    expected = fit(whole, put_free(region.network, start, free), prior, stop_at(4))
    np.testing.assert_allclose(local.parameters, expected.parameters, rtol=1e-8, atol=1e-10)
    assert local.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-9)
    assert local.objective == pytest.approx(expected.objective, abs=1e-9)


@pytest.mark.parametrize("free", REGIONS, ids=str)
def test_the_log_likelihood_is_that_of_the_whole_network(data, free):
    region = make_region(NETWORK, data, free)
    starts = random_starts(region.network.structure, data.dataset, 4, 1)
    result = fit_region(region, starts)
    whole = Forest(region.network.structure, data)
    value, impossible = whole.log_likelihood(result.parameters)
    assert result.log_likelihood == pytest.approx(value, rel=1e-12)
    assert impossible == 0.0
    Network(region.network.structure, result.parameters)


@pytest.mark.parametrize("free", REGIONS, ids=str)
def test_the_current_tables_have_the_current_likelihood(data, free):
    region = make_region(NETWORK, data, free)
    current = Forest(NETWORK.structure, data).log_likelihood(NETWORK.parameters)[0]
    result = fit_region(region, region.network.parameters)
    first = result.monitor.trajectory[0] + region.constant
    assert first == pytest.approx(current, rel=1e-12)
    assert np.all(np.diff(result.monitor.trajectory) >= -1e-9)
    assert result.log_likelihood >= current


def test_a_larger_region_climbs_higher(data):
    chosen = EMSettings(3000, 1e-10)
    small = fit_region(make_region(NETWORK, data, ["Y1"]), NETWORK.parameters, settings=chosen)
    family = ["Y1", "Y3", "Y4", "Y5"]
    large = fit_region(make_region(NETWORK, data, family), small.parameters, settings=chosen)
    whole = fit(Forest(NETWORK.structure, data), large.parameters, settings=chosen)
    assert small.log_likelihood < large.log_likelihood < whole.log_likelihood


def test_only_free_tables_of_the_starts_matter(data):
    region = make_region(NETWORK, data, ["Y3", "X1"])
    structure = region.network.structure
    start = random_starts(structure, data.dataset, 1, 0)[0]
    other = put_free(region.network, start, ["Y3", "X1"])
    results = [fit_region(region, each, settings=stop_at(5)).parameters for each in (start, other)]
    assert np.array_equal(*results)


def test_frozen_tables_are_returned_unchanged(data):
    region = make_region(NETWORK, data, ["Y3", "X1"])
    start = random_starts(region.network.structure, data.dataset, 1, 0)[0]
    result = fit_region(region, start, settings=stop_at(5))
    for name in NETWORK.names:
        after = region.network.structure.table_view(result.parameters, name)
        assert np.array_equal(after, region.network.cpd(name)) == (name not in ("Y3", "X1"))


def test_pseudo_counts_are_for_free_tables_only(data):
    region = make_region(NETWORK, data, ["Y3"])
    prior = pseudo_counts(region.network.structure, 1.0)
    result = fit_region(region, region.network.parameters, prior)
    table = region.network.structure.table_view(result.parameters, "Y3")
    expected = result.log_likelihood + np.log(table).sum()
    assert result.objective == pytest.approx(expected, rel=1e-12)


def test_chunks_of_rows(data, monkeypatch):
    free = ["Y3", "Y4", "X1"]
    region = make_region(NETWORK, data, free)
    start = random_starts(region.network.structure, data.dataset, 1, 0)[0]
    expected = fit_region(region, start, settings=stop_at(10))
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 20)
    blocks = PatternedData(data.dataset)
    assert len(blocks.chunks) > 3
    result = fit_region(make_region(NETWORK, blocks, free), start, settings=stop_at(10))
    np.testing.assert_allclose(result.parameters, expected.parameters, rtol=1e-8, atol=1e-10)
    assert result.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)


def test_the_work_does_not_grow_with_the_network(data):
    region, whole = make_region(NETWORK, data, ["Y1"]), Forest(NETWORK.structure, data)
    assert len(region.forest.nodes) < len(whole.nodes) / 2
    assert set(region.forest.free) == {"Y1"}


def test_a_region_of_everything_is_the_whole_network(data):
    (first, _) = trees_of(NETWORK.structure)
    region = make_region(NETWORK, data, first)
    start = random_starts(region.network.structure, data.dataset, 1, 0)[0]
    local = fit_region(region, start, settings=stop_at(10))
    whole = Forest(region.network.structure, data, free=first)
    theta = put_free(region.network, start, first)
    expected = fit(whole, theta, settings=stop_at(10))
    np.testing.assert_allclose(local.parameters, expected.parameters, rtol=1e-9, atol=1e-11)


def test_a_row_that_the_frozen_part_excludes_is_reported():
    variables = [Variable.hidden("Y", 2), *(Variable(name, ("0", "1")) for name in "AB")]
    tables = {"Y": [0.5, 0.5], "A": [[1.0, 0.0]] * 2, "B": [[0.5, 0.5], [0.9, 0.1]]}
    network = Network.from_tables(variables, {"A": "Y", "B": "Y"}, tables)
    data = PatternedData(Dataset(variables[1:], [[0, 0, 1], [0, 1, 1]], [1.0, 1.0, 3.0]))
    result = fit_region(make_region(network, data, ["B"]), network.parameters)
    assert result.monitor.impossible_weight == 3.0
    assert np.isfinite(result.objective)
    assert result.log_likelihood == -np.inf
    Network(network.structure, result.parameters)


def test_frozen_messages_that_vanish_in_fast_arithmetic():
    names = [f"X{j}" for j in range(40)]
    latents = [Variable.hidden("R", 2), Variable.hidden("Y", 2)]
    leaves = [Variable(name, ("0", "1")) for name in ("A", *names)]
    tables = {"R": [0.5, 0.5], "Y": [[0.7, 0.3], [0.2, 0.8]], "A": [[0.9, 0.1], [0.2, 0.8]]}
    for j, name in enumerate(names):
        low = 1e-20
        tables[name] = (
            [[1 - low, low], [low, 1 - low]] if j % 2 else [[low, 1 - low], [1 - low, low]]
        )
    network = Network.from_tables(
        [*latents, *leaves], {"Y": "R", "A": "R"} | dict.fromkeys(names, "Y"), tables
    )
    data = PatternedData(Dataset(leaves, [[0, 1], *([[0, 1]] * 40)]))
    current, impossible = Forest(network.structure, data).log_likelihood(network.parameters)
    assert impossible == 0.0
    result = fit_region(make_region(network, data, ["A"]), network.parameters, settings=stop_at(1))
    assert result.log_likelihood >= current - 1e-9


TREE = Structure(
    [Variable.hidden(name, 2) for name in "RSTUVW"],
    {"S": "R", "T": "S", "U": "S", "W": "V"},
)


@pytest.mark.parametrize(
    ("free", "top"),
    [
        (["R"], "R"),
        (["S"], "R"),
        (["T"], "S"),
        (["T", "U"], "S"),
        (["T", "S"], "R"),
        (["T", "R"], "R"),
        (["V"], "V"),
        (["W", "V"], "V"),
    ],
)
def test_the_top_is_the_lowest_variable_above(free, top):
    assert find_top(TREE, free) == top
    assert find_top(TREE, free[::-1]) == top


def test_a_region_needs_a_free_table():
    with pytest.raises(ModelError, match="a region needs at least one free table"):
        find_top(TREE, [])


def test_a_region_lies_in_one_tree():
    with pytest.raises(ModelError, match=r"free tables \['T', 'W'\] are not all in one tree"):
        find_top(TREE, ["W", "T"])


def test_unknown_free_tables_are_refused():
    with pytest.raises(ModelError, match="no variable named 'Z'"):
        find_top(TREE, ["Z"])
