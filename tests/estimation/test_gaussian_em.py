"""EM with Gaussian leaves: steps, monotonicity, bounds, units, priors, peers."""

import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from climbing import leap
from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.estimation import em
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.families import extend_prior, free_families
from latentforest.estimation.priors import pseudo_counts
from latentforest.estimation.starts import random_starts
from latentforest.inference import forest as forest_module
from latentforest.inference.forest import Forest, PatternedData
from latentforest.kernels.forest.em import log_prior, update
from latentforest.learners.latent_class import make_structure
from latentforest.model import Network, Structure
from reference.mixed_em import mixed_em_step
from reference.mixed_networks import STRUCTURES, A, U, V, Y, draw_mixed

FORESTS = {name: each for name, each in STRUCTURES.items() if each.is_forest}
PLAIN = EMSettings(1, 0.0, accelerate=False)


def make_data(network, n_rows=80, missing=0.1, seed=0):
    rng = np.random.default_rng(seed)
    data = with_missing(network.sample(n_rows, random_state=seed), missing, random_state=seed)
    return data.with_weights(rng.choice([0.5, 1.0, 2.0], n_rows))


def make_profiles(n_columns, n_rows, n_classes=3, seed=0):
    """Rows of some classes and Gaussian columns with means a few deviations apart."""
    rng = np.random.default_rng(seed)
    means = rng.normal(0.0, 2.5, (n_classes, n_columns))
    rows = means[rng.integers(0, n_classes, n_rows)] + rng.normal(size=(n_rows, n_columns))
    return Dataset([Variable(f"c{j}") for j in range(n_columns)], list(rows.T))


def scale(data, factors):
    """Change the units, and the zero, of continuous columns."""
    columns = [
        factors[v.name][0] * data.column(v.name) + factors[v.name][1]
        if v.name in factors
        else data.column(v.name)
        for v in data.variables
    ]
    return Dataset(data.variables, columns, data.weights)


def assert_monotone(result, slack=1e-9):
    path = np.r_[result.monitor.trajectory, result.objective]
    assert np.all(np.diff(path) >= -slack * np.abs(path[1:]))


# Single steps


@pytest.mark.parametrize("smoothing", [0.0, 2.0])
@pytest.mark.parametrize("kind", sorted(FORESTS))
def test_a_step_equals_that_by_enumeration(kind, smoothing):
    network = draw_mixed(FORESTS[kind], seed=3)
    data = make_data(network)
    forest = Forest(network.structure, PatternedData(data))
    prior = pseudo_counts(network.structure, smoothing)
    found = fit(forest, network.parameters, prior, PLAIN).parameters
    expected = mixed_em_step(network, data, smoothing).parameters
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), smoothing=st.sampled_from([0.0, 0.5]), fast=st.booleans())
def test_the_objective_never_falls(seed, smoothing, fast):
    structure = list(FORESTS.values())[seed % len(FORESTS)]
    network = draw_mixed(structure, seed)
    data = make_data(network, 40, 0.2, seed)
    forest = Forest(structure, PatternedData(data))
    (start,) = random_starts(structure, data, 1, seed)
    prior = pseudo_counts(structure, smoothing)
    result = fit(forest, start, prior, EMSettings(60, 0.0, fast))
    assert np.isfinite(result.objective)
    assert_monotone(result)


