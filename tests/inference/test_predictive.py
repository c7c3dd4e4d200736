"""Densities with the parameters integrated out."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from latentforest import Dataset, Variable
from latentforest.inference.predictive import Predictive
from latentforest.model.conjugate import Dirichlet, NormalGamma, NormalRegression
from latentforest.model.posterior_network import PosteriorNetwork
from latentforest.model.structure import Structure

GENERATOR = np.random.default_rng(1)


@pytest.fixture
def predictive():
    """Two latent variables over columns of both kinds, an observed inner one, and a line."""
    latents = [Variable.hidden("y", 2), Variable.hidden("z", 3)]
    columns = [Variable("a", ("0", "1")), Variable("b", ("0", "1", "2")), Variable("c", ("0", "1"))]
    values = [Variable("u"), Variable("v"), Variable("w")]
    parents = {"z": "y", "a": "y", "b": "z", "c": "b", "u": "z", "v": "u"}
    structure = Structure([*latents, *columns, *values], parents)
    posteriors = {}
    for name in ("y", "z", "a", "b", "c"):
        posteriors[name] = Dirichlet(GENERATOR.gamma(1.0, size=structure.shape(name)) + 0.1)
    for name, n in (("u", (3,)), ("w", ())):
        numbers = GENERATOR.gamma(2.0, size=(3, *n)) + 0.5
        posteriors[name] = NormalGamma(GENERATOR.normal(size=n), *numbers)
    posteriors["v"] = NormalRegression(
        0.5, 2.0, np.array([0.3, -1.0]), np.array([[3.0, 1.0], [1.0, 2.0]]), np.array(2.5), 1.7
    )
    return Predictive(PosteriorNetwork(structure, posteriors))


def make_rows(n_rows, missing=0.0):
    columns = [GENERATOR.integers(0, k, n_rows).astype(np.int32) for k in (2, 3, 2)]
    columns = [np.where(GENERATOR.random(n_rows) < missing, -1, c) for c in columns]
    values = [GENERATOR.normal(size=n_rows) for _ in range(3)]
    values[2] = np.where(GENERATOR.random(n_rows) < missing, np.nan, values[2])
    kinds = [("a", 2), ("b", 3), ("c", 2)]
    variables = [Variable(name, tuple(map(str, range(k)))) for name, k in kinds]
    return Dataset([*variables, Variable("u"), Variable("v"), Variable("w")], [*columns, *values])


def student(x, family, k=()):
    scale = family.rate[k] / family.shape[k] * (1 + 1 / family.weight[k])
    return stats.t.logpdf(x, 2 * family.shape[k], family.mean[k], np.sqrt(scale))


def enumerate_row(predictive, row):
    """Sum over all values of the latent variables and the gaps; shares of y and z."""
    p = predictive.network.posterior
    tables = {name: p[name].mean for name in "yzabc"}
    domains = [range(2), range(3)]
    domains += [[row[n]] if row[n] >= 0 else range(k) for n, k in (("a", 2), ("b", 3), ("c", 2))]
    total, shares = 0.0, {"y": np.zeros(2), "z": np.zeros(3)}
    for y, z, a, b, c in itertools.product(*domains):
        value = tables["y"][y] * tables["z"][y, z] * tables["a"][y, a]
        value *= tables["b"][z, b] * tables["c"][b, c]
        value *= np.exp(student(row["u"], p["u"], z))
        total += value
        shares["y"][y] += value
        shares["z"][z] += value
    rest = 0.0 if np.isnan(row["w"]) else student(row["w"], p["w"])
    return np.log(total) + rest + line(p["v"], row), {n: s / s.sum() for n, s in shares.items()}


def line(family, row):
    phi = np.array([1.0, (row["u"] - family.center) / family.unit])
    spread = 1 + phi @ np.linalg.inv(family.weight) @ phi
    scale = np.sqrt(family.rate / family.shape * spread)
    return stats.t.logpdf(row["v"], 2 * family.shape, phi @ family.coefficients, scale)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_densities_and_shares_are_those_of_enumeration(predictive, missing):
    data = make_rows(20, missing)
    logs = predictive.log_densities(data)
    shares = dict(zip("yz", predictive.shares(data, ["y", "z"]), strict=True))
    for i in range(20):
        row = {name: data.column(name)[i] for name in data.names}
        value, expected = enumerate_row(predictive, row)
        assert logs[i] == pytest.approx(value, abs=1e-10)
        for name in "yz":
            assert np.allclose(shares[name][i], expected[name], atol=1e-10)


def test_a_density_integrates_to_one(predictive):
    base = make_rows(1)

    def density(v):
        columns = [base.column(n) for n in base.names]
        columns[4] = np.array([v])
        return float(np.exp(predictive.log_densities(Dataset(base.variables, columns))[0]))

    columns = [base.column(n) for n in base.names]
    columns[4] = np.array([np.nan])
    without = predictive.log_densities(Dataset(base.variables, columns))[0]
    assert quad(density, -np.inf, np.inf)[0] == pytest.approx(np.exp(without), rel=1e-6)


def test_a_gap_above_an_observed_value_is_closed_with_gaussians(predictive):
    base = make_rows(1)
    columns = [base.column(n) for n in base.names]
    columns[3] = np.array([np.nan])
    value = predictive.log_densities(Dataset(base.variables, columns))[0]
    row = {n: columns[j][0] for j, n in enumerate(base.names) if n not in ("u", "w")}
    states = {n: str(row[n]) for n in "abc"}
    network, alone = predictive.network, student(columns[5][0], predictive.network.posterior["w"])
    expected = network.log_probability({**states, "v": float(row["v"])})
    expected += alone
    assert value == pytest.approx(expected, abs=1e-9)
    del row["v"]
    columns[4] = np.array([np.nan])  # nothing is below the gap: Student's t again
    value = predictive.log_densities(Dataset(base.variables, columns))[0]
    expected = network.log_probability(states) + alone
    assert value == pytest.approx(expected, abs=1e-9)


def test_chunks_change_nothing(predictive, monkeypatch):
    data = make_rows(50, 0.2)
    whole = predictive.log_densities(data)
    monkeypatch.setattr("latentforest.inference.predictive.CHUNK_ROWS", 7)
    assert np.array_equal(predictive.log_densities(data), whole)
