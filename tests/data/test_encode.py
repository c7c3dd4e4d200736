import datetime
from decimal import Decimal

import numpy as np
import pytest

from latentforest.data import Dataset
from latentforest.errors import DataError, ParameterError


def encode(values, **options):
    data = Dataset.from_table({"v": values}, **options)
    return data.variables[0].states, data.columns[0].tolist()


@pytest.mark.parametrize(
    ("values", "states", "codes"),
    [
        (["b", "a", None], ("a", "b"), [1, 0, -1]),
        ([True, False, True], ("False", "True"), [1, 0, 1]),
        ([3, 10, 3], ("3", "10"), [0, 1, 0]),
        ([2.0, 1.0, np.nan], ("1", "2"), [1, 0, -1]),
        (["10", "9", "?"], ("9", "10"), [1, 0, -1]),
        (["1.0", "1", "2"], ("1", "2"), [0, 0, 1]),
        ([1, "a", True, None], ("1", "True", "a"), [0, 2, 1, -1]),
        (["only"], ("only",), [0]),
        (np.array([2, 1, np.nan], dtype=np.float16), ("1", "2"), [1, 0, -1]),
        ([5, 5], ("5",), [0, 0]),
        ([-1, 100_000], ("-1", "100000"), [0, 1]),
        (np.array([-128, 127], dtype=np.int8), ("-128", "127"), [0, 1]),
        (
            np.array([2**63, 2**63 + 1], dtype=np.uint64),
            ("9223372036854775808", "9223372036854775809"),
            [0, 1],
        ),
        (np.array(["a", "NA"]), ("a",), [0, -1]),
        (np.array([b"a", b"?"]), ("a",), [0, -1]),
        (np.ma.array([1, 2], mask=[False, True]), ("1",), [0, -1]),
    ],
)
def test_categorical_columns(values, states, codes):
    assert encode(values) == (states, codes)


def test_up_to_twenty_integers_are_categorical():
    assert encode(np.arange(20))[0] is not None
    assert encode(np.arange(21))[0] is None
    assert encode([str(i) for i in range(21)])[0] is None


@pytest.mark.parametrize(
    "values", [[0.5, 1.0, None], ["0.5", "1", "NA"], np.array([0.5, 1, np.nan])]
)
def test_continuous_columns(values):
    states, numbers = encode(values)
    assert states is None
    np.testing.assert_array_equal(numbers, [0.5, 1, np.nan])


def test_kinds_override_inference():
    assert encode([1, 2], kinds="continuous") == (None, [1, 2])
    assert encode([0.5, 2], kinds={"v": "categorical"}) == (("0.5", "2"), [0, 1])
    assert encode([True, False], kinds="continuous") == (None, [1, 0])
    assert encode(np.array([0.5, np.nan]), kinds="categorical") == (("0.5",), [0, -1])


def test_states_fix_the_order_and_allow_unused_ones():
    assert encode([1, 0], states={"v": [2, 1, 0]}) == (("2", "1", "0"), [1, 2])
    assert encode([1.0, 2.5], states={"v": ["2.50", "1"]}) == (("2.50", "1"), [1, 0])
    assert encode([None], states={"v": ["a"]}) == (("a",), [-1])


def test_a_given_state_is_no_missing_marker():
    assert encode(["NA", "?"], states={"v": ["NA"]}) == (("NA",), [0, -1])


def test_missing_markers_can_be_changed():
    assert encode(["?", "a", "none"], missing=["none"]) == (("?", "a"), [0, 1, -1])
    assert encode([-9, 1, 2], missing=["-9"]) == (("1", "2"), [-1, 0, 1])
    assert encode(["-9", "1"], missing=["-9"]) == (("1",), [-1, 0])


def test_weights_come_from_a_column_or_an_array():
    table = {"v": ["a", "b"], "n": [3, 4]}
    data = Dataset.from_table(table, weights="n")
    assert data.names == ("v",)
    assert data.weights.tolist() == [3, 4]
    assert Dataset.from_table(table, weights=[1, 0]).weights.tolist() == [1, 0]


def test_arrays_get_names():
    array = np.array([[0, 1.5], [1, 2.5]])
    assert Dataset.from_table(array).names == ("x0", "x1")
    assert Dataset.from_table(array, names=["a", "b"]).names == ("a", "b")
    assert Dataset.from_table([[1, "a"], [2, None]]).variable("x1").states == ("a",)


