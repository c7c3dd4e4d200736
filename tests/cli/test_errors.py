"""Wrong input and wrong usage: exit codes and messages."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest

from latentforest.cli import main as cli
from latentforest.cli.boundary import translate
from latentforest.data import Dataset
from latentforest.errors import DataError
from latentforest.inference.forest import require_categorical
from latentforest.learners import LatentClass
from latentforest.learners.registry import COMMANDS


def write(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def squeeze(text: str) -> str:
    """Undo the frame and the line breaks of usage errors."""
    return re.sub(r"[\s│╭╮╰╯─]+", " ", text)


BAD_TABLES = {
    "empty": ("", r"table.csv is empty"),
    "header only": ("a,b\n", "has a header but no rows"),
    "no value": (
        "b,c\n,\n,NA\n",
        r"no column is left: 'b' \(no value at all\), 'c' \(no value at all\)$",
    ),
    "repeated names": ("a,a\n1,2\n", "column names must be unique; repeated: 'a'"),
    "infinity": ("a,b\n1,0.5\n2,inf\n", "column 'b', row 1 .*inf is not allowed"),
    "huge numbers": ("a,b\n1,1e200\n2,0.25\n", "column 'b': the variance of its values, inf"),
    "short row": ("a,b\n1\n", "line 2: 1 values, expected 2"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(run, tmp_path, case):
    text, message = BAD_TABLES[case]
    result = run("learn", write(tmp_path, text), "--quiet", "--json", code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert re.search(message, result.stderr.strip())
    assert len(result.stderr.splitlines()) <= 2


def test_continuous_columns_where_only_categories_are_taken():
    with pytest.raises(DataError, match="column 'b' is continuous, ") as caught:
        require_categorical(Dataset.from_table({"a": ["1", "2"], "b": [0.5, 0.25]}))
    assert "; use --exclude, or --categorical 'b'" in translate(str(caught.value))


def test_text_in_a_numeric_column(run, tmp_path):
    path = write(tmp_path, "a,b\n1,0.5\n2,much\n")
    result = run("learn", path, "--continuous", "b", code=1)
    assert "'much' is not a number" in result.stderr
    assert "list it with --missing, or pass --categorical 'b'" in result.stderr


def test_negative_weights(run, tmp_path):
    path = write(tmp_path, "a,b,w\n1,2,1\n2,1,-3\n")
    result = run("learn", path, "--weights", "w", code=1)
    assert "the weight of row 1 (counted from 0) is -3.0" in result.stderr


@pytest.mark.parametrize("option", ["--weights", "--categorical", "--continuous", "--exclude"])
def test_unknown_columns(run, survey, option):
    result = run("learn", survey, option, "heigth", code=1)
    assert "there is no column 'heigth'; did you mean 'height'?" in result.stderr


def test_wrong_encoding_is_explained(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("a,b\né,1\n".encode("latin-1"))
    result = run("learn", path, code=1)
    assert "pass its --encoding (such as 'latin-1' or 'cp1252'" in result.stderr
    run("learn", path, "--encoding", "latin-1", "--states", "1")


def test_unknown_format_is_explained(run, tmp_path):
    result = run("learn", write(tmp_path, "a\n1\n", "table.xyz"), code=1)
    assert "pass --input-format (arff, arrow, csv" in result.stderr


def test_missing_file_names_the_built_in_tables(run):
    result = run("learn", "nowhere.csv", code=1)
    assert "error: there is no file nowhere.csv; the built-in tables are" in result.stderr


def test_folder_instead_of_a_file(run, tmp_path):
    assert "is a folder" in run("learn", tmp_path, code=1).stderr


def test_reading_options_do_not_apply_to_built_in_tables(run):
    result = run("learn", "hiv-tests", "--weights", "w", code=1)
    assert "is a built-in table: the options for reading files do not apply" in result.stderr


def test_everything_excluded(run, survey):
    result = run("learn", survey, "--exclude", "a,b,c,height,times,fold", code=1)
    assert "--exclude leaves no column" in result.stderr


USAGE = {
    "learner": (["--learner", "latent-clas"], "there is no 'latent-clas'; did you mean latent-cl"),
    "criterion": (["--criterion", "bicc"], "there is no 'bicc'; did you mean bic? Known are bic,"),
    "states": (["--states", "many"], "expected a number such as 3, a range such as 1:8"),
    "no states": (["--states", "0"], "expected a number such as 3"),
    "reversed range": (["--states", "8:1"], "expected a number such as 3"),
    "smoothing": (["--smoothing", "some"], "expected auto, cv, none or a number"),
    "folds": (
        ["--folds", "x", "--criterion", "cv"],
        "neither a number nor a column of the table nor a file",
    ),
    "unused folds": (["--folds", "A"], "--folds: folds are used only with --criterion cv"),
    "foreign option": (
        ["--learner", "independence", "--states", "3"],
        "--states: the learner 'independence' has no such setting; its settings are --smoothing",
    ),
    "unknown setting": (
        ["--set", "speed=9"],
        "--set speed=…: the learner 'latent-class' has no such",
    ),
    "setting": (["--set", "accelerate"], "expected NAME=VALUE"),
    "suffix": (["--out", "model.txt"], "model.txt: the name must end in .json"),
    "quiet": (["--quiet"], "nothing would be left of the result; add --out or --json"),
    "kinds": (["--categorical", "A", "--continuous", "A"], "column 'A' is also in --categorical"),
    "seed": (["--seed", "-1"], "Invalid value for '--seed'"),
    "option": (["--nonsense"], "No such option: --nonsense"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage(run, case):
    arguments, message = USAGE[case]
    result = run("learn", "hiv-tests", *arguments, code=2)
    assert message in squeeze(result.stderr)
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--time-limit", "0"], "--time-limit must be positive seconds"),
        (["--prior", "-1"], "--prior must be finite and not negative"),
        (["--jobs", "0"], "--jobs must be a non-zero whole number"),
        (
            ["--folds", "1", "--criterion", "cv"],
            "--folds must be between 2 and the 428 obs",
        ),
    ],
)
def test_settings_that_make_no_sense(run, arguments, message):
    assert message in run("learn", "hiv-tests", *arguments, code=1).stderr


def test_fold_files_must_fit(run, tmp_path):
    short = write(tmp_path, "fold\n1\n2\n", "short.csv")
    asked = ("learn", "hiv-tests", "--criterion", "cv", "--folds")
    result = run(*asked, short, code=1)
    assert "has 2 rows and 1 columns, expected 9 rows" in result.stderr
    one = write(tmp_path, "fold\n" + "1\n" * 9, "one.csv")
    assert "at least two folds" in run(*asked, one, code=1).stderr


@pytest.mark.parametrize("place", ["nowhere/model.json", "folder.json", "file/model.json"])
def test_output_is_checked_before_learning(run, tmp_path, monkeypatch, place):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(LatentClass, "fit", lambda *_: pytest.fail("it learned"))
    result = run("learn", "hiv-tests", "--out", tmp_path / place, code=1)
    assert "error: cannot write" in result.stderr


def test_unwritable_folder_is_found_before_learning(run, tmp_path, monkeypatch):
    def refuse(dir):
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    result = run("learn", "hiv-tests", "--out", tmp_path / "model.json", code=1)
    assert "model.json: Permission denied in" in result.stderr


@pytest.mark.parametrize("command", ["learn", "sample"])
def test_full_disk_names_the_file(run, model, tmp_path, monkeypatch, command):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    out = tmp_path / ("m.json" if command == "learn" else "rows.csv")
    first = ["hiv-tests", "--states", "1"] if command == "learn" else [model, 3]
    result = run(command, *first, "--out", out, code=1)
    assert f"error: cannot write {out}: No space left on device" in result.stderr


def test_unexpected_errors_are_short(run, monkeypatch):
    def fail(*_):
        raise RuntimeError("out of paper")

    monkeypatch.setattr(LatentClass, "fit", fail)
    result = run("learn", "hiv-tests", code=1)
    assert "this should not have happened: RuntimeError: out of paper" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback(run):
    result = run("--debug", "learn", "nowhere.csv", code=1)
    assert "Traceback" in result.stderr
    assert "FileNotFoundError: there is no file nowhere.csv" in result.stderr


def test_unknown_command_is_wrong_usage(run):
    assert "lern" in run("lern", "hiv-tests", code=2).stderr


def test_settings_are_named_as_they_can_be_given(run):
    """Each learner's list has real options only, and ``--set`` for the rest."""
    page = squeeze(run("learn", "--help").stdout)
    for learner in COMMANDS:
        result = run("learn", "hiv-tests", "--learner", learner, "--set", "nothing=1", code=2)
        listed = squeeze(result.stderr).split("its settings are ")[1]
        names = re.findall(r"(?<!\S)--[a-z-]+", listed)
        assert "--seed" in names or learner == "independence"
        assert all(f"{name} " in page for name in names), (learner, names)


def test_messages_name_options_of_the_command_line():
    assert translate("pass kinds={'a b': 'continuous'}") == "pass --continuous 'a b'"
    assert translate("leave them out or read them with") == "use --exclude, or"
    assert translate("format: got 'xls'") == "--input-format: got 'xls'"
    assert translate("tolerance must not be negative") == "--tolerance must not be negative"


def test_interruption_at_the_start(monkeypatch):
    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "app", interrupt)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 130
