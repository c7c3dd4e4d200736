"""The command ``fit``."""

from __future__ import annotations

import json

import pytest

import latentforest as lf


def test_a_structure_is_fitted_and_saved(run, tmp_path):
    out = tmp_path / "model.json"
    result = run("fit", "hiv-tests", "X[2] -> A, B, C; C -> D", "--out", out)
    assert "fit: log-likelihood -654.49, 9 parameters, BIC -681.75" in result.output
    network = lf.load(out)
    assert network.structure.parents("D") == ("C",)
    assert "log-likelihood  -654.48" in run("score", out, "hiv-tests").output


def test_a_file_of_text_and_a_model_file(run, tmp_path):
    text, model = tmp_path / "model.txt", tmp_path / "model.json"
    text.write_text("# latent classes\nX[2] -> A, B,\n  C, D\n")
    run("fit", "hiv-tests", text, "--out", model, "--quiet")
    first = json.loads(run("fit", "hiv-tests", text, "--json", "--quiet").stdout)
    again = json.loads(run("fit", "hiv-tests", model, "--json", "--quiet").stdout)
    assert first["learner"] == "fit"
    assert first["n_parameters"] == again["n_parameters"] == 9
    assert again["log_likelihood"] == pytest.approx(first["log_likelihood"], abs=1e-6)


def test_columns_that_are_left_out(run):
    result = run("fit", "hiv-tests", "X[2] -> A, B, C")
    assert "warning: columns that the structure does not name are left out: 'D'" in result.stderr


def test_options_reach_the_learner(run):
    arguments = ["--starts", 3, "--prior", "laplace", "--max-iterations", 50, "--seed", 5]
    found = json.loads(run("fit", "hiv-tests", "X[2] -> A, B, C, D", *arguments, "--json").stdout)
    settings = found["settings"]
    assert (settings["n_starts"], settings["prior"]) == (3, "laplace")
    assert (settings["max_iterations"], settings["random_state"]) == (50, 5)


def test_a_table_file(run, survey):
    result = run("fit", survey, "X[2] -> a, b, height", "--exclude", "c,times,fold")
    assert "left out" not in result.stderr
    assert "X (latent, 2 states" in result.output


def test_errors_point_at_the_place(run):
    error = run("fit", "hiv-tests", "X[2] -> A, B; Y -> C", code=1).stderr
    lines = error.splitlines()[-3:]
    assert lines[0].startswith("error: structure, line 1, column 15: there is no column 'Y'")
    assert lines[1:] == ["  X[2] -> A, B; Y -> C", "                ^"]


def test_nothing_to_keep(run):
    result = run("fit", "hiv-tests", "X[2] -> A, B", "--quiet", code=2)
    assert "nothing would be left of the result" in result.stderr