def test_a_dataset_is_returned_as_it_is():
    data = Dataset.from_table({"v": ["a", "b"], "n": [3, 4]})
    assert Dataset.from_table(data) is data
    assert Dataset.from_table(data, weights="n").weights.tolist() == [3, 4]
    assert Dataset.from_table(data, weights=[2, 2]).total_weight == 4
    with pytest.raises(ParameterError, match="do not apply to a Dataset"):
        Dataset.from_table(data, kinds="continuous")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({}, {}, "at least one column"),
        ({"v": []}, {"kinds": "continuous"}, "at least one row"),
        ({"v": [None, "?"]}, {}, r"no column is left: 'v' \(no value at all\)"),
        ({"v": [np.nan]}, {}, r"no column is left: 'v' \(no value at all\)"),
        ({"v": ["1", "x1"]}, {"kinds": "continuous"}, "'v', row 1 .*'x1' is not a number"),
        ({"v": [0.5, np.inf]}, {}, "'v', row 1 .* inf"),
        ({"v": ["0.5", "-inf"]}, {}, "'v', row 1 .* -inf"),
        ({"v": [datetime.date(2020, 1, 1)]}, {}, "'v' .dates or times"),
        ({"v": np.array(["2020-01-01"], dtype="datetime64[D]")}, {}, "'v' .dates or times"),
        ({"v": np.array([1j])}, {}, "'v' has the type complex128"),
        ({"v": ["a", [1]]}, {}, "'v', row 1 .* type list"),
        ({"v": "text"}, {}, "'v' must be an array or a list, got 'text'"),
        ({"v": np.zeros((2, 2))}, {}, r"'v' must have one dimension, got shape \(2, 2\)"),
        ({"v": [1, 2], "w": [1]}, {}, "'w' has 1 values, but column 'v' has 2"),
        ({1: [0], "1": [0]}, {}, "unique; repeated: '1'"),
        ({"v": [1]}, {"kinds": {"u": "continuous"}}, "no column 'u'"),
        ({"v": [1]}, {"states": {"w": ["1"]}}, "no column 'w'"),
        ({"v": [1, 3]}, {"states": {"v": [1, 2]}}, "'v' holds '3', but its states are '1', '2'"),
        ({"v": [1, 2]}, {"weights": "w"}, "no column 'w'"),
        ({"v": [1], "w": ["?"]}, {"weights": "w"}, "weight of row 0 .* is nan"),
        ({"v": [1], "w": [0]}, {"weights": "w"}, "all weights are zero"),
        ({"v": [1], "w": ["a"]}, {"weights": "w"}, "'w', row 0 .*'a' is not a number"),
        (np.zeros(3), {}, "two dimensions, rows and columns, got 1"),
        (np.zeros((2, 2)), {"names": ["a"]}, "2 columns, but 1 names"),
        (np.zeros((1, 2)), {"names": ["a", "a"]}, "unique; repeated: 'a'"),
        ([[1, 2], [1]], {}, r"row 1 .* has 1 values, expected 2"),
        ([1, 2], {}, "row 0 .* is of type int"),
        ("data.csv", {}, "cannot read a table from str"),
    ],
)
def test_bad_tables(table, options, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_table(table, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": "nominal"}, "got 'nominal', expected 'categorical' or 'continuous'"),
        ({"kinds": {"v": "x"}}, "got 'x'"),
        ({"kinds": {"v": "continuous"}, "states": {"v": ["1"]}}, "'v' has states= but"),
        ({"states": {"v": "12"}}, "must be a list of names, got '12'"),
        ({"names": ["v"]}, "names= is for arrays"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ParameterError, match=message):
        Dataset.from_table({"v": [1, 2]}, **options)


@pytest.mark.parametrize("kinds", [None, "categorical"])
def test_leading_zeros_are_kept(kinds):
    data = Dataset.from_table({"zip": ["02134", "2134", "00501"]}, kinds=kinds)
    assert data.variable("zip").states == ("00501", "02134", "2134")


@pytest.mark.parametrize("null", [None, float("nan")])
def test_large_integers_with_nulls_stay_apart(null):
    data = Dataset.from_table({"id": [2**53 + 1, null, 2**53 + 2]}, kinds="categorical")
    assert data.variable("id").states == (str(2**53 + 1), str(2**53 + 2))
    assert data.column("id").tolist() == [0, -1, 1]


def test_large_integers_with_a_marker_stay_apart():
    ids = np.array([2**53 + 1, -9, 2**53 + 2])
    data = Dataset.from_table({"id": ids}, kinds="categorical", missing=["-9"])
    assert data.column("id").tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([10**400, 1], "'a', row 0 .*inf is not allowed"),
        ([(1, [2])], "'a', row 0 .*a value of type tuple"),
        ([Decimal("sNaN")], "'a', row 0 .*a value of type Decimal"),
        ({1, 2}, "'a' must be an array or a list"),
    ],
)
def test_unusable_values(values, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_table({"a": values})


@pytest.mark.parametrize("missing", [[None], 3, "NA"])
def test_missing_must_be_texts(missing):
    with pytest.raises(ParameterError, match=r"missing: got .*expected a collection of texts"):
        Dataset.from_table({"a": [1]}, missing=missing)


@pytest.mark.parametrize("states", [{"a": 3}, 3])
def test_states_must_be_lists_by_name(states):
    with pytest.raises(ParameterError, match=r"states.*3"):
        Dataset.from_table({"a": [1]}, states=states)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_is_an_array():
    assert Dataset.from_table(np.matrix([[1, 2], [3, 4]])).n_columns == 2


def test_text_in_the_weights_column():
    message = r"weights column 'w', row 1 \(counted from 0\): 'x' is not a number$"
    with pytest.raises(DataError, match=message):
        Dataset.from_table({"a": [1, 2], "w": ["1", "x"]}, weights="w")
