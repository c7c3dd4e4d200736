import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentforest.data.variable import Variable
from latentforest.errors import FileFormatError, ModelError
from latentforest.model import Structure
from latentforest.model.notation import parse_structure, read_structure, write_structure
from reference.random_networks import networks

COLUMNS = [Variable(name, ("no", "yes")) for name in ("A", "B", "C", "D", "of age", "it's")]
COLUMNS += [Variable("height"), Variable("weight")]


def parents_of(text, columns=COLUMNS):
    structure = parse_structure(text, columns)
    return {name: structure.parents(name) for name in structure.names}


def test_the_columns_named_are_in_the_model_and_no_others():
    structure = parse_structure("X[2] -> D, A, B; A, D -> B", COLUMNS)
    assert structure.names == ("X", "A", "B", "D")
    assert structure.latents == ("X",)
    assert structure.states("X") == ("1", "2")
    assert structure.parents("B") == ("X", "A", "D")


@pytest.mark.parametrize(
    "text",
    [
        "X[2]->A,B;A,B->C",
        "X[2] -> A, B\nA, B -> C",
        "X[2] -> A,\n        B\nA, B\n  -> C\n",
        "# a comment\r\nX[2] -> A, B # another; -> one\r\n\r\n; ;A,B -> C;",
        "X -> A, B; A, B -> C; X[2]",
        "X[2] -> A; X[2] -> B; A, B -> C",
        "X[2] -> A, B -> C",
        "X[2] -> 'A', \"B\"; A, B -> C",
        "X[2] -> A, B, B; X -> A; A[2], B -> C",
    ],
)
def test_ways_to_write_the_same(text):
    expected = {"X": (), "A": ("X",), "B": ("X",), "C": ("A", "B")}
    assert parents_of(text) == expected


def test_quoted_names():
    assert parents_of("'my X'[3] -> 'of age', \"it's\", 'it''s'") == {
        "my X": (),
        "of age": ("my X",),
        "it's": ("my X",),
    }


def test_variables_may_stand_alone():
    assert parents_of("A, B; C") == {"A": (), "B": (), "C": ()}


def test_links_between_continuous_columns():
    structure = parse_structure("X[2] -> height, weight; height -> weight", COLUMNS)
    assert structure.continuous_parents("weight") == ("height",)


ERRORS = [
    ("X[2] -> A, b", 1, 12, "there is no column 'b' (did you mean 'B'?)"),
    ("X -> A", 1, 1, "there is no column 'X'; if it is latent, say how many states"),
    ("'no x' -> A", 1, 1, "as in 'no x'[2]"),
    ("X[2] -> A;\n X[3] -> B", 2, 4, "'X' had 2 states before, now it has 3"),
    ("A -> B -> C\nC -> A", 2, 6, "this link closes a cycle: A -> B -> C -> A"),
    ("X[2] -> A; A -> X", 1, 17, "this link closes a cycle: X -> A -> X"),
    ("A -> B, A", 1, 9, "'A' cannot depend on itself"),
    ("height -> A", 1, 1, "'height' is continuous; 'A' is categorical and cannot depend on it"),
    ("X[2] -> A; height -> X", 1, 12, "'X' is latent, so categorical, and cannot depend on it"),
    ("X[2] -> A; Y[3]", 1, 12, "latent variable 'Y' has no children"),
    ("A -> X[2]", 1, 6, "latent variable 'X' has no children"),
    ("X[0] -> A", 1, 3, "expected a number of states from 1 to 10,000, got '0'"),
    ("X[99999] -> A", 1, 3, "from 1 to 10,000, got '99999'"),
    ("X[two] -> A", 1, 3, "got 'two'"),
    ("X[] -> A", 1, 3, "got ']'"),
    ("X[2 -> A", 1, 5, "expected ']', got '->'"),
    ("A[3] -> B", 1, 3, "column 'A' has 2 states, not 3"),
    ("A -> height[2]", 1, 13, "column 'height' is continuous and has no states"),
    ("A -> of age", 1, 9, "expected ',', '->' or ';', got 'age'"),
    ("A -> 'of age", 1, 6, "the quote is not closed on this line"),
    ("A -> ''", 1, 6, "the name is empty"),
    ("A ->", 1, 5, "expected a name, got the end"),
    ("A ->\n", 2, 1, "expected a name, got the end"),
    ("A -> ; B", 1, 6, "expected a name, got ';'"),
    ("-> A", 1, 1, "expected a name, got '->'"),
    ("A, -> B", 1, 4, "expected a name, got '->'"),
    ("A <- B", 1, 3, "expected an arrow ->, which points from parents to children"),
    ("A - B", 1, 3, "expected an arrow ->"),
    ("A -> B?", 1, 7, "'?' cannot stand here; a name with such characters goes in quotes"),
    ("", 1, 1, "the text is empty; expected such as X[2] -> A, B"),
    ("\n# nothing\n", 1, 1, "the text is empty"),
]


