import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from latentforest.data import Dataset, Variable, read, write_table
from latentforest.errors import DataError, ParameterError

STATES = ("plain", "with, comma", 'quote "x"', "semi;colon", "tab\there", "two\nlines", "é")


@st.composite
def datasets(draw):
    n = draw(st.integers(1, 8))
    codes = draw(st.lists(st.integers(-1, len(STATES) - 1), min_size=n, max_size=n))
    number = st.one_of(st.just(np.nan), st.floats(allow_nan=False, allow_infinity=False))
    values = draw(st.lists(number, min_size=n, max_size=n))
    return Dataset([Variable("a name", STATES), Variable("x")], [codes, values])


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
@given(data=datasets())
@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_is_written_is_read(tmp_path, name, data):
    write_table(data.to_columns(), tmp_path / name)
    again = read(tmp_path / name, states={"a name": STATES}, kinds={"x": "continuous"})
    assert again.variables == data.variables
    for left, right in zip(again.columns, data.columns, strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_single_column_with_missing_values(tmp_path):
    path = tmp_path / "t.csv"
    write_table({"v": np.array(["a", None, "b"], dtype=object)}, path)
    assert read(path).column("v").tolist() == [0, -1, 1]


def test_bad_tables_and_names(tmp_path):
    with pytest.raises(DataError, match=r"equal length, got \{'a': 1, 'b': 2\}"):
        write_table({"a": np.zeros(1), "b": np.zeros(2)}, tmp_path / "t.csv")
    with pytest.raises(DataError, match="needs columns"):
        write_table({}, tmp_path / "t.csv")
    with pytest.raises(ParameterError, match=r"must end in one of \.csv, \.tsv"):
        write_table({"a": np.zeros(1)}, tmp_path / "t.docx")


def test_a_lone_carriage_return_is_quoted(tmp_path):
    path = tmp_path / "t.csv"
    write_table({"a\r": np.array(["x\ry", "z"]), "b": np.array([1, 2])}, path)
    assert path.read_bytes() == b'"a\r",b\n"x\ry",1\nz,2\n'
