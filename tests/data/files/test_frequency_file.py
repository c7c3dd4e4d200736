import pytest

from latentforest.data import read
from latentforest.errors import DataError, FileFormatError

HEAD = "Name: test\n\n// variables\nA: no yes\nB: x y z // three\n\n"


@pytest.fixture
def counts(tmp_path):
    def parse(content, **options):
        path = tmp_path / "table.data"
        path.write_text(content)
        return read(path, **options)

    return parse


def test_counts_become_weights(counts):
    data = counts(HEAD + "0 2  170.0\n1 ? 3\n-1 0 1.5\n")
    assert [variable.states for variable in data.variables] == [("no", "yes"), ("x", "y", "z")]
    assert [column.tolist() for column in data.columns] == [[0, 1, -1], [2, -1, 0]]
    assert data.weights.tolist() == [170, 3, 1.5]


def test_states_of_text_are_not_numbers(counts):
    with pytest.raises(DataError, match="is not a number"):
        counts(HEAD + "0 0 1\n", kinds="continuous")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD, "it has no rows of counts"),
        ("Name: x\n", "no lines such as"),
        (HEAD + "0 0\n", "line 7: 2 values, expected 3"),
        (HEAD + "0 3 1\n", "line 7: '3' for variable 'B', expected a state number from 0 to 2"),
        (HEAD + "0 x 1\n", "line 7: 'x' for variable 'B'"),
        (HEAD + "0 0 -1\n", "line 7: the count '-1' is not a number from 0 up"),
        (HEAD + "0 0 many\n", "line 7: the count 'many'"),
        ("A: x x\n", "line 1: variable 'A' has repeated"),
        ("A:\n", "line 1: variable 'A' has no states"),
    ],
)
def test_damaged_files(counts, content, message):
    with pytest.raises(FileFormatError, match=message):
        counts(content)
