"""Latent class models of groups of columns."""

import numpy as np
import pytest

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.em import EMSettings
from latentforest.inference.forest import Forest, PatternedData
from latentforest.search.greedy.groups import GroupFits, GroupSettings


@pytest.fixture(scope="module")
def fits():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    codes = [np.where(rng.random(300) < 0.85, y, 1 - y) for _ in range(3)]
    numbers = [4.0 * y + rng.normal(size=300), rng.normal(size=300)]
    variables = [*(Variable(name, ("0", "1")) for name in "abc"), Variable("x"), Variable("noise")]
    data = PatternedData(Dataset(variables, [*codes, *numbers]))
    return GroupFits(data, GroupSettings("diagonal", 4, 4, EMSettings(200, 1e-8), 0))


def test_dependent_columns_get_a_latent_variable_and_single_ones_none(fits):
    assert fits.best(["a", "b", "c", "x"]).n_states == 2
    assert fits.best(["a"]).n_states == fits.best(["noise"]).n_states == 1


def test_groups_are_fitted_once_whatever_the_order(fits):
    first = fits.best(["x", "a", "b"])
    assert fits.has(["b", "x", "a"])
    assert fits.best(["b", "x", "a"]) is first
    assert first.columns == fits.order(["x", "a", "b"]) == ("a", "b", "x")


def test_likelihoods_are_those_of_the_networks(fits):
    model = fits.best(["a", "b", "x"])
    data = PatternedData(fits.data.dataset.select(model.columns))
    exact = Forest(model.network.structure, data).log_likelihood(model.network.parameters)[0]
    assert model.log_likelihood == pytest.approx(exact)


def test_more_classes_never_fit_worse(fits):
    values = [fits.fit(["a", "b", "c", "x"], n).log_likelihood for n in (1, 2, 3)]
    assert values == sorted(values)
