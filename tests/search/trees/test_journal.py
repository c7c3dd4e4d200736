"""The file of a search's steps: written, read, cut short, damaged, of another search."""

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from latentforest import datasets
from latentforest.data.dataset import Dataset
from latentforest.errors import CheckpointWarning, FileFormatError, LockedError, ParameterError
from latentforest.search.trees import journal as journal_module
from latentforest.search.trees.journal import Journal, fingerprint, is_result, note_result

HEADER = {"learner": "EAST", "settings": {"mu": 8, "fixed": ("A", "B")}, "seed": 1, "data": "x"}
STEPS = [{"step": 0, "log_likelihood": 0.1 + 0.2}, {"step": 1, "where": "Y1 – ä"}]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "steps.jsonl"
    with Journal(path, HEADER, resume=False) as journal:
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
    journal.close()
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


def test_one_process_at_a_time(path):
    """The second is told which process holds the file."""
    code = (
        "import sys; from latentforest.search.trees.journal import Journal;"
        f"journal = Journal({str(path)!r}, {HEADER!r}, resume=True); print('ready', flush=True);"
        "sys.stdin.read(1)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdin is not None
    assert other.stdout.readline().strip() == b"ready"
    before = path.read_bytes()
    with pytest.raises(LockedError, match=rf"steps\.jsonl is in use by process {other.pid} \("):
        read(path)
    assert path.read_bytes() == before
    other.kill()  # it cannot clean up
    other.wait()
    other.stdin.close()
    other.stdout.close()
    assert path.with_name("steps.jsonl.lock").exists()
    with read(path) as journal:
        assert journal.recall(1) == STEPS[1]
    assert not path.with_name("steps.jsonl.lock").exists()


def test_the_same_file_by_another_name_is_locked(path):
    link = path.with_name("link.jsonl")
    link.symlink_to(path)
    with read(path), pytest.raises(LockedError, match=r"link\.jsonl is in use by this process"):
        read(link)


def test_a_journal_that_was_refused_is_not_locked(path):
    with pytest.raises(ParameterError):
        read(path, seed=2)
    read(path).close()


def test_a_file_that_is_no_journal_is_not_begun_anew(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="is not the checkpoint of a search"):
        Journal(path, HEADER, resume=False)
    assert path.read_text() == "a,b\n1,2\n"


def test_a_full_disk_is_a_warning_and_the_step_is_written_later(path, monkeypatch):
    whole = path.read_bytes()
    journal = read(path)

    def fail(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(journal_module.os, "fsync", fail)
        with pytest.warns(CheckpointWarning, match=r"steps\.jsonl cannot be written: No space"):
            journal.write({"step": 2})
        journal.write({"step": 3})  # told once
    journal.write({"step": 4})
    journal.close()
    steps = read(path).steps
    assert [step["step"] for step in steps] == [0, 1, 2, 3, 4]
    assert path.read_bytes().startswith(whole)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_full(path):
    journal = read(path)
    path.unlink()
    path.symlink_to("/dev/full")
    with pytest.warns(CheckpointWarning, match=r"steps\.jsonl cannot be written"):
        journal.write({"step": 2})


def test_a_journal_that_was_removed_is_not_begun_without_its_header(path):
    journal = read(path)
    path.unlink()
    with pytest.warns(CheckpointWarning, match="No such file"):
        journal.write({"step": 2})
    assert not path.exists()


def test_the_result_of_a_journal_is_known_until_it_changes(path, tmp_path):
    model = tmp_path / "model.json"
    model.write_text("one")
    assert not is_result(path, model)
    note_result(path, model)
    assert is_result(path, model)
    with read(path) as journal:
        assert journal.steps == STEPS
    assert is_result(path, model)
    model.write_text("two")
    assert not is_result(path, model)
    assert not is_result(tmp_path / "none.jsonl", model)


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
