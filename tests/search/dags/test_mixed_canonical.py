"""The order of columns, and scores to the last bit, for any order of rows and columns."""

import itertools

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.search.dags.mixed_canonical import canonical_order
from latentforest.search.dags.mixed_family_scores import MixedFamilyScores
from reference.gaussian_families import random_mixed_table


def shuffle(data, seed):
    """Other orders of rows and columns."""
    rng = np.random.default_rng(seed)
    names = [data.names[j] for j in rng.permutation(data.n_columns)]
    return data.select(names).take(rng.permutation(data.n_rows))


def put_in_order(data):
    return data.select([data.names[j] for j in canonical_order(data)])


def rename(data, names):
    variables = [Variable(names[v.name], v.states) for v in data.variables]
    return Dataset(variables, data.columns, data.weights)


@pytest.mark.parametrize("weights", ["ones", "broken"])
@pytest.mark.parametrize("criterion", ["bic", "bge"])
def test_scores_to_the_last_bit(criterion, weights):
    cards = (2, 3) if criterion == "bic" else ()
    data = random_mixed_table(1, cards, 5, 200, weights)
    first, *others = (put_in_order(shuffle(data, seed)) for seed in range(5))
    scores = MixedFamilyScores(first, criterion)
    for other in others:
        assert other.names == first.names
        again = MixedFamilyScores(other, criterion)
        for child in range(data.n_columns):
            added = [j for j in range(data.n_columns) if j != child]
            for parents in (0, 0b101 & ~(1 << child)):
                left = [j for j in added if not parents >> j & 1]
                one = scores.score_additions(child, parents, left)
                np.testing.assert_array_equal(one, again.score_additions(child, parents, left))
                assert scores.score(child, parents) == again.score(child, parents)


def test_merged_rows_have_the_same_order_and_scores():
    data = random_mixed_table(2, (2,), 3, 30, "whole")
    repeated = data.take(np.repeat(np.arange(30), data.weights.astype(int))).with_weights(None)
    assert canonical_order(repeated) == canonical_order(data)
    one, other = MixedFamilyScores(data, "bic"), MixedFamilyScores(repeated, "bic")
    assert one.score(2, 0b1001) == other.score(2, 0b1001)


def test_names_do_not_matter_where_content_differs():
    """Columns with the same values in other rows are told apart by their neighbours."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    a = np.arange(40) % 2
    columns = {"p": x, "q": rng.permutation(x), "r": np.sort(x), "a": a, "b": np.sort(a)}
    variables = [Variable(n, ("0", "1") if n in "ab" else None) for n in columns]
    data = Dataset(variables, list(columns.values()))
    expected = put_in_order(data).columns
    for order in itertools.permutations("pqr"):
        names = dict(zip("pqr", order, strict=True)) | {"a": "b", "b": "a"}
        for one, other in zip(put_in_order(rename(data, names)).columns, expected, strict=True):
            np.testing.assert_array_equal(one, other)
