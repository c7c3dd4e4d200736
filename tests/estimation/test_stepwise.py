"""Stepwise EM: block after block."""

import numpy as np
import pytest

from latentforest.datasets.generate import generate, random_latent_tree
from latentforest.errors import ParameterError
from latentforest.estimation.em import fit
from latentforest.estimation.priors import pseudo_counts
from latentforest.estimation.starts import random_starts
from latentforest.estimation.stepwise import StepwiseSettings, fit_stepwise
from latentforest.inference.forest import Forest, PatternedData


@pytest.fixture(scope="module")
def truth():
    return random_latent_tree(8, depth=2, width=2, strength=0.8, random_state=1)


@pytest.fixture(scope="module")
def table(truth):
    return generate(truth, 3000, random_state=1)


def make_forest(truth, table, block_rows=20):
    """Lay out distinct rows in random order, so that blocks are alike."""
    merged = table.merged()[0]
    shuffled = merged.take(np.random.default_rng(0).permutation(merged.n_rows))
    return Forest(truth.structure, PatternedData(shuffled, block_rows=block_rows))


def test_few_passes_come_near_to_full_em(truth, table):
    forest = make_forest(truth, table)
    assert len(forest.plans) > 3
    start = random_starts(truth.structure, table, 1, 0)[0]
    full = fit(forest, start).log_likelihood
    before, _ = forest.log_likelihood(start)
    result = fit_stepwise(forest, start, settings=StepwiseSettings(n_passes=20))
    assert before < full
    assert (full - result.log_likelihood) < 0.1 * (full - before)


def test_never_worse_than_one_iteration_and_the_trajectory_never_falls(truth, table):
    forest = make_forest(truth, table)
    result = fit_stepwise(forest, truth.parameters)
    assert result.log_likelihood >= forest.log_likelihood(np.array(truth.parameters))[0]
    assert np.all(np.diff(result.monitor.trajectory) >= 0)
    assert result.log_likelihood == pytest.approx(forest.log_likelihood(result.parameters)[0])


def test_pseudo_counts_keep_probabilities_positive(truth, table):
    prior = pseudo_counts(truth.structure, 5.0)
    result = fit_stepwise(make_forest(truth, table), truth.parameters, prior)
    assert result.parameters.min() > 5.0 / (table.total_weight + 100)


def test_shares_of_blocks_sum_to_one(truth, table):
    forest = make_forest(truth, table)
    assert sum(forest.share(b) for b in range(len(forest.plans))) == pytest.approx(1.0)


def test_counts_of_blocks_sum_to_those_of_all(truth, table):
    forest = make_forest(truth, table)
    everything, total = np.empty(forest.n_values), np.zeros(forest.n_values)
    forest.expected_counts(np.array(truth.parameters), everything)
    for b in range(len(forest.plans)):
        here = np.empty(forest.n_values)
        forest.expected_counts_of(b, np.array(truth.parameters), here)
        total += here
    np.testing.assert_allclose(total, everything)


def test_a_deadline_ends_after_a_pass(truth, table):
    result = fit_stepwise(make_forest(truth, table), truth.parameters, deadline=0.0)
    assert len(result.monitor.trajectory) == 2


@pytest.mark.parametrize("settings", [{"n_passes": 0}, {"power": 0.5}, {"power": 1.1}])
def test_bad_settings(settings):
    (name,) = settings
    with pytest.raises(ParameterError, match=name):
        StepwiseSettings(**settings)
