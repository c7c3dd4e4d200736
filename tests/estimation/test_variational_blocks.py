"""Variational Bayes along lines of continuous variables, with gaps."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma

from latentforest import Dataset, Variable
from latentforest.errors import ModelError
from latentforest.estimation.conjugate_priors import Priors
from latentforest.estimation.em import EMSettings
from latentforest.estimation.evidence import fit_line, measure_values, summarize_values
from latentforest.estimation.posterior_vector import (
    pack_priors,
    read_family,
    unpack,
    write_family,
)
from latentforest.estimation.variational import find_potentials, fit_posterior
from latentforest.inference.forest import Forest, PatternedData
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
    return Forest(structure, PatternedData(table)), pack_priors(structure, Priors(table))


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


def test_pouches_are_refused():
    table = make_table()
    structure = Structure(table.variables, {}, [("x", "y")])
    with pytest.raises(ModelError, match="no posteriors for pouches"):
        pack_priors(structure, Priors(table))
