"""Estimates on complete tables: least squares, rows that are missing, agreement with scores."""

import math
from functools import partial

import numpy as np
import pytest

from latentforest import Dataset, Structure, Variable
from latentforest.errors import DataError, ModelError
from latentforest.estimation.complete import estimate_complete, fit_complete
from latentforest.estimation.em import EMSettings, fit
from latentforest.inference.counts import count_tables, normalize_tables
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.search.dags.mixed_family_scores import MixedFamilyScores as RoundedScores
from reference.dags import random_table
from reference.gaussian_families import fit_line, random_mixed_table

MixedFamilyScores = partial(RoundedScores, grid=2.0**50)  # hardly rounded

PARENTS = {"c1": "c0", "x0": "c0", "x1": ("x0", "c1", "c0"), "x2": ("x1", "x0"), "x3": ()}


@pytest.mark.parametrize("weights", ["ones", "broken"])
def test_lines_are_those_of_least_squares(weights):
    data = random_mixed_table(1, (2, 3), 4, 200, weights)
    network = estimate_complete(Structure(data.variables, PARENTS), data)
    columns = dict(zip(data.names, data.columns, strict=True))
    for c1 in range(3):
        for c0 in range(2):
            here = (columns["c1"] == c1) & (columns["c0"] == c0)
            line, variance = fit_line(
                columns["x1"][here], [columns["x0"][here]], data.weights[here]
            )
            np.testing.assert_allclose(network.cpd("x1")[c1, c0], [*line, variance], rtol=1e-9)
    line, variance = fit_line(columns["x2"], [columns["x1"], columns["x0"]], data.weights)
    np.testing.assert_allclose(network.cpd("x2"), [*line, variance], rtol=1e-9)
    shares = np.bincount(columns["c0"], data.weights) / data.weights.sum()
    np.testing.assert_allclose(network.cpd("c0"), shares, rtol=1e-12)


@pytest.mark.parametrize("n_rows", [8, 100])
def test_the_likelihood_is_the_sum_of_family_scores(n_rows):
    """Also with thin configurations."""
    data = random_mixed_table(2, (2, 3), 4, n_rows, "whole")
    structure = Structure(data.variables, PARENTS)
    network = estimate_complete(structure, data)
    rows = [network.log_probability(_row(data, i)) for i in range(data.n_rows)]
    scores = MixedFamilyScores(data, "bic")
    value = 0.0
    for name in data.names:
        parents = sum(1 << data.index(parent) for parent in structure.parents(name))
        value += scores.score(data.index(name), parents)
    expected = data.weights @ rows - 0.5 * math.log(data.weights.sum()) * structure.dimension
    assert value == pytest.approx(expected, rel=1e-9)


def _row(data, i):
    return {name: column[i].item() for name, column in zip(data.names, data.columns, strict=True)}


def test_configurations_without_rows_take_the_line_of_all():
    variables = [Variable("a", ("0", "1", "2")), Variable("x"), Variable("y")]
    rng = np.random.default_rng(3)
    a, x = np.repeat([0, 1], [10, 2]), rng.normal(size=12)
    y = x + rng.normal(size=12) + 5.0 * a
    data = Dataset(variables, [a, x, y])
    table = estimate_complete(Structure(variables, {"y": ("a", "x")}), data).cpd("y")
    line, variance = fit_line(y, [x], np.ones(12))
    np.testing.assert_allclose(table[1], [*line, variance], rtol=1e-9)  # a line through two rows
    np.testing.assert_allclose(table[2], table[1])
    line, variance = fit_line(y[:10], [x[:10]], np.ones(10))
    np.testing.assert_allclose(table[0], [*line, variance], rtol=1e-9)


def test_degenerate_columns():
    x = np.arange(10.0)
    columns = [x, 2 * x, np.full(10, 3.0), x % 3]
    variables = [Variable(name) for name in ("x", "twice", "constant", "y")]
    data = Dataset(variables, columns)
    parents = {"twice": ("x", "constant"), "y": ("x", "twice")}
    network = estimate_complete(Structure(variables, parents), data)
    np.testing.assert_allclose(network.cpd("twice")[:3], [0.0, 2.0, 0.0], atol=1e-12)
    assert 0 < network.cpd("twice")[3] < 1e-6
    assert network.cpd("constant")[0] == pytest.approx(3.0)
    slope = network.cpd("y")[1] + 2 * network.cpd("y")[2]
    assert slope == pytest.approx(fit_line(x % 3, [x], np.ones(10))[0][1])


def test_categorical_tables_are_counted():
    data = random_table(4, (2, 3, 2), 50, "whole")
    structure = Structure(data.variables, {"x2": ("x0", "x1")})
    expected = normalize_tables(structure, count_tables(structure, data))
    np.testing.assert_allclose(estimate_complete(structure, data).parameters, expected)


def test_what_is_refused():
    x, y, h = Variable("x"), Variable("y"), Variable.hidden("h", 2)
    data = Dataset([x, y], [[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(ModelError, match="'h' is latent"):
        estimate_complete(Structure([h, y], {"y": "h"}), data)
    with pytest.raises(ModelError, match="'x', 'y' are in a pouch"):
        estimate_complete(Structure([x, y], {}, [("x", "y")]), data)
    with pytest.raises(DataError, match="'x' has 1 missing values"):
        estimate_complete(Structure([x, y], {}), data)


def test_results_are_those_of_em():
    data = random_mixed_table(5, (2, 3), 4, 200, "whole")
    engine = make_engine(Structure(data.variables, PARENTS), PatternedData(data))
    found = fit_complete(engine)
    assert found.monitor.converged
    rng = np.random.default_rng(0)
    start = found.parameters * rng.uniform(0.9, 1.1, len(found.parameters))
    result = fit(engine, start, settings=EMSettings(20, 1e-12))
    assert found.log_likelihood == pytest.approx(result.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(found.parameters, result.parameters, rtol=1e-6)


def test_what_is_at_its_bound_is_named():
    rng = np.random.default_rng(6)
    a, x = rng.integers(0, 2, 40), rng.normal(size=40)
    variables = [Variable("a", ("0", "1")), Variable("x"), Variable("y"), Variable("z")]
    data = PatternedData(Dataset(variables, [a, x, 3.0 * a, 2.0 * x]))
    result = fit_complete(make_engine(Structure(variables, {"y": "a", "z": "x"}), data))
    assert result.bounded == ("y",)
    assert result.collinear == ("x", "z")
