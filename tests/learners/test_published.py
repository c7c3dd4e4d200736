"""Models of published tables: printed figures, and an independent EM."""

from functools import cache

import numpy as np
import pytest

from latentforest import Independence, LatentClass, datasets, fit
from latentforest.errors import DimensionWarning
from reference.latent_class import compare_cells, count_cells, fit_latent_class

PRINTED = {"role-conflict": 2.72, "coleman-panel": 249.50}


@cache
def fit_plainly(name):
    return fit_latent_class(datasets.load(name), 2, n_starts=6, n_iterations=1200)


@pytest.mark.parametrize(("name", "g_squared"), PRINTED.items())
def test_two_classes_have_the_printed_fit(name, g_squared):
    model = LatentClass(n_states=2, random_state=0).fit(datasets.load(name))
    assert model.fit_table_["g_squared"][0] == pytest.approx(g_squared, abs=0.005)
    assert model.fit_table_["df"] == [6]


@pytest.mark.parametrize("name", datasets.names())
def test_two_classes_reach_the_best_of_many_plain_runs(name):
    table = datasets.load(name)
    model = LatentClass(n_states=2, tolerance=1e-13, random_state=3).fit(table)
    best, sizes, _ = fit_plainly(name)
    assert model.log_likelihood_ == pytest.approx(best, abs=1e-5)
    np.testing.assert_allclose(model.class_sizes_, np.sort(sizes)[::-1], atol=2e-3)


@pytest.mark.parametrize("name", datasets.names())
def test_g_squared_is_that_of_the_plain_run(name):
    table = datasets.load(name)
    _, sizes, tables = fit_plainly(name)
    expected = table.total_weight * np.einsum("y,ya,yb,yc,yd->abcd", sizes, *tables)
    g_squared, x_squared = compare_cells(count_cells(table), expected)
    fits = LatentClass(n_states=2, tolerance=1e-13, random_state=3).fit(table).fit_table_
    assert fits["g_squared"][0] == pytest.approx(g_squared, abs=1e-4)
    assert fits["x_squared"][0] == pytest.approx(x_squared, rel=1e-3)


@pytest.mark.parametrize("name", datasets.names())
def test_one_class_is_independence(name):
    table = datasets.load(name)
    alone, one = Independence().fit(table), LatentClass(n_states=1).fit(table)
    assert one.log_likelihood_ == pytest.approx(alone.log_likelihood_, abs=1e-9)
    assert one.n_parameters_ == alone.n_parameters_ == 4
    assert one.bic_ == pytest.approx(alone.bic_, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "structure", "g_squared", "df", "p"),
    [
        ("hiv-tests", "X[2] -> A, B, C; A, C -> D", 1.000, 4, 0.910),
        ("house-building", "X[2] -> A, B, C, D; D -> B, C", 0.558, 2, 0.757),
        ("house-building", "X[2] -> A, C, D; A, D -> B", 3.713, 4, 0.446),
        ("coleman-panel", "X[2] -> A, B, C, D; C -> A, B", 0.275, 2, 0.871),
    ],
)
def test_confirmatory_models_have_the_printed_goodness_of_fit(name, structure, g_squared, df, p):
    goodness = fit(structure, datasets.load(name), random_state=0).goodness_
    assert goodness["g_squared"][0] == pytest.approx(g_squared, abs=0.001)
    assert goodness["df"] == goodness["df_nominal"] == [df]
    assert goodness["p"][0] == pytest.approx(p, abs=0.001)


def test_two_latent_variables_of_the_house_building_table():
    structure = "X1[2] -> X2, A, B, C; X2[2] -> B, C, D"
    model = fit(structure, datasets.load("house-building"), random_state=0)
    assert model.bic_ == pytest.approx(-2957.875, abs=0.002)
    with pytest.warns(DimensionWarning, match="has 15 parameters, but .* can determine 14"):
        goodness = model.goodness_
    assert goodness["g_squared"][0] == pytest.approx(0.500, abs=0.002)
    assert (goodness["df"], goodness["df_nominal"]) == ([1], [0])
