import numpy as np
import pytest
from numba import njit

from climbing import list_tables
from latentforest.kernels.forest.em import find_method
from latentforest.kernels.loop import CONVERGED, Limits, advance, make_climb, put_best_first
from latentforest.ties import sort_best_first

# One table of two rows and three states after an entry that is not free.
FAMILIES = list_tables([1], [2], [3])
METHOD = find_method()


def test_a_worse_extrapolation_is_taken_back():
    climb, limits, trajectory = make_climb(7), Limits(100, -np.inf, True, 100), np.empty(100)
    theta, rng = np.r_[0.0, np.full(6, 1 / 3)], np.random.default_rng(0)
    for n in range(7):  # six plain iterations, then the second of a pair
        climb.counts[:] = rng.random(7)
        assert advance(METHOD, FAMILIES, np.zeros(7), climb, theta, float(n), limits, trajectory)
    safe = climb.third.copy()
    assert not np.array_equal(theta, safe)
    advance(METHOD, FAMILIES, np.zeros(7), climb, theta, -50.0, limits, trajectory)
    assert np.array_equal(theta, safe)
    assert trajectory[:8].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0]


def test_a_small_gain_ends_the_run():
    climb, limits, trajectory = make_climb(7), Limits(100, 0.5, False, 100), np.empty(100)
    theta = np.r_[0.0, np.full(6, 1 / 3)]
    climb.counts[:] = 1.0
    goes_on = [
        advance(METHOD, FAMILIES, np.zeros(7), climb, theta, value, limits, trajectory)
        for value in (-9.0, -8.0, -7.5)
    ]
    assert goes_on == [True, True, False]


def test_a_pause_interrupts_but_does_not_end_the_run():
    climb, limits, trajectory = make_climb(7), Limits(100, -np.inf, False, 2), np.empty(100)
    theta = np.r_[0.0, np.full(6, 1 / 3)]
    climb.counts[:] = 1.0
    goes_on = [
        advance(METHOD, FAMILIES, np.zeros(7), climb, theta, float(n), limits, trajectory)
        for n in range(2)
    ]
    assert goes_on == [True, False]
    assert climb.flags[CONVERGED] == 0


@njit
def sort_starts(objectives):
    alive = np.arange(len(objectives))
    put_best_first(alive, objectives, len(alive))  # has no way in from Python
    return alive


@pytest.mark.parametrize(
    "objectives",
    [
        [-500.0, -500.0 + 1e-10, -499.0, -500.0 - 1e-10],
        [-np.inf, -5.0, -np.inf, -4.0],
        [0.1 + 0.2, 0.3, 0.4, 0.2 + 0.2],
    ],
)
def test_starts_that_are_equal_but_for_rounding_keep_their_order(objectives):
    expected = sort_best_first(objectives)
    assert sort_starts(np.array(objectives)).tolist() == expected
