import numpy as np
import pytest

from latentforest.data import read
from latentforest.errors import FileFormatError

HEADER = """% a comment
@RELATION 'two words'

@Attribute colour {red, 'dark blue', "it's"}
@attribute 'a name' REAL
@attribute n integer % not negative
@data
"""


@pytest.fixture
def arff(tmp_path):
    def parse(content, **options):
        path = tmp_path / "table.arff"
        path.write_text(content, encoding="utf-8")
        return read(path, **options)

    return parse


def test_dense_rows(arff):
    data = arff(HEADER + "red,1.5,2\n% note\n\n 'dark blue' , ? , 3 \n?,2,4\n\"it's\",1,1\n")
    assert data.variable("colour").states == ("red", "dark blue", "it's")
    assert data.column("colour").tolist() == [0, 1, -1, 2]
    np.testing.assert_array_equal(data.column("a name"), [1.5, np.nan, 2, 1])
    assert data.variable("n").states is None


def test_unused_states_are_kept(arff):
    assert arff(HEADER + "red,1,1\n").variable("colour").n_states == 3


def test_sparse_rows_leave_out_the_first_state_and_zero(arff):
    data = arff(HEADER + "{0 'dark blue', 2 7}\n{1 ?}\n{}\n")
    assert data.column("colour").tolist() == [1, 0, 0]
    np.testing.assert_array_equal(data.column("a name"), [0, np.nan, 0])
    assert data.column("n").tolist() == [7, 0, 0]


def test_row_weights(arff):
    data = arff(HEADER + "red,1,2,{5}\n{0 'dark blue'}, {0.5}\nred,1,2\n")
    assert data.weights.tolist() == [5, 0.5, 1]


def test_escapes_in_quotes(arff):
    head = r"@attribute 'it\'s' {'a\\b', 'say \"x\"', 'tab\there', '\u00e9'}" + "\n@data\n"
    data = arff(head + r"'a\\b'" + "\n" + r"'tab\there'" + "\n")
    assert data.names == ("it's",)
    assert data.variables[0].states == ("a\\b", 'say "x"', "tab\there", "é")
    assert data.column("it's").tolist() == [0, 2]


def test_strings_are_categorical(arff):
    data = arff("@attribute s string\n@data\n2\n'10'\nx y\n?\n")
    assert data.variables[0].states == ("2", "10", "x y")
    assert data.columns[0].tolist() == [0, 1, 2, -1]


def test_tabs_between_values(arff):
    assert arff(HEADER + "red\t1\t2\n").column("n").tolist() == [2]


def test_declared_states_may_look_like_missing_markers(arff):
    head = "@attribute v {NA, ok}\n@data\nNA\nok\n?\n"
    assert arff(head).column("v").tolist() == [0, 1, -1]
    assert arff(head, missing=["NA"]).column("v").tolist() == [-1, 0, -1]


def test_kinds_can_be_changed(arff):
    data = arff(HEADER + "red,1.5,2\nred,1.5,1\n", kinds={"n": "categorical"})
    assert data.variable("n").states == ("1", "2")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("@attribute d date 'yyyy'\n@data\n1\n", "line 1: attribute 'd' has the type \"date"),
        ("@attribute r relational\n", "line 1: attribute 'r' has the type 'relational'"),
        ("@attribute a {x, y\n", "line 1: the states of attribute 'a' do not end"),
        ("@attribute a {x, x}\n", "line 1: attribute 'a' has empty or repeated states"),
        ("@attribute a {}\n", "line 1: attribute 'a' has empty"),
        ("@attribute a {'x}\n", "line 1: a quote is not closed"),
        ("@attribute a\n", "line 1: attribute 'a' has the type ''"),
        ("@attribute a real\n@attribute a real\n", "line 2: the attribute 'a' is declared twice"),
        ("@data\n1\n", "line 1: @data comes before any @attribute"),
        ("a,b\n1,2\n", "line 1: expected @relation, @attribute or @data, got 'a,b'"),
        ("@relation r\n@attribute a real\n", "it has no @data line"),
        (HEADER, "has no rows after @data"),
        (HEADER + "red,1\n", "line 8: 2 values, expected 3"),
        (HEADER + "red,1,2\n\ngreen,1,2\n", "line 10: attribute 'colour' is 'green', expected one"),
        (HEADER + "red,tall,2\n", "line 8: attribute 'a name' is 'tall', expected a number"),
        (HEADER + "'red,1,2\n", "line 8: a quote is not closed"),
        (HEADER + "{7 1}\n", "line 8: index 7, expected 0 to 2"),
        (HEADER + "{0 red\n", "line 8: expected a sparse row"),
        (HEADER + "red,1,2,{-1}\n", "line 8: the weight '-1' is not a number"),
    ],
)
def test_damaged_files(arff, content, message):
    with pytest.raises(FileFormatError, match=message):
        arff(content)


@pytest.mark.parametrize("after", ["{5}", "% or {z}", "{0.5} % half"])
def test_a_weight_or_comment_may_follow_the_states(tmp_path, after):
    path = tmp_path / "t.arff"
    path.write_text(f"@relation r\n@attribute b {{x,'}}'}} {after}\n@data\nx\n")
    assert read(path).variable("b").states == ("x", "}")


@pytest.mark.parametrize("after", ["z}", "{five}", "numeric"])
def test_other_text_after_the_states_is_an_error(tmp_path, after):
    path = tmp_path / "t.arff"
    path.write_text(f"@relation r\n@attribute b {{x,y}} {after}\n@data\nx\n")
    with pytest.raises(FileFormatError, match=r"line 2: .* follows the states of attribute 'b'"):
        read(path)


@pytest.mark.parametrize("states", ["1,1.0", "1.0,2.0,01"])
def test_declared_states_are_never_renamed(tmp_path, states):
    path = tmp_path / "t.arff"
    path.write_text(f"@relation r\n@attribute b {{{states}}}\n@data\n1.0\n")
    assert read(path).variable("b").states == tuple(states.split(","))
