"""The question: networks, tables, methods and what is refused."""

import numpy as np
import pytest
from tests.reference.tiny_tables import draw_rows, latent_class

from latentforest import Dataset, LatentClass, Structure, Variable, marginal_likelihood
from latentforest.errors import DataError, ModelError, ParameterError
from latentforest.learners.latent_class import make_structure

STRUCTURE, TABLE = latent_class(2, 30, 0)


def test_a_number_can_be_taken_of_the_result():
    found = marginal_likelihood(STRUCTURE, TABLE)
    assert found.method == "cs"
    assert float(found) == found.value


def test_a_network_is_judged_by_its_structure():
    network = LatentClass(2, random_state=0).fit(TABLE).network_
    a, b = (marginal_likelihood(each, TABLE, "cs").value for each in (network, STRUCTURE))
    assert a == pytest.approx(b, abs=1e-4)


def test_frames_are_taken_too():
    a, b = (marginal_likelihood(STRUCTURE, t, "cs").value for t in (TABLE, TABLE.to_columns()))
    assert a == b


def test_one_class_is_complete():
    structure = make_structure(TABLE.variables, 1)
    assert marginal_likelihood(structure, TABLE).method == "exact"


def test_rows_of_weight_zero_say_nothing():
    table = draw_rows(10, 0).with_weights([1.0] * 6 + [0.0] * 4)
    structure = Structure(table.variables, {"b": "a"})
    first = marginal_likelihood(structure, table.take(np.arange(6))).value
    assert marginal_likelihood(structure, table).value == pytest.approx(first)


@pytest.mark.parametrize("method", ["cs", "laplace", "elbo"])
def test_weights_may_be_broken(method):
    halves = TABLE.take(np.repeat(np.arange(30), 2)).with_weights(np.full(60, 0.5))
    a, b = (marginal_likelihood(STRUCTURE, table, method).value for table in (TABLE, halves))
    assert a == pytest.approx(b, abs=1e-9)


def test_the_bound_takes_continuous_columns():
    random = np.random.default_rng(0)
    z = random.integers(0, 2, 100)
    table = Dataset([Variable("x"), Variable("y")], [3 * z + random.normal(size=100) for _ in "xy"])
    one, two = (
        marginal_likelihood(make_structure(table.variables, k), table).value for k in (1, 2)
    )
    assert two > one + 10
    structure = make_structure(table.variables, 2)
    assert marginal_likelihood(structure, table).method == "elbo"
    with pytest.raises(ModelError, match="'cs' takes categorical columns only, and 'x' is cont"):
        marginal_likelihood(structure, table, "cs")
    full = make_structure(table.variables, 2, "full")
    with pytest.raises(ModelError, match="independent of each other"):
        marginal_likelihood(full, table, "elbo")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "bic"}, "unknown method 'bic'; known are exact, cs, laplace, elbo, elbo"),
        ({"n_starts": 0}, "n_starts must be a whole number of at least 1, got 0"),
        ({"n_runs": 0}, "n_runs must be a whole number of at least 1, got 0"),
        ({"n_chains": 1.5}, "n_chains must be a whole number of at least 1, got 1.5"),
        ({"n_sweeps": -1}, "n_sweeps must be a whole number of at least 0, got -1"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
        ({"time_limit": 0}, "time_limit must be positive seconds, got 0"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ParameterError, match=message):
        marginal_likelihood(STRUCTURE, TABLE, **settings)


def test_a_learner_is_no_network():
    with pytest.raises(ParameterError, match="got LatentClass; a learner has network_"):
        marginal_likelihood(LatentClass(2), TABLE)


def test_the_closed_form_needs_complete_rows():
    with pytest.raises(DataError, match="needs complete rows, and there are latent variables"):
        marginal_likelihood(STRUCTURE, TABLE, "exact")
    gaps = draw_rows(20, 0, missing=0.2)
    with pytest.raises(DataError, match="needs complete rows, and there are missing values"):
        marginal_likelihood(Structure(gaps.variables, {}), gaps, "exact")
