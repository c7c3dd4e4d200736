"""Residuals of pairs of any kinds of columns, against what they are made of."""

import math
from itertools import combinations

import numpy as np
import pytest

import latentforest as lf
from latentforest.report.content import make_content
from reference.random_networks import fill_randomly


def read_pairs(content, network):
    """Residuals by the names of two columns."""
    residuals = content["fit"]["residuals"]
    order = [network.names[place] for place in residuals["order"]]
    return {
        frozenset((order[i], order[j])): (value, judged, sign)
        for i, j, value, judged, sign in residuals["pairs"]
    }


def compare_cells(network, data, a, b):
    """Chi-square over degrees of freedom of one pair, and its expected counts."""
    one, other = data.column(a), data.column(b)
    used = (one >= 0) & (other >= 0)
    expected = network.query([a, b]).values * data.weights[used].sum()
    observed = np.zeros_like(expected)
    np.add.at(observed, (one[used], other[used]), data.weights[used])
    df = (expected.shape[0] - 1) * (expected.shape[1] - 1)
    return ((observed - expected) ** 2 / expected).sum() / df, expected


def test_categorical_pairs(pair):
    network, data = pair
    found = read_pairs(make_content(network, data), network)
    numbers = set(network.structure.continuous)
    names = [name for name in network.observed if name not in numbers]
    for a, b in combinations(names, 2):
        value, judged, _ = found[frozenset((a, b))]
        expected, cells = compare_cells(network, data, a, b)
        assert value == pytest.approx(expected, rel=1e-3)
        assert judged == (cells.min() >= 1 and np.mean(cells < 5) <= 0.2)


@pytest.fixture(scope="module")
def mixed(mixed_network):
    return mixed_network, mixed_network.sample(2_000, random_state=8)


def test_correlations_are_near_those_of_the_model(mixed):
    network, data = mixed
    content = make_content(network, data)
    assert content["fit"]["residuals"]["kind"] == "mixed"
    found = read_pairs(content, network)
    many = network.sample(200_000, random_state=1)
    for a, b in combinations(network.structure.continuous, 2):
        seen = np.corrcoef(data.column(a), data.column(b))[0, 1]
        true = np.corrcoef(many.column(a), many.column(b))[0, 1]
        value, judged, _ = found[frozenset((a, b))]
        rough = (data.n_rows - 3) * (math.atanh(seen) - math.atanh(true)) ** 2
        assert value == pytest.approx(rough, abs=1.5)
        assert judged


def test_a_correlation_that_the_model_lacks_stands_out():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    data = lf.Dataset.from_table(
        {"x": x, "y": x + 0.5 * rng.normal(size=500), "z": 0.2 * rng.normal(size=500) - x}
    )
    model = lf.LatentClass(1).fit(data)
    content = make_content(model, data)
    residuals = content["fit"]["residuals"]
    assert residuals["kind"] == "correlation"
    worst = residuals["largest"][0]
    assert {worst["a"], worst["b"]} == {1, 3}
    assert (worst["kind"], worst["sign"]) == ("correlation", -1)
    assert worst["expected"] == pytest.approx(0.0, abs=1e-9)
    assert residuals["n_high"] == 3


def test_means_in_groups(mixed):
    network, data = mixed
    found = read_pairs(make_content(network, data), network)
    codes, values = data.column("k"), data.column("w")
    total = 0.0
    for code, state in enumerate(("0", "1")):
        mixture = network.mixture("w", {"k": state})
        here = values[codes == code]
        total += len(here) * (here.mean() - mixture.mean) ** 2 / mixture.variance
    assert found[frozenset("kw")][0] == pytest.approx(total, rel=1e-3)


def test_many_columns_show_those_with_the_largest_residuals():
    rng = np.random.default_rng(1)
    columns = {f"c{i:03d}": rng.integers(0, 2, 300).astype(str) for i in range(120)}
    columns["c119"] = np.where(rng.random(300) < 0.1, "0", columns["c118"])
    data = lf.Dataset.from_table(columns)
    content = make_content(lf.Independence().fit(data), data)
    residuals = content["fit"]["residuals"]
    assert len(residuals["order"]) == 60
    assert residuals["n_columns_left_out"] == 60
    assert residuals["n_pairs"] == 120 * 119 // 2
    assert (residuals["largest"][0]["a"], residuals["largest"][0]["b"]) == (118, 119)
    assert {118, 119} <= set(residuals["order"])
    assert "60 columns" in residuals["note"]


def test_columns_stand_in_the_order_of_the_tree(tree):
    network, data = tree
    order = make_content(network, data)["fit"]["residuals"]["order"]
    names = [network.names[place] for place in order]
    assert set(names[:3]) == set("abc")
    assert set(names[3:]) == set("de")


def test_states_that_do_not_occur_make_no_cells():
    variables = [lf.Variable(name, ("0", "1", "2")) for name in "ab"]
    structure = lf.Structure(variables, {})
    network = lf.Network(structure, [0.5, 0.5, 0.0, 0.5, 0.5, 0.0])
    data = lf.Dataset(variables, [[0, 1] * 20, [0, 0, 1, 1] * 10])
    (found,) = make_content(network, data)["fit"]["residuals"]["pairs"]
    assert found[3] == 1


def test_a_general_network():
    variables = [lf.Variable(name, ("0", "1")) for name in "abcd"]
    network = fill_randomly(lf.Structure(variables, {"c": ("a", "b"), "d": ("c", "a")}), 2, 0.0)
    data = network.sample(100, random_state=0)
    found = read_pairs(make_content(network, data), network)
    for a, b in combinations("abcd", 2):
        assert found[frozenset((a, b))][0] == pytest.approx(
            compare_cells(network, data, a, b)[0], rel=1e-3
        )


@pytest.mark.filterwarnings("error")
def test_without_rows_nothing_is_judged(pair):
    network = pair[0]
    numbers = set(network.structure.continuous)
    gaps = {name: [float("nan") if name in numbers else None] * 30 for name in network.observed}
    residuals = make_content(network, gaps)["fit"]["residuals"]
    assert residuals is None or residuals["n_judged"] == 0
