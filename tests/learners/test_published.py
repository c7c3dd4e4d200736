"""Two-class models of published tables: printed figures, and an independent EM."""

from functools import cache

import numpy as np
import pytest

from latentforest import Independence, LatentClass, datasets
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
    np.testing.assert_allclose(np.sort(model.class_sizes_), np.sort(sizes), atol=2e-3)


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
