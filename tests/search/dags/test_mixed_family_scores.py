"""Scores of families in tables with continuous columns, against slow ones."""

import itertools
import math
from functools import partial

import numpy as np
import pytest

from latentforest import Dataset, Variable
from latentforest.errors import DataError, ParameterError
from latentforest.search.dags.mixed_family_scores import MixedFamilyScores as RoundedScores
from reference.dags import family_score
from reference.gaussian_families import gaussian_family, log_marginal, random_mixed_table

MixedFamilyScores = partial(RoundedScores, grid=2.0**50)  # hardly rounded


def prices(data):
    return {"likelihood": 0.0, "aic": 1.0, "bic": 0.5 * math.log(data.weights.sum())}


def list_families(n_columns, most):
    for child in range(n_columns):
        others = [j for j in range(n_columns) if j != child]
        for size in range(most + 1):
            for parents in itertools.combinations(others, size):
                yield child, parents


@pytest.mark.parametrize("criterion", ["bic", "aic", "likelihood"])
@pytest.mark.parametrize("weights", ["ones", "whole", "broken"])
@pytest.mark.parametrize("n_rows", [12, 150])
def test_scores_are_those_of_least_squares(criterion, weights, n_rows):
    """With few rows, many configurations are thin."""
    data = random_mixed_table(3, (2, 3), 4, n_rows, weights)
    scores, price = MixedFamilyScores(data, criterion), prices(data)[criterion]
    numbers = [v.name for v in data.variables if not v.is_categorical]
    categorical = data.select(data.names[:2])
    for child, parents in list_families(data.n_columns, 3):
        found = scores.score(child, sum(1 << j for j in parents))
        named = [data.names[j] for j in parents]
        if data.names[child] in numbers:
            expected = gaussian_family(data, data.names[child], named, price)
        elif set(named) & set(numbers):
            expected = -math.inf
        else:
            expected = family_score(categorical, child, parents, criterion)
        assert found == pytest.approx(expected, abs=1e-9, rel=1e-11)


@pytest.mark.parametrize("n_rows", [12, 150])
@pytest.mark.parametrize("criterion", ["bic", "bge"])
def test_additions_and_deletions_are_scores(criterion, n_rows):
    cards = (2, 3) if criterion == "bic" else ()
    data = random_mixed_table(4, cards, 4, n_rows, "whole")
    scores, again = (MixedFamilyScores(data, criterion) for _ in range(2))
    for child, parents in list_families(data.n_columns, 2):
        mask = sum(1 << j for j in parents)
        added = [j for j in range(data.n_columns) if j != child and j not in parents]
        found = scores.score_additions(child, mask, added)
        expected = [again.score(child, mask | 1 << j) for j in added]
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        expected = [again.score(child, mask ^ 1 << j) for j in parents]
        np.testing.assert_allclose(scores.score_deletions(child, mask), expected, rtol=1e-12)


@pytest.mark.parametrize("weights", ["ones", "broken"])
def test_bge_is_the_ratio_of_marginal_likelihoods(weights):
    data = random_mixed_table(5, (), 4, 30, weights)
    scores = MixedFamilyScores(data, "bge")
    for child, parents in list_families(4, 3):
        above = [data.names[j] for j in parents]
        both = log_marginal(data, [data.names[child], *above], 4)
        expected = both - log_marginal(data, above, 4)
        found = scores.score(child, sum(1 << j for j in parents))
        assert found == pytest.approx(expected, abs=1e-9, rel=1e-12)


CLASS = [  # the same independences: a chain of three, and a cause beside the last
    ((0, ()), (1, (0,)), (2, (1, 3)), (3, ())),
    ((0, (1,)), (1, ()), (2, (1, 3)), (3, ())),
]
COMPLETE = [
    tuple((child, order[:place]) for place, child in enumerate(order))
    for order in itertools.permutations(range(4))
]


@pytest.mark.parametrize("criterion", ["bic", "aic", "likelihood", "bge"])
@pytest.mark.parametrize("graphs", [CLASS, COMPLETE], ids=["class", "complete"])
def test_equivalent_networks_are_equal(criterion, graphs):
    scores = MixedFamilyScores(random_mixed_table(6, (), 4, 80, "whole"), criterion)
    values = [
        sum(scores.score(child, sum(1 << j for j in parents)) for child, parents in graph)
        for graph in graphs
    ]
    np.testing.assert_allclose(values, values[0], rtol=1e-12)


