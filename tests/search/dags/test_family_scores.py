"""Scores of families: against counting row by row, and equal for equivalent networks."""

import math
from collections import defaultdict

import pytest

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable
from latentforest.search.dags.family_scores import FamilyScores, read_arc_weights
from reference.dags import all_dags, equivalence_class, family_score, random_table, subsets

EQUIVALENT = ["likelihood", "bic", "mdl", "aic", "bdeu"]
CRITERIA = [*EQUIVALENT, "k2", "ch"]


def to_mask(columns):
    return sum(1 << j for j in columns)


def total(scores, dag):
    return sum(scores.score(j, to_mask(parents)) for j, parents in enumerate(dag))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("weights", ["ones", "whole", "broken"])
def test_family_scores(criterion, weights):
    data = random_table(1, (2, 3, 2, 4), 100, weights)
    scores = FamilyScores(CountingTable(data), criterion)
    for child in range(4):
        for parents in subsets(j for j in range(4) if j != child):
            expected = family_score(data, child, parents, criterion)
            assert scores.score(child, to_mask(parents)) == pytest.approx(expected, abs=1e-7)


def test_additions_and_deletions_are_scores():
    data = random_table(2, (2, 3, 2, 4, 2), 100)
    scores, fresh = (FamilyScores(CountingTable(data), "bic") for _ in range(2))
    added = scores.score_additions(0, 0b00110, [4, 3])
    assert added.tolist() == [fresh.score(0, 0b10110), fresh.score(0, 0b01110)]
    left = scores.score_deletions(0, 0b10110)
    assert left.tolist() == [fresh.score(0, parents) for parents in (0b10100, 0b10010, 0b00110)]


def test_what_is_known_is_not_counted_again(monkeypatch):
    scores = FamilyScores(CountingTable(random_table(2, (2, 3, 2, 4), 100)), "bic")
    first = scores.score_additions(0, 0b0010, [2, 3])
    monkeypatch.setattr(CountingTable, "count_additions", None)  # would raise
    assert scores.score_additions(0, 0b0010, [2, 3]).tolist() == first.tolist()
    assert scores.score(0, 0b0110) == first[0]


def test_a_parent_and_its_child_that_change_places_share_their_counts():
    scores = FamilyScores(CountingTable(random_table(2, (2, 3, 2, 4), 100)), "bic")
    there = scores.score(0, 0b0010) + scores.score(1, 0)
    n_counted = scores.n_counted
    assert scores.score(1, 0b0001) + scores.score(0, 0) == there
    assert (n_counted, scores.n_counted) == (2, 3)  # {0, 1} and {1}; then {0}


@pytest.mark.parametrize("weights", ["ones", "broken"])
@pytest.mark.parametrize("criterion", EQUIVALENT)
def test_equivalent_networks_are_equal_to_the_last_bit(criterion, weights):
    scores = FamilyScores(CountingTable(random_table(3, (2, 3, 2, 2), 200, weights)), criterion)
    classes = defaultdict(set)
    for dag in all_dags(4):
        classes[equivalence_class(dag)].add(total(scores, dag))
    assert len(classes) == 185  # known number for four variables
    assert all(len(values) == 1 for values in classes.values())


def test_k2_tells_equivalent_networks_apart():
    scores = FamilyScores(CountingTable(random_table(3, (2, 3, 2), 200)), "k2")
    one, other = (total(scores, dag) for dag in (((), (0,), ()), ((1,), (), ())))
    assert abs(one - other) > 0.1


def test_prior_odds_of_arcs_are_added():
    table = CountingTable(random_table(1, (2, 3, 2), 100))
    weights = read_arc_weights(table.names, {("x1", "x0"): 0.2, ("x2", "x0"): 0.9})
    plain, weighed = FamilyScores(table, "bdeu"), FamilyScores(table, "bdeu", None, weights)
    one, two = math.log(0.2 / 0.8), math.log(0.9 / 0.1)
    assert weighed.score(0, 0b110) == pytest.approx(plain.score(0, 0b110) + one + two)
    assert weighed.score(1, 0b101) == plain.score(1, 0b101)
    added = weighed.score_additions(0, 0b010, [2])
    assert added.tolist() == [weighed.score(0, 0b110)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1.0, "arc_probabilities of all arcs must be between 0 and 1, got 1.0"),
        ({"ab": 0.5}, "must be given for pairs"),
        ({("a", "q"): 0.5}, "there is no column 'q'"),
        ({("a", "b"): 0.0}, r"arc_probabilities of \('a', 'b'\) must be between 0 and 1, got 0.0"),
    ],
)
def test_bad_probabilities_of_arcs(given, message):
    with pytest.raises(ParameterError, match=message):
        read_arc_weights("ab", given)


def test_what_is_forgotten_is_counted_again(monkeypatch):
    """Caches have a bound, and results do not depend on it."""
    monkeypatch.setattr("latentforest.search.dags.family_scores.MOST_BYTES", 100)
    monkeypatch.setattr("latentforest.search.dags.family_scores.MOST_VALUES", 3)
    table = CountingTable(random_table(2, (2, 3, 2, 4), 100))
    scores = FamilyScores(table, "bic")
    first = [scores.score(0, mask) for mask in (0b0110, 0b1010, 0b0010)]
    assert [scores.score(0, mask) for mask in (0b0110, 0b1010, 0b0010)] == first
    assert scores.score_additions(0, 0b0010, [2, 3]).tolist() == first[:2]
