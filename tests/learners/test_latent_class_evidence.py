"""Latent class models whose number of classes the marginal likelihood chooses."""

import numpy as np
import pytest

from latentforest import Dataset, LatentClass, Variable, marginal_likelihood
from latentforest.datasets.generate import random_latent_class
from latentforest.errors import LatentForestWarning, ModelError, ParameterError
from latentforest.scores.evidence import EVIDENCE_CRITERIA

ROWS = random_latent_class(8, 3, strength=0.9, random_state=0).sample(400, random_state=0)


@pytest.mark.parametrize("criterion", EVIDENCE_CRITERIA)
def test_the_true_number_of_classes_is_found(criterion):
    model = LatentClass((1, 5), criterion=criterion, n_starts=8, random_state=0).fit(ROWS)
    assert model.n_states_ == 3
    values = model.fit_table_[criterion]
    assert np.argmax(values) == 2
    found = marginal_likelihood(model.network_, ROWS, criterion).value
    assert found == pytest.approx(values[2], abs=1e-4)


def test_greedy_stops_where_the_bound_falls():
    model = LatentClass(criterion="elbo", n_starts=8, random_state=0).fit(ROWS)
    assert model.n_states_ == 3
    assert model.fit_table_["n_states"] == [1, 2, 3, 4]


def make_profiles():
    random = np.random.default_rng(0)
    z = random.integers(0, 2, 150)
    values = [4 * z + random.normal(size=150) for _ in "xy"]
    columns = [Variable("a", ("0", "1")), Variable("x"), Variable("y")]
    return Dataset(columns, [z ^ (random.random(150) < 0.2), *values])


def test_the_bound_takes_continuous_columns():
    model = LatentClass((1, 4), criterion="elbo", n_starts=8, random_state=0).fit(make_profiles())
    assert model.n_states_ == 2


@pytest.mark.parametrize("criterion", ["cs", "laplace"])
def test_other_methods_refuse_continuous_columns(criterion):
    with pytest.raises(ModelError, match=f"'{criterion}' takes categorical columns only, and 'x'"):
        LatentClass((1, 4), criterion=criterion).fit(make_profiles())


@pytest.mark.parametrize("covariance", ["full", "shared", "spherical"])
def test_the_bound_refuses_other_covariances(covariance):
    with pytest.raises(ParameterError, match=f"covariance='diagonal', got '{covariance}'"):
        LatentClass((1, 4), criterion="elbo", covariance=covariance).fit(make_profiles())


def test_a_model_without_a_value_is_told_and_not_chosen(monkeypatch):
    monkeypatch.setattr("latentforest.scores.evidence.laplace.FLAT", 1e9)
    with pytest.warns(LatentForestWarning, match="3 classes: the Hessian .* not negative definite"):
        model = LatentClass(3, criterion="laplace", n_starts=4, random_state=0).fit(ROWS)
    assert model.fit_table_["laplace"] == [-np.inf]
