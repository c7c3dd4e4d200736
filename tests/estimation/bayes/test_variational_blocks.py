"""Variational Bayes along lines of continuous variables, with gaps."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma

from latentforest import Dataset, Variable
from latentforest.errors import ModelError
from latentforest.estimation.bayes.conjugate_priors import Priors
from latentforest.estimation.bayes.posterior_vector import (
    pack_priors,
    read_family,
    unpack,
    write_family,
)
from latentforest.estimation.bayes.variational import find_potentials, fit_posterior
from latentforest.estimation.em import EMSettings
from latentforest.estimation.evidence import (
    fit_line,
    measure_values,
    measure_vectors,
    summarize_values,
)
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.predictive import Predictive
from latentforest.model.files.document import from_document, to_document
from latentforest.model.posterior_network import PosteriorNetwork
from latentforest.model.structure import Structure


def make_table(n_rows=120, seed=0, missing=0.2):
    """A chain x, y, z with a class above x, in units far from one."""
    generator = np.random.default_rng(seed)
    k = generator.integers(0, 2, n_rows)
    x = 50.0 + 30.0 * k + 5.0 * generator.normal(size=n_rows)
    y = 3.0 - 0.1 * x + 0.4 * generator.normal(size=n_rows)
    z = 1000.0 * y + 200.0 * generator.normal(size=n_rows)
    columns = [np.where(generator.random(n_rows) < missing, np.nan, c) for c in (x, y, z)]
    return Dataset([Variable(name) for name in "xyz"], columns)


def lay_out(table, latent=True):
    parents = {"y": "x", "z": "y"} | ({"x": "h"} if latent else {})
    variables = [Variable.hidden("h", 2)] if latent else []
    structure = Structure([*variables, *table.variables], parents)
    return Forest(structure, PatternedData(table), is_variational=True), pack_priors(
        structure, Priors(table)
    )


def make_start(forest, prior):
    """Two states apart."""
    q = prior.copy()
    if "h" in forest.structure:
        x = read_family(forest.structure, q, "x")
        x.mean[...] += [-1.0, 1.0]
        write_family(forest.structure, q, "x", x)
    return q


def test_the_bound_is_the_evidence_where_nothing_is_hidden():
    table = make_table(missing=0.0)
    forest, prior = lay_out(table, latent=False)
    result = fit_posterior(forest, prior, prior)
    priors, w = Priors(table), table.weights
    family, expected = measure_values(
        priors.of_gaussian("x"), *summarize_values(table.column("x"), w)
    )
    for child, parent in (("y", "x"), ("z", "y")):
        line, evidence = fit_line(
            priors.of_line(child, parent), table.column(parent), table.column(child), w
        )
        expected += evidence
        found = read_family(forest.structure, result.parameters, child)
        assert np.allclose(found.table, line.table, rtol=1e-8)
    assert result.objective == pytest.approx(expected, abs=1e-6)
    assert read_family(forest.structure, result.parameters, "x").rate == pytest.approx(family.rate)


@pytest.mark.parametrize("latent", [True, False])
def test_the_bound_never_falls(latent):
    forest, prior = lay_out(make_table(), latent)
    start = make_start(forest, prior)
    result = fit_posterior(forest, start, prior, EMSettings(60, 0.0))
    steps = np.diff(result.monitor.trajectory)
    assert len(steps) > 10
    assert steps.min() > -1e-8 * abs(result.objective)


def expected_log_line(family, y, x):
    phi = np.array([1.0, (x - family.center) / family.unit])
    precision = family.shape / family.rate
    logs = digamma(family.shape) - np.log(family.rate) - np.log(2 * np.pi)
    away = precision * (y - phi @ family.coefficients) ** 2
    return 0.5 * (logs - away - phi @ np.linalg.inv(family.weight) @ phi)


def expected_log_gaussian(family, x, k):
    precision = family.shape[k] / family.rate[k]
    logs = digamma(family.shape[k]) - np.log(family.rate[k]) - np.log(2 * np.pi)
    return 0.5 * (logs - precision * (x - family.mean[k]) ** 2 - 1 / family.weight[k])


def test_gaps_are_integrated():
    table = make_table()
    forest, prior = lay_out(table)
    result = fit_posterior(forest, make_start(forest, prior), prior)
    q = unpack(forest.structure, result.parameters)
    phi = find_potentials(forest, result.parameters)
    rows = forest.row_log_likelihoods(phi)
    weights = forest.structure.table_view(phi, "h")
    x, y, z = (table.column(name) for name in "xyz")
    middle = np.flatnonzero(~np.isnan(x) & np.isnan(y) & ~np.isnan(z))[:3]
    first = np.flatnonzero(np.isnan(x) & ~np.isnan(y) & ~np.isnan(z))[:3]
    assert len(middle) > 0
    assert len(first) > 0
    for i in middle:
        logs = [expected_log_gaussian(q["x"], x[i], k) for k in range(2)]
        above = weights @ np.exp(logs)

        def inside(value, i=i):
            logs = expected_log_line(q["y"], value, x[i]) + expected_log_line(q["z"], z[i], value)
            return np.exp(logs)

        total = quad(inside, -30, 20, points=[z[i] / 1000.0], epsabs=1e-14)[0]
        assert rows[i] == pytest.approx(np.log(above * total), abs=1e-6)
    for i in first:

        def inside(value, i=i):
            logs = [expected_log_gaussian(q["x"], value, k) for k in range(2)]
            return weights @ np.exp(logs) * np.exp(expected_log_line(q["y"], y[i], value))

        total = quad(inside, -100, 250, points=[50.0, 80.0], epsabs=1e-14, limit=200)[0]
        value = np.log(total) + expected_log_line(q["z"], z[i], y[i])
        assert rows[i] == pytest.approx(value, abs=1e-6)


def test_units_shift_the_bound_by_the_jacobian():
    table = make_table()
    columns = [0.001 * table.column("x"), table.column("y") + 100.0, 7.0 * table.column("z")]
    other = Dataset(table.variables, columns)
    bounds = []
    for each, unit in ((table, 1.0), (other, 0.001)):
        forest, prior = lay_out(each)
        start = prior.copy()
        x = read_family(forest.structure, start, "x")
        x.mean[...] += np.array([-1.0, 1.0]) * unit
        write_family(forest.structure, start, "x", x)
        bounds.append(fit_posterior(forest, start, prior).objective)
    n = [np.count_nonzero(~np.isnan(table.column(name))) for name in "xz"]
    shift = n[0] * np.log(0.001) + n[1] * np.log(7.0)
    assert bounds[0] - shift == pytest.approx(bounds[1], abs=1e-4)


def lay_out_pouch(table, latent=True):
    """A pouch of x and z below a class, and a line from z to y."""
    parents = {"x": "h", "z": "h", "y": "z"} if latent else {"y": "z"}
    variables = [Variable.hidden("h", 2)] if latent else []
    structure = Structure([*variables, *table.variables], parents, [("x", "z")])
    return Forest(structure, PatternedData(table), is_variational=True), pack_priors(
        structure, Priors(table)
    )


def test_the_bound_of_a_pouch_is_the_evidence_where_nothing_is_hidden():
    table = make_table(missing=0.0)
    forest, prior = lay_out_pouch(table, latent=False)
    result = fit_posterior(forest, prior, prior)
    rows = np.stack([table.column("x"), table.column("z")], axis=1)
    now, expected = Priors(table).of_pouch(("x", "z")), 0.0
    for row in rows:  # one after another
        expected += float(now.log_predictive(row[None])[0])
        now, _ = measure_vectors(now, np.array(1.0), row, np.zeros((2, 2)))
    line = Priors(table).of_line("y", "z")
    expected += fit_line(line, table.column("z"), table.column("y"), table.weights)[1]
    assert result.objective == pytest.approx(expected, abs=1e-6)
    found = read_family(forest.structure, result.parameters, "z")
    assert np.allclose(found.scatter, now.scatter)


def test_the_bound_of_a_pouch_never_falls():
    forest, prior = lay_out_pouch(make_table())
    start = prior.copy()
    pouch = read_family(forest.structure, start, "x")
    pouch.mean[...] += [[-10.0, 0.0], [10.0, 0.0]]
    write_family(forest.structure, start, "x", pouch)
    result = fit_posterior(forest, start, prior, EMSettings(60, 0.0))
    steps = np.diff(result.monitor.trajectory)
    assert len(steps) > 10
    assert steps.min() > -1e-8 * abs(result.objective)
    means = np.sort(read_family(forest.structure, result.parameters, "x").mean[:, 0])
    assert np.allclose(means, [50.0, 80.0], atol=3.0)


def test_a_gap_in_a_pouch_is_integrated():
    table = make_table()
    forest, prior = lay_out_pouch(table, latent=False)
    result = fit_posterior(forest, prior, prior)
    q = unpack(forest.structure, result.parameters)
    rows = forest.row_log_likelihoods(find_potentials(forest, result.parameters))
    x, y, z = (table.column(name) for name in "xyz")
    pouch = q["x"]

    def inside(value, i):
        d = np.array([x[i], value]) - pouch.mean
        logs = 0.5 * (pouch.log_determinant - 2 * np.log(2 * np.pi) - 2 / pouch.weight)
        logs -= 0.5 * d @ pouch.precision @ d
        return np.exp(logs + expected_log_line(q["y"], y[i], value))

    chosen = np.flatnonzero(~np.isnan(x) & ~np.isnan(y) & np.isnan(z))[:3]
    assert len(chosen) > 0
    for i in chosen:
        total = quad(inside, -20_000, 10_000, args=(i,), points=[1000 * y[i]], epsabs=0, limit=300)
        assert rows[i] == pytest.approx(np.log(total[0]), abs=1e-6)


def test_the_predictive_density_of_a_pouch_integrates_over_gaps():
    table = make_table(missing=0.0)
    forest, prior = lay_out_pouch(table)
    start = prior.copy()
    pouch = read_family(forest.structure, start, "x")
    pouch.mean[...] += [[-10.0, 0.0], [10.0, 0.0]]
    write_family(forest.structure, start, "x", pouch)
    q = fit_posterior(forest, start, prior).parameters
    predictive = Predictive(PosteriorNetwork(forest.structure, unpack(forest.structure, q)))

    def density(value):
        row = [np.array([value]), np.array([np.nan]), np.array([-3000.0])]
        return np.exp(predictive.log_densities(Dataset(table.variables, row))[0])

    whole = quad(density, -400, 600, points=[50.0, 80.0], limit=200)[0]
    row = [np.array([np.nan]), np.array([np.nan]), np.array([-3000.0])]
    alone = predictive.log_densities(Dataset(table.variables, row))[0]
    assert np.log(whole) == pytest.approx(alone, abs=1e-4)


def make_lines(n_rows=150, seed=1, missing=0.0):
    """A class that is seen, and y along another line of x in each class."""
    generator = np.random.default_rng(seed)
    k = generator.integers(0, 2, n_rows)
    x = 50.0 + 10.0 * generator.normal(size=n_rows)
    y = np.where(k == 0, 3.0 - 0.1 * x, -20.0 + 0.3 * x) + 0.4 * generator.normal(size=n_rows)
    x, y = (np.where(generator.random(n_rows) < missing, np.nan, c) for c in (x, y))
    variables = [Variable("k", ("a", "b")), Variable("x"), Variable("y")]
    return Dataset(variables, [k, x, y])


def lay_out_lines(table, parents, latent=False):
    variables = list(table.variables)
    if latent:
        variables[0] = Variable.hidden("k", 2)
        table = table.select(["x", "y"])
    structure = Structure(variables, parents)
    forest = Forest(structure, PatternedData(table), is_variational=True)
    return forest, pack_priors(structure, Priors(table))


@pytest.mark.parametrize("of_x", [("k",), ()])
def test_the_bound_is_the_evidence_of_a_line_in_each_state(of_x):
    table = make_lines()
    forest, prior = lay_out_lines(table, {"x": of_x, "y": ("k", "x")})
    result = fit_posterior(forest, prior, prior)
    priors, (k, x, y) = Priors(table), table.columns
    found = read_family(forest.structure, result.parameters, "y")
    whole, alone = lay_out_lines(table, {"x": of_x})
    apart = fit_posterior(whole, alone, alone)
    expected = (
        apart.objective
        - measure_values(priors.of_gaussian("y", False), *summarize_values(y, table.weights))[1]
    )
    for state in (0, 1):
        weights = (k == state).astype(float)
        line, evidence = fit_line(priors.of_line("y", "x"), x, y, weights)
        expected += evidence
        assert np.allclose(found.table[state], line.table, rtol=1e-8)
    assert result.objective == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("of_x", [("k",), ()])
def test_the_bound_of_lines_in_hidden_states_never_falls(of_x):
    forest, prior = lay_out_lines(make_lines(missing=0.15), {"x": of_x, "y": ("k", "x")}, True)
    start = prior.copy()
    line = read_family(forest.structure, start, "y")
    line.coefficients[...] += [[-2.0, 0.5], [2.0, -0.5]]
    write_family(forest.structure, start, "y", line)
    result = fit_posterior(forest, start, prior, settings=EMSettings(200, 1e-9))
    assert np.all(np.diff(result.monitor.trajectory) >= -1e-8)
    found = read_family(forest.structure, result.parameters, "y").table
    assert sorted(found[:, 1]) == pytest.approx([-0.1, 0.3], abs=0.02)


def test_rows_are_judged_by_the_line_of_their_state():
    table = make_lines()
    forest, prior = lay_out_lines(table, {"x": ("k",), "y": ("k", "x")})
    q = unpack(forest.structure, fit_posterior(forest, prior, prior).parameters)
    network = PosteriorNetwork(forest.structure, q)
    k, x, y = table.columns
    shares = np.log(q["k"].mean)
    by_state = shares + q["x"].log_predictive(x[:, None])
    by_state = by_state + q["y"].log_predictive(y[:, None], x[:, None])
    expected = by_state[np.arange(len(k)), k]
    assert np.allclose(Predictive(network).log_densities(table), expected, rtol=1e-10)
    hidden = Dataset(table.variables, [np.full(len(k), -1), x, y])
    assert np.allclose(
        Predictive(network).log_densities(hidden), np.logaddexp(*by_state.T), rtol=1e-10
    )
    assert from_document(to_document(network)) == network


def test_several_slopes_are_refused():
    table = make_table()
    structure = Structure(table.variables, {"z": ("x", "y")})
    with pytest.raises(ModelError, match="no posteriors for several slopes"):
        pack_priors(structure, Priors(table))
