"""Scores of sets of columns: their values, bounds on families, and what is refused."""

import math

import numpy as np
import pytest

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, JointCounts
from latentforest.scores.families import PenalizedLikelihood, make_family_score
from reference.dags import family_score, random_table


def test_values_of_sets():
    score = PenalizedLikelihood.aic(CountingTable(random_table(0, (2, 3), 20)))
    joints = JointCounts(np.array([5.0, 3.0, 12.0]), np.array([2, 3]), np.array([4.0, 6.0]))
    expected = [5 * math.log(5) + 3 * math.log(3) - 4, 12 * math.log(12) - 6]
    np.testing.assert_allclose(score.measure(joints), expected, atol=1e-8)
    assert score.measure_empty() == pytest.approx(20 * math.log(20) - 1)


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize("n_rows", [10, 200])
def test_families_beyond_the_bound_are_no_better(criterion, n_rows):
    """The bound is where a perfect prediction would just pay for its parameters."""
    data = random_table(1, (3, 2), n_rows)
    score = make_family_score(criterion, CountingTable(data))
    alone = family_score(data, 0, (), criterion)
    most = score.limit_cells(0, alone, 1.0)
    price = 1.0 if criterion == "aic" else 0.5 * math.log(n_rows)
    assert -price * (most / 3) * 2 == pytest.approx(alone)


def test_no_bound_without_a_price():
    score = make_family_score("likelihood", CountingTable(random_table(1, (3, 2), 20)))
    assert score.limit_cells(0, -5.0, 1.0) == math.inf


def test_unknown_criterion():
    table = CountingTable(random_table(3, (2, 3), 20))
    with pytest.raises(ParameterError, match="unknown criterion 'k3'; known are likelihood, bic"):
        make_family_score("k3", table)
