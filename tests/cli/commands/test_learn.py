"""The command ``learn``."""

from __future__ import annotations

import errno
import importlib
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

import latentforest as lf
from latentforest.learners import LatentClass


def test_learns_prints_and_saves(run, tmp_path):
    path = tmp_path / "model.json"
    result = run("learn", "role-conflict", "--states", "1:3", "--out", path)
    assert "16 rows (total weight 216), 16 distinct, 4 columns, no missing values" in result.stdout
    assert "→        2     -504.47" in result.stdout
    assert "class (latent, 2 states: 0.72 0.28)" in result.stdout
    assert f"Saved to {path}" in result.stdout
    assert "2 classes: BIC -528.66" in result.stderr
    assert lf.load(path).latents == ("class",)


def test_result_is_that_of_the_estimator(run, tmp_path):
    path = tmp_path / "model.json"
    run("learn", "hiv-tests", "--states", "3", "--seed", "5", "--out", path, "--quiet")
    model = LatentClass(3, random_state=5).fit(lf.datasets.load("hiv-tests"))
    assert lf.load(path) == model.network_


def test_json_has_the_documented_keys_and_nothing_else_is_printed(run):
    result = run("learn", "role-conflict", "--states", "1:3", "--json")
    facts = json.loads(result.stdout)
    assert list(facts) == [
        "data",
        "learner",
        "settings",
        "log_likelihood",
        "n_parameters",
        "bic",
        "n_states",
        "converged",
        "notes",
        "interrupted",
        "stopped",
        "seconds",
        "fit_table",
        "history",
        "n_variables",
        "latents",
        "model",
        "saved_to",
    ]
    assert facts["data"]["distinct_rows"] == 16
    assert facts["n_states"] == 2
    assert [row["n_states"] for row in facts["fit_table"]] == [1, 2, 3]
    assert facts["latents"][0]["sizes"] == pytest.approx([0.72, 0.28], abs=0.01)


def test_json_has_null_for_what_is_not_a_number(run):
    result = run("learn", "hiv-tests", "--states", "4", "--json", "--quiet")
    assert json.loads(result.stdout)["fit_table"][0]["p"] is None
    assert "NaN" not in result.stdout
    assert result.stderr == ""


def test_model_of_json_is_the_saved_one(run, tmp_path):
    path = tmp_path / "model.json"
    result = run("learn", "role-conflict", "--states", "2", "--json", "--out", path)
    facts = json.loads(result.stdout)
    assert facts["saved_to"] == str(path)
    assert facts["model"] == json.loads(path.read_text())


def test_independence(run):
    result = run("learn", "role-conflict", "--learner", "independence")
    assert "independence: log-likelihood -543.65, 4 parameters, BIC -554.40" in result.stdout
    assert "The model was not saved; --out model.json keeps it." in result.stderr


def test_columns_are_chosen(run, survey):
    arguments = ["--exclude", "height,fold", "--weights", "times", "--states", "2"]
    facts = json.loads(run("learn", survey, *arguments, "--json").stdout)
    assert facts["data"]["columns"] == ["a", "b", "c"]
    assert facts["data"]["total_weight"] == 60


