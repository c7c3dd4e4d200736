import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import (
    generate,
    random_latent_class,
    random_latent_forest,
    random_latent_tree,
    with_missing,
)
from latentforest.errors import ParameterError


def mutual_information(network, name):
    """Information between a variable and its parent."""
    (parent,) = network.structure.parents(name)
    joint = network.query([parent, name])
    product = network.marginal(parent)[:, None] * network.marginal(name)
    where = joint > 0
    return float(np.sum(joint[where] * np.log(joint[where] / product[where])))


def test_depth_and_width():
    network = random_latent_tree(depth=3, width=2, random_state=0)
    structure = network.structure
    assert network.latents == tuple(f"Y{i}" for i in range(1, 8))
    assert network.observed == tuple(f"X{i}" for i in range(1, 9))
    assert structure.roots == ("Y1",)
    assert structure.children("Y1") == ("Y2", "Y3")
    assert structure.children("Y3") == ("Y6", "Y7")
    assert structure.children("Y7") == ("X7", "X8")


def test_leaves_are_dealt_out_evenly():
    structure = random_latent_tree(8, depth=2, width=3, random_state=0).structure
    assert [len(structure.children(name)) for name in ("Y2", "Y3", "Y4")] == [3, 3, 2]


def test_numbers_of_states_are_drawn_from_those_given():
    network = random_latent_tree(
        30, depth=2, width=6, n_states=range(2, 5), n_latent_states=[3, 7], random_state=0
    )
    cards = {name: network.structure.variable(name).n_states for name in network.names}
    assert {cards[name] for name in network.observed} == {2, 3, 4}
    assert {cards[name] for name in network.latents} == {3, 7}


def test_latent_class_is_one_latent_over_all():
    network = random_latent_class(5, 3, n_states=4, random_state=0)
    assert network.structure.children("Y1") == network.observed == ("X1", "X2", "X3", "X4", "X5")
    assert network.cpd("X1").shape == (3, 4)


def test_forest_has_independent_trees():
    network = random_latent_forest(3, depth=2, width=2, random_state=0)
    assert network.structure.roots == ("Y1", "Y2", "Y3")
    assert len(network.observed) == 12


def test_strength_orders_the_dependence():
    strengths = (0.0, 0.3, 0.6, 0.9, 1.0)
    made = [random_latent_class(4, 3, n_states=3, strength=s, random_state=1) for s in strengths]
    for name in made[0].observed:
        information = [mutual_information(network, name) for network in made]
        assert information[0] == pytest.approx(0.0, abs=1e-12)
        assert np.all(np.diff(information) > 0)
        assert set(made[-1].cpd(name).ravel()) == {0.0, 1.0}


def test_seed_decides():
    assert random_latent_tree(random_state=4) == random_latent_tree(random_state=4)
    assert random_latent_tree(random_state=4) != random_latent_tree(random_state=5)


def test_generated_rows_follow_the_seed_and_the_rate():
    network = random_latent_class(6, 2, random_state=0)
    first, again = (generate(network, 2000, 0.2, random_state=3) for _ in range(2))
    assert all(map(np.array_equal, first.columns, again.columns))
    assert first.n_missing / 12_000 == pytest.approx(0.2, abs=0.02)
    assert generate(network, 20, random_state=3).n_missing == 0


def test_missing_values_keep_the_rest_of_the_table():
    variables = [Variable("a", ("0", "1")), Variable("x")]
    data = Dataset(variables, [[0, 1] * 50, np.arange(100.0)], np.arange(1.0, 101.0))
    damaged = with_missing(data, 0.5, random_state=0)
    assert damaged.variables == data.variables
    assert np.array_equal(damaged.weights, data.weights)
    codes, values = damaged.columns
    kept = codes >= 0
    assert 0 < kept.sum() < 100
    assert np.array_equal(codes[kept], data.columns[0][kept])
    assert np.array_equal(values[~np.isnan(values)], np.flatnonzero(~np.isnan(values)))
    assert with_missing(data, 0.0).n_missing == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 0}, "depth must be a whole number of at least 1, got 0"),
        ({"width": 1.5}, "width must be a whole number of at least 1, got 1.5"),
        ({"n_observed": 2}, "n_observed must be a whole number of at least 3, got 2"),
        ({"n_states": 0}, "n_states must be a whole number of at least 1, got 0"),
        ({"n_states": []}, r"n_states must hold at least one number, got \[\]"),
        ({"n_latent_states": 2.5}, "n_latent_states must be a number or a sequence, got 2.5"),
        ({"n_latent_states": [2, 0]}, "n_latent_states must be a whole number of at least 1"),
        ({"strength": 1.1}, "strength must be a number from 0 to 1, got 1.1"),
        ({"strength": float("nan")}, "strength must be a number from 0 to 1, got nan"),
        ({"strength": "high"}, "strength must be a number from 0 to 1, got 'high'"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        random_latent_tree(**settings)


def test_bad_rates_are_refused():
    network = random_latent_class(2, 2, random_state=0)
    with pytest.raises(ParameterError, match="missing_rate must be a number from 0 to 1, got -1"):
        generate(network, 5, -1)
    with pytest.raises(ParameterError, match="rate must be a number from 0 to 1, got 2"):
        with_missing(generate(network, 5), 2)
