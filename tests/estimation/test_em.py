import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import (
    generate,
    random_latent_class,
    random_latent_forest,
    random_latent_tree,
)
from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, Monitor, fit
from latentforest.estimation.priors import pseudo_counts
from latentforest.estimation.starts import random_starts
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData
from latentforest.model import Structure
from reference.expectation_maximization import choose_start, em_step, objective_of, run_em
from reference.random_networks import networks, tables_for


@pytest.fixture
def network():
    return random_latent_tree(9, depth=2, n_states=(2, 3), n_latent_states=(2, 3), random_state=0)


@pytest.fixture
def dataset(network):
    rng = np.random.default_rng(2)
    return generate(network, 120, 0.05, random_state=1).with_weights(rng.integers(0, 3, 120))


@pytest.fixture
def forest(network, dataset):
    return Forest(network.structure, PatternedData(dataset))


@pytest.fixture
def starts(network, dataset):
    return random_starts(network.structure, dataset, 5, 0)


def assert_valid(result, structure):
    """Finite objective, distributions in every row, a trajectory that never falls."""
    assert np.isfinite(result.objective)
    assert np.all(result.parameters >= 0)
    for name in structure.names:
        sums = structure.table_view(result.parameters, name).sum(axis=-1)
        np.testing.assert_allclose(sums, 1.0, rtol=1e-12)
    assert_monotone(result)


def assert_monotone(result):
    path = np.r_[result.monitor.trajectory, result.objective]
    slack = 1e-10 * max(1.0, abs(result.objective))
    assert np.all(path[1:] >= path[:-1] - slack)


def stop_at(max_iterations, accelerate=False):
    return EMSettings(max_iterations, tolerance=0.0, accelerate=accelerate)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_one_iteration_equals_the_twin(data):
    network = data.draw(networks(max_variables=6, max_states=4, share_of_zeros=0.0))
    dataset, theta = data.draw(tables_for(network)), network.parameters
    prior = pseudo_counts(network.structure, data.draw(st.sampled_from([0.0, 0.5])))
    result = fit(
        Forest(network.structure, PatternedData(dataset)), theta, prior, settings=stop_at(1)
    )
    expected = em_step(network.structure, theta, dataset, prior)
    np.testing.assert_allclose(result.parameters, expected, rtol=1e-9, atol=1e-12)
    start = objective_of(network.structure, theta, dataset, prior)
    assert result.monitor.trajectory == pytest.approx([start], abs=1e-9)
    end = objective_of(network.structure, expected, dataset, prior)
    assert result.objective == pytest.approx(end, abs=1e-8)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_many_iterations_equal_the_twin(network, dataset, forest, starts, smoothing):
    prior = pseudo_counts(network.structure, smoothing)
    result = fit(forest, starts[0], prior, stop_at(60))
    expected = run_em(network.structure, starts[0], dataset, prior, 60)
    np.testing.assert_allclose(result.parameters, expected, rtol=1e-8, atol=1e-9)
    objective = objective_of(network.structure, expected, dataset, prior)
    assert result.objective == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 1.0, {"X1": [[0.0, 2.0]], "Y1": 5.0}])
def test_the_objective_never_falls(network, forest, starts, accelerate, smoothing):
    prior = pseudo_counts(network.structure, smoothing)
    for start in starts:
        result = fit(forest, start, prior, EMSettings(400, accelerate=accelerate))
        assert_valid(result, network.structure)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_the_objective_never_falls_on_random_forests(data):
    network = data.draw(networks(max_variables=7, max_states=4))
    dataset = data.draw(tables_for(network))
    forest = Forest(network.structure, PatternedData(dataset))
    start = random_starts(network.structure, dataset, 1, data.draw(st.integers(0, 100)))
    prior = pseudo_counts(network.structure, data.draw(st.sampled_from([0.0, 0.1, 1.0])))
    trajectory = fit(forest, start, prior, EMSettings(300)).monitor.trajectory
    assert np.all(trajectory[1:] >= trajectory[:-1] - 1e-10)


def test_stopping_anywhere_keeps_what_was_reached():
    network = random_latent_tree(depth=2, n_latent_states=3, random_state=0)
    dataset = generate(network, 300, random_state=1)
    forest = Forest(network.structure, PatternedData(dataset))
    start = random_starts(network.structure, dataset, 1, 0)
    for max_iterations in range(1, 60):
        assert_monotone(fit(forest, start, settings=stop_at(max_iterations, accelerate=True)))


