from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest.inference.patterns import (
    Grouping,
    PatternStore,
    Recent,
    group_children,
    single_bits,
)

CARDS = [2, 3, 1, 4, 2]


def make_columns(n_rows, seed):
    rng = np.random.default_rng(seed)
    return [rng.integers(-1, card, n_rows).astype(np.int8) for card in CARDS]


def number_rows(columns, mask):
    """Number the distinct tuples of the columns in a mask by first occurrence."""
    chosen = [column for j, column in enumerate(columns) if mask >> j & 1]
    numbers = {}
    rows = list(zip(*(column.tolist() for column in chosen), strict=True))
    codes = [numbers.setdefault(row, len(numbers)) for row in rows]
    return codes, [rows.index(row) for row in numbers]


def count_patterns(columns, mask):
    return len(number_rows(columns, mask)[1])


@st.composite
def partitions(draw):
    """Draw disjoint masks, at least two variables in all."""
    groups = draw(st.lists(st.integers(0, 3), min_size=5, max_size=5))
    parts = [sum(1 << j for j, g in enumerate(groups) if g == label) for label in range(1, 4)]
    return draw(st.permutations(parts))


@settings(deadline=None)
@given(partitions(), st.integers(0, 10_000), st.sampled_from([1, 7, 30]), st.booleans())
def test_columns_are_numbered_by_first_occurrence_whatever_the_parts(parts, seed, n_rows, tiny):
    mask = sum(parts)
    if mask & (mask - 1) == 0:
        return
    columns = make_columns(n_rows, seed)
    store = PatternStore(columns, CARDS, capacity=1 if tiny else 1 << 20)
    expected_codes, expected_first = number_rows(columns, mask)
    column = store.column(mask, parts)
    assert column.codes.tolist() == expected_codes
    assert column.first.tolist() == expected_first
    assert column.n_patterns == len(expected_first)


def test_one_variable_keeps_its_codes_and_missing_is_one_more():
    store = PatternStore([np.array([2, -1, 0], np.int8), np.array([1, 0, 0], np.int8)], [3, 2])
    with_missing, complete = store.column(1), store.column(2)
    assert with_missing.codes.tolist() == [2, 3, 0]
    assert with_missing.n_patterns == 4
    assert complete.codes.tolist() == [1, 0, 0]
    assert complete.n_patterns == 2


def test_no_variables_have_one_pattern():
    column = PatternStore(make_columns(5, 0), CARDS).column(0)
    assert column.codes.tolist() == [0] * 5
    assert column.n_patterns == 1


def test_counts_equal_the_columns_and_do_not_depend_on_what_is_kept():
    columns = make_columns(40, 1)
    for left, right in [(1, 2), (3, 8), (0, 5), (9, 22)]:
        for is_kept in (False, True):
            store = PatternStore(columns, CARDS)
            if is_kept:
                store.column(left | right)
            assert store.count(left, right) == count_patterns(columns, left | right)


def test_a_full_store_forgets_but_answers_the_same():
    columns = make_columns(50, 2)
    roomy, tight = PatternStore(columns, CARDS), PatternStore(columns, CARDS, capacity=600)
    for mask in [3, 31, 5, 3, 9, 31, 24, 3]:
        a, b = roomy.column(mask), tight.column(mask)
        assert np.array_equal(a.codes, b.codes)
        assert np.array_equal(a.first, b.first)
    assert sum(column.codes.nbytes for column in tight._kept.values()) <= 600


def test_the_size_is_that_of_the_kept_columns():
    store = PatternStore(make_columns(50, 3), CARDS, capacity=10_000)
    store.column(7, [3, 4])
    store.column(3, [3])
    store.column(24, [24, 0])
    kept = sum(c.codes.nbytes + c.first.nbytes for c in store._kept.values())
    assert store._size == kept


def test_bits_are_split_lowest_first():
    assert single_bits(0b10110) == [0b10, 0b100, 0b10000]


def assert_merges_lead_to_the_tops(grouping, children):
    """Each merge takes two of what is there and puts their union in the place of the first."""
    there = list(children)
    for low, high in grouping.merges:
        there.remove(high)
        there[there.index(low)] = low | high
    assert tuple(there) == grouping.tops


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([1, 20, 200]))
def test_groups_hold_each_child_once_and_pay(seed, n_children, n_rows):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 6, n_rows)
    columns = [
        np.where(rng.random(n_rows) < 0.1, -1, rng.integers(0, 3, 6)[base]).astype(np.int8)
        for _ in range(n_children)
    ]
    store = PatternStore(columns, [3] * len(columns))
    children = [1 << j for j in range(n_children)]
    grouping = group_children(store, children)
    assert_merges_lead_to_the_tops(grouping, children)
    target = count_patterns(columns, sum(children))
    for low, high in grouping.merges:
        assert 2 * count_patterns(columns, low | high) < target
    assert len(grouping.tops) >= min(2, n_children)


def test_children_that_repeat_each_other_are_grouped():
    rng = np.random.default_rng(0)
    twin = rng.integers(0, 2, 100)
    columns = [*rng.integers(0, 2, (5, 100)), twin, twin]
    store = PatternStore(columns, [2] * 7)
    assert (32, 64) in group_children(store, [1 << j for j in range(7)]).merges


@pytest.mark.parametrize("n_children", [1, 2])
def test_one_or_two_children_stay_alone(n_children):
    store = PatternStore([np.arange(30) % 2] * 2, [2, 2])
    children = (1, 2)[:n_children]
    assert group_children(store, children) == Grouping(children, ())


def test_two_thousand_children():
    columns = np.random.default_rng(0).integers(0, 2, (2000, 50))
    children = [1 << j for j in range(2000)]
    grouping = group_children(PatternStore(list(columns), [2] * 2000), children)
    assert grouping.merges
    assert_merges_lead_to_the_tops(grouping, children)


def test_two_thousand_children_end_in_two_groups():
    columns = [np.arange(9) % 2] * 2000 + [np.arange(9), np.arange(9)]
    cards = [2] * 2000 + [9, 9]
    children = [1 << j for j in range(2002)]
    grouping = group_children(PatternStore(columns, cards), children)
    assert_merges_lead_to_the_tops(grouping, children)
    assert len(grouping.tops) == 2


def test_threads_share_a_store():
    columns = make_columns(300, 4)
    store, masks = PatternStore(columns, CARDS, capacity=6000), list(range(1, 32)) * 8
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(store.column, masks))
    for mask, column in zip(masks, found, strict=True):
        assert column.n_patterns >= count_patterns(columns, mask)
    kept = sum(c.codes.nbytes + c.first.nbytes for c in store._kept.values())
    assert store._size == kept <= 6000


def test_recent_results_are_kept_up_to_a_number_of_bytes():
    recent = Recent(100)
    recent.keep("a", 1, 60)
    recent.keep("b", 2, 40)
    assert (recent.find("a"), recent.find("b")) == (1, 2)
    recent.keep("large", 3, 101)
    assert (recent.find("a"), recent.find("large")) == (1, None)
    recent.keep("c", 4, 1)
    assert (recent.find("a"), recent.find("b"), recent.find("c")) == (None, None, 4)
