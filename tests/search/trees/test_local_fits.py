"""How candidates are divided among compiled calls."""

import numpy as np
import pytest

from latentforest.search.trees.local_fits import MOST_AT_ONCE, MOST_ROWS, mark, split_work

GROUPS = [range(n) for n in (5, 40, 1, 30, 1, 1, 70, 2)]


@pytest.mark.parametrize("n_rows", [1, 1000, MOST_ROWS // 10, MOST_ROWS, 10 * MOST_ROWS])
def test_work_is_split_into_runs_of_whole_groups(n_rows):
    runs = split_work(GROUPS, n_rows)
    assert [group for run in runs for group in run] == GROUPS
    most = min(MOST_AT_ONCE, MOST_ROWS // n_rows + 1)
    for run in runs[:-1]:
        assert sum(map(len, run)) >= most
    for run in runs:
        assert sum(map(len, run[:-1])) < most


def test_large_tables_have_a_call_for_each_group():
    assert split_work(GROUPS[1:4], 10 * MOST_ROWS) == [[group] for group in GROUPS[1:4]]


def test_marks_are_numbered_row_by_row_and_may_repeat():
    groups = [["a", "b", "c"], ["d", "a"]]
    marks, order = mark(groups, [4, 1, 4, 0, 2], 5, [7, 8, 7, 9, 6])
    np.testing.assert_array_equal(marks, [[0, 8, 0, 0, 7], [9, 0, 6, 0, 0]])
    assert order.tolist() == [1, 0, 1, 2, 3]
