import pytest

from latentforest.datasets import describe, load, names
from latentforest.errors import DataError


@pytest.mark.parametrize(
    ("name", "total", "n_patterns"),
    [
        ("coleman-panel", 3398, 16),
        ("hiv-tests", 428, 9),
        ("house-building", 1185, 16),
        ("role-conflict", 216, 16),
    ],
)
def test_totals(name, total, n_patterns):
    data = load(name)
    assert (data.n_rows, data.total_weight) == (n_patterns, total)
    assert data.names == ("A", "B", "C", "D")
    assert describe(name).n_observations == total


def test_the_last_variable_changes_fastest():
    data = load("coleman-panel")
    assert data.to_columns()["D"][:3].tolist() == ["+", "-", "+"]
    assert data.weights[[0, 1, -1]].tolist() == [458, 140, 554]
    assert data.counts("A").tolist() == [1253, 2145]


def test_descriptions_name_their_source():
    assert "1951" in describe("role-conflict").source
    assert set(describe("house-building").variables) == {"A", "B", "C", "D"}


def test_every_table_loads():
    assert len({load(name).total_weight for name in names()}) == len(names())


def test_unknown_names():
    with pytest.raises(DataError, match="no table 'titanic'; the tables are coleman-panel, hiv"):
        load("titanic")
