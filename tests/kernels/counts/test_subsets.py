"""Sums of n log n over all subsets, against counting each by itself."""

import math
from collections import Counter

import numpy as np
import pytest

from latentforest.inference.counts import CountingTable
from latentforest.kernels.counts.subsets import measure_dirichlet_subsets, measure_subsets
from latentforest.kernels.counts.terms import tabulate_terms
from reference.dags import list_rows, random_table, subsets

SCALE = 2.0**30


def measure(data, most_cells=math.inf, most_columns=99):
    table = CountingTable(data)
    sums = np.full(1 << table.n_columns, np.nan)
    terms = tabulate_terms(int(table.total) + 1 if table.is_whole else 0, SCALE)
    measure_subsets(
        table.codes, table.cards, table.weights, terms, SCALE, most_cells, most_columns, sums
    )
    return sums / SCALE


def expect(data, columns):
    counts = Counter()
    for row, weight in list_rows(data):
        counts[tuple(row[j] for j in columns)] += weight
    return sum(n * math.log(n) for n in counts.values() if n > 0)


@pytest.mark.parametrize("weights", ["ones", "whole", "broken"])
@pytest.mark.parametrize(("cards", "n_rows"), [((2, 3, 2, 4, 2), 60), ((3,), 5), ((2, 2), 1)])
def test_all_subsets(cards, n_rows, weights):
    data = random_table(3, cards, n_rows, weights)
    sums = measure(data)
    for columns in subsets(range(len(cards))):
        mask = sum(1 << j for j in columns)
        assert sums[mask] == pytest.approx(expect(data, columns), abs=1e-6)


def test_many_states_need_wider_codes():
    data = random_table(0, (300, 2, 3), 500)
    assert CountingTable(data).codes.dtype == np.int32
    assert measure(data)[0b111] == pytest.approx(expect(data, (0, 1, 2)), abs=1e-6)


def test_sets_out_of_bounds_are_left_alone():
    cards = (2, 3, 2, 4)
    sums = measure(random_table(1, cards, 40), most_cells=12.0, most_columns=2)
    for columns in subsets(range(4)):
        is_within = len(columns) <= 2 and math.prod(cards[j] for j in columns) <= 12
        assert np.isnan(sums[sum(1 << j for j in columns)]) == (not is_within)


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("weights", ["ones", "whole", "broken"])
@pytest.mark.parametrize(("cards", "n_rows"), [((2, 3, 2, 4, 2), 60), ((3,), 5), ((2, 2), 1)])
def test_all_subsets_with_prior_counts(cards, n_rows, weights, is_shared):
    data = random_table(3, cards, n_rows, weights)
    table = CountingTable(data)
    sizes, kinds = np.unique(table.weights, return_inverse=True)
    sums = np.full(1 << table.n_columns, np.nan)
    measure_dirichlet_subsets(
        table.codes, table.cards, kinds.astype(np.int64), sizes, 0.7, is_shared, SCALE, 99, sums
    )
    for columns in subsets(range(len(cards))):
        counts = Counter()
        for row, weight in list_rows(data):
            counts[tuple(row[j] for j in columns)] += weight
        prior = 0.7 / math.prod(cards[j] for j in columns) if is_shared else 0.7
        expected = sum(math.lgamma(prior + n) - math.lgamma(prior) for n in counts.values())
        found = sums[sum(1 << j for j in columns)] / SCALE
        assert found == pytest.approx(expected, abs=1e-6)