def test_acceleration_reaches_the_same_maximum_sooner():
    data = make_profiles(3, 400, 2, seed=1)
    structure = make_structure(data.variables, 2)
    forest = Forest(structure, PatternedData(data))
    (start,) = random_starts(structure, data, 1, 0)
    slow, fast = (fit(forest, start, settings=EMSettings(5000, 1e-12, a)) for a in (False, True))
    assert fast.log_likelihood == pytest.approx(slow.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(fast.parameters, slow.parameters, rtol=1e-3, atol=1e-3)
    assert fast.monitor.converged


def test_the_map_estimate_is_a_maximum():
    network = draw_mixed(FORESTS["mixed leaves"], seed=8)
    data = make_data(network, 60)
    forest = Forest(network.structure, PatternedData(data))
    prior = pseudo_counts(network.structure, {"u": [3.0, 1.5], "v": 2.0, "A": 1.0, "Y": 1.0})
    result = fit(forest, network.parameters, prior, EMSettings(5000, 1e-14))
    families, extended = free_families(forest), extend_prior(forest, prior)

    def objective(theta):
        return forest.log_likelihood(theta)[0] + log_prior(families, extended, theta)

    assert objective(result.parameters) == pytest.approx(result.objective, rel=1e-12)
    for name in ("u", "v"):
        for i in range(6):
            for step in (-0.02, 0.02):
                theta = result.parameters.copy()
                table = network.structure.table_view(theta, name)
                table.reshape(-1)[i] += step * np.sqrt(table[i // 2, 1])
                assert objective(theta) < result.objective


def test_pseudo_observations_pull_towards_the_column():
    data = make_profiles(2, 300, 2, seed=4)
    structure = make_structure(data.variables, 2)
    forest = Forest(structure, PatternedData(data))
    (start,) = random_starts(structure, data, 1, 0)
    free, bound = (
        fit(forest, start, pseudo_counts(structure, {"c0": each})).parameters for each in (0, 1e9)
    )
    about = forest.data.summary("c0")
    table = structure.table_view(bound, "c0")
    np.testing.assert_allclose(table, [[about.mean, about.variance]] * 2, rtol=1e-5)
    assert np.ptp(structure.table_view(free, "c0")[:, 0]) > 0.1


# Peers


@pytest.mark.parametrize(("n_columns", "n_classes"), [(1, 2), (4, 3), (6, 5)])
def test_the_same_path_as_scikit_learn(n_columns, n_classes):
    data = make_profiles(n_columns, 300, n_classes, seed=n_columns)
    structure = make_structure(data.variables, n_classes)
    forest = Forest(structure, PatternedData(data))
    (start,) = random_starts(structure, data, 1, 0)
    names = structure.observed
    tables = np.stack([structure.table_view(start, name) for name in names], axis=1)
    x = np.stack(data.columns, axis=1)
    for n_iterations in (1, 5, 40):
        mixture = GaussianMixture(
            n_classes,
            covariance_type="diag",
            weights_init=structure.table_view(start, "class"),
            means_init=tables[:, :, 0],
            precisions_init=1.0 / tables[:, :, 1],
            max_iter=n_iterations,
            tol=0.0,
            reg_covar=0.0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(x)
        ours = fit(forest, start, settings=EMSettings(n_iterations, 0.0, accelerate=False))
        assert ours.log_likelihood == pytest.approx(300 * mixture.score(x), rel=1e-9)
        found = np.stack([structure.table_view(ours.parameters, n) for n in names], axis=1)
        np.testing.assert_allclose(found[:, :, 0], mixture.means_, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found[:, :, 1], mixture.covariances_, rtol=1e-6)


# What must not matter


def fit_from_starts(data, n_classes=3, n_jobs=1, n_starts=6, smoothing=0.0):
    structure = make_structure(data.variables, n_classes)
    forest = Forest(structure, PatternedData(data, n_jobs))
    starts = random_starts(structure, forest.data.dataset, n_starts, 0)
    return fit(forest, starts, pseudo_counts(structure, smoothing), EMSettings(300, 1e-10))


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_units_shift_by_the_jacobian_and_change_nothing_else(smoothing):
    network = draw_mixed(STRUCTURES["mixed leaves"], seed=5)
    data = make_data(network, 150, 0.15, seed=3)
    factors = {"u": (1000.0, 0.0), "v": (0.3048, -40.0)}
    plain, scaled = (
        fit_from_starts(each, smoothing=smoothing) for each in (data, scale(data, factors))
    )
    jacobian = sum(
        np.log(factor) * data.weights[~np.isnan(data.column(name))].sum()
        for name, (factor, _) in factors.items()
    )
    assert scaled.log_likelihood == pytest.approx(plain.log_likelihood - jacobian, abs=1e-6)
    structure = make_structure(data.variables, 3)
    for name, (factor, zero) in factors.items():
        one = structure.table_view(plain.parameters, name)
        other = structure.table_view(scaled.parameters, name)
        np.testing.assert_allclose(other[:, 0], factor * one[:, 0] + zero, rtol=1e-5)
        np.testing.assert_allclose(other[:, 1], factor**2 * one[:, 1], rtol=1e-4)


@pytest.mark.parametrize("factor", [2.0**300, 2.0**-300])
def test_extreme_units_change_nothing_else(factor):
    data = make_profiles(3, 100)
    plain, scaled = fit_from_starts(data), fit_from_starts(scale(data, {"c0": (factor, 0.0)}))
    shift = 100 * np.log(factor)
    assert scaled.log_likelihood == pytest.approx(plain.log_likelihood - shift, rel=1e-10)
    structure = make_structure(data.variables, 3)
    for name in ("class", "c1"):
        np.testing.assert_allclose(
            structure.table_view(plain.parameters, name),
            structure.table_view(scaled.parameters, name),
            rtol=1e-6,
        )


def test_a_large_mean_costs_no_precision():
    data = make_profiles(2, 200, 2)
    far = scale(data, {"c0": (1.0, 2.0**30)})
    assert fit_from_starts(far, 2).log_likelihood == pytest.approx(
        fit_from_starts(data, 2).log_likelihood, abs=1e-4
    )


def test_threads_and_blocks_do_not_matter(monkeypatch):
    data = make_profiles(3, 200)
    whole = fit_from_starts(data)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 64)
    one, two = (fit_from_starts(data, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.parameters, two.parameters)
    assert one.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-6)


def test_pieces_give_the_same_bits(monkeypatch):
    data = make_profiles(3, 200)
    at_once = fit_from_starts(data)
    monkeypatch.setattr(em, "PIECE_SECONDS", 0.0)
    in_pieces = fit_from_starts(data)
    assert np.array_equal(at_once.parameters, in_pieces.parameters)
    assert at_once.objective == in_pieces.objective


def test_weights_count_like_repeated_rows():
    data = make_profiles(2, 60, 2)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    weighted = fit_from_starts(data.with_weights(weights), 2)
    repeated = fit_from_starts(data.take(np.repeat(np.arange(60), weights)), 2)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, abs=1e-7)
    np.testing.assert_allclose(weighted.parameters, repeated.parameters, rtol=1e-5, atol=1e-6)


def test_the_deadline_ends_a_fit(monkeypatch):
    monkeypatch.setattr(em, "PIECE_SECONDS", 0.0)
    data = make_profiles(4, 300)
    structure = make_structure(data.variables, 3)
    forest = Forest(structure, PatternedData(data))
    starts = random_starts(structure, data, 1, 0)
    result = fit(forest, starts, settings=EMSettings(10**7, 0.0), deadline=time.monotonic())
    assert not result.monitor.converged
    assert np.isfinite(result.log_likelihood)


# Bounds


def test_a_cluster_of_equal_values_stays_at_the_bound():
    rng = np.random.default_rng(0)
    data = Dataset([U], [np.r_[rng.normal(size=100), np.full(30, 0.25)]])
    structure = make_structure(data.variables, 2)
    forest = Forest(structure, PatternedData(data))
    start = Network.from_tables(
        structure.variables,
        {"u": "class"},
        {"class": [0.7, 0.3], "u": [[0.0, 1.0], [0.25, 0.01]]},
    )
    result = fit(forest, start.parameters)
    least = forest.data.summary("u").least_variance
    assert structure.table_view(result.parameters, "u")[1, 1] == least
    assert result.bounded == ("u",)
    assert np.isfinite(result.log_likelihood)
    assert_monotone(result)


@pytest.mark.parametrize("n_classes", [2, 4, 8])
@pytest.mark.parametrize(
    "rows",
    [
        [1.0, 2.0, 3.0],
        [0.0, 0.0, 0.0, 1.0],
        [5.0, 5.0, 5.0],
        [7.0],
        [1e-12, 2e-12, 1.0],
        [1.0, 1.0 + 1e-15, 2.0],
        [np.nan, np.nan, 3.0],
        [np.nan, np.nan],
        [1e100, -1e100, 1.0],
    ],
)
def test_tiny_tables_give_finite_results(rows, n_classes):
    data = Dataset([U, A], [rows, [0] * len(rows)])
    result = fit_from_starts(data, n_classes)
    assert np.isfinite(result.log_likelihood)
    Network(make_structure(data.variables, n_classes), result.parameters)


def test_nothing_is_bounded_in_ordinary_data():
    assert fit_from_starts(make_profiles(3, 200)).bounded == ()


def test_a_frozen_gaussian_is_left_alone():
    network = draw_mixed(FORESTS["mixed leaves"], seed=1)
    forest = Forest(network.structure, PatternedData(make_data(network)), free=["u", "Y"])
    fitted = network.with_parameters(fit(forest, network.parameters).parameters)
    assert np.array_equal(fitted.cpd("v"), network.cpd("v"))
    assert not np.array_equal(fitted.cpd("u"), network.cpd("u"))


# Parts of the M-step


def test_a_state_without_weight_keeps_its_gaussian():
    structure = Structure([Y, U], {"u": "Y"})
    forest = Forest(structure, PatternedData(Dataset([U], [[0.0, 1.0, 2.0]])))
    theta = np.array([0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    prior = extend_prior(forest, np.zeros(9))
    update(free_families(forest), prior, np.zeros(forest.n_counts), theta)
    assert theta.tolist() == [0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), longest=st.sampled_from([1.0, 4.0, 64.0]))
def test_extrapolation_keeps_variances_above_the_bound(seed, longest):
    structure = Structure([Y, U, V], {"u": "Y", "v": "Y"})
    forest = Forest(structure, PatternedData(Dataset([U, V], [[0.0, 1.0, 2.0], [5.0, 5.5, 9.0]])))
    points = [np.array(draw_mixed(structure, seed + i).parameters) for i in range(3)]
    result = points[2].copy()
    prior = extend_prior(forest, np.zeros(structure.n_values))
    leap(free_families(forest), *points, prior, longest, result)
    Network(structure, result)
    for name in ("u", "v"):
        least = forest.data.summary(name).least_variance
        assert np.all(structure.table_view(result, name)[:, 1] >= least)


# Starts


def test_starts_are_valid_and_reproducible():
    network = draw_mixed(STRUCTURES["two latent"], seed=1)
    data = make_data(network, 50, 0.3)
    starts = random_starts(network.structure, data, 4, 7)
    for start in starts:
        Network(network.structure, start)
    assert np.array_equal(starts[:2], random_starts(network.structure, data, 2, 7))
    assert not np.array_equal(starts, random_starts(network.structure, data, 4, 8))


def test_starts_do_not_depend_on_the_order_of_rows():
    data = make_profiles(4, 200)
    structure = make_structure(data.variables, 3)
    order = np.random.default_rng(0).permutation(200)
    first = random_starts(structure, data, 3, 0)
    np.testing.assert_allclose(first, random_starts(structure, data.take(order), 3, 0), rtol=1e-9)


def test_means_of_starts_are_rows_that_differ():
    data = make_profiles(2, 50)
    structure = make_structure(data.variables, 4)
    rows = np.stack(data.columns, axis=1)
    for start in random_starts(structure, data, 5, 0):
        means = np.stack([structure.table_view(start, n)[:, 0] for n in ("c0", "c1")], axis=1)
        distance = np.abs(means[:, None] - rows[None]).sum(axis=2)
        assert distance.min(axis=1).max() < 1e-9
        assert len(np.unique(distance.argmin(axis=1))) == 4