def test_column_names_with_commas_are_quoted(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('"x,y",z,w\n1,2,1\n2,1,1\n')
    facts = json.loads(run("learn", path, "--exclude", '"x,y", w', "--json", "-q").stdout)
    assert facts["data"]["columns"] == ["z"]


@pytest.mark.parametrize("name", ["tab", r"\t"])
def test_tab_has_names(run, tmp_path, name):
    path = tmp_path / "table.csv"
    path.write_text("a,1\tb\nx\ty\ny\tx\n")
    facts = json.loads(run("learn", path, "--delimiter", name, "--json", "-q").stdout)
    assert facts["data"]["columns"] == ["a,1", "b"]


def test_missing_texts_of_arff_files_in_capitals(run, tmp_path):
    path = tmp_path / "TABLE.ARFF"
    path.write_text("@relation r\n@attribute a {NA,-9,x}\n@data\nNA\n-9\nx\n")
    facts = json.loads(run("learn", path, "--missing", "-9", "--states", "1", "--json").stdout)
    assert facts["data"]["missing_values"] == 1


def test_missing_texts_are_added_to_the_usual_ones(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,x\n-9,y\n,x\n2,y\n")
    facts = json.loads(run("learn", path, "--missing", "-9", "--states", "1", "--json").stdout)
    assert facts["data"]["missing_values"] == 2
    assert facts["data"]["missing_share"] == 0.25


@pytest.mark.parametrize("folds", ["4", "fold", "file"])
def test_folds(run, survey, tmp_path, folds):
    if folds == "file":
        folds = tmp_path / "folds.csv"
        folds.write_text("fold\n" + "\n".join(str(i % 3) for i in range(40)))
    facts = json.loads(
        run(
            "learn",
            survey,
            *("--exclude", "height,times" + ("" if folds == "fold" else ",fold")),
            *("--states", "1:2", "--criterion", "cv", "--folds", folds, "--starts", "2", "--json"),
        ).stdout
    )
    assert facts["data"]["columns"] == ["a", "b", "c"]
    assert all(row["cv"] < 0 for row in facts["fit_table"])


def test_a_file_of_a_shared_covariance_scores_the_same(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) + 4 * rng.integers(0, 2, (60, 1))
    table, model = tmp_path / "numbers.csv", tmp_path / "model.json"
    np.savetxt(table, rows, delimiter=",", header="a,b,c", comments="")
    asked = ("--states", "2", "--covariance", "shared", "--out", model, "--json")
    learned = json.loads(run("learn", table, *asked).stdout)
    scored = json.loads(run("score", model, table, "--json").stdout)
    assert learned["n_parameters"] == scored["n_parameters"] == 1 + 2 * 3 + 6
    assert scored["criteria"]["bic"] == pytest.approx(learned["bic"], rel=1e-12)


def test_criterion_gets_a_column_of_its_own(run):
    result = run("learn", "role-conflict", "--states", "1:2", "--criterion", "sabic")
    assert "SABIC chooses (higher is better)" in result.stdout


def test_other_settings_go_to_the_estimator(run):
    result = run("learn", "role-conflict", "--states", "2", "--set", "accelerate=false", "--json")
    assert json.loads(result.stdout)["settings"]["accelerate"] is False


def test_end_before_convergence_is_said(run):
    result = run("learn", "hiv-tests", "--states", "2", "--max-iterations", "2", "--starts", "1")
    assert "warning: EM did not converge: the limit of 2 iterations was reached" in result.stderr


def test_more_classes_than_observations_are_said(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n2,1\n")
    result = run("learn", path, "--states", "1:3")
    assert "warning: --states asks for up to 3 classes, more than the 2 obs" in result.stderr


def test_constant_column_gives_one_warning_line(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,x\n2,x\n")
    result = run("learn", path, "--states", "1", "--json")
    warnings = [line for line in result.stderr.splitlines() if line.startswith("warning:")]
    assert warnings == ["warning: columns with a single observed value tell nothing: 'b'"]


@pytest.mark.parametrize(
    ("table", "marginals", "log_likelihood"),
    [
        ("a\n1\n2\n1\n", {"a": [2 / 3, 1 / 3]}, 2 * np.log(2 / 3) + np.log(1 / 3)),
        ("a,b\n1,2\n", {"a": [1.0], "b": [1.0]}, 0.0),
        ("a,b\n1,?\n?,1\n", {"a": [1.0], "b": [1.0]}, 0.0),
    ],
)
def test_tiny_tables_are_learned(run, tmp_path, table, marginals, log_likelihood):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    path.write_text(table)
    result = run("learn", path, "--states", "5", "--json", "--out", model)
    facts = json.loads(result.stdout)
    assert facts["n_states"] == 5
    assert facts["converged"]
    assert facts["log_likelihood"] == pytest.approx(log_likelihood, abs=1e-6)
    network = lf.load(model)
    assert network.structure.shape("class") == (5,)
    for name, distribution in marginals.items():
        np.testing.assert_allclose(network.marginal(name), distribution, atol=1e-6)


def test_interrupted_learning_keeps_the_model(run, tmp_path, monkeypatch):
    fit_one = LatentClass._fit_candidate

    def fit_two_classes_only(self, work, n_states, earlier):
        if n_states > 2:
            raise KeyboardInterrupt
        return fit_one(self, work, n_states, earlier)

    monkeypatch.setattr(LatentClass, "_fit_candidate", fit_two_classes_only)
    path = tmp_path / "model.json"
    result = run("learn", "role-conflict", "--states", "1:5", "--out", path, code=3)
    assert "warning: interrupted; this is the best model so far" in result.stderr
    assert path.exists()


def test_interruption_without_a_result_has_its_own_exit_code(run, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(LatentClass, "fit", interrupt)
    path = tmp_path / "model.json"
    result = run("learn", "role-conflict", "--out", path, code=130)
    assert "interrupted; there is no result" in result.stderr
    assert not path.exists()


def test_time_limit_is_said(run, tmp_path):
    result = run("learn", "coleman-panel", "--states", "2:6", "--time-limit", "1e-9", code=3)
    assert "warning: the time limit was reached; this is the best model so far" in result.stderr


def test_file_takes_precedence_over_built_in_table(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("hiv-tests").write_text("a,b\n1,2\n2,1\n")
    facts = json.loads(run("learn", "hiv-tests", "--input-format", "csv", "--json").stdout)
    assert facts["data"]["rows"] == 2


def test_generalized_latent_class_models(run, tmp_path):
    out = tmp_path / "model.json"
    settings = ["--set", "attached=true", "--set", "n_kicks=3", "--evaluation", "full"]
    result = run(
        "learn", "hiv-tests", "--learner", "glc", "--seed", "0", *settings, "--out", out, "--json"
    )
    facts = json.loads(result.stdout)
    assert facts["bic"] == pytest.approx(-656.622, abs=0.001)
    assert set(lf.load(out).observed) == set("ABCD")


def test_direct_effects(run):
    result = run(
        "learn",
        "hiv-tests",
        "--states",
        "2",
        "--set",
        "direct_effects=auto",
        "--seed",
        "0",
        "--json",
    )
    assert json.loads(result.stdout)["bic"] == pytest.approx(-656.622, abs=0.001)


def interrupt_first(monkeypatch, module, name):
    """Let a function be hit by Ctrl-C when it is first called."""
    function, calls = getattr(module, name), []

    def interrupted(*arguments):
        calls.append(name)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return function(*arguments)

    monkeypatch.setattr(module, name, interrupted)


@pytest.mark.parametrize(
    ("module", "name"), [("commands.learn", "save"), ("summary", "print_outcome")]
)
def test_ctrl_c_after_the_fit_keeps_the_model(run, tmp_path, monkeypatch, module, name):
    interrupt_first(monkeypatch, importlib.import_module(f"latentforest.cli.{module}"), name)
    result = run("learn", "hiv-tests", "--states", 2, "--out", tmp_path / "m.json", code=3)
    assert "interrupted; th" in result.stderr
    assert lf.load(tmp_path / "m.json").dimension == 9


def test_a_model_that_cannot_be_written_is_kept_elsewhere(run, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    function = lf.save

    def save(network, path):
        if path.parent == tmp_path:
            raise OSError(errno.ENOSPC, "No space left on device")
        function(network, path)

    monkeypatch.setattr("latentforest.cli.commands.learn.save", save)
    out = tmp_path / "m.json"
    result = run("learn", "hiv-tests", "--states", 2, "--out", out, code=1)
    assert f"error: cannot write {out}: No space left on device; the model was" in result.stderr
    (rescued,) = tmp_path.glob("*/m.json")
    assert f"saved to {rescued} instead" in result.stderr
    assert lf.load(rescued).dimension == 9
