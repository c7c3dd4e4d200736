"""``learn`` with the learners that search for trees."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import latentforest as lf
from latentforest.cli.progress import show_progress
from latentforest.data import write_table
from latentforest.datasets.generate import generate, random_latent_tree
from latentforest.learners.common.progress import PlainLines
from latentforest.search.trees.search import Search

SEARCHES = {
    "east": lf.EAST,
    "hill-climbing": lf.HillClimbing,
    "double-hill-climbing": lf.DoubleHillClimbing,
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file of 500 rows from a tree with four hidden variables."""
    path = tmp_path_factory.mktemp("table") / "rows.csv"
    network = random_latent_tree(strength=0.85, random_state=1)
    write_table(generate(network, 500, random_state=1).to_columns(), path)
    return path


def squeeze(text):
    """Undo the frame and the line breaks of usage errors."""
    return re.sub(r"[\s│╭╮╰╯─]+", " ", text)


# Results


def test_learns_prints_and_saves(run, table, tmp_path):
    path = tmp_path / "model.json"
    arguments = ["--learner", "east", "--mu", "8", "--nu", "40", "--out", path]
    result = run("learn", table, *arguments)
    network = lf.load(path)
    assert re.search(r"Search: \d+ steps, \d+ on the way to the model\n", result.stdout)
    assert re.search(r"\n1 +expand +NI +Y1 - Y2 - X\d, X\d +2 +21 +-[\d,.]+", result.stdout)
    assert re.search(r"east: log-likelihood \S+, \d+ parameters, BIC -\S+ \(", result.stdout)
    n_latents = len(network.latents)
    assert n_latents > 1
    assert f"{len(network.names)} variables, {n_latents} of them latent" in result.stdout
    assert f"Saved to {path}" in result.stdout
    assert "warning" not in result.stderr


@pytest.mark.parametrize("name", SEARCHES)
def test_result_is_that_of_the_estimator(run, table, tmp_path, name):
    path = tmp_path / "model.json"
    arguments = [
        "--winners",
        "2",
        "--mu",
        "4",
        "--seed",
        "3",
        "--max-steps",
        "9",
        "--max-states",
        "3",
    ]
    run("learn", table, "--learner", name, *arguments, "--out", path, "--quiet")
    model = SEARCHES[name](mu=4, n_winners=2, max_steps=9, max_states=3, random_state=3)
    assert lf.load(path) == model.fit(lf.read(table)).network_


def test_many_steps_are_cut_short(run, table, monkeypatch):
    monkeypatch.setattr("latentforest.cli.summary.MAX_STEPS", 2)
    result = run("learn", table, "--learner", "east")
    assert re.search(r"on the way to the model; the last 2 of these\n", result.stdout)
    assert " start " not in result.stdout


def test_long_places_do_not_break_the_table(run, tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    names = [f"a column with a very long name {i}" for i in range(7)]
    network = random_latent_tree(7, width=2, strength=0.8, random_state=1)
    columns = generate(network, 300, random_state=1).to_columns()
    write_table(dict(zip(names, columns.values(), strict=True)), path)
    monkeypatch.setenv("COLUMNS", "80")
    result = run("learn", path, "--learner", "east", "--max-steps", "3")
    lines = result.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("step "))
    assert re.match(r"1 +expand +NI +Y1 - Y2 - .*… ", lines[first + 3])
    assert max(map(len, lines[first : first + 4])) <= 80


def test_json_has_the_history(run, table):
    result = run("learn", table, "--learner", "hill-climbing", "--json")
    facts = json.loads(result.stdout)
    assert facts["history"][0]["phase"] == "start"
    assert set(facts["history"][1]) >= {"step", "phase", "operator", "variables", "accepted", "bic"}
    assert facts["bic"] == pytest.approx(max(row["bic"] for row in facts["history"]), abs=0.2)
    assert (facts["stopped"], facts["interrupted"], facts["converged"]) == (None, False, True)
    way = [row for row in facts["history"] if row["accepted"]]
    assert len(facts["latents"]) == way[-1]["n_latents"]


# Where a search begins and what it leaves alone


