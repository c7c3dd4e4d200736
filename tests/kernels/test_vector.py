import numpy as np
import pytest
from numba import njit

from latentforest.kernels.vector import (
    LANES,
    any_above,
    capped,
    exponential,
    front,
    lesser,
    load,
    logarithm,
    raised,
    splat,
    store,
    total,
)


@njit
def compute_all(left, right, scalar, out):
    """Write product, sum and splat to ``out`` with a gap between them."""
    a, b = load(left, 1), load(right, 2)
    store(out, 0, a * b)
    store(out, 5, a + b)
    store(out, 10, splat(scalar))
    return total(a), any_above(a, scalar)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    return rng.normal(size=8), rng.normal(size=8)


def test_arithmetic_equals_numpy(numbers):
    left, right = numbers
    out = np.full(16, np.nan)
    compute_all(left, right, 0.25, out)
    a, b = left[1 : 1 + LANES], right[2 : 2 + LANES]
    assert np.array_equal(out[0:4], a * b)
    assert np.array_equal(out[5:9], a + b)
    assert np.array_equal(out[10:14], np.full(4, 0.25))
    assert np.isnan(out[[4, 9, 14, 15]]).all()


def test_the_total_is_added_in_pairs():
    values = np.array([np.nan, 1e16, 1.0, -1e16, 1.0])
    result, _ = compute_all(values, np.zeros(8), 0.0, np.empty(16))
    assert result == (1e16 + 1.0) + (-1e16 + 1.0)


@pytest.mark.parametrize("lane", range(LANES))
def test_one_lane_at_the_bound_is_enough(lane):
    values = np.full(5, 0.5)
    values[1 + lane] = 2.0
    assert compute_all(values, np.zeros(8), 2.0, np.empty(16))[1]
    assert not compute_all(values, np.zeros(8), np.nextafter(2.0, 3.0), np.empty(16))[1]


def test_not_a_number_is_above_nothing():
    assert not compute_all(np.full(5, np.nan), np.zeros(8), -1.0, np.empty(16))[1]


@njit
def take_logarithms(values):
    for i in range(0, values.shape[0], LANES):
        store(values, i, logarithm(load(values, i)))


def test_logarithms_equal_numpy():
    rng = np.random.default_rng(0)
    around_one = 1.0 + rng.normal(scale=1e-6, size=400)
    edges = [1.0, 2.0, 0.5, np.sqrt(0.5), np.sqrt(2.0), np.e, 1e-200, 1e-300, 2.3e-308, 1e300]
    steps = np.nextafter(edges, 0.0)
    values = np.concatenate([around_one, 10.0 ** rng.uniform(-300, 300, 780), edges, steps])
    logs = values.copy()
    take_logarithms(logs)
    np.testing.assert_allclose(logs, np.log(values), rtol=4e-16, atol=1e-300)


@njit
def take_exponentials(values):
    for i in range(0, values.shape[0], LANES):
        store(values, i, exponential(load(values, i)))


def test_exponentials_equal_numpy():
    rng = np.random.default_rng(0)
    edges = [0.0, -0.0, -1e-300, -0.5 * np.log(2.0), -np.log(2.0), -1.0, -707.9, -708.0]
    steps = np.nextafter(edges, -1.0)
    small, wide = rng.uniform(-1, 0, 400), rng.uniform(-708, 0, 400)
    values = np.concatenate([edges, steps, small, wide])
    found = values.copy()
    take_exponentials(found)
    kept = values >= -708.0
    np.testing.assert_allclose(found[kept], np.exp(values[kept]), rtol=5e-16)
    assert np.all(found[~kept] == 0.0)
    assert np.all(found[:2] == 1.0)


def test_exponentials_of_the_lowest_numbers_are_zero():
    values = np.array([-708.1, -1e4, -1e300, -np.inf])
    take_exponentials(values)
    assert values.tolist() == [0.0, 0.0, 0.0, 0.0]


