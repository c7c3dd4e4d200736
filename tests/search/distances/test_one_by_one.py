"""Latent variables estimated one after another."""

import numpy as np
import pytest

from latentforest import Structure, Variable
from latentforest.datasets.generate import generate, random_latent_tree
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.distances.one_by_one import Stepwise, _sort_inward, estimate_stepwise
from latentforest.search.regularity import find_irregular

SETTINGS = EMSettings(200, 1e-7)


def estimate(network, data, n_states=None, max_states=6, structure=None):
    stepwise = Stepwise(n_states, max_states, 16, SETTINGS, 0)
    return estimate_stepwise(structure or network.structure, PatternedData(data), stepwise)


def log_likelihood(network, data):
    return Forest(network.structure, PatternedData(data)).log_likelihood(network.parameters)[0]


def test_variables_come_from_the_outside_in():
    structure = random_latent_tree(depth=3, width=3, random_state=0).structure
    order = _sort_inward(structure)
    assert sorted(order) == sorted(structure.latents)
    for position, name in enumerate(order):
        later = [z for z in structure.neighbours(name) if z in order[position + 1 :]]
        assert len(later) <= 1


@pytest.mark.parametrize("n_latent_states", [2, 3])
def test_numbers_of_states_are_found(n_latent_states):
    truth = random_latent_tree(
        12, n_states=4, n_latent_states=n_latent_states, strength=0.85, random_state=1
    )
    found = estimate(truth, generate(truth, 5000, random_state=1))
    cards = [found.structure.variable(name).n_states for name in found.latents]
    assert cards == [n_latent_states] * 4


def test_the_start_is_near_the_truth():
    truth = random_latent_tree(12, strength=0.8, random_state=1)
    data = generate(truth, 4000, missing_rate=0.1, random_state=1)
    start = log_likelihood(estimate(truth, data), data)
    alone = Structure(data.variables, {})
    independent = np.concatenate([data.counts(n) / data.counts(n).sum() for n in data.names])
    least, _ = Forest(alone, PatternedData(data)).log_likelihood(independent)
    best = log_likelihood(truth, data)
    assert start > least + 0.8 * (best - least)


def test_a_given_number_of_states_is_kept_where_it_is_regular():
    truth = random_latent_tree(4, depth=1, n_states=2, random_state=1)
    data = generate(truth, 500, random_state=1)
    cards = [estimate(truth, data, n_states=n).structure.variable("Y1").n_states for n in (3, 9)]
    assert cards == [3, 8]


@pytest.mark.parametrize("seed", range(5))
def test_chosen_numbers_of_states_are_regular(seed):
    truth = random_latent_tree(
        10, n_states=(2, 3, 5), n_latent_states=(2, 3, 4), strength=0.9, random_state=seed
    )
    found = estimate(truth, generate(truth, 3000, random_state=seed))
    assert not find_irregular(found.structure)


def test_observed_inner_nodes():
    """A latent variable and an observed one between the same leaves."""
    truth = random_latent_tree(7, depth=1, random_state=0)
    data = generate(truth, 500, random_state=0)
    parents = {"X2": "X1", "X3": "X1", "Y1": "X1", "X4": "Y1", "X5": "Y1", "X6": "Y1", "X7": "X6"}
    structure = Structure([Variable.hidden("Y1", 2), *data.variables], parents)
    found = estimate(truth, data, structure=structure)
    assert found.structure == structure
    pair = [
        [np.mean((data.column("X1") == a) & (data.column("X2") == b)) for b in (0, 1)]
        for a in (0, 1)
    ]
    expected = np.array(pair) / np.sum(pair, axis=1, keepdims=True)
    np.testing.assert_allclose(found.cpd("X2"), 0.9 * expected + 0.05)


def test_no_latent_variable():
    truth = random_latent_tree(3, depth=1, random_state=0)
    data = generate(truth, 100, random_state=0)
    found = estimate(truth, data, structure=Structure(data.variables, {"X2": "X1"}))
    assert found.latents == ()
