"""Weights of pseudo-observations: what the evidence of a family should do to them."""

import numpy as np
import pytest

import latentforest as lf
from latentforest.estimation.complete import estimate_complete
from latentforest.estimation.em import fit
from latentforest.estimation.new_rows.family_weights import weigh_families
from latentforest.estimation.new_rows.predictive_parameters import estimate_predictive
from latentforest.estimation.new_rows.pseudo_count_weights import (
    weigh_gaussian_rows,
    weigh_table_rows,
)
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.model import Network, Structure

EVEN = np.array([0.5, 0.5])


def fit_line(x, y):
    """A line through two columns, and the table."""
    data = PatternedData(lf.Dataset.from_table({"x": x, "y": y}, kinds="continuous"))
    slope, base = np.polyfit(x, y, 1)
    around = np.var(y - slope * x - base)
    structure = Structure(data.dataset.variables, {"y": "x"})
    return Network(structure, [x.mean(), x.var(), base, slope, around]), data


def test_rows_that_differ_get_little_and_rows_alike_get_much():
    different = weigh_table_rows(np.array([[30.0, 0.0], [0.0, 30.0]]), EVEN)
    alike = weigh_table_rows(np.array([[15.0, 15.0], [15.0, 15.0]]), EVEN)
    assert different.max() < 2
    assert alike.min() > 300


def test_odds_against_links_count_where_evidence_is_weak():
    weak, strong = np.array([[8.0, 4.0], [4.0, 8.0]]), np.array([[30.0, 0.0], [0.0, 30.0]])
    weak_weights, strong_weights = (
        [weigh_table_rows(counts, EVEN, cost)[0] for cost in (0.0, 5.0)]
        for counts in (weak, strong)
    )
    assert weak_weights[1] > 10 * weak_weights[0]
    assert strong_weights[1] == pytest.approx(strong_weights[0], rel=1e-6)


def test_the_evidence_of_a_line_is_that_of_both_columns_less_that_of_its_parent():
    covariance = np.array([[[1.0, 0.99], [0.99, 1.0]]])
    nothing = np.zeros((1, 2))
    close = weigh_gaussian_rows(np.array([50.0]), nothing, covariance, np.eye(2), 1)
    apart = weigh_gaussian_rows(np.array([50.0]), nothing, np.eye(2)[None], np.eye(2), 1)
    assert close[0] < 3 < 300 < apart[0]


def test_each_configuration_of_a_line_has_its_own_weight():
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], [150, 10])
    x, y = rng.normal(size=(2, 160)) + 5.0 * kind
    table = {"k": kind.astype(str), "x": x, "y": np.where(kind == 0, x + 0.1 * y, y)}
    data = PatternedData(lf.Dataset.from_table(table))
    structure = Structure(data.dataset.variables, {"x": "k", "y": ("k", "x")})
    network = estimate_complete(structure, data.dataset)
    engine = make_engine(structure, data)
    counts, shares = weigh_families(engine, network)
    weights = structure.table_view(counts, "y")
    assert weights[0, 0] < weights[1, 0]
    weights[1] = 1e9
    found = fit(engine, network.parameters, counts, shares=shares).parameters
    lines = structure.table_view(found, "y")
    assert lines[0, 1] == pytest.approx(network.cpd("y")[0, 1], rel=0.05)
    assert lines[1, 2] > 10 * lines[0, 2]


def test_a_line_through_noise_is_laid_flat():
    rng = np.random.default_rng(1)
    network, data = fit_line(rng.normal(size=12), rng.normal(size=12))
    _, slope, _ = Network(network.structure, estimate_predictive(network, data, "auto")).cpd("y")
    assert abs(slope) < 0.1 * abs(network.cpd("y")[1])


def test_a_line_that_explains_much_stays():
    x = np.linspace(0.0, 1.0, 40)
    network, data = fit_line(x, 3.0 * x + 0.01 * np.cos(50.0 * x))
    _, slope, _ = Network(network.structure, estimate_predictive(network, data, "auto")).cpd("y")
    assert slope == pytest.approx(3.0, rel=0.01)