@njit
def multiply_and_raise(left, right, floor, out):
    a, b = load(left, 0), load(right, 0)
    store(out, 0, raised(a * b, a, b, floor))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([1e-200, 0.0, 1e-200, 0.0], [1e-200, 1e-200, 0.0, 0.0], [1e-300, 0.0, 0.0, 0.0]),
        ([1e-150, 1e-100, 0.5, 1.0], [1e-151, 1e-100, 0.5, 1e-300], [1e-300, 1e-200, 0.25, 1e-300]),
        ([5e-324, 1.0, 1e-310, 2.0], [1.0, 5e-324, 1.0, 1e-301], [1e-300] * 4),
    ],
)
def test_products_are_raised_unless_a_factor_is_zero(left, right, expected):
    out = np.empty(LANES)
    multiply_and_raise(np.array(left), np.array(right), 1e-300, out)
    np.testing.assert_allclose(out, expected, rtol=1e-15)


def test_a_product_that_is_not_a_number_is_not_raised():
    out = np.empty(LANES)
    multiply_and_raise(np.array([np.nan, 1.0, 1.0, 1.0]), np.ones(LANES), 2.0, out)
    np.testing.assert_array_equal(out, [np.nan, 2.0, 2.0, 2.0])


@njit
def cap(values, highest):
    store(values, 0, capped(load(values, 0), highest))


def test_lanes_are_capped():
    values = np.array([np.inf, 1e290, -np.inf, 1e291])
    cap(values, 1e290)
    assert values.tolist() == [1e290, 1e290, -np.inf, 1e290]
    cap(values, np.nan)
    assert values.tolist() == [1e290, 1e290, -np.inf, 1e290]


@njit
def divide(left, right, out):
    store(out, 0, load(left, 0) / load(right, 0))


def test_division_equals_numpy():
    left, right = np.array([1.0, -3.0, 0.0, 1e-300]), np.array([3.0, 7.0, 5.0, 1e300])
    out = np.empty(LANES)
    divide(left, right, out)
    np.testing.assert_array_equal(out, left / right)


def test_division_by_zero_is_infinite_or_no_number():
    out = np.empty(LANES)
    divide(np.array([1.0, 0.0, -1.0, np.inf]), np.zeros(LANES), out)
    np.testing.assert_array_equal(out, [np.inf, np.nan, -np.inf, np.inf])


@njit
def take_lesser(left, right, out):
    store(out, 0, lesser(load(left, 0), load(right, 0)))


def test_the_lesser_of_two_is_taken_in_each_lane():
    out = np.empty(LANES)
    take_lesser(np.array([1.0, -np.inf, 3.0, 0.0]), np.array([2.0, 5.0, -3.0, 0.0]), out)
    assert out.tolist() == [1.0, -np.inf, -3.0, 0.0]


def test_what_cannot_be_compared_gives_the_second():
    out, nothing = np.empty(LANES), np.full(LANES, np.nan)
    take_lesser(nothing, np.ones(LANES), out)
    assert out.tolist() == [1.0] * LANES
    take_lesser(np.ones(LANES), nothing, out)
    assert np.isnan(out).all()


@njit
def keep_front(values, n, rest):
    store(values, 0, front(load(values, 0), n, rest))


@pytest.mark.parametrize("n", [-1, 0, 1, 2, 3, 4, 5, 2**40])
def test_the_first_lanes_are_kept(n):
    values = np.array([1.0, 2.0, 3.0, 4.0])
    keep_front(values, n, 9.0)
    n_kept = min(max(n, 0), LANES)
    assert values.tolist() == [1.0, 2.0, 3.0, 4.0][:n_kept] + [9.0] * (LANES - n_kept)


def test_what_is_behind_the_front_does_not_matter():
    values = np.array([1.0, np.nan, np.inf, -0.0])
    keep_front(values, 1, 0.5)
    assert values.tolist() == [1.0, 0.5, 0.5, 0.5]