@pytest.mark.parametrize(("text", "line", "column", "problem"), ERRORS)
def test_errors_point_at_the_place(text, line, column, problem):
    with pytest.raises(ModelError, match=re.escape(problem)) as caught:
        parse_structure(text, COLUMNS)
    first, shown, mark = str(caught.value).split("\n")
    assert first.startswith(f"structure, line {line}, column {column}: ")
    assert shown == "  " + text.split("\n")[line - 1]
    assert mark == "  " + (column - 1) * " " + "^"


def test_the_mark_stands_below_the_place_after_a_tab():
    with pytest.raises(ModelError) as caught:
        parse_structure("\tX -> A", COLUMNS)
    assert str(caught.value).endswith("\n  \tX -> A\n  \t^")


def test_too_many_parents():
    columns = [Variable(f"A{i}", ("0", "1")) for i in range(40)]
    text = ", ".join(f"A{i}" for i in range(39)) + " -> A39"
    with pytest.raises(ModelError, match="'A39' has more than 31 parents"):
        parse_structure(text, columns)


def test_a_file(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("\ufeffX[2] -> A, B\nA -> Ä\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r"model\.txt, line 2, column 6: there is no column 'Ä'"):
        read_structure(path, COLUMNS)
    path.write_text("X[2] -> A, B\n", encoding="utf-8")
    expected = parse_structure("X[2] -> A, B", COLUMNS)
    assert read_structure(path, COLUMNS) == read_structure(str(path), COLUMNS) == expected
    assert read_structure("X[2] -> A, B", COLUMNS) == expected
    path.write_bytes(b"X[2] -> \xff")
    with pytest.raises(FileFormatError, match="is no text in UTF-8"):
        read_structure(path, COLUMNS)
    with pytest.raises(FileNotFoundError):
        read_structure(tmp_path / "none.txt", COLUMNS)


def test_long_and_odd_text_is_no_path():
    with pytest.raises(ModelError, match="line 1, column 1: there is no column"):
        read_structure("A" * 5000, COLUMNS)
    with pytest.raises(ModelError, match="line 1, column 2"):
        read_structure("A\0", COLUMNS)


@given(network=networks(max_variables=7, max_parents=3))
def test_what_is_written_is_read_back(network):
    structure = network.structure
    childless = [x for x in structure.latents if not structure.children(x)]
    if len(childless) == len(structure):
        return
    structure = drop_childless(structure)
    if not structure.observed:
        return
    columns = [structure.variable(name) for name in structure.observed]
    text = write_structure(structure)
    again = parse_structure(text, columns)
    assert {n: again.parents(n) for n in again.names} == {
        n: structure.parents(n) for n in structure.names
    }
    assert [again.variable(n) for n in again.observed] == columns
    assert {n: again.shape(n) for n in again.names} == {
        n: structure.shape(n) for n in structure.names
    }
    assert write_structure(again) == write_structure(parse_structure(text, columns))


def drop_childless(structure):
    """Remove latent variables without children until there is none."""
    while True:
        gone = [x for x in structure.latents if not structure.children(x)]
        if not gone or len(gone) == len(structure):
            return structure
        structure = structure.remove(gone)


@given(name=st.text(st.characters(exclude_characters="\n"), min_size=1, max_size=8))
def test_any_name_of_one_line_can_be_written(name):
    columns = [Variable(name, ("0", "1")), Variable(name + "x", ("0", "1"))]
    structure = Structure(columns, {name: name + "x"})
    assert parse_structure(write_structure(structure), columns) == structure


def test_what_cannot_be_written():
    pouch = Structure([Variable("a"), Variable("b")], {}, [("a", "b")])
    with pytest.raises(ModelError, match="'a', 'b' are in one pouch"):
        write_structure(pouch)
    with pytest.raises(ModelError, match="has two lines"):
        write_structure(Structure([Variable("a\nb")], {}))