def test_acceleration_reaches_the_same_maximum_sooner(network, forest):
    start = np.array(network.parameters)
    plain = fit(forest, start, settings=EMSettings(5000, 1e-11, accelerate=False))
    fast = fit(forest, start, settings=EMSettings(5000, 1e-11))
    assert plain.monitor.converged
    assert fast.monitor.converged
    assert fast.objective == pytest.approx(plain.objective, abs=1e-3)
    assert fast.monitor.n_iterations < plain.monitor.n_iterations


def test_the_result_agrees_with_the_forest(forest, starts):
    result = fit(forest, starts)
    assert forest.log_likelihood(result.parameters)[0] == pytest.approx(result.log_likelihood)
    assert result.objective == pytest.approx(result.log_likelihood)


def test_the_log_likelihood_leaves_the_prior_out(network, forest, starts):
    prior = pseudo_counts(network.structure, 0.5)
    result = fit(forest, starts[0], prior, EMSettings(20))
    expected = forest.log_likelihood(result.parameters)[0]
    assert result.log_likelihood == pytest.approx(expected)
    assert result.objective == pytest.approx(expected + prior @ np.log(result.parameters))


def test_converged_means_that_the_tolerance_was_met(forest, starts):
    result = fit(forest, starts[0], settings=EMSettings(2000, 1e-5, accelerate=False))
    gains = np.diff(result.monitor.trajectory) / forest.data.total_weight
    assert result.monitor.converged
    assert result.monitor.reason == "the gain per row fell to 1e-05 or less"
    assert gains[-1] <= 1e-5
    assert np.all(gains[:-1] > 1e-5)


@pytest.mark.parametrize("max_iterations", [1, 2, 7, 30])
def test_the_limit_of_iterations_is_respected(forest, starts, max_iterations):
    monitor = fit(forest, starts[0], settings=stop_at(max_iterations)).monitor
    assert monitor.n_iterations == max_iterations
    assert not monitor.converged
    assert monitor.reason == f"the limit of {max_iterations} iterations was reached"


def test_the_pyramid_counts_for_the_limit(forest, starts):
    assert fit(forest, starts[:4], settings=stop_at(50)).monitor.n_iterations == 50 - 2 - 3


@pytest.mark.parametrize("max_iterations", [1, 5, 6])
def test_one_iteration_follows_the_pyramid_at_least(forest, starts, max_iterations):
    assert fit(forest, starts[:4], settings=stop_at(max_iterations)).monitor.n_iterations == 1


@pytest.mark.parametrize("shape", [(0, 84), (83,), (2, 85), (1, 2, 84), ()])
def test_starts_of_a_wrong_shape_are_refused(forest, shape):
    assert forest.n_values == 84
    found = np.atleast_2d(np.zeros(shape)).shape
    message = f"starts has shape {found}, expected (at least 1, 84)"
    with pytest.raises(ParameterError, match=re.escape(message)):
        fit(forest, np.zeros(shape))


@pytest.mark.parametrize("shape", [(83,), (1, 84), ()])
def test_a_prior_of_a_wrong_shape_is_refused(forest, starts, shape):
    message = f"prior has shape {shape}, expected (84,)"
    with pytest.raises(ParameterError, match=re.escape(message)):
        fit(forest, starts, np.zeros(shape))


def test_starts_and_prior_may_be_lists(forest, starts):
    expected = fit(forest, starts[:2], np.ones(84), stop_at(5))
    result = fit(forest, starts[:2].tolist(), [1] * 84, stop_at(5))
    assert np.array_equal(result.parameters, expected.parameters)


@pytest.mark.parametrize(("name", "value"), [("max_iterations", 0), ("tolerance", -1e-3)])
def test_bad_settings_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"{name} must .* got {value}"):
        EMSettings(**{name: value})


def test_not_a_number_is_no_tolerance():
    with pytest.raises(ParameterError, match="tolerance must not be negative, got nan"):
        EMSettings(tolerance=float("nan"))


