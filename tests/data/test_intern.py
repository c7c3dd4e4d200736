import numpy as np
import pytest

from latentforest.data import intern
from latentforest.data.columns.raw_column import Categories, Numbers
from latentforest.data.intern import TextColumn


@pytest.fixture(autouse=True)
def _few_numbers_are_many(monkeypatch):
    monkeypatch.setattr(intern, "_MANY_NUMBERS", 3)


def collect(*pieces, **options):
    column = TextColumn(("?",), **options)
    for piece in pieces:
        column.extend(piece)
    return column.finish()


def test_few_texts_stay_in_dictionary_form():
    column = collect(["a", " b"], ["b", "a"])
    assert isinstance(column, Categories)
    assert [column.labels[code] for code in column.codes] == ["a", "b", "b", "a"]


def test_many_numbers_become_floats():
    column = collect(["1", "2.5", "?", "1"], ["3", "?"], ["4", "5"])
    assert isinstance(column, Numbers)
    np.testing.assert_array_equal(column.values, [1, 2.5, np.nan, 1, 3, np.nan, 4, 5])


def test_many_texts_stay_text():
    column = collect(list("abcd"), ["1", "2"])
    assert isinstance(column, Categories)
    assert len(column.labels) == 6


def test_text_after_many_numbers_brings_the_labels_back():
    column = collect(["1", "2.5", "3", "4", "?"], ["x", "1"])
    assert isinstance(column, Categories)
    assert list(column.labels) == ["1", "2.5", "3", "4", "x"]
    assert column.codes.tolist() == [0, 1, 2, 3, -1, 4, 0]


@pytest.mark.parametrize("text", ["007", "1.50", "1_000", "nan", "inf", "-0", "100000000000000001"])
@pytest.mark.parametrize("late", [False, True])
def test_texts_that_floats_would_change_stay_text(text, late):
    numbers = ["1", "2", "3", "4"]
    column = collect(numbers, [text]) if late else collect([*numbers, text])
    assert isinstance(column, Categories)
    assert list(column.labels) == [*numbers, text]


def test_numpy_booleans_differ_from_numbers():
    column = intern.intern_objects([np.True_, 1, 0, 2, "x"], "a")
    assert isinstance(column, Categories)
    assert list(column.labels) == ["True", "1", "0", "2", "x"]


def test_numbers_can_be_kept_as_text():
    assert isinstance(collect(["1", "2", "3", "4", "5"], only_text=True), Categories)
