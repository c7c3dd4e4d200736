"""Stepwise EM: block after block."""

import itertools

import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.datasets.generate import generate, random_latent_tree, with_missing
from latentforest.errors import ModelError, ParameterError
from latentforest.estimation.em import fit
from latentforest.estimation.priors import pseudo_counts
from latentforest.estimation.starts import random_starts
from latentforest.estimation.stepwise import StepwiseSettings, fit_stepwise
from latentforest.inference.forest import Forest, PatternedData
from latentforest.model import Network, Structure


@pytest.fixture(scope="module")
def truth():
    return random_latent_tree(8, depth=2, width=2, strength=0.8, random_state=1)


@pytest.fixture(scope="module")
def table(truth):
    return generate(truth, 3000, random_state=1)


def make_forest(truth, table, chunk_rows=20):
    """Lay out distinct rows in random order, so that blocks are alike."""
    merged = table.merged()[0]
    shuffled = merged.take(np.random.default_rng(0).permutation(merged.n_rows))
    return Forest(truth.structure, PatternedData(shuffled, chunk_rows=chunk_rows))


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


def mixed_truth():
    variables = [Variable.hidden("Y", 2), *map(Variable, "abc"), Variable("d", ("u", "v"))]
    tables = {
        "Y": np.array([0.4, 0.6]),
        "a": np.array([[1000.0, 1.0], [1004.0, 4.0]]),
        "b": np.array([[0.0, 1e-4], [0.03, 1e-4]]),
        "c": np.array([[2.0, 1.0], [-1.0, 0.5]]),
        "d": np.array([[0.9, 0.1], [0.2, 0.8]]),
    }
    return Network.from_tables(variables, dict.fromkeys("abcd", "Y"), tables)


def draw_mixed(n_rows):
    table = with_missing(mixed_truth().sample(n_rows, random_state=1), 0.1, random_state=2)
    return table.with_weights(np.random.default_rng(3).choice([0.5, 1.0, 2.0], n_rows))


def step_plainly(structure, table, start, n_blocks, n_passes, power):
    """Stepwise EM with expected sums of 1, x and x² themselves, whatever the current means."""
    edges = np.linspace(0, table.n_rows, n_blocks + 1).astype(int)
    blocks = [table.take(np.arange(low, high)) for low, high in itertools.pairwise(edges)]
    network = Network(structure, start)
    running = expect(network, table)
    network = maximize(structure, running)
    found, step = [network], 0
    for _ in range(n_passes):
        for block in blocks:
            rate, share = (step + 2.0) ** -power, block.weights.sum() / table.weights.sum()
            here = expect(network, block)
            for name in running:
                running[name] = (1.0 - rate) * running[name] + rate * here[name] / share
            network, step = maximize(structure, running), step + 1
        found.append(network)
    return found[1:]


def expect(network, table):
    """Expected counts of Y and of Y with the other columns; powers of continuous values."""
    (posterior,) = Forest(network.structure, PatternedData(table)).posteriors(
        network.parameters, ["Y"]
    )
    share = posterior * table.weights[:, None]
    sums = {"Y": share.sum(axis=0)}
    for name in table.names:
        column = table.column(name)
        if table.variable(name).is_categorical:
            sums[name] = share.T @ (column[:, None] == np.arange(2))
        else:
            seen = ~np.isnan(column)
            sums[name] = share[seen].T @ column[seen, None] ** np.arange(3)
    return sums


def maximize(structure, sums):
    tables = {"Y": sums["Y"] / sums["Y"].sum()}
    for name in structure.observed:
        rows = sums[name]
        if name in structure.continuous:
            mean = rows[:, 1] / rows[:, 0]
            tables[name] = np.stack([mean, rows[:, 2] / rows[:, 0] - mean**2], axis=1)
        else:
            tables[name] = rows / rows.sum(axis=1, keepdims=True)
    parents = dict.fromkeys(structure.observed, "Y")
    return Network.from_tables(structure.variables, parents, tables)


def test_sums_of_gaussians_follow_the_means():
    truth, table = mixed_truth(), draw_mixed(300)
    start = np.array(truth.parameters)
    start[truth.structure.offset("a")] += 2.0  # so that means and variances move a lot
    forest = Forest(truth.structure, PatternedData(table, chunk_rows=100))
    assert len(forest.plans) == 3
    expected = step_plainly(truth.structure, table, start, 3, 2, 0.75)
    values = [forest.log_likelihood(np.array(each.parameters))[0] for each in expected]
    result = fit_stepwise(forest, start, settings=StepwiseSettings(n_passes=2))
    np.testing.assert_allclose(result.monitor.trajectory[1:], np.maximum.accumulate(values))
    best = expected[int(np.argmax(values))]
    np.testing.assert_allclose(result.parameters, best.parameters, rtol=1e-6)


def test_stepwise_em_of_gaussians_comes_near_to_em():
    table = draw_mixed(2000)
    forest = Forest(mixed_truth().structure, PatternedData(table, chunk_rows=100))
    start = random_starts(forest.structure, table, 1, 0)[0]
    full = fit(forest, start).log_likelihood
    before, _ = forest.log_likelihood(start)
    result = fit_stepwise(forest, start, settings=StepwiseSettings(n_passes=20))
    assert full - result.log_likelihood < 0.01 * (full - before)


def test_pouches_are_left_to_full_em():
    variables = [Variable.hidden("Y", 2), Variable("a"), Variable("b")]
    structure = Structure(variables, {"a": "Y", "b": "Y"}, pouches=[("a", "b")])
    table = draw_mixed(20).select(["a", "b"])
    forest = Forest(structure, PatternedData(table))
    with pytest.raises(ModelError, match="variances of their own only"):
        fit_stepwise(forest, np.zeros(forest.n_values))


@pytest.mark.parametrize("settings", [{"n_passes": 0}, {"power": 0.5}, {"power": 1.1}])
def test_bad_settings(settings):
    (name,) = settings
    with pytest.raises(ParameterError, match=name):
        StepwiseSettings(**settings)