@pytest.mark.parametrize("n_starts", [2, 3, 5, 8])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_pyramid_chooses_like_its_twin(network, dataset, forest, n_starts, smoothing):
    prior = pseudo_counts(network.structure, smoothing)
    starts = random_starts(network.structure, dataset, n_starts, 7)
    _, theta = choose_start(network.structure, starts, dataset, prior)
    result = fit(forest, starts, prior, stop_at(1))
    expected = em_step(network.structure, theta, dataset, prior)
    np.testing.assert_allclose(result.parameters, expected, rtol=1e-9, atol=1e-11)


def test_equal_starts_are_a_tie_for_the_first(forest, starts):
    one = fit(forest, starts[:1], settings=stop_at(10))
    many = fit(forest, starts[[0, 0, 0, 0]], settings=stop_at(10))
    np.testing.assert_allclose(many.parameters, one.parameters, rtol=1e-12)


def test_the_starts_given_are_not_changed(forest, starts):
    before = starts.copy()
    fit(forest, starts, settings=EMSettings(10))
    assert np.array_equal(starts, before)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("n_starts", [1, 5])
def test_levels_and_one_call_give_the_same_bits(forest, starts, monkeypatch, n_starts, accelerate):
    chosen = EMSettings(80, 1e-6, accelerate)
    at_once = fit(forest, starts[:n_starts], settings=chosen)
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 0.0)
    by_levels = fit(forest, starts[:n_starts], settings=chosen)
    assert np.array_equal(by_levels.parameters, at_once.parameters)
    assert np.array_equal(by_levels.monitor.trajectory, at_once.monitor.trajectory)
    assert by_levels.objective == pytest.approx(at_once.objective, rel=1e-14)
    assert by_levels.monitor.converged == at_once.monitor.converged


def test_blocks_of_rows_give_the_same_fit(network, dataset, forest, starts, monkeypatch):
    whole = fit(forest, starts, settings=EMSettings(40))
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 25)
    blocks = Forest(network.structure, PatternedData(dataset))
    assert len(blocks.plans) > 1
    result = fit(blocks, starts, settings=EMSettings(40))
    np.testing.assert_allclose(result.parameters, whole.parameters, rtol=1e-6, atol=1e-9)
    assert result.objective == pytest.approx(whole.objective, rel=1e-11)


@pytest.mark.parametrize("piece_seconds", [0.0, 0.2])
@pytest.mark.parametrize("n_starts", [1, 4])
def test_a_deadline_in_the_past_gives_a_valid_result(
    network, forest, starts, monkeypatch, piece_seconds, n_starts
):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", piece_seconds)
    result = fit(forest, starts[:n_starts], deadline=time.monotonic() - 1.0)
    assert_valid(result, network.structure)
    assert result.monitor.n_iterations >= 1


def test_a_deadline_is_named_as_the_reason(forest, starts, monkeypatch):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 0.0)
    monitor = fit(forest, starts[0], deadline=time.monotonic() - 1.0).monitor
    assert not monitor.converged
    assert monitor.reason == "the time limit was reached"
    assert monitor.n_iterations == 1


def test_progress_is_reported(forest, starts, monkeypatch):
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 0.0)
    seen = []
    result = fit(forest, starts[0], settings=stop_at(6), report=seen.append)
    assert [monitor.n_iterations for monitor in seen] == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(seen[-1].trajectory, result.monitor.trajectory)


def interrupt_at(monkeypatch, n_calls):
    """Let the n-th E-step of a forest of several blocks be interrupted."""
    original, calls = Forest.expected_counts, []

    def expected_counts(self, theta, counts):
        calls.append(1)
        if len(calls) == n_calls:
            raise KeyboardInterrupt
        return original(self, theta, counts)

    monkeypatch.setattr(Forest, "expected_counts", expected_counts)


@pytest.fixture
def blocks(network, dataset, monkeypatch):
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 25)
    return Forest(network.structure, PatternedData(dataset))


@pytest.mark.parametrize(("n_starts", "n_calls"), [(1, 4), (4, 6), (4, 14)])
def test_an_interrupted_fit_gives_the_best_so_far(
    network, blocks, starts, monkeypatch, n_starts, n_calls
):
    interrupt_at(monkeypatch, n_calls)
    result = fit(blocks, starts[:n_starts])
    assert result.monitor.was_interrupted
    assert not result.monitor.converged
    assert result.monitor.reason == "it was interrupted"
    assert_valid(result, network.structure)


