import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.errors import ModelError, ParameterError
from latentforest.estimation.priors import pseudo_counts
from latentforest.model import Structure

STRUCTURE = Structure([Variable.hidden("Y", 2), Variable("A", ("a", "b", "c"))], {"A": "Y"})


@pytest.mark.parametrize(
    ("smoothing", "value"),
    [(None, 0.0), (0, 0.0), ("none", 0.0), ("laplace", 1.0), (0.25, 0.25), (np.float32(2), 2.0)],
)
def test_one_number_for_all_cells(smoothing, value):
    assert pseudo_counts(STRUCTURE, smoothing).tolist() == [value] * 8


def test_tables_broadcast():
    prior = pseudo_counts(STRUCTURE, {"A": [1, 2, 3]})
    assert prior.tolist() == [0, 0, 1, 2, 3, 1, 2, 3]
    prior = pseudo_counts(STRUCTURE, {"A": [[1], [2]], "Y": 0.5})
    assert prior.tolist() == [0.5, 0.5, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("smoothing", [-1, float("nan"), float("inf")])
def test_bad_numbers_are_refused(smoothing):
    message = f"prior must be finite and not negative, got {smoothing}"
    with pytest.raises(ParameterError, match=message):
        pseudo_counts(STRUCTURE, smoothing)


def test_unknown_words_are_refused():
    with pytest.raises(ParameterError, match="'none', 'laplace' or a mapping, got 'Laplace'"):
        pseudo_counts(STRUCTURE, "Laplace")


def test_bad_shapes_are_refused():
    message = r"pseudo-counts of 'A' have shape \(2,\), expected \(2, 3\)"
    with pytest.raises(ParameterError, match=message):
        pseudo_counts(STRUCTURE, {"A": [1, 2]})


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
def test_bad_entries_are_refused(value):
    with pytest.raises(ParameterError, match="pseudo-counts of 'Y' must be finite and not neg"):
        pseudo_counts(STRUCTURE, {"Y": [1.0, value]})


def test_unknown_variables_are_refused():
    with pytest.raises(ModelError, match="no variable named 'Z'"):
        pseudo_counts(STRUCTURE, {"Z": 1.0})
