"""Settings that make no sense are named, with the value received."""

import numpy as np
import pytest

from latentforest import LatentClass, datasets
from latentforest.errors import ParameterError

ROLE = datasets.load("role-conflict")


def refuse(message, **settings):
    with pytest.raises(ParameterError, match=message):
        LatentClass(**{"n_states": 2, "random_state": 0, **settings}).fit(ROLE)


@pytest.mark.parametrize("n_states", [0, -1, 1.5, (5, 2), [], [2, 0], [2, "3"], (0, 2)])
def test_numbers_of_classes_are_whole_and_positive(n_states):
    refuse("n_states must be whole numbers of at least 1", n_states=n_states)


@pytest.mark.parametrize("n_states", ["x", "3", "Greedy"])
def test_the_only_word_for_the_number_of_classes_is_greedy(n_states):
    refuse(f"n_states must be a number, numbers or 'greedy', got '{n_states}'", n_states=n_states)


@pytest.mark.parametrize("n_states", [None, float("nan"), {1, 2}, (2.0, 3.0)], ids=str)
def test_numbers_of_classes_of_another_type(n_states):
    refuse("n_states must be", n_states=n_states)


def test_numbers_of_classes_in_an_array():
    model = LatentClass(np.array([1, 2]), random_state=0).fit(ROLE)
    assert model.fit_table_["n_states"] == [1, 2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "x"}, "unknown criterion 'x'; known are bic, aic.*, cv"),
        ({"criterion": "BIC"}, "unknown criterion 'BIC'"),
        ({"criterion": None}, "unknown criterion None"),
        ({"tolerance": -1}, "tolerance must not be negative, got -1"),
        ({"tolerance": np.nan}, "tolerance must not be negative, got nan"),
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
        ({"smoothing": -1}, "smoothing must be finite and not negative, got -1"),
        ({"smoothing": "x"}, "smoothing must be a number.*got 'x'"),
        ({"prior": {"A": [1, 2, 3]}}, r"'A' have shape \(3,\), expected \(2, 2\)"),
        ({"prior": {"class": -1}}, "pseudo-counts of 'class' must be finite"),
        ({"time_limit": 0}, "time_limit must be positive seconds, got 0"),
        ({"time_limit": -1}, "time_limit must be positive seconds, got -1"),
        ({"time_limit": np.nan}, "time_limit must be positive seconds, got nan"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero whole number or None, got 0"),
        ({"n_jobs": 1.5}, "n_jobs must be a non-zero whole number or None, got 1.5"),
        (
            {"criterion": "cv", "folds": 1},
            "folds must be between 2 and the 216 .*, got 1",
        ),
        (
            {"criterion": "cv", "folds": 217},
            "between 2 and the 216 observations, got 217",
        ),
        ({"criterion": "cv", "folds": [0, 1]}, r"folds has shape \(2,\)"),
        ({"criterion": "cv", "folds": [0] * 16}, "at least two different labels"),
    ],
)
def test_settings_that_make_no_sense(settings, message):
    refuse(message, **settings)


@pytest.mark.parametrize("n_starts", [0, -1, 1.5, "x"])
def test_starts_are_counted(n_starts):
    refuse(f"n_starts must be at least 1, got {n_starts!r}", n_starts=n_starts)


def test_iterations_are_counted():
    refuse("max_iterations", max_iterations=1.5)


@pytest.mark.parametrize("max_states", [0, 1.5])
def test_highest_number_of_classes(max_states):
    refuse("max_states", n_states="greedy", max_states=max_states)


def test_a_column_that_smoothing_names_must_exist():
    with pytest.raises(ValueError, match="no variable named 'Q'"):
        LatentClass(2, prior={"Q": 1}).fit(ROLE)


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    model = LatentClass(2, random_state=0).fit(ROLE)
    before = model.network_
    with pytest.raises(ValueError, match="'age'"):
        model.fit({"age": [1.5, 1e200]})
    assert model.network_ is before
    assert model.n_features_in_ == 4