def test_an_interruption_before_anything_was_done_is_passed_on(blocks, starts, monkeypatch):
    interrupt_at(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        fit(blocks, starts)


def test_a_monitor_starts_empty():
    assert Monitor().n_iterations == 0
    assert Monitor().reason == "not started"


@pytest.fixture
def classes():
    return random_latent_class(6, 3, n_states=3, random_state=0)


def fit_table(network, dataset, theta, smoothing=0.0, chosen=None):
    forest = Forest(network.structure, PatternedData(dataset))
    result = fit(forest, theta, pseudo_counts(network.structure, smoothing), chosen)
    assert_valid(result, network.structure)
    return result


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("accelerate", [False, True])
class TestBadStartsAndTables:
    def test_exact_zeros(self, classes, smoothing, accelerate):
        dataset, theta = generate(classes, 80, random_state=1), np.array(classes.parameters)
        classes.structure.table_view(theta, "X1")[0] = [0.0, 0.3, 0.7]
        classes.structure.table_view(theta, "X2")[1] = [1.0, 0.0, 0.0]
        fit_table(classes, dataset, theta, smoothing, EMSettings(200, accelerate=accelerate))

    def test_equal_classes(self, classes, smoothing, accelerate):
        dataset, theta = generate(classes, 80, 0.1, random_state=1), np.array(classes.parameters)
        for name in classes.observed:
            classes.structure.table_view(theta, name)[...] = 1 / 3
        chosen = EMSettings(200, accelerate=accelerate)
        result = fit_table(classes, dataset, theta, smoothing, chosen)
        table = classes.structure.table_view(result.parameters, "X1")
        np.testing.assert_allclose(table - table[0], 0.0, atol=1e-9 + smoothing)

    def test_an_empty_class(self, classes, smoothing, accelerate):
        dataset, theta = generate(classes, 80, random_state=1), np.array(classes.parameters)
        classes.structure.table_view(theta, "Y1")[...] = [0.0, 0.4, 0.6]
        chosen = EMSettings(200, accelerate=accelerate)
        result = fit_table(classes, dataset, theta, smoothing, chosen)
        weight = classes.structure.table_view(result.parameters, "Y1")[0]
        assert (weight == 0.0) == (smoothing == 0.0)

    def test_constant_and_missing_columns(self, classes, smoothing, accelerate):
        columns = list(generate(classes, 50, random_state=1).columns)
        columns[0], columns[1] = np.full(50, 2), np.full(50, -1)
        dataset = Dataset(classes.variables[1:], columns)
        starts = random_starts(classes.structure, dataset, 2, 0)
        chosen = EMSettings(200, accelerate=accelerate)
        result = fit_table(classes, dataset, starts, smoothing, chosen)
        if smoothing == 0.0:
            constant = classes.structure.table_view(result.parameters, "X1")
            np.testing.assert_allclose(constant[:, 2], 1.0)

    @pytest.mark.parametrize("n_rows", [1, 2])
    def test_more_classes_than_rows(self, classes, smoothing, accelerate, n_rows):
        dataset = generate(classes, n_rows, random_state=1)
        starts = random_starts(classes.structure, dataset, 3, 0)
        chosen = EMSettings(200, accelerate=accelerate)
        result = fit_table(classes, dataset, starts, smoothing, chosen)
        if smoothing == 0.0:
            best = n_rows * np.log(1 / n_rows)
            assert best - 2 < result.log_likelihood <= best + 1e-9

    def test_nothing_is_known(self, classes, smoothing, accelerate):
        dataset = Dataset(classes.variables[1:], [[-1, -1]] * 6)
        result = fit_table(
            classes, dataset, classes.parameters, smoothing, EMSettings(50, accelerate=accelerate)
        )
        assert result.log_likelihood == pytest.approx(0.0, abs=1e-12)


@pytest.fixture
def forbidding(classes):
    """Tables under which state 2 of X1 is impossible."""
    theta = np.array(classes.parameters)
    classes.structure.table_view(theta, "X1")[...] = [0.5, 0.5, 0.0]
    return theta


@pytest.mark.parametrize("n_starts", [1, 3])
def test_rows_that_stay_impossible_are_reported(classes, forbidding, n_starts):
    dataset = generate(classes, 80, random_state=1)
    result = fit_table(classes, dataset, np.tile(forbidding, (n_starts, 1)))
    assert result.monitor.impossible_weight == np.count_nonzero(dataset.column("X1") == 2) > 0
    assert result.log_likelihood == -np.inf


def test_smoothing_makes_impossible_rows_possible(classes, forbidding):
    dataset = generate(classes, 80, random_state=1)
    result = fit_table(classes, dataset, forbidding, smoothing=0.1)
    assert result.monitor.impossible_weight == 0.0
    assert np.isfinite(result.log_likelihood)


def test_a_possible_start_beats_an_impossible_one(classes, forbidding):
    dataset = generate(classes, 80, random_state=1)
    result = fit_table(classes, dataset, np.stack([forbidding, classes.parameters]))
    assert result.monitor.impossible_weight == 0.0


def test_frozen_tables_keep_their_values(network, dataset, starts):
    free = ["Y1", "X1", "X9"]
    forest = Forest(network.structure, PatternedData(dataset), free=free)
    result = fit(forest, starts[0], settings=EMSettings(50))
    assert_monotone(result)
    for name in network.names:
        before = network.structure.table_view(starts[0], name)
        after = network.structure.table_view(result.parameters, name)
        assert np.array_equal(before, after) == (name not in free)


def test_frozen_tables_and_the_twin(network, dataset, starts):
    free, prior = ["Y2", "X1", "X4"], np.zeros(network.structure.n_values)
    forest = Forest(network.structure, PatternedData(dataset), free=free)
    for accelerate, n_iterations in ((False, 25), (True, 5)):
        result = fit(forest, starts[0], prior, stop_at(n_iterations, accelerate))
        expected = run_em(network.structure, starts[0], dataset, prior, n_iterations, free)
        np.testing.assert_allclose(result.parameters, expected, rtol=1e-8, atol=1e-10)


def test_observed_trees_are_fitted_in_closed_form():
    names = "ABC"
    variables = [Variable(name, ("0", "1", "2")) for name in names]
    structure = Structure(variables, {"B": "A", "C": "B"})
    columns = np.random.default_rng(0).integers(0, 3, (3, 200))
    dataset = Dataset(variables, list(columns))
    result = fit(Forest(structure, PatternedData(dataset)), random_starts(structure, dataset, 1, 0))
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (columns[0], columns[1]), 1.0)
    np.testing.assert_allclose(structure.table_view(result.parameters, "A"), pairs.sum(1) / 200)
    expected = pairs / pairs.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(structure.table_view(result.parameters, "B"), expected)
    assert result.monitor.n_iterations <= 3


