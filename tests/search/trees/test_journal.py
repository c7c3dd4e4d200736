"""The file of a search's steps: written, read, cut short, damaged, of another search."""

import json

import pytest

from latentforest import datasets
from latentforest.data.dataset import Dataset
from latentforest.errors import FileFormatError, ParameterError
from latentforest.search.trees.journal import Journal, fingerprint

HEADER = {"learner": "EAST", "settings": {"mu": 8, "fixed": ("A", "B")}, "seed": 1, "data": "x"}
STEPS = [{"step": 0, "log_likelihood": 0.1 + 0.2}, {"step": 1, "where": "Y1 – ä"}]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "steps.jsonl"
    journal = Journal(path, HEADER, resume=False)
    for step in STEPS:
        journal.write(step)
    return path


def read(path, **changes):
    return Journal(path, HEADER | changes, resume=True)


def test_steps_are_read_as_they_were_written(path):
    journal = read(path)
    assert [journal.recall(0), journal.recall(1)] == STEPS
    assert journal.recall(2) is None


def test_a_resumed_journal_is_continued(path):
    before = path.read_text()
    journal = read(path)
    assert path.read_text() == before
    journal.write({"step": 2})
    assert read(path).recall(2) == {"step": 2}


def test_without_resume_the_file_is_started_anew(path):
    journal = Journal(path, HEADER, resume=False)
    assert journal.recall(0) is None
    assert len(path.read_text().splitlines()) == 1


def test_without_a_path_nothing_is_kept():
    journal = Journal(None, HEADER, resume=False)
    journal.write({"step": 0})
    assert journal.path is None
    assert journal.recall(0) is None


def test_resume_needs_a_path():
    with pytest.raises(ParameterError, match="resume needs the file of a checkpoint"):
        Journal(None, HEADER, resume=True)


def test_resume_without_a_file_starts_one(tmp_path):
    journal = read(tmp_path / "new.jsonl")
    assert journal.recall(0) is None
    assert (tmp_path / "new.jsonl").exists()


@pytest.mark.parametrize("n_lost", [1, 5, 20])
def test_a_last_line_that_was_cut_short_is_left_out(path, n_lost):
    """As after a crash in the middle of writing."""
    whole = path.read_bytes()
    path.write_bytes(whole[:-n_lost])
    journal = read(path)
    assert journal.recall(0) == STEPS[0]
    assert journal.recall(1) is None
    journal.write(STEPS[1])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("changes", [{"seed": 2}, {"data": "y"}, {"settings": {"mu": 4}}])
def test_the_journal_of_another_search_is_refused_and_kept(path, changes):
    before = path.read_text()
    (key,) = changes
    with pytest.raises(ParameterError, match=f"belongs to another search: its {key} is"):
        read(path, **changes)
    assert path.read_text() == before


@pytest.mark.parametrize(
    "text",
    ["", "\n", "[]\n", '"latentforest-search"\n', '{"format": "other"}\n', "{}\n", '{"format":'],
)
def test_another_file_is_refused_and_kept(path, text):
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"steps\.jsonl"):
        read(path)
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_refused(path):
    path.write_bytes(b"\xff\xfe\x00\n")
    with pytest.raises(FileFormatError, match=r"steps\.jsonl"):
        read(path)


@pytest.mark.parametrize("line", ["", "{", "not JSON", '{"step": 0'])
def test_a_damaged_line_is_named(path, line):
    first, _, last = path.read_text().splitlines()
    path.write_text("\n".join([first, line, last, ""]))
    with pytest.raises(FileFormatError, match=r"steps\.jsonl, line 2: not JSON"):
        read(path)


@pytest.mark.parametrize("line", ["null", "5", "[]", "{}", '"step"'])
def test_a_line_that_is_no_step_is_named(path, line):
    first, _, last = path.read_text().splitlines()
    path.write_text("\n".join([first, line, last, ""]))
    with pytest.raises(FileFormatError, match=r"steps\.jsonl, line 2"):
        read(path)


def test_steps_that_do_not_follow_each_other_are_refused(path):
    first, _, last = path.read_text().splitlines()
    path.write_text("\n".join([first, last, ""]))
    with pytest.raises(FileFormatError, match=r"steps\.jsonl, line 2"):
        read(path)


def test_a_folder_is_no_journal(tmp_path):
    with pytest.raises(OSError, match="folder"):
        Journal(tmp_path, HEADER, resume=False)


def test_the_first_line_says_what_was_searched(path):
    first = json.loads(path.read_text().splitlines()[0])
    assert first["format"] == "latentforest-search"
    assert first["settings"] == {"mu": 8, "fixed": ["A", "B"]}


def test_fingerprints_tell_tables_apart():
    table = datasets.load("hiv-tests")
    columns, weights = [column.copy() for column in table.columns], table.weights.copy()
    assert fingerprint(table) == fingerprint(Dataset(table.variables, columns, weights))
    columns[0][0] = 1 - columns[0][0]
    weights[0] += 1e-9
    others = [
        Dataset(table.variables, columns, table.weights),
        Dataset(table.variables, table.columns, weights),
        Dataset(table.variables[::-1], table.columns, table.weights),
        table.select(table.names[:3]),
    ]
    assert len({fingerprint(table), *map(fingerprint, others)}) == 5
