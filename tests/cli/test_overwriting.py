"""Files that are there are not lost: no command writes onto its input, or unasked onto a file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from latentforest import datasets, load
from latentforest.data import write_table


@pytest.fixture
def folder(tmp_path, model, monkeypatch) -> Path:
    """A folder with a table, its model, and other names of both."""
    monkeypatch.chdir(tmp_path)
    write_table(datasets.load("role-conflict").to_columns(), "table.csv")
    Path("model.json").write_bytes(model.read_bytes())
    for name in ("table.csv", "model.json"):
        Path(f"soft-{name}").symlink_to(name)
        os.link(name, f"hard-{name}")
    return tmp_path


NAMES = ["table.csv", "soft-table.csv", "hard-table.csv", "../{folder}/table.csv"]
COMMANDS = {
    "predict": ["predict", "model.json", "table.csv", "--out"],
    "score": ["score", "model.json", "table.csv", "--per-row"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_table_is_not_overwritten(run, folder, command, name):
    before, name = Path("table.csv").read_bytes(), name.format(folder=folder.name)
    for more in ([], ["--force"]):
        result = run(*COMMANDS[command], name, *more, code=2)
        assert f"{name} is the same file as table.csv, which this command uses" in result.stderr
    assert Path("table.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["model.json", "soft-model.json", "hard-model.json"])
@pytest.mark.parametrize("command", ["learn", "fit"])
def test_a_model_that_is_read_is_not_overwritten(run, folder, command, name):
    before = Path("model.json").read_bytes()
    more = ["model.json"] if command == "fit" else ["--learner", "east", "--start", "model.json"]
    result = run(command, "table.csv", *more, "--out", name, "--force", code=2)
    assert f"{name} is the same file as model.json" in result.stderr
    assert Path("model.json").read_bytes() == before


def test_the_model_of_a_sample_is_not_overwritten(run, folder):
    Path("model.csv").symlink_to("model.json")
    result = run("sample", "model.json", 3, "--out", "model.csv", "--force", code=2)
    assert "model.csv is the same file as model.json" in result.stderr


def test_checkpoint_and_result_are_two_files(run, folder):
    search = ["learn", "table.csv", "--learner", "east", "--checkpoint", "new.json"]
    result = run(*search, "--out", f"../{folder.name}/new.json", code=2)
    assert "is the same file as new.json" in result.stderr
    search[-1] = "soft-table.csv"
    assert "is the same file as table.csv" in run(*search, "--force", code=2).stderr


WRITING = {
    "learn": ["learn", "table.csv", "--states", "2", "--quiet", "--out", "old.json"],
    "fit": ["fit", "table.csv", "X[2] -> A, B, C, D", "--quiet", "--out", "old.json"],
    "predict": ["predict", "model.json", "table.csv", "--out", "old.csv"],
    "score": ["score", "model.json", "table.csv", "--per-row", "old.csv"],
    "sample": ["sample", "model.json", "3", "--out", "old.csv"],
    "datasets": ["datasets", "hiv-tests", "--out", "old.csv"],
}


@pytest.mark.parametrize("command", WRITING)
def test_a_file_is_replaced_only_with_force(run, folder, command, monkeypatch):
    """It is refused before anything is read."""
    arguments = WRITING[command]
    old = Path(arguments[-1])
    old.write_text("precious")
    with monkeypatch.context() as patch:
        for name in ("latentforest.formats.load", "latentforest.data.read"):
            patch.setattr(name, None)
        result = run(*arguments, code=2)
    assert f"{old} is there already; --force replaces it" in result.stderr
    assert old.read_text() == "precious"
    run(*arguments, "--force")
    assert old.read_text() != "precious"


def test_resume_replaces_its_own_result_only(run, folder):
    search = ["learn", "table.csv", "--learner", "east", "--quiet", "--out", "tree.json"]
    search += ["--checkpoint", "steps.jsonl"]
    run(*search, "--max-steps", "1")
    run(*search, "--resume")
    first = load("tree.json")
    run(*search, "--resume")
    assert load("tree.json") == first
    Path("tree.json").write_text(Path("tree.json").read_text() + " ")
    assert "--force replaces it" in run(*search, "--resume", code=2).stderr
    run(*search, "--resume", "--force")
    assert load("tree.json") == first


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written(run, folder):
    os.mkfifo("pipe.csv")
    texts: list[str] = []
    reader = threading.Thread(target=lambda: texts.append(Path("pipe.csv").read_text()))
    reader.start()
    run("predict", "model.json", "table.csv", "--out", "pipe.csv")
    reader.join()
    assert len(texts[0].splitlines()) == 17


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs devices")
def test_a_device_is_written(run, folder):
    Path("nothing.csv").symlink_to("/dev/null")
    run("sample", "model.json", 3, "--out", "nothing.csv")
    assert Path("nothing.csv").is_symlink()


def test_a_recipe_that_is_read_is_not_overwritten(run, folder):
    run("inspect", "table.csv", "--write-recipe", "recipe.toml")
    before = Path("recipe.toml").read_bytes()
    using = ["table.csv", "--recipe", "recipe.toml", "--force"]
    for more in (
        ["inspect", *using, "--write-recipe", "recipe.toml"],
        ["learn", *using, "--learner", "east", "--checkpoint", "recipe.toml"],
    ):
        result = run(*more, code=2)
        assert "recipe.toml is the same file as recipe.toml, which this command" in result.stderr
    assert Path("recipe.toml").read_bytes() == before
