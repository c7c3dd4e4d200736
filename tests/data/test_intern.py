import numpy as np
import pytest

from latentforest.data import intern
from latentforest.data.intern import TextColumn
from latentforest.data.raw_column import Labels, Numbers


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
    assert isinstance(column, Labels)
    assert [column.labels[code] for code in column.codes] == ["a", "b", "b", "a"]


def test_many_numbers_become_floats():
    column = collect(["1", "2.5", "?", "1"], ["3", "?"], ["4", "5"])
    assert isinstance(column, Numbers)
    np.testing.assert_array_equal(column.values, [1, 2.5, np.nan, 1, 3, np.nan, 4, 5])


def test_many_texts_stay_text():
    column = collect(list("abcd"), ["1", "2"])
    assert isinstance(column, Labels)
    assert len(column.labels) == 6


def test_text_after_many_numbers_brings_the_labels_back():
    column = collect(["1", "2.0", "3", "4", "?"], ["x", "1"])
    assert isinstance(column, Labels)
    assert [column.labels[code] for code in column.codes] == ["1", "2", "3", "4", "", "x", "1"]


def test_numbers_can_be_kept_as_text():
    assert isinstance(collect(["1", "2", "3", "4", "5"], only_text=True), Labels)
