"""Standard errors of folds against their formula, and p-values of all pairs."""

import math

import numpy as np
import pytest

from latentforest.benchmarking.pair_tests import CAUTION, FoldParts, PairTests
from latentforest.scores.paired import adjust_holm, two_sided

FOLDS = [np.array([1.0, 0, 2, 0]), np.array([0, 1.0, 0, 2])]


def test_rows_of_the_folds_that_are_complete():
    parts = FoldParts.from_weights(FOLDS, [0, 1])
    assert parts.weights.tolist() == [1, 2, 1, 2]
    assert parts.overlap == 1.0
    assert parts.average(np.array([3.0, 0, 6, 3])).tolist() == [1, 4]
    assert FoldParts.from_weights(FOLDS, [1]).sizes.tolist() == [3]


def test_the_error_is_that_of_the_rows_or_of_the_folds():
    parts = FoldParts.from_weights(FOLDS, [0, 1])
    rows = np.array([1.0, -0.5, 1, -0.5])  # the folds have the same mean
    by_rows = np.repeat(rows, [1, 2, 1, 2]).var() / 3
    assert parts.estimate(rows).standard_error == pytest.approx(math.sqrt(by_rows * 1.5))
    folds = np.array([1.0, 1, 3, 3])
    assert parts.estimate(folds).standard_error == pytest.approx(math.sqrt(2 * 1.5))
    assert parts.estimate(folds).mean == 2
    assert parts.estimate(folds, 3).standard_error == pytest.approx(math.sqrt(2 * 3.5))


def test_differences_are_judged_with_more_caution_than_learners():
    parts = FoldParts.from_weights(FOLDS, [0, 1])
    tests = PairTests([np.zeros(4), np.array([1.0, 1, 3, 3])], parts)
    assert tests.errors[1] == pytest.approx(math.sqrt(2 * 1.5))
    error = math.sqrt(2 * (0.5 + CAUTION))
    assert tests.test(0, 1).standard_error == pytest.approx(error)


def test_p_values_are_corrected_for_all_pairs():
    parts = FoldParts.from_weights([np.ones(40), np.ones(40)], [0, 1])
    base = np.sin(np.arange(80.0))
    scores = [base, base + 0.1 * np.cos(np.arange(80.0)) + 0.05, base - 1 + 0.1 * np.sin(base)]
    tests = PairTests(scores, parts)
    pairs = ((0, 1), (0, 2), (1, 2))
    plain = [parts.estimate(scores[i] - scores[j], CAUTION).p for i, j in pairs]
    assert tests.test(1, 0).p == pytest.approx(adjust_holm(plain)[0])
    assert tests.test(1, 0).mean == -tests.test(0, 1).mean


def test_impossible_rows_decide_without_a_test():
    parts = FoldParts.from_weights([np.ones(2), np.ones(2)], [0])
    tests = PairTests([np.array([-1.0, -1]), np.array([-1.0, -math.inf])], parts)
    assert tests.means == [-1, -math.inf]
    assert tests.test(0, 1).mean == math.inf
    assert math.isnan(tests.test(0, 1).p)
    both = PairTests([np.array([-math.inf, -1])] * 2, parts)
    assert both.test(0, 1).mean == 0


def test_holms_correction():
    assert adjust_holm([]) == []
    assert adjust_holm([0.6, 0.6]) == [1.0, 1.0]
    assert two_sided(1.959963984540054) == pytest.approx(0.05)
