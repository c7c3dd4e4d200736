from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.kernels.forest.patterns import count_joint, join

SMALL, LARGE = 4, 1 << 20  # numbers of values: pairs fit a table, or need the hash


def join_by_dict(left, right):
    """Number the pairs by first occurrence, the obvious way."""
    numbers, first = {}, []
    codes = []
    for row, pair in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if pair not in numbers:
            numbers[pair] = len(numbers)
            first.append(row)
        codes.append(numbers[pair])
    return codes, first


@st.composite
def column_sets(draw, n_columns, n_values):
    n_rows = draw(st.integers(1, 40))
    values = st.integers(0, n_values - 1)
    pool = draw(st.lists(values, min_size=1, max_size=6))
    rows = st.lists(st.sampled_from(pool), min_size=n_rows, max_size=n_rows)
    return [np.array(draw(rows), np.int32) for _ in range(n_columns)]


@settings(deadline=None)
@given(
    st.sampled_from([(SMALL, SMALL), (LARGE, LARGE), (1, LARGE), (LARGE, SMALL)]).flatmap(
        lambda sizes: st.tuples(st.just(sizes), column_sets(2, min(sizes)))
    )
)
def test_join_equals_a_dictionary(case):
    (n_left, n_right), (left, right) = case
    codes, first = join(left, n_left, right, n_right)
    expected_codes, expected_first = join_by_dict(left, right)
    assert codes.tolist() == expected_codes
    assert first.tolist() == expected_first
    assert count_joint(left, n_left, right, n_right) == len(expected_first)


def test_many_rows_by_table_and_by_hash_agree():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 200, (2, 20_000)).astype(np.int32)
    by_table = join(left, 200, right, 200)
    by_hash = join(left, 200, right, 1 << 30)
    expected = join_by_dict(left, right)
    for codes, first in (by_table, by_hash):
        assert codes.tolist() == expected[0]
        assert first.tolist() == expected[1]


def test_extreme_codes_do_not_collide():
    top = np.int32(2**31 - 1)
    left = np.array([top, 0, top, top - 1, top], np.int32)
    right = np.array([top, top, 0, top, top], np.int32)
    codes, first = join(left, 2**31, right, 2**31)
    assert codes.tolist() == [0, 1, 2, 3, 0]
    assert first.tolist() == [0, 1, 2, 3]


@settings(deadline=None, max_examples=50)
@given(st.sampled_from([SMALL, LARGE]).flatmap(lambda n: st.tuples(st.just(n), column_sets(3, n))))
def test_the_order_of_joining_does_not_matter(case):
    n_values, columns = case
    results = set()
    for order in permutations(columns):
        codes, first = join(order[0], n_values, order[1], n_values)
        codes, first = join(codes, len(first), order[2], n_values)
        results.add((tuple(codes), tuple(first)))
        codes, first = join(order[1], n_values, order[2], n_values)
        codes, first = join(order[0], n_values, codes, len(first))
        results.add((tuple(codes), tuple(first)))
    assert len(results) == 1