def degenerate_table():
    """Columns x, 2x + 1, x + y, y, a constant, and a categorical one that decides z."""
    rng = np.random.default_rng(7)
    x, y, a = rng.normal(5.0, 2.0, 60), rng.normal(0.0, 0.1, 60), rng.integers(0, 2, 60)
    columns = {
        "x": x,
        "line": 2 * x + 1,
        "sum": x + y,
        "y": y,
        "constant": np.full(60, 1000.0),
        "z": 3.0 * a,
    }
    variables = [*(Variable(name) for name in columns), Variable("a", ("0", "1"))]
    return Dataset(variables, [*columns.values(), a])


def test_degenerate_columns_have_finite_scores():
    data = degenerate_table()
    scores = MixedFamilyScores(data, "bic")
    for child, parents in list_families(data.n_columns, 3):
        if child != 6:
            assert math.isfinite(scores.score(child, sum(1 << j for j in parents)))


def test_a_parent_that_others_determine_adds_nothing():
    data = degenerate_table()
    scores = MixedFamilyScores(data, "likelihood")
    x, line, total, y, constant, z = range(6)
    assert scores.score(y, 1 << x | 1 << line) == pytest.approx(scores.score(y, 1 << x), abs=1e-6)
    both = scores.score(z, 1 << x | 1 << y)
    assert scores.score(z, 1 << x | 1 << y | 1 << total) == pytest.approx(both, abs=1e-6)
    assert scores.score(x, 1 << constant) == pytest.approx(scores.score(x, 0), abs=1e-9)
    found = scores.score_additions(z, 1 << x | 1 << y, [line, total, constant])
    np.testing.assert_allclose(found, both, atol=1e-6)


def test_a_child_that_its_parents_determine_is_at_the_bound():
    data = degenerate_table()
    scores = MixedFamilyScores(data, "likelihood")
    z, a = 5, 6
    least = gaussian_family(data, "z", ["a"], 0.0)
    assert scores.score(z, 1 << a) == pytest.approx(least, abs=1e-8)
    assert scores.score(z, 1 << a) > scores.score(z, 0) + 100


def test_large_groupings_are_measured_piece_by_piece(monkeypatch):
    data = random_mixed_table(8, (2, 3), 4, 60)
    expected = MixedFamilyScores(data, "bic").score_additions(3, 0b10011, [2, 5])
    monkeypatch.setattr("latentforest.inference.moments.MOST_BYTES", 0)
    found = MixedFamilyScores(data, "bic").score_additions(3, 0b10011, [2, 5])
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_which_parents_are_possible():
    data = random_mixed_table(9, (2, 3), 4, 5)
    scores = MixedFamilyScores(data, "bic")
    assert scores.list_additions(0, 0, 0b1110) == [1]
    assert scores.list_additions(2, 0, 0b11011) == [0, 1, 3, 4]
    assert scores.list_additions(2, 0b011000, 0b100001) == [0]  # three slopes for five rows
    wide = [Variable(f"c{j}", tuple(map(str, range(200)))) for j in range(3)]
    columns = [[0, 199]] * 3 + [[0.0, 1.0]]
    scores = MixedFamilyScores(Dataset([*wide, Variable("x")], columns), "bic")
    assert scores.list_additions(3, 0b011, 0b100) == []
    assert scores.list_additions(0, 0b010, 0b100) == []
    assert scores.list_additions(0, 0, 0b1010) == [1]
    assert scores.count_parameters(3, 0b011) == 200 * 200 * 2


def test_what_is_refused():
    mixed = random_mixed_table(1, (2,), 2, 10)
    with pytest.raises(ParameterError, match="'bge' needs continuous columns only, but 'c0'"):
        MixedFamilyScores(mixed, "bge")
    with pytest.raises(
        ParameterError, match=r"'bdeu' is not known.*likelihood, bic, mdl, aic, bge"
    ):
        MixedFamilyScores(mixed, "bdeu")
    with pytest.raises(DataError, match="'x' has 1 missing"):
        MixedFamilyScores(Dataset([Variable("x")], [[1.0, np.nan]]), "bic")


def test_scores_are_rounded_and_the_same_however_they_are_found():
    data = random_mixed_table(5, (2,), 4, 60)
    first, second = RoundedScores(data, "bic"), RoundedScores(data, "bic")
    added = first.score_additions(2, 0b1, [1, 3, 4])
    assert [first.score(2, 0b1 | 1 << j) for j in (1, 3, 4)] == added.tolist()
    assert [second.score(2, 0b1 | 1 << j) for j in (1, 3, 4)] == added.tolist()
    assert np.all(added * 2.0**20 == np.rint(added * 2.0**20))
