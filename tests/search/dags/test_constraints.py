"""Constraints on arcs, given by names: what they mean, and what is refused."""

import pytest

from latentforest.errors import ParameterError
from latentforest.search.dags import constraints as module
from latentforest.search.dags.best import best_network
from latentforest.search.dags.constraints import read_constraints
from reference.dags import random_table


def test_tiers():
    found = read_constraints("abcd", tiers=["c", ("a", "b")])
    assert found.allowed == (0b1110, 0b1101, 0b1000, 0b0111)  # nothing but d above c


def test_required_ancestors():
    found = read_constraints("abcd", [("a", "b"), ("b", "d")])
    assert found.find_required_ancestors() == [0b0000, 0b0001, 0b0000, 0b0011]


def test_masks():
    found = read_constraints("abc", [("a", "b")], [("c", "a"), ("b", "c")], 2)
    assert found.required == (0b000, 0b001, 0b000)
    assert found.allowed == (0b010, 0b101, 0b001)
    assert found.max_parents == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"required": [("a", "q")]}, r"required arc \('a', 'q'\): there is no column 'q'"),
        ({"forbidden": ["ab"]}, r"forbidden arcs must be pairs \(parent, child\), got 'ab'"),
        ({"required": [("a", "a")]}, "goes from a column to itself"),
        (
            {"required": [("a", "b")], "forbidden": [("a", "b")]},
            r"arc \('a', 'b'\) is both required and forbidden",
        ),
        (
            {"required": [("c", "a"), ("a", "b"), ("b", "c"), ("a", "d")]},
            "required arcs form a cycle among a, b, c",
        ),
        (
            {"required": [("a", "c"), ("b", "c")], "max_parents": 1},
            "column 'c' has 2 required parents, but max_parents is 1",
        ),
        ({"tiers": ["a", "q"]}, "tiers: there is no column 'q'"),
        ({"tiers": [["a", "b"], "a"]}, "tiers: column 'a' is named twice"),
        (
            {"tiers": ["a", "b"], "required": [("b", "a")]},
            r"arc \('b', 'a'\) is both required and forbidden \(by name or tiers\)",
        ),
        ({"max_parents": -1}, "max_parents must be a whole number from 0 to 31, got -1"),
        ({"max_parents": 1.5}, "max_parents must be a whole number"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(ParameterError, match=message):
        read_constraints("abcd", **settings)


@pytest.mark.parametrize("exact_columns", [0, 16])
def test_required_tables_that_are_too_large(exact_columns, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 8.0)
    with pytest.raises(ParameterError, match="column 'x0' has a table of 12 cells; expected at mo"):
        best_network(
            random_table(0, (2, 3, 2), 50),
            required=[("x1", "x0"), ("x2", "x0")],
            exact_columns=exact_columns,
        )