def test_start(run, table, tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    run("learn", table, "--learner", "east", "--max-steps", "2", "--out", first, "-q")
    arguments = ["--learner", "east", "--start", first, "--out", second, "--json"]
    facts = json.loads(run("learn", table, *arguments).stdout)
    assert facts["history"][0]["n_latents"] == len(lf.load(first).latents)
    assert facts["settings"]["start"] == json.loads(first.read_text())
    whole = lf.EAST(random_state=0).fit(lf.read(table))
    assert facts["bic"] == pytest.approx(whole.bic_, abs=1)


def test_start_by_name(run, table):
    arguments = ["--learner", "east", "--start", "bin", "--max-steps", "1", "--json"]
    facts = json.loads(run("learn", table, *arguments).stdout)
    assert facts["settings"]["start"] == "bin"
    assert facts["history"][0]["n_latents"] > 1


@pytest.mark.parametrize("learner", ["bin", "chow-liu"])
def test_learners_that_do_not_search(run, table, tmp_path, learner):
    out = tmp_path / "model.json"
    facts = json.loads(run("learn", table, "--learner", learner, "--out", out, "--json").stdout)
    assert facts["history"]
    assert bool(facts["latents"]) == (learner == "bin")
    assert lf.load(out).observed


def test_start_of_another_table(run, model):
    result = run("learn", "hiv-tests", "--learner", "east", "--start", model, code=1)
    assert "column 'A' has states" in result.stderr


def test_start_that_is_no_model(run, table, tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"format": "something"}')
    result = run("learn", table, "--learner", "east", "--start", path, code=1)
    assert f"error: {path}: " in result.stderr
    assert "network" in result.stderr


def test_fixed_variables(run, table, tmp_path):
    start, out = tmp_path / "start.json", tmp_path / "model.json"
    run("learn", table, "--learner", "east", "--max-steps", "2", "--out", start, "-q")
    network = lf.load(start)
    fixed = network.latents[-1]
    arguments = ["--learner", "east", "--start", start, "--fixed", f"{fixed}, X1", "--out", out]
    run("learn", table, *arguments)
    after = lf.load(out).structure
    assert set(after.neighbours(fixed)) == set(network.structure.neighbours(fixed))


def test_fixed_variable_that_is_not_there(run, table):
    result = run("learn", table, "--learner", "east", "--fixed", "X1,Q", code=1)
    assert "error: --fixed names 'Q', which the initial model does not have" in result.stderr


# Ends


@pytest.mark.parametrize("name", SEARCHES)
def test_resumed_search_ends_at_the_same_model(run, table, tmp_path, name):
    whole, resumed = tmp_path / "whole.json", tmp_path / "resumed.json"
    steps = tmp_path / "steps.jsonl"
    run("learn", table, "--learner", name, "--out", whole)
    arguments = ["learn", table, "--learner", name, "--checkpoint", steps, "--out", resumed]
    result = run(*arguments, "--max-steps", "3")
    assert (
        "warning: the limit of 3 steps was reached; this is the best model so far; "
        f"--resume goes on from {steps}"
    ) in result.stderr
    assert lf.load(resumed) != lf.load(whole)
    assert "warning" not in run(*arguments, "--resume").stderr
    assert lf.load(resumed) == lf.load(whole)


def test_checkpoint_is_not_overwritten(run, table, tmp_path):
    steps = tmp_path / "steps.jsonl"
    arguments = ["learn", table, "--learner", "east", "--max-steps", "1", "--checkpoint", steps]
    run(*arguments)
    before = steps.read_text()
    result = run(*arguments, code=2)
    message = "steps.jsonl is there already; --resume goes on with it, --force begins anew"
    assert message in squeeze(result.stderr)
    assert steps.read_text() == before
    run(*arguments, "--force")


def test_checkpoint_of_another_search(run, table, tmp_path):
    steps = tmp_path / "steps.jsonl"
    arguments = ["learn", table, "--learner", "east", "--max-steps", "1", "--checkpoint", steps]
    run(*arguments)
    result = run(*arguments, "--resume", "--seed", "7", code=1)
    assert f"error: {steps} belongs to another search: its seed is" in result.stderr


def test_full_disk_of_the_checkpoint_does_not_lose_the_model(run, table, tmp_path, monkeypatch):
    steps, fsync, out = tmp_path / "steps.jsonl", os.fsync, tmp_path / "model.json"
    n_calls: list[int] = []

    def fail_later(number):
        n_calls.append(1)
        if 2 < len(n_calls) < 6:
            raise OSError(28, "No space left on device")
        fsync(number)

    monkeypatch.setattr("os.fsync", fail_later)
    search = ["--learner", "east", "--checkpoint", steps]
    result = run("learn", table, *search, "--out", out)
    assert f"warning: the checkpoint {steps} cannot be written: No space" in result.stderr
    again = tmp_path / "again.json"
    assert "warning" not in run("learn", table, *search, "--resume", "--out", again).stderr
    assert lf.load(again) == lf.load(out)


def test_time_limit_is_said(run, table):
    result = run("learn", table, "--learner", "east", "--time-limit", "1e-9", code=3)
    assert "warning: the time limit was reached; this is the best model so far\n" in result.stderr


def test_interrupted_search_keeps_the_model(run, table, tmp_path, monkeypatch):
    step, path = Search.step, tmp_path / "model.json"

    def interrupt(self, *arguments, **settings):
        if self.trace.n_steps > 2:
            raise KeyboardInterrupt
        return step(self, *arguments, **settings)

    monkeypatch.setattr(Search, "step", interrupt)
    result = run("learn", table, "--learner", "east", "--out", path, code=3)
    assert "warning: interrupted; this is the best model so far\n" in result.stderr
    assert len(lf.load(path).latents) > 1


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_keeps_the_best_model(tmp_path):
    data, out = tmp_path / "rows.csv", tmp_path / "model.json"
    network = random_latent_tree(24, n_states=3, strength=0.6, random_state=0)
    write_table(generate(network, 4000, random_state=0).to_columns(), data)
    arguments = [sys.executable, "-m", "latentforest", "learn", data, "--learner", "east"]
    arguments += ["--nu", "2000", "--out", out, "--json"]  # some minutes
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "step 1" in line:
            break
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert "warning: interrupted; this is the best model so far" in errors
    assert json.loads(output)["interrupted"] is True
    assert len(lf.load(out).observed) == 24


# Wrong usage

USAGE = {
    "resume": (["--learner", "east", "--resume"], "--resume: there is nothing to go on with; add"),
    "start": (
        ["--learner", "east", "--start", "nowhere.json"],
        "--start: there is no file nowhere.json; expected a model written by 'learn'",
    ),
    "evaluation": (["--learner", "east", "--evaluation", "r"], "there is no 'r'; did you mean rl?"),
    "steps": (["--learner", "east", "--max-steps", "-1"], "Invalid value for '--max-steps'"),
    "mu": (["--learner", "east", "--mu", "0"], "Invalid value for '--mu'"),
    "foreign option": (["--mu", "8"], "--mu: the learner 'latent-class' has no such setting"),
    "foreign flag": (
        ["--resume", "--checkpoint", "steps.jsonl"],
        "--checkpoint, --resume: the learner 'latent-class' has no such setting",
    ),
    "states": (["--learner", "east", "--states", "3"], "--states: the learner 'east' has no such"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage(run, case):
    arguments, message = USAGE[case]
    result = run("learn", "hiv-tests", *arguments, code=2)
    assert message in squeeze(result.stderr)
    assert result.stdout == ""


def test_settings_that_make_no_sense(run):
    result = run("learn", "hiv-tests", "--learner", "east", "--set", "n_winners=0", code=1)
    assert "error: --winners must be a whole number from 1, got 0" in result.stderr


@pytest.mark.parametrize("learner", ["east", "bridged-islands", "hlta"])
def test_two_columns_stay_alone(run, tmp_path, learner):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n2,1\n")
    result = run("learn", path, "--learner", learner)
    assert "log-likelihood -2.77, 2 parameters, BIC -3.47" in result.stdout
    assert "a (2), b (2)\n2 variables, 0 of them latent" in result.stdout


# Progress


def test_plain_lines_do_not_flood(capsys):
    lines = PlainLines()
    for n in range(100):
        lines.show(f"expand: step {n}, BIC -1,234.{n}, {n} s, {n} of 9 candidates, best NI {n}a")
    assert capsys.readouterr().err.count("\n") == 1


def test_live_line_is_one_line(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    with show_progress(quiet=False) as tell:
        tell("expand: step 3, BIC -1,234.5, best NI [/x]" + " long\nname" * 50)
    shown = capsys.readouterr().err
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]", shown)]
    assert any("expand: step 3, BIC -1,234.5, best" in line for line in lines)
    assert max(map(len, lines)) <= 40
    assert "long" not in shown.split("…")[-1]


def test_bridged_islands(run, table):
    found = json.loads(run("learn", table, "--learner", "bridged-islands", "--json").stdout)
    assert found["learner"] == "bridged-islands"
    assert found["history"][0]["phase"] == "islands"
    assert "topics" not in found


def test_topics_are_shown_below_each_other(run, table):
    done = run("learn", table, "--learner", "hlta", "--set", "max_top=1")
    lines = done.stdout.splitlines()
    start = lines.index("Topics: share of the documents, words that say most about them")
    assert any(line.startswith("Z2.1  ") for line in lines[start:])
    assert any(line.startswith("  Z1.1  ") for line in lines[start:])
    found = json.loads(run("learn", table, "--learner", "hlta", "--json").stdout)
    assert found["topics"][0]["topic"].startswith("Z")


def test_topics_of_continuous_columns_have_means(run, tmp_path):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=200)
    columns = np.stack([3.0 * group + rng.normal(size=200) for _ in range(3)], axis=1)
    path = tmp_path / "numbers.csv"
    np.savetxt(path, columns, "%.3f", ",", header="a,b,c", comments="")
    done = run("learn", path, "--learner", "hlta")
    assert re.search(r"Z1\.1  .*%  . . .  \(means: . \S+ \S+, . \S+ \S+, . \S+ \S+\)", done.stdout)
