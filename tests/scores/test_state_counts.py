"""Counts of pairs of states, against counting row by row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.scores.state_counts import StateCounts


@st.composite
def tables(draw):
    cards = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    n_rows = draw(st.integers(1, 12))
    columns = [
        draw(st.lists(st.integers(-1, card - 1), min_size=n_rows, max_size=n_rows))
        for card in cards
    ]
    weights = draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n_rows, max_size=n_rows))
    variables = [Variable(f"v{i}", tuple("abcd"[:card])) for i, card in enumerate(cards)]
    return Dataset(variables, columns, weights)


@settings(max_examples=60, deadline=None)
@given(tables())
def test_they_are_counted_right(data):
    counts = StateCounts(data)
    n = data.n_columns
    found, rows = counts.count(0, n), counts.count_rows(0, n)
    for i, one in enumerate(data.columns):
        for j, other in enumerate(data.columns):
            expected = np.zeros((data.variables[i].n_states, data.variables[j].n_states))
            used = (one >= 0) & (other >= 0)
            np.add.at(expected, (one[used], other[used]), data.weights[used])
            block = found[
                counts.edges[i] : counts.edges[i + 1], counts.edges[j] : counts.edges[j + 1]
            ]
            assert block == pytest.approx(expected, abs=1e-12)
            assert rows[i, j] == pytest.approx(data.weights[used].sum())


def test_a_part_of_the_columns():
    data = Dataset([Variable(n, ("0", "1")) for n in "abc"], [[0, 1, 1], [1, 1, 0], [0, 0, 1]])
    counts = StateCounts(data)
    assert counts.count(1, 2).tolist() == counts.count(0, 3)[2:4].tolist()
