from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from latentforest.data.columns.state_names import (
    is_null,
    name_numeric_text,
    name_value,
    parse_number,
    sort_names,
)


@pytest.mark.parametrize("value", [1, 1.0, np.int8(1), np.float32(1), Decimal("1.0"), np.uint64(1)])
def test_one_has_one_name(value):
    assert name_value(value) == "1"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "True"),
        (np.False_, "False"),
        (0.5, "0.5"),
        (-0.0, "0"),
        (np.float32(0.1), "0.1"),
        (10**20, "100000000000000000000"),
        (b"ab", "ab"),
        ("1.0", "1.0"),
        (pd.Interval(0, 1), "(0, 1]"),
    ],
)
def test_names_of_values(value, name):
    assert name_value(value) == name


def test_numbers_written_as_text_share_one_name():
    assert {name_numeric_text(text) for text in ["1", "1.0", " 1 ", "1e0", "+1"]} == {"1"}


@pytest.mark.parametrize("text", ["a", "", "nan", "1_000", "1,5"])
def test_text_that_is_not_a_number(text):
    assert parse_number(text) is None


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
)
def test_nulls(value):
    assert is_null(value)


def test_numbers_sort_by_size_and_text_by_letter():
    assert sort_names(["10", "9", "-1.5"]) == ["-1.5", "9", "10"]
    assert sort_names(["10", "9", "x"]) == ["10", "9", "x"]
