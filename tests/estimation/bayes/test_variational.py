"""Variational Bayes: what the mathematics must give."""

import numpy as np
import pytest
from scipy.special import psi
from tests.reference.evidence import (
    dirichlet_evidence,
    latent_class_evidence,
    normal_gamma_evidence,
)

from latentforest import Dataset, Variable
from latentforest.datasets import load
from latentforest.errors import ParameterError
from latentforest.estimation.bayes.conjugate_priors import Priors
from latentforest.estimation.bayes.posterior_vector import pack, pack_priors, unpack
from latentforest.estimation.bayes.variational import (
    find_divergence,
    fit_posterior,
    from_parameters,
)
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.junction.junction_tree import JunctionTree
from latentforest.kernels.variational.posteriors import digamma
from latentforest.model.conjugate import NormalGamma
from latentforest.model.structure import Structure

STATES = ("a", "b", "c")


def make_table(n_rows, seed, missing=0.0):
    """Two categorical and two continuous columns that depend on a hidden class."""
    generator = np.random.default_rng(seed)
    z = generator.integers(0, 2, n_rows)
    codes = [np.where(generator.random(n_rows) < 0.7, z + j, 2 - z) % 3 for j in range(2)]
    values = [3.0 * z + generator.normal(size=n_rows), -z + 0.5 * generator.normal(size=n_rows)]
    columns = []
    for column, gap in zip([*codes, *values], (-1, -1, np.nan, np.nan), strict=True):
        column = column.astype(np.int32) if gap == -1 else column
        columns.append(np.where(generator.random(n_rows) < missing, gap, column))
    kinds = [Variable("u", STATES), Variable("v", STATES), Variable("x"), Variable("y")]
    return Dataset(kinds, columns)


def lay_out(table, parents, latents=()):
    structure = Structure([*latents, *table.variables], parents)
    forest = Forest(structure, PatternedData(table), is_variational=True)
    return forest, pack_priors(structure, Priors(table))


def latent_class(table, n_states=2):
    names = [variable.name for variable in table.variables]
    return lay_out(table, dict.fromkeys(names, "z"), [Variable.hidden("z", n_states)])


def make_starts(forest, prior, n_starts=4, seed=0):
    structure, table = forest.structure, forest.data.dataset
    thetas = random_starts(structure, table, n_starts, seed)
    weight = forest.data.total_weight
    return np.stack([from_parameters(structure, theta, prior, weight) for theta in thetas])


def test_digamma_is_scipys():
    x = np.concatenate([np.geomspace(1e-6, 1e8, 500), np.linspace(0.01, 20, 500)])
    assert np.allclose([digamma(v) for v in x], psi(x), rtol=1e-13, atol=1e-13)


def test_bound_is_the_evidence_without_latent_variables():
    table = make_table(40, 1)
    forest, prior = lay_out(table, {"v": "u", "y": "u"})
    result = fit_posterior(forest, prior, prior)
    priors, u, v = Priors(table), table.column("u"), table.column("v")
    expected = dirichlet_evidence(priors.of_table("u").concentration, np.bincount(u, minlength=3))
    for k in range(3):
        expected += dirichlet_evidence(
            priors.of_table("v").concentration, np.bincount(v[u == k], minlength=3)
        )
        expected += normal_gamma_evidence(as_numbers(priors, "y"), table.column("y")[u == k])
    expected += normal_gamma_evidence(as_numbers(priors, "x"), table.column("x"))
    assert result.objective == pytest.approx(expected, abs=1e-8)


def as_numbers(priors, name):
    prior = priors.of_gaussian(name)
    return tuple(map(float, (prior.mean, prior.weight, prior.shape, prior.rate)))


@pytest.mark.parametrize("seed", range(3))
def test_bound_is_below_the_evidence_of_tiny_latent_models(seed):
    table = make_table(7, seed)
    forest, prior = latent_class(table)
    result = fit_posterior(forest, make_starts(forest, prior), prior)
    priors = Priors(table)
    exact = latent_class_evidence(
        [table.column("u"), table.column("v")],
        (3, 3),
        [priors.of_table(name).concentration for name in "uv"],
        2,
        np.array([0.5, 0.5]),
        [(table.column(name), as_numbers(priors, name)) for name in "xy"],
    )
    assert result.objective < exact
    assert exact - result.objective < 8.0  # no better than chance would be some 20 lower


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_bound_never_falls(accelerate, missing):
    table = make_table(300, 5, missing)
    forest, prior = latent_class(table, 3)
    settings = EMSettings(300, 0.0, accelerate)
    result = fit_posterior(forest, make_starts(forest, prior, 1), prior, settings)
    steps = np.diff(result.monitor.trajectory)
    assert len(steps) > 5
    assert steps.min() > -1e-9 * abs(result.objective)


def test_acceleration_reaches_the_same_place_sooner():
    table = make_table(400, 6)
    forest, prior = latent_class(table)
    start = make_starts(forest, prior, 1)
    slow, fast = (
        fit_posterior(forest, start, prior, EMSettings(5000, 1e-11, accelerate))
        for accelerate in (False, True)
    )
    assert fast.objective == pytest.approx(slow.objective, abs=1e-4)
    assert fast.monitor.n_iterations < slow.monitor.n_iterations


