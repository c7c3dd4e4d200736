"""Counts of families and of many additions at once, against counting row by row."""

import math
from collections import Counter

import numpy as np
import pytest

from latentforest.data import Dataset, Variable
from latentforest.errors import DataError
from latentforest.inference import counts as module
from latentforest.inference.counts import CountingTable, count_tables, normalize_tables
from latentforest.model import Structure
from reference.dags import count_family, list_rows, permute_columns, random_table

CARDS = (2, 3, 2, 4, 3)


@pytest.mark.parametrize("weights", ["ones", "whole", "broken"])
@pytest.mark.parametrize("parents", [(), (3,), (4, 1), (0, 3, 4, 1)])
def test_family(parents, weights):
    data = random_table(5, CARDS, 80, weights)
    found = CountingTable(data).count_family(2, parents)
    expected = count_family(data, 2, parents)
    expected = {key: states for key, states in expected.items() if sum(states.values()) > 0}
    assert found.n_configurations == math.prod(CARDS[p] for p in parents)
    assert {tuple(each) for each in found.configurations.tolist()} == set(expected)
    for key, row in zip(found.configurations.tolist(), found.counts, strict=True):
        np.testing.assert_allclose(row, [expected[tuple(key)][k] for k in range(2)], atol=1e-12)


@pytest.mark.parametrize("weights", ["ones", "whole", "broken"])
@pytest.mark.parametrize("gain", [0.0, 1e9])  # row by row, and by bits where weights are whole
@pytest.mark.parametrize("columns", [(), (1,), (1, 3), (0, 1, 3)])
def test_additions(columns, gain, weights, monkeypatch):
    monkeypatch.setattr(module, "BITS_GAIN", gain)
    data = random_table(6, CARDS, 90, weights)
    added = [j for j in (4, 2, 0, 1, 3) if j not in columns]
    pieces = CountingTable(data).count_additions(sum(1 << j for j in columns), added)
    lists = [part for piece in pieces for part in np.split(piece.counts, piece.ends)[:-1]]
    cells = np.concatenate([piece.n_cells for piece in pieces])
    for j, found, n_cells in zip(added, lists, cells, strict=True):
        expected = Counter()
        for row, weight in list_rows(data):
            expected[tuple(row[i] for i in (*columns, j))] += weight
        assert sorted(found) == pytest.approx(sorted(n for n in expected.values() if n > 0))
        assert n_cells == math.prod(CARDS[i] for i in (*columns, j))


def test_heavy_rows_are_not_repeated():
    data = Dataset([Variable(n, ("x", "y")) for n in "ab"], [[0, 1], [1, 1]], [3e9, 1.0])
    (found,) = CountingTable(data).count_additions(0b01, [1])
    assert sorted(found.counts[: found.ends[0]]) == [1.0, 3e9]


def test_small_buffers_cut_candidates_into_pieces(monkeypatch):
    table, added = CountingTable(random_table(6, CARDS, 90)), [0, 2, 3, 4]
    (whole,) = table.count_additions(0b00010, added)
    monkeypatch.setattr(module, "BUFFER", 10)
    pieces = table.count_additions(0b00010, added)
    assert len(pieces) > 1
    lists = [part for piece in pieces for part in np.split(piece.counts, piece.ends)[:-1]]
    for one, other in zip(lists, np.split(whole.counts, whole.ends)[:-1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_configurations_that_cannot_be_tabled():
    data = random_table(2, (20,) * 30, 50)
    found = CountingTable(data).count_family(0, range(1, 30))
    assert found.n_configurations == 20.0**29
    assert found.counts.sum() == 50
    assert len(found.counts) <= 50


def test_sums_of_broken_weights_are_exact_in_any_order():
    data = random_table(7, (2, 2), 1000, "broken")
    shuffled = data.take(np.random.default_rng(0).permutation(1000))
    tables = [CountingTable(each) for each in (data, shuffled, permute_columns(shuffled, [1, 0]))]
    one, two = (table.count_family(0, (1,)) for table in tables[:2])
    three = tables[2].count_family(1, (0,))
    for other in (two, three):
        assert sorted(one.counts.ravel()) == sorted(other.counts.ravel())
    assert tables[0].total == tables[1].total == pytest.approx(data.total_weight, rel=1e-12)


def test_rows_without_weight_do_not_count():
    data = Dataset([Variable("a", ("x", "y"))], [[0, 1, 1]], [1.0, 0.0, 0.0])
    assert CountingTable(data).count_family(0, ()).counts.tolist() == [[1.0, 0.0]]


def test_tables_of_a_network():
    data = random_table(8, CARDS, 70, "whole")
    structure = Structure(data.variables, {"x2": ("x4", "x1"), "x0": "x3"})
    counts = count_tables(structure, data)
    expected = count_family(data, 2, (4, 1))
    table = structure.table_view(counts, "x2")
    for key in np.ndindex(table.shape):
        assert table[key] == expected[key[:-1]][key[-1]]
    parameters = normalize_tables(structure, counts)
    np.testing.assert_allclose(structure.table_view(parameters, "x2").sum(axis=-1), 1.0)
    empty = table.sum(axis=-1) == 0
    assert np.all(structure.table_view(parameters, "x2")[empty] == 0.5)


def test_refuses_what_is_missing():
    data = Dataset([Variable("a", ("x", "y"))], [[0, -1, -1]])
    with pytest.raises(DataError, match="column 'a' has 2 missing values"):
        CountingTable(data)


def test_refuses_numbers():
    with pytest.raises(DataError, match="column 'a' is continuous"):
        CountingTable(Dataset([Variable("a")], [[0.5, 1.5]]))
