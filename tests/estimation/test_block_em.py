"""EM with blocks of continuous variables: steps, monotonicity, bounds, units, priors, peers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.mixture import GaussianMixture

from climbing import leap
from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.estimation import em
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.families import extend_prior, free_families
from latentforest.estimation.priors import pseudo_counts
from latentforest.estimation.region import fit_region, make_region
from latentforest.estimation.starts import random_starts
from latentforest.inference import forest as forest_module
from latentforest.inference.blocks import find_blocks, find_least
from latentforest.inference.forest import Forest, PatternedData
from latentforest.kernels.forest.em import log_prior, update
from latentforest.model import Network, Structure
from latentforest.model.gaussian import find_components
from latentforest.model.parameters import join_covariances
from reference.block_em import block_em_step
from reference.mixed_networks import LINEAR, POUCHES, A, U, V, W, Y, draw_mixed

STRUCTURES = {name: each for name, each in {**LINEAR, **POUCHES}.items() if name != "own class"} | {
    "no parent": Structure([U, V, W, A], {"v": "u"}, [("u", "w")]),
}
PLAIN = EMSettings(1, 0.0, accelerate=False)


def make_data(network, n_rows=60, missing=0.15, seed=0):
    data = with_missing(network.sample(n_rows, random_state=seed), missing, random_state=seed)
    return data.with_weights(np.random.default_rng(seed).choice([0.5, 1.0, 2.0], n_rows))


def make_mixture(n_columns, n_states):
    columns = [Variable(f"c{j}") for j in range(n_columns)]
    names = [column.name for column in columns]
    return Structure(
        [Variable.hidden("class", n_states), *columns], dict.fromkeys(names, "class"), [names]
    )


def make_clusters(n_columns, n_rows, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_classes):
        root = np.eye(n_columns) + rng.normal(0.0, 0.25, (n_columns, n_columns))
        rows.append(
            rng.normal(0.0, 4.0, n_columns)
            + rng.normal(size=(n_rows // n_classes, n_columns)) @ root
        )
    x = np.concatenate(rows)
    return Dataset([Variable(f"c{j}") for j in range(n_columns)], list(x.T))


def scale(data, factors):
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


@pytest.mark.parametrize("smoothing", [0.0, 2.0])
@pytest.mark.parametrize("kind", sorted(STRUCTURES))
def test_a_step_equals_that_by_enumeration(kind, smoothing):
    network = draw_mixed(STRUCTURES[kind], seed=3)
    structure, data = network.structure, make_data(network)
    patterned = PatternedData(data)
    prior = pseudo_counts(structure, smoothing)
    found = fit(Forest(structure, patterned), network.parameters, prior, PLAIN).parameters
    names = structure.continuous
    about = [patterned.summary(name) for name in names]
    spread = np.sqrt([each.variance for each in about])
    covariance = patterned.correlations(names) * np.outer(spread, spread)
    blocks = find_components(structure, names)
    for block in blocks:  # across blocks, correlations must not matter
        for name in block:
            for other in set(names) - set(block):
                covariance[names.index(name), names.index(other)] = np.nan
    covariance = np.nan_to_num(covariance)
    reference = np.array([each.mean for each in about]), covariance
    expected = block_em_step(network, data, blocks, smoothing, reference)
    for name in names:
        np.testing.assert_allclose(
            structure.table_view(found, name), expected[name], rtol=1e-9, atol=1e-9
        )


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), smoothing=st.sampled_from([0.0, 0.5]), fast=st.booleans())
def test_the_objective_never_falls(seed, smoothing, fast):
    structure = list(STRUCTURES.values())[seed % len(STRUCTURES)]
    data = make_data(draw_mixed(structure, seed), 40, 0.25, seed)
    (start,) = random_starts(structure, data, 1, seed)
    Network(structure, start)
    prior = pseudo_counts(structure, smoothing)
    result = fit(Forest(structure, PatternedData(data)), start, prior, EMSettings(80, 0.0, fast))
    assert np.isfinite(result.objective)
    assert_monotone(result)
    Network(structure, result.parameters)


def test_acceleration_reaches_the_same_maximum_sooner():
    data = make_clusters(3, 300)
    structure = make_mixture(3, 3)
    forest = Forest(structure, PatternedData(data))
    (start,) = random_starts(structure, data, 1, 0)
    slow, fast = (fit(forest, start, settings=EMSettings(5000, 1e-12, a)) for a in (False, True))
    assert fast.log_likelihood == pytest.approx(slow.log_likelihood, abs=1e-5)
    assert fast.monitor.converged


def test_the_map_estimate_is_a_maximum():
    network = draw_mixed(STRUCTURES["line from a pouch"], seed=8)
    structure = network.structure
    forest = Forest(structure, PatternedData(make_data(network, 80)))
    prior = pseudo_counts(structure, 1.5)
    result = fit(forest, network.parameters, prior, EMSettings(5000, 1e-14))
    families, extended = free_families(forest), extend_prior(forest, prior)

    def objective(theta):
        return forest.log_likelihood(theta)[0] + log_prior(families, extended, theta)

    assert objective(result.parameters) == pytest.approx(result.objective, rel=1e-12)
    for name in ("u", "v", "w"):
        table = structure.table_view(result.parameters, name)
        for *row, column in np.ndindex(table.shape):
            for step in (-0.02, 0.02):
                theta = result.parameters.copy()
                structure.table_view(theta, name)[(*row, column)] *= 1 + step
                if name != "w" and column > 0:  # covariances are symmetric
                    other = ("u", "v")[column - 1]
                    value = structure.table_view(theta, name)[(*row, column)]
                    place = (*row, 1 + ("u", "v").index(name))
                    structure.table_view(theta, other)[place] = value
                assert objective(theta) < result.objective


@pytest.mark.parametrize(("n_columns", "n_classes"), [(2, 2), (5, 3)])
def test_the_same_path_as_scikit_learn(n_columns, n_classes):
    data = make_clusters(n_columns, 300, n_classes, seed=n_columns)
    structure = make_mixture(n_columns, n_classes)
    forest = Forest(structure, PatternedData(data))
    (start,) = random_starts(structure, data, 1, 0)
    names = structure.observed
    x = np.stack(data.columns, axis=1)
    for n_iterations in (1, 5, 40):
        mixture = GaussianMixture(
            n_classes,
            covariance_type="full",
            weights_init=structure.table_view(start, "class"),
            means_init=np.stack([structure.table_view(start, n)[:, 0] for n in names], axis=1),
            precisions_init=np.linalg.inv(join_covariances(structure, names, start)),
            max_iter=n_iterations,
            tol=0.0,
            reg_covar=0.0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(x)
        ours = fit(forest, start, settings=EMSettings(n_iterations, 0.0, accelerate=False))
        assert ours.log_likelihood == pytest.approx(len(x) * mixture.score(x), rel=1e-9)
        found = join_covariances(structure, names, ours.parameters)
        np.testing.assert_allclose(found, mixture.covariances_, rtol=1e-6, atol=1e-7)


def test_a_shared_covariance_is_that_of_scikit_learn():
    data = make_clusters(3, 240)
    structure = make_mixture(3, 3)
    names = structure.observed
    forest = Forest(structure, PatternedData(data), shared=names)
    (start,) = random_starts(structure, data, 1, 1)
    x = np.stack(data.columns, axis=1)
    mixture = GaussianMixture(
        3,
        covariance_type="tied",
        weights_init=structure.table_view(start, "class"),
        means_init=np.stack([structure.table_view(start, n)[:, 0] for n in names], axis=1),
        precisions_init=np.linalg.inv(join_covariances(structure, names, start)[0]),
        max_iter=30,
        tol=0.0,
        reg_covar=0.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture.fit(x)
    ours = fit(forest, start, settings=EMSettings(30, 0.0, accelerate=False))
    assert ours.log_likelihood == pytest.approx(len(x) * mixture.score(x), rel=1e-9)
    for matrix in join_covariances(structure, names, ours.parameters):
        np.testing.assert_allclose(matrix, mixture.covariances_, rtol=1e-6, atol=1e-7)


def test_a_line_without_gaps_is_a_regression():
    rng = np.random.default_rng(0)
    x, z = rng.normal(10.0, 3.0, (2, 100))
    y = 4.0 + 2.0 * x - 0.5 * z + rng.normal(0.0, 0.2, 100)
    structure = Structure([U, V, W], {"w": ("u", "v")})
    data = Dataset([U, V, W], [x, z, y])
    (start,) = random_starts(structure, data, 1, 0)
    result = fit(Forest(structure, PatternedData(data)), start)
    peer = LinearRegression().fit(np.stack([x, z], axis=1), y)
    table = structure.table_view(result.parameters, "w")
    np.testing.assert_allclose(table[:3], [peer.intercept_, *peer.coef_], rtol=1e-9)
    rest = y - peer.predict(np.stack([x, z], axis=1))
    assert table[3] == pytest.approx(np.mean(rest**2))


# What must not matter


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["line from a pouch", "two lines"])
def test_units_shift_by_the_jacobian_and_change_nothing_else(kind, smoothing):
    structure = STRUCTURES[kind]
    data = make_data(draw_mixed(structure, seed=5), 150, 0.15, seed=3)
    factors = {"u": (1000.0, 0.0), "v": (0.3048, -40.0), "w": (2.0**200, 0.0)}
    results = []
    for each in (data, scale(data, factors)):
        forest = Forest(structure, PatternedData(each))
        starts = random_starts(structure, each, 4, 0)
        prior = pseudo_counts(structure, smoothing)
        results.append(fit(forest, starts, prior, EMSettings(200, 1e-10)))
    plain, scaled = results
    jacobian = sum(
        np.log(factor) * data.weights[~np.isnan(data.column(name))].sum()
        for name, (factor, _) in factors.items()
    )
    assert scaled.log_likelihood == pytest.approx(plain.log_likelihood - jacobian, abs=1e-6)
    np.testing.assert_allclose(
        structure.table_view(scaled.parameters, "Y"),
        structure.table_view(plain.parameters, "Y"),
        rtol=1e-5,
    )
    own = {name: structure.table_view(plain.parameters, name)[..., 1:] for name in "uvw"}
    new = {name: structure.table_view(scaled.parameters, name)[..., 1:] for name in "uvw"}
    for name in "uvw":
        units = [factors[other][0] for other in structure.pouch(name)]
        if len(units) == 1:
            slopes = [1 / factors[p][0] for p in structure.continuous_parents(name)]
            units = [*slopes, factors[name][0]]
        expected = own[name] * factors[name][0] * np.array(units)
        np.testing.assert_allclose(
            new[name], expected, rtol=1e-3, atol=1e-5 * np.abs(expected).max()
        )


def test_a_large_mean_costs_little_precision():
    data = make_clusters(2, 200, 2)
    structure = make_mixture(2, 2)
    values = []
    for each in (data, scale(data, {"c0": (1.0, 2.0**30)})):
        forest = Forest(structure, PatternedData(each))
        values.append(fit(forest, random_starts(structure, each, 4, 0)).log_likelihood)
    assert values[1] == pytest.approx(values[0], abs=1e-3)


def test_threads_blocks_and_pieces_do_not_matter(monkeypatch):
    network = draw_mixed(STRUCTURES["line from a pouch"], seed=2)
    structure, data = network.structure, make_data(network, 200)

    def run(n_jobs=1):
        forest = Forest(structure, PatternedData(data, n_jobs))
        starts = random_starts(structure, data, 4, 0)
        return fit(forest, starts, settings=EMSettings(100, 1e-9))

    whole = run()
    with monkeypatch.context() as patch:
        patch.setattr(em, "PIECE_SECONDS", 0.0)
        assert np.array_equal(run().parameters, whole.parameters)
    monkeypatch.setattr(forest_module, "CHUNK_ROWS", 64)
    one, two = run(1), run(2)
    assert np.array_equal(one.parameters, two.parameters)
    assert one.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-5)


def test_weights_count_like_repeated_rows():
    data = make_clusters(3, 90, 2)
    structure = make_mixture(3, 2)
    weights = np.random.default_rng(0).integers(0, 4, 90)
    results = []
    for each in (data.with_weights(weights), data.take(np.repeat(np.arange(90), weights))):
        starts = random_starts(structure, each, 3, 0)
        results.append(fit(Forest(structure, PatternedData(each)), starts))
    assert results[0].log_likelihood == pytest.approx(results[1].log_likelihood, abs=1e-6)


# Bounds


@pytest.mark.parametrize("accelerate", [False, True])
def test_a_collapsing_cluster_stays_at_the_bound(accelerate):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(size=(80, 3)), np.full((3, 3), 2.0)])
    x[80:, 0] += (0.0, 0.1, 0.2)
    data = Dataset([Variable(f"c{j}") for j in range(3)], list(x.T))
    structure = make_mixture(3, 2)
    forest = Forest(structure, PatternedData(data))
    (start,) = random_starts(structure, data, 1, 0)
    structure.table_view(start, "class")[...] = [0.9, 0.1]
    for name in structure.observed:
        table = structure.table_view(start, name)
        table[:, 0] = [0.0, 2.0]
        table[1, 1:] = 0.0
        table[1, 1 + structure.observed.index(name)] = 0.05
    result = fit(forest, start, settings=EMSettings(500, 1e-12, accelerate))
    assert_monotone(result)
    assert np.isfinite(result.log_likelihood)
    assert result.bounded == structure.observed
    (block,) = find_blocks(structure)
    about = [forest.data.summary(name) for name in block.names]
    (least,) = find_least(structure, block, forest.data.correlations(block.names), about)
    spread = np.sqrt([each.variance for each in about])
    for matrix in join_covariances(structure, structure.observed, result.parameters):
        values = eigh(matrix / np.outer(spread, spread), least, eigvals_only=True)
        assert values.min() > 1 - 1e-9


def make_copied_columns(noise=0.0):
    """Three columns, the last one like the first in another unit, and a fourth."""
    rng = np.random.default_rng(0)
    a, b, d = rng.normal(size=(3, 200))
    columns = [a, b, 1e6 * a + 7.0 + 1e6 * noise * rng.normal(size=200), d]
    return Dataset([Variable(name) for name in "abcd"], columns)


@pytest.mark.parametrize("noise", [0.0, 1e-5])
@pytest.mark.parametrize("form", ["pouch", "line"])
def test_copied_columns_are_named_and_others_are_not(form, noise):
    data = make_copied_columns(noise)
    classes = Variable.hidden("class", 2)
    if form == "pouch":
        structure = Structure([classes, *data.variables], dict.fromkeys("abcd", "class"), ["abcd"])
    else:
        parents = dict.fromkeys("abd", "class") | {"c": ("class", "a")}
        structure = Structure([classes, *data.variables], parents)
    forest = Forest(structure, PatternedData(data))
    result = fit(forest, random_starts(structure, data, 4, 0))
    assert result.collinear == ("a", "c")
    assert result.bounded == ()
    assert np.isfinite(result.log_likelihood)
    assert Network(structure, result.parameters).structure == structure


def test_columns_that_do_not_depend_on_each_other_may_be_copies():
    data = make_copied_columns()
    structure = Structure(
        [Variable.hidden("class", 2), *data.variables], dict.fromkeys("abcd", "class")
    )
    result = fit(Forest(structure, PatternedData(data)), random_starts(structure, data, 4, 0))
    assert result.collinear == ()


def test_similar_columns_are_not_copies():
    data = make_copied_columns(noise=0.01)
    structure = make_mixture(4, 2)
    data = Dataset([Variable(f"c{j}") for j in range(4)], data.columns)
    result = fit(Forest(structure, PatternedData(data)), random_starts(structure, data, 4, 0))
    assert result.collinear == ()


def test_nothing_is_bounded_in_ordinary_data():
    data = make_clusters(3, 300)
    structure = make_mixture(3, 2)
    forest = Forest(structure, PatternedData(data))
    assert fit(forest, random_starts(structure, data, 4, 0)).bounded == ()


@pytest.mark.parametrize("kind", ["pouch of three", "chain", "two lines"])
@pytest.mark.parametrize(
    "rows",
    [
        [1.0, 2.0, 3.0],
        [0.0, 0.0, 0.0, 1.0],
        [5.0, 5.0, 5.0],
        [7.0],
        [1e-12, 2e-12, 1.0],
        [np.nan, np.nan, 3.0],
        [np.nan, np.nan],
        [1e100, -1e100, 1.0],
    ],
)
def test_tiny_and_equal_columns_give_finite_results(rows, kind):
    structure = STRUCTURES[kind]
    rows = np.array(rows)
    data = Dataset([U, V, W], [rows, rows, 2.0 * rows])
    forest = Forest(structure, PatternedData(data))
    result = fit(forest, random_starts(structure, data, 4, 0), settings=EMSettings(100, 1e-9))
    assert np.isfinite(result.log_likelihood)
    assert_monotone(result, 1e-7)
    Network(structure, result.parameters)


def test_frozen_families_of_a_block_are_left_alone():
    network = draw_mixed(STRUCTURES["line from a pouch"], seed=1)
    forest = Forest(network.structure, PatternedData(make_data(network)), free=["w"])
    fitted = network.with_parameters(fit(forest, network.parameters).parameters)
    for name in ("u", "v", "Y"):
        assert np.array_equal(fitted.cpd(name), network.cpd(name))
    assert not np.array_equal(fitted.cpd("w"), network.cpd("w"))


def test_a_state_without_weight_keeps_its_parameters():
    network = draw_mixed(STRUCTURES["line from a pouch"], seed=1)
    forest = Forest(network.structure, PatternedData(make_data(network)))
    theta = np.array(network.parameters)
    prior = extend_prior(forest, np.zeros(len(theta)))
    update(free_families(forest), prior, np.zeros(forest.n_counts), theta)
    assert np.array_equal(theta, network.parameters)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), longest=st.sampled_from([1.0, 4.0, 64.0]))
def test_extrapolation_keeps_covariances_positive_definite(seed, longest):
    structure = STRUCTURES["line from a pouch"]
    forest = Forest(structure, PatternedData(make_data(draw_mixed(structure, 1), 20, 0.0)))
    points = [np.array(draw_mixed(structure, seed + i).parameters) for i in range(3)]
    result = points[2].copy()
    prior = extend_prior(forest, np.zeros(structure.n_values))
    leap(free_families(forest), *points, prior, longest, result)
    Network(structure, result)


def test_a_region_with_blocks_is_the_network_with_frozen_tables():
    structure = Structure(
        [Y, Variable.hidden("Z", 2), U, V, W, A],
        {"Z": "Y", "u": "Y", "v": "Y", "w": "Z", "A": "Z"},
        [("u", "v")],
    )
    network = draw_mixed(structure, seed=2)
    patterned = PatternedData(make_data(network))
    whole = Forest(structure, patterned).log_likelihood(network.parameters)[0]
    for free in (["u", "v"], ["Z", "w"], ["A"]):
        region = make_region(network, patterned, free)
        result = fit_region(region, region.network.parameters, settings=EMSettings(20, 0.0))
        assert result.log_likelihood >= whole - 1e-9
        fitted = region.network.with_parameters(result.parameters)
        value = Forest(fitted.structure, patterned).log_likelihood(fitted.parameters)[0]
        assert value == pytest.approx(result.log_likelihood, rel=1e-10)


# Starts


@pytest.mark.parametrize("kind", sorted(STRUCTURES))
def test_starts_are_valid_and_reproducible(kind):
    network = draw_mixed(STRUCTURES[kind], seed=1)
    data = make_data(network, 50, 0.3)
    starts = random_starts(network.structure, data, 4, 7)
    for start in starts:
        Network(network.structure, start)
    assert np.array_equal(starts[:2], random_starts(network.structure, data, 2, 7))