def test_pieces_and_blocks_give_the_same_as_one_call(monkeypatch):
    table = make_table(300, 7, 0.1)
    forest, prior = latent_class(table)
    starts = make_starts(forest, prior)
    whole = fit_posterior(forest, starts, prior)
    parts = Forest(forest.structure, PatternedData(table, chunk_rows=90), is_variational=True)
    assert len(parts.plans) > 1
    by_blocks = fit_posterior(parts, starts, prior)
    assert by_blocks.objective == pytest.approx(whole.objective, abs=1e-6)
    monkeypatch.setattr("latentforest.estimation.em.PIECE_SECONDS", 1e-9)
    in_pieces = fit_posterior(forest, starts, prior)
    assert np.array_equal(in_pieces.parameters, whole.parameters)


def test_weights_are_repeated_rows():
    table = make_table(60, 8)
    weights = np.arange(60) % 3 + 1.0
    twice = table.take(np.repeat(np.arange(60), weights.astype(int)))
    heavy = table.with_weights(weights)
    laid_out = [latent_class(each) for each in (twice, heavy)]
    start = make_starts(*laid_out[0], 1)
    first, second = (fit_posterior(forest, start, prior).objective for forest, prior in laid_out)
    assert first == pytest.approx(second, rel=1e-10)


def test_units_shift_the_bound_by_the_jacobian():
    table = make_table(200, 9, 0.1)
    columns = [*map(table.column, "uv"), 1000.0 * table.column("x"), table.column("y") - 1e4]
    other = Dataset(table.variables, columns)
    results = []
    for each in (table, other):
        forest, prior = latent_class(each)
        results.append(fit_posterior(forest, make_starts(forest, prior), prior))
    n_values = np.count_nonzero(~np.isnan(table.column("x")))
    shift = n_values * np.log(1000.0)
    assert results[0].objective - shift == pytest.approx(results[1].objective, abs=1e-5)


def test_vanishing_prior_and_many_rows_approach_maximum_likelihood():
    table = make_table(20_000, 10)
    forest, _ = latent_class(table)
    structure = forest.structure
    theta = random_starts(structure, table, 1, 0)[0]
    likely = fit(Forest(structure, PatternedData(table)), theta)
    weak = pack_priors(structure, Priors(table, strength=1e-3))
    forest = Forest(structure, PatternedData(table), is_variational=True)
    start = from_parameters(structure, theta, weak, table.total_weight)
    result = fit_posterior(forest, start, weak)
    for name, family in unpack(structure, result.parameters).items():
        assert np.allclose(family.table, structure.table_view(likely.parameters, name), atol=0.01)
    assert result.log_likelihood == pytest.approx(likely.log_likelihood, abs=25.0)


def test_frozen_tables_stay():
    table = make_table(200, 11)
    forest, prior = latent_class(table)
    start = make_starts(forest, prior, 1)[0]
    free = ["z", "x"]
    part = Forest(forest.structure, forest.data, free=free, is_variational=True)
    local = fit_posterior(part, start, prior)
    full = fit_posterior(forest, start, prior)
    before, after = (unpack(forest.structure, q) for q in (start, local.parameters))
    assert np.array_equal(before["u"].concentration, after["u"].concentration)
    assert not np.allclose(before["x"].mean, after["x"].mean)
    frozen = tuple(set(forest.structure.names) - set(free))
    bound = local.objective - find_divergence(forest, prior, start, frozen)
    assert bound < full.objective


def test_packing_is_undone_by_unpacking():
    forest, prior = latent_class(make_table(30, 12))
    q = make_starts(forest, prior, 1)[0]
    assert np.array_equal(pack(forest.structure, unpack(forest.structure, q)), q)


def test_wrong_shapes_are_refused():
    forest, prior = latent_class(make_table(30, 13))
    with pytest.raises(ParameterError, match="starts has shape"):
        fit_posterior(forest, prior[:-1], prior)
    with pytest.raises(ParameterError, match="prior has shape"):
        fit_posterior(forest, prior, prior[:-1])
    with pytest.raises(ParameterError, match="rate must be positive"):
        NormalGamma(0.0, 1.0, 1.0, 0.0)


@pytest.mark.parametrize("is_forest", [True, False])
def test_posteriors_on_a_junction_tree(is_forest):
    table = load("coleman-panel")
    parents = dict.fromkeys("ABCD", ("X",))
    if not is_forest:
        parents |= {"B": ("X", "A"), "C": ("X", "A")}
    structure = Structure([Variable.hidden("X", 2), *table.variables], parents)
    prior, data = pack_priors(structure, Priors(table)), PatternedData(table)
    theta = random_starts(structure, table, 1, 0)[0]
    start = from_parameters(structure, theta, prior, table.total_weight)
    engine = JunctionTree(structure, data, is_variational=True)
    result = fit_posterior(engine, start, prior, EMSettings(500, 1e-10))
    assert (np.diff(result.monitor.trajectory) >= -1e-8).all()
    assert result.monitor.converged
    if is_forest:
        forest = Forest(structure, data, is_variational=True)
        expected = fit_posterior(forest, start, prior, EMSettings(500, 1e-10))
        assert result.objective == pytest.approx(expected.objective, rel=1e-12)
