"""``latentforest benchmark``: what it prints, keeps and refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from latentforest import ChowLiu, LatentClass


def test_it_prints_a_sorted_table_and_sentences(run):
    result = run("benchmark", "role-conflict", "--learners", "lc:n_states=2,cl", "--folds", 3)
    lines = result.stdout.splitlines()
    assert lines[0].split()[:3] == ["learner", "per_row", "standard_error"]
    assert [line.split()[0] for line in lines[1:4]] == [
        "latent-class:n_states=2",
        "chow-liu",
        "independence",
    ]
    assert "predicts held-out rows best" in result.stdout
    assert "benchmark: fit 1 of 12" in result.stderr


def test_json_of_several_lists(run):
    result = run(
        *("benchmark", "role-conflict", "--learners", "cl", "--learners", "bin"),
        *("--folds", 2, "--json", "--quiet"),
    )
    facts = json.loads(result.stdout)
    assert {row["learner"] for row in facts["learners"]} == {"independence", "chow-liu", "bin"}
    assert len(facts["folds"]) == 6
    assert result.stderr == ""


def test_folds_by_a_column_and_files(run, survey, tmp_path):
    run(
        *("benchmark", survey, "--learners", "cl", "--folds", "fold", "--weights", "times"),
        *("--out", tmp_path / "b.csv"),
    )
    assert (tmp_path / "b.csv").read_text().startswith("learner,per_row")
    shown = run("benchmark", survey, "--learners", "cl", "--folds", 2, "--format", "latex").stdout
    assert r"\begin{tabular}" in shown


def test_an_interruption_has_its_exit_code_and_resumes(run, tmp_path, monkeypatch):
    learn, fits = ChowLiu.fit, []

    def fit(self, X, y=None, sample_weight=None):
        fits.append(X)
        learned = learn(self, X, y, sample_weight)
        self.interrupted_ = len(fits) == 3
        return learned

    monkeypatch.setattr(ChowLiu, "fit", fit)
    path = tmp_path / "fits.jsonl"
    arguments = ("benchmark", "role-conflict", "--learners", "cl", "--folds", 3)
    result = run(*arguments, "--checkpoint", path, code=3)
    assert "Interrupted: 1 of 3 folds are complete" in result.stdout
    assert f"--resume goes on from {path}" in result.stderr
    assert "--resume" in run(*arguments, "--checkpoint", path, code=2).stderr
    run(*arguments, "--checkpoint", path, "--resume")
    assert len(fits) == 5


def count_complete(shown):
    return int(re.search(r"Interrupted: (\d+) of 200 folds are complete", shown).group(1))


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_keeps_the_complete_folds(run, tmp_path, monkeypatch):
    path = tmp_path / "fits.jsonl"
    slow = "lc:n_states=2,n_starts=2000,tolerance=0"  # a minute for all folds
    arguments = ["benchmark", "role-conflict", "--learners", slow, "--folds", "200"]
    arguments += ["--checkpoint", str(path)]
    command = [sys.executable, "-m", "latentforest", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and (not path.exists() or len(path.read_text().split("\n")) < 7):
        time.sleep(0.01)  # until the header, the whole table and a fold are there
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    assert f"--resume goes on from {path}" in errors
    n_complete = count_complete(output)
    assert n_complete >= 1

    def refuse(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(LatentClass, "fit", refuse)  # what is complete is not fitted again
    assert count_complete(run(*arguments, "--resume", code=3).stdout) == n_complete


@pytest.mark.parametrize(
    ("further", "code", "message"),
    [
        (("--learners", "nothing"), 1, "--learners: there is no 'nothing'"),
        (("--folds", "nowhere"), 2, "neither a number nor a column"),
        (("--folds", "1"), 1, "--folds must be between 2 and"),
        (("--resume",), 2, "add --checkpoint"),
        (("--time-limit", "0"), 1, "--time-limit must be positive seconds"),
    ],
)
def test_wrong_usage(run, further, code, message):
    assert message in run("benchmark", "role-conflict", *further, code=code).stderr


def test_a_short_name_of_a_learner(run, tmp_path):
    run("learn", "role-conflict", "--learner", "cl", "--out", tmp_path / "m.json")
    assert (tmp_path / "m.json").is_file()
