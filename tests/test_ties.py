"""Scores that are equal up to rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentforest.ties import choose_best, find_best, is_higher, sort_best_first

INF = float("inf")


@pytest.mark.parametrize("scale", [1.0, -1e5, 1e-3, 1e30])
def test_scores_that_differ_by_rounding_are_equal(scale):
    scores = [scale, scale * (1 + 1e-13), scale * (1 - 1e-13)]
    assert find_best(scores) == 0
    assert sort_best_first(scores) == [0, 1, 2]
    assert not any(is_higher(a, b) for a in scores for b in scores)


@pytest.mark.parametrize("scale", [1.0, -1e5, 1e30])
def test_scores_that_differ_by_more_are_not(scale):
    scores = [scale, scale + 1e-6 * abs(scale), scale - 1e-6 * abs(scale)]
    assert find_best(scores) == 1
    assert sort_best_first(scores) == [1, 0, 2]
    assert is_higher(scores[1], scores[0])
    assert not is_higher(scores[0], scores[1])


def test_infinite_scores():
    assert find_best([-INF, -INF]) == 0
    assert find_best([1.0, INF, INF]) == 1
    assert sort_best_first([-INF, 2.0, -INF, INF]) == [3, 1, 0, 2]
    assert is_higher(0.0, -INF)
    assert not is_higher(-INF, -INF)
    assert not is_higher(-INF, 0.0)
    assert sort_best_first([]) == []


def test_long_runs_of_small_steps_are_cut_where_the_first_ends():
    scores = [1.0 - k * 0.4e-9 for k in range(6)]
    assert sort_best_first(scores[::-1]) == [3, 4, 5, 0, 1, 2]


def test_the_first_of_equal_items_is_chosen():
    assert choose_best(["bb", "a", "cc"], len) == "bb"


@given(st.lists(st.integers(-5, 5), min_size=1), st.integers(0, 2**32 - 1))
def test_rounding_errors_change_nothing(scores, seed):
    noise = 1e-12 * np.random.default_rng(seed).standard_normal(len(scores))
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    assert sort_best_first(scores + noise) == order
    assert find_best(scores + noise) == order[0]
