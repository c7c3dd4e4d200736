import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from latentforest.data import Dataset, Variable
from latentforest.errors import DataError, ParameterError

A = Variable("a", ("no", "yes"))
B = Variable("b", ("x", "y", "z"))
X = Variable("size")


def small() -> Dataset:
    return Dataset([A, B, X], [[0, 1, -1], [2, 0, 1], [0.5, np.nan, 2]], [1, 2, 0])


def test_holds_small_read_only_arrays():
    data = small()
    assert [column.dtype for column in data.columns] == [np.int8, np.int8, np.float64]
    for array in (*data.columns, data.weights):
        assert not array.flags.writeable
        assert array.flags.c_contiguous


@pytest.mark.parametrize(("n", "dtype"), [(128, np.int8), (129, np.int16), (40_000, np.int32)])
def test_codes_use_the_smallest_type(n, dtype):
    variable = Variable("v", tuple(map(str, range(n))))
    assert Dataset([variable], [[n - 1, -1]]).columns[0].dtype == dtype


def test_the_callers_array_is_neither_frozen_nor_shared():
    values = np.array([0.0, 1.0])
    data = Dataset([X], [values])
    values[0] = 9
    assert data.columns[0].tolist() == [0, 1]


def test_read_only_arrays_are_shared():
    values = np.array([0.0, 1.0])
    values.flags.writeable = False
    assert Dataset([X], [values]).columns[0] is values


def test_properties():
    data = small()
    assert (data.n_rows, data.n_columns, len(data)) == (3, 3, 3)
    assert data.names == ("a", "b", "size")
    assert data.total_weight == 3
    assert data.has_missing
    assert data.n_missing == 2
    assert data.index("b") == 1
    assert data.variable("b") is B


def test_repr_counts_rows_kinds_weight_and_missing():
    text = "Dataset(3 rows, 3 columns: 2 categorical, 1 continuous; total weight 3; "
    assert repr(small()) == text + "2 missing values)"
    assert repr(Dataset([A], [[0]])) == "Dataset(1 row, 1 column: 1 categorical)"


def test_counts_are_weighted_and_leave_out_missing():
    assert small().counts("a").tolist() == [1, 2]
    with pytest.raises(DataError, match="'size' is continuous"):
        small().counts("size")


def test_decode_gives_names_and_none():
    assert small().decode("a").tolist() == ["no", "yes", None]
    assert small().to_columns()["size"][0] == 0.5


def test_select_keeps_order_and_weights():
    data = small().select(["size", "a"])
    assert data.names == ("size", "a")
    assert data.weights.tolist() == [1, 2, 0]
    with pytest.raises(ParameterError, match="list of names, got 'a'"):
        small().select("a")


@pytest.mark.parametrize("rows", [[2, 0], np.array([2, 0], dtype=np.int8)])
def test_take_rows(rows):
    data = small().take(rows)
    assert data.column("b").tolist() == [1, 2]
    assert data.weights.tolist() == [0, 1]


def test_take_with_a_mask():
    assert small().take([True, False, True]).column("b").tolist() == [2, 1]


def test_take_rejects_rows_outside():
    with pytest.raises(DataError, match="a table of 3 rows"):
        small().take([3])
    with pytest.raises(DataError, match="at least one row"):
        small().take([])


def test_with_weights():
    assert small().with_weights([1, 1, 1]).total_weight == 3
    assert small().with_weights(None).weights.tolist() == [1, 1, 1]


def test_pickle_round_trip_stays_read_only():
    data = pickle.loads(pickle.dumps(small()))
    assert data.variables == small().variables
    assert not data.columns[0].flags.writeable


def test_a_row_and_a_column_may_be_all_missing():
    data = Dataset([A, X], [[-1, -1], [np.nan, 1]])
    assert data.n_missing == 3


@pytest.mark.parametrize(
    ("variables", "columns", "weights", "message"),
    [
        ([], [], None, "at least one column"),
        ([A], [[]], None, "at least one row"),
        ([A], [[0], [1]], None, "1 variables, but 2 columns"),
        ([A, A], [[0], [1]], None, "unique; repeated: 'a'"),
        ([A, B], [[0], [1, 2]], None, "'b' has 2 rows, but column 'a' has 1"),
        ([A], [[0, 2]], None, r"'a', row 1: code 2, expected -1 \(missing\) to 1"),
        ([A], [[-2]], None, "row 0: code -2"),
        ([A], [[0.5]], None, "needs integer codes, got float64"),
        ([A], [[[0]]], None, "must have one dimension, got 2"),
        ([X], [["a"]], None, "'size' is continuous and needs numbers"),
        ([X], [[1, np.inf]], None, "'size', row 1 .* inf is not allowed"),
        ([A], [[0, 1]], [1, -1], "weight of row 1 .* is -1"),
        ([A], [[0, 1]], [np.nan, 1], "weight of row 0 .* is nan"),
        ([A], [[0, 1]], [0, 0], "all weights are zero"),
        ([A], [[0, 1]], [1], r"2 numbers, one per row; got shape \(1,\)"),
        ([A], [[0, 1]], ["a", "b"], "weights must be 2 numbers"),
    ],
)
def test_bad_input(variables, columns, weights, message):
    with pytest.raises(DataError, match=message):
        Dataset(variables, columns, weights)


def test_unknown_columns_get_a_hint():
    with pytest.raises(DataError, match="no column 'siz'; did you mean 'size'"):
        small().column("siz")
    with pytest.raises(DataError, match="columns: 'a', 'b', 'size'"):
        small().index("qqqq")


codes = hnp.arrays(
    np.int8, st.tuples(st.integers(1, 25), st.integers(1, 4)), elements=st.integers(-1, 2)
)


@given(codes, st.randoms(use_true_random=False), st.booleans())
def test_merging_equals_a_dictionary_of_rows(table, random, continuous):
    values = np.where(table[:, 0] < 0, np.nan, table[:, 0].astype(float))
    columns = [*table.T, *([values] if continuous else [])]
    variables = [Variable(f"v{i}", ("a", "b", "c")) for i in range(table.shape[1])]
    weights = np.array([random.randint(1, 5) for _ in table], dtype=float)
    data = Dataset([*variables, X][: len(columns)], columns, weights)
    merged, inverse = data.merged()
    expected: dict[tuple[int, ...], float] = {}
    for row, weight in zip(map(tuple, table.tolist()), weights, strict=True):
        expected[row] = expected.get(row, 0) + weight
    found = [tuple(int(c[i]) for c in merged.columns[: table.shape[1]]) for i in range(len(merged))]
    assert found == list(expected)
    assert merged.weights.tolist() == list(expected.values())
    for before, after in zip(data.columns, merged.columns, strict=True):
        np.testing.assert_array_equal(after[inverse], before)


def test_merging_many_columns_does_not_overflow():
    table = np.random.default_rng(0).integers(-1, 2, (60, 200)).astype(np.int8)
    table = table[[*range(60), *range(60)]]
    variables = [Variable(f"v{i}", ("a", "b")) for i in range(200)]
    merged, inverse = Dataset(variables, list(table.T)).merged()
    assert len(merged) == 60
    assert inverse.tolist() == [*range(60), *range(60)]


def test_merging_distinct_rows_returns_the_same_data():
    data = Dataset([A], [[1, 0]])
    merged, inverse = data.merged()
    assert merged is data
    assert inverse.tolist() == [0, 1]