def test_trees_of_a_forest_are_fitted_as_if_alone():
    network = random_latent_forest(2, 8, depth=1, random_state=0)
    dataset = generate(network, 150, random_state=1)
    start = random_starts(network.structure, dataset, 1, 0)[0]
    together = fit(Forest(network.structure, PatternedData(dataset)), start, settings=stop_at(30))
    names = ["Y1", *network.structure.children("Y1")]
    alone = network.structure.remove(set(network.names) - set(names))
    own = np.concatenate([network.structure.table_view(start, n).ravel() for n in alone.names])
    result = fit(Forest(alone, PatternedData(dataset)), own, settings=stop_at(30))
    for name in names:
        a = network.structure.table_view(together.parameters, name)
        b = alone.table_view(result.parameters, name)
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_rows_that_vanish_in_fast_arithmetic_are_fitted():
    network = random_latent_class(60, 2, strength=0.99, random_state=0)
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2, 30) for _ in network.observed]
    dataset = Dataset(network.variables[1:], columns)
    theta = np.array(network.parameters)
    for name in network.observed:
        table = network.structure.table_view(theta, name)
        table[...] = np.where(table > 0.5, 1 - 1e-13, 1e-13)
        table /= table.sum(axis=1, keepdims=True)
    prior = np.zeros(len(theta))
    forest = Forest(network.structure, PatternedData(dataset))
    result = fit(forest, theta, settings=stop_at(3))
    expected = run_em(network.structure, theta, dataset, prior, 3)
    np.testing.assert_allclose(result.parameters, expected, rtol=1e-7, atol=1e-9)
    assert result.monitor.impossible_weight == 0.0
