"""The commands that use a model: ``show``, ``score``, ``predict`` and ``sample``."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

import latentforest as lf
from latentforest import Network, Variable
from latentforest.data import write_table
from latentforest.datasets.generate import random_latent_class, random_latent_forest
from latentforest.learners import Independence, LatentClass


@pytest.fixture(scope="module")
def learner():
    return LatentClass(2, random_state=0).fit(lf.datasets.load("role-conflict"))


def read_csv(text):
    rows = list(csv.reader(io.StringIO(text)))
    return rows[0], rows[1:]


def test_show(run, model):
    result = run("show", model)
    assert "class (latent, 2 states: 0.72 0.28)" in result.stdout
    assert "D       -      0.69  0.87  0.23" in result.stdout
    assert "Shown:" not in result.stdout


def test_show_tables_gives_every_value(run, model):
    result = run("show", model, "--tables")
    given = lf.load(model).cpd("D")[:, 0]
    assert f"D       +      0.3102  {given[0]:.4f}  {given[1]:.4f}" in result.stdout


def test_show_dot(run, model):
    assert run("show", model, "--dot").stdout == lf.load(model).to_dot()


def test_show_json(run, model):
    facts = json.loads(run("show", model, "--json").stdout)
    assert list(facts) == ["file", "n_variables", "n_parameters", "latents", "model"]
    assert facts["latents"][0]["children"] == ["A", "B", "C", "D"]


def test_show_takes_one_form(run, model):
    result = run("show", model, "--dot", "--json", code=2)
    assert "choose one of --tables, --dot, --format and --json" in result.stderr


def test_show_limits_wide_models_unless_asked(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    path = tmp_path / "wide.json"
    random_latent_class(60, 30, n_states=7, random_state=0).save(path)
    short = run("show", path).stdout
    assert "Shown: 6 of 60 columns" in short
    assert "the values that differ most" in short
    assert "of 30 states" in short
    long = run("show", path, "--tables").stdout
    assert "Shown:" not in long
    assert "X60 " in long


def test_show_forest_with_names_that_look_like_markup(run, tmp_path):
    path = tmp_path / "forest.json"
    network = random_latent_forest(n_trees=2, depth=2, width=3, random_state=0)
    network.renamed({"X1": "[red]x[/red]"}).save(path)
    assert "[red]x[/red]" in run("show", path).stdout
    assert "[red]x[/red]" in run("show", path, "--tables").stdout


def test_show_model_without_latent_variables(run, tmp_path):
    path = tmp_path / "independent.json"
    Independence().fit(lf.datasets.load("hiv-tests")).network_.save(path)
    assert "negative: 0.446  positive: 0.554" in run("show", path, "--tables").stdout


def test_show_prints_maximum_likelihood_whatever_the_smoothing(run, tmp_path):
    data, shown = lf.datasets.load("role-conflict"), {}
    for smoothing in (0, 5, "auto"):
        path = tmp_path / f"{smoothing}.json"
        LatentClass(2, random_state=0, smoothing=smoothing).fit(data).network_.save(path)
        loaded = lf.load(path)
        is_same = np.array_equal(loaded.predictive.parameters, loaded.parameters)
        assert is_same == (smoothing == 0)
        shown[smoothing] = run("show", path, "--tables").stdout
    assert shown[0] == shown[5] == shown["auto"]


def test_score(run, model, learner):
    result = run("score", model, "role-conflict")
    assert "-504.4677" in result.stdout
    assert "2.7199, df 6 (p = 0.8431)" in result.stdout


def test_score_json_agrees_with_the_fit_table(run, model, learner):
    facts = json.loads(run("score", model, "role-conflict", "--json").stdout)
    assert list(facts) == [
        "file",
        "source",
        "rows",
        "total_weight",
        "missing_values",
        "impossible_rows",
        "log_likelihood",
        "mean_log_likelihood",
        "predictive_log_likelihood",
        "mean_predictive_log_likelihood",
        "n_parameters",
        "criteria",
        "goodness_of_fit",
        "per_row",
    ]
    row = next(learner.fit_table_.rows())
    assert facts["log_likelihood"] == pytest.approx(row["log_likelihood"])
    for name, value in facts["criteria"].items():
        assert value == pytest.approx(row[name])
    goodness = next(learner.goodness_.rows())
    assert facts["goodness_of_fit"] == pytest.approx(goodness)


@pytest.mark.parametrize("covariance", ["shared", "shared-spherical", "spherical", "full"])
def test_tied_variances_count_once_when_a_file_is_scored(run, tmp_path, covariance):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(90, 3)) + 4.0 * (np.arange(90) % 3 == 0)[:, None]
    data = lf.Dataset.from_table(rows, names=["x", "y", "z"])
    learner = lf.LatentClass(2, covariance=covariance, random_state=0).fit(data)
    learner.network_.save(tmp_path / "model.json")
    write_table({name: data.column(name).tolist() for name in data.names}, tmp_path / "rows.csv")
    again = lf.Predictor(lf.load(tmp_path / "model.json")).network_
    assert again.dimension == learner.n_parameters_
    assert (again.dimension < again.structure.dimension) == (covariance != "full")
    scored = run("score", tmp_path / "model.json", tmp_path / "rows.csv", "--json").stdout
    facts = json.loads(scored)
    assert facts["n_parameters"] == learner.n_parameters_
    assert facts["criteria"]["bic"] == pytest.approx(learner.bic_, abs=1e-6)


def test_score_per_row(run, model, learner, tmp_path):
    path = tmp_path / "rows.csv"
    run("score", model, "role-conflict", "--per-row", path)
    header, rows = read_csv(path.read_text())
    data = lf.datasets.load("role-conflict")
    reported = lf.Predictor(learner.network_.with_predictive(None))
    assert header == ["log_likelihood", "predictive_log_likelihood", "note"]
    assert {row[2] for row in rows} == {""}
    values = np.array([row[:2] for row in rows], dtype=float)
    np.testing.assert_allclose(values[:, 0], reported.score_samples(data))
    np.testing.assert_allclose(values[:, 1], learner.score_samples(data))


def test_score_with_missing_values(run, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("D,C,B,A,other\n+,-,?,+,1\n-,-,+,,2\n")
    assert re.search(r"G² .*df \d+ \(no", run("score", model, path).stdout)
    facts = json.loads(run("score", model, path, "--json").stdout)
    assert facts["goodness_of_fit"]["g_squared"] > 0
    assert facts["missing_values"] == 2


def test_score_with_too_many_cells_for_missing_values(run, tmp_path):
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(20)]
    tables = {variable.name: [0.5, 0.5] for variable in variables}
    Network.from_tables(variables, {}, tables).save(tmp_path / "m.json")
    rows = ["1" * 20, "0" * 19 + "?"]
    lines = [",".join(f"x{i}" for i in range(20)), *(",".join(row) for row in rows)]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    shown = run("score", tmp_path / "m.json", tmp_path / "new.csv").stdout
    assert "not computed: goodness of fit to a table with missing values" in shown


def test_score_by_bootstrap(run, model):
    shown = run("score", model, "role-conflict", "--bootstrap", 19, "--seed", 1, "--jobs", 2).stdout
    assert re.search(r"2\.7199, df 6 \(p = [01]\.\d+, by bootstrap\)", shown)
    assert "largest pair" in shown
    command = ("score", model, "role-conflict", "--bootstrap", 19, "--seed", 1, "--json")
    fit = json.loads(run(*command).stdout)["goodness_of_fit"]
    assert fit["p_by"] == "bootstrap"
    assert fit["bivariate"][0]["first"] == "A"
    assert 0 < fit["bivariate"][0]["p"] <= 1


def test_score_shows_both_degrees_of_freedom(run, tmp_path):
    table = lf.datasets.load("house-building")
    path = tmp_path / "three.json"
    LatentClass(3, random_state=0).fit(table).network_.save(path)
    result = run("score", path, "house-building")
    assert "15.9619, df 2 (p = 0.0003)" in result.stdout
    assert "2 by the effective dimension; by the number of parameters 1" in result.stdout
    assert "14 parameters, but a table of its columns can determine 13" in result.stderr


def test_impossible_rows_are_counted(run, tmp_path):
    network = Network.from_tables(
        [Variable.hidden("h", 2), Variable("a", ("0", "1")), Variable("b", ("0", "1"))],
        {"a": "h", "b": "h"},
        {"h": [0.5, 0.5], "a": [[1, 0], [0, 1]], "b": [[1, 0], [0, 1]]},
    )
    network.save(tmp_path / "m.json")
    path = tmp_path / "new.csv"
    path.write_text("a,b\n0,0\n0,1\n")
    result = run("score", tmp_path / "m.json", path, "--json")
    facts = json.loads(result.stdout)
    assert facts["impossible_rows"] == 1
    assert facts["log_likelihood"] is None
    assert "warning: 1 of 2 rows have probability zero" in result.stderr
    result = run("predict", tmp_path / "m.json", path)
    assert result.stdout == "h,h=1,h=2,note\n1,1.0,0.0,\n,,,impossible\n"
    assert "warning: 1 rows have probability zero" in result.stderr


def save_two_trees(path, second="L2"):
    """Save a model of two trees, in each of which both columns are copies of the latent one."""
    names = {"L1": "ab", second: "cd"}
    variables, edges, tables = [], {}, {}
    for latent, children in names.items():
        variables += [Variable.hidden(latent, 2), *(Variable(c, ("0", "1")) for c in children)]
        edges.update(dict.fromkeys(children, latent))
        tables.update({latent: [0.5, 0.5], **{c: [[1, 0], [0, 1]] for c in children}})
    Network.from_tables(variables, edges, tables).save(path)


def test_predict_leaves_fields_of_impossible_rows_empty_without_other_parameters(run, tmp_path):
    save_two_trees(tmp_path / "m.json")
    path = tmp_path / "new.csv"
    path.write_text("a,b,c,d\n0,0,0,1\n0,1,0,0\n0,0,1,1\n")
    _, rows = read_csv(run("predict", tmp_path / "m.json", path).stdout)
    empty = [*[""] * 6, "impossible"]
    assert rows == [empty, empty, ["1", "1.0", "0.0", "2", "0.0", "1.0", ""]]


def test_predict_refuses_columns_of_the_same_name(run, tmp_path):
    save_two_trees(tmp_path / "m.json", second="L1=1")
    path = tmp_path / "new.csv"
    path.write_text("a,b,c,d\n0,0,0,0\n")
    result = run("predict", tmp_path / "m.json", path, code=1)
    assert "two columns of the result would be called 'L1=1'" in result.stderr


def test_predict_to_the_screen(run, model, learner):
    header, rows = read_csv(run("predict", model, "role-conflict").stdout)
    assert header == ["class", "class=1", "class=2", "note"]
    data = lf.datasets.load("role-conflict")
    np.testing.assert_allclose(np.array(rows)[:, 1:3].astype(float), learner.predict_proba(data))
    assert [int(row[0]) - 1 for row in rows] == learner.predict(data).tolist()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_predict_to_a_file(run, model, tmp_path, suffix):
    path = tmp_path / f"classes{suffix}"
    result = run("predict", model, "role-conflict", "--out", path)
    assert result.stdout == ""
    assert f"16 rows written to {path}" in result.stderr
    read = lf.read(path, exclude=["note"])
    assert read.names == ("class", "class=1", "class=2")


def test_predict_one_row_with_an_unanswered_question(run, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("A,B,C,D\n+,-,,+\n")
    _, rows = read_csv(run("predict", model, path).stdout)
    expected = lf.load(model).query("class", {"A": "+", "B": "-", "D": "+"})
    np.testing.assert_allclose([float(value) for value in rows[0][1:3]], expected)


def test_unseen_states(run, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("A,B,C,D\n+,-,-,+\n+,-,never,+\n")
    result = run("predict", model, path)
    assert "warning: states that were not seen before count as missing" in result.stderr
    assert len(result.stdout.splitlines()) == 3
    result = run("predict", model, path, "--unseen", "error", code=1)
    assert "error: states that are not known: column 'C': 'never'" in result.stderr
    assert (
        "expected missing or error" in run("predict", model, path, "--unseen", "x", code=2).stderr
    )


def test_unseen_states_leave_other_columns_alone(run, tmp_path):
    variables = [Variable("a", ("01", "1")), Variable("b", ("NA", "x")), Variable("c", ("0", "1"))]
    tables = {"a": [0.125, 0.875], "b": [0.25, 0.75], "c": [0.5, 0.5]}
    Network.from_tables(variables, {}, tables).save(tmp_path / "m.json")
    path, out = tmp_path / "new.csv", tmp_path / "rows.csv"
    path.write_text("a,b,c\n01,NA,\n01,never,\n")
    run("score", tmp_path / "m.json", path, "--per-row", out)
    values = [float(row[0]) for row in read_csv(out.read_text())[1]]
    np.testing.assert_allclose(values, np.log([0.125 * 0.25, 0.125]))


def test_missing_columns_are_named(run, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("A,B,c,D\n+,-,-,+\n")
    assert "lacks the column 'C'" in run("predict", model, path, code=1).stderr
    assert "lacks the column 'C'" in run("score", model, path, code=1).stderr


def test_nothing_to_predict(run, tmp_path):
    path = tmp_path / "independent.json"
    Independence().fit(lf.datasets.load("hiv-tests")).network_.save(path)
    assert "has no latent variable" in run("predict", path, "hiv-tests", code=1).stderr


def test_sample(run, model, tmp_path):
    text = run("sample", model, 5, "--seed", 3).stdout
    header, rows = read_csv(text)
    assert header == ["A", "B", "C", "D"]
    assert len(rows) == 5
    assert run("sample", model, 5, "--seed", 3).stdout == text
    assert run("sample", model, 5, "--seed", 4).stdout != text
    assert read_csv(run("sample", model, 2, "--latents").stdout)[0][0] == "class"
    path = tmp_path / "rows.parquet"
    run("sample", model, 7, "--out", path)
    assert lf.read(path).n_rows == 7


def test_sample_needs_a_positive_number(run, model):
    assert "Invalid value for 'N'" in run("sample", model, 0, code=2).stderr


def test_score_of_sampled_rows(run, model, tmp_path):
    path = tmp_path / "rows.csv"
    run("sample", model, 50, "--out", path)
    facts = json.loads(run("score", model, path, "--json").stdout)
    assert facts["rows"] == 50


@pytest.mark.parametrize("command", ["show", "score", "predict", "sample"])
def test_wrong_models(run, tmp_path, command):
    rest = {"show": [], "sample": ["3"]}.get(command, ["hiv-tests"])
    path = tmp_path / "model.json"
    result = run(command, path, *rest, code=1)
    assert f"error: cannot open {path}: No such file or directory" in result.stderr
    path.write_text("a,b\n1,2\n")
    assert "expected a network as JSON text" in run(command, path, *rest, code=1).stderr
    path.write_text('{"format": "other", "version": 1}')
    assert "format: expected 'latentforest-network'" in run(command, path, *rest, code=1).stderr


def test_damaged_model(run, model, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(model.read_text()[:-40])
    assert "expected a network as JSON text" in run("show", path, code=1).stderr


@pytest.mark.parametrize("command", ["score", "predict", "sample"])
def test_table_suffix_is_checked(run, model, tmp_path, command):
    option = "--per-row" if command == "score" else "--out"
    rest = "3" if command == "sample" else "role-conflict"
    result = run(command, model, rest, option, tmp_path / "rows.xls", code=2)
    assert "must end in" in result.stderr


def test_continuous_columns_from_learning_to_sampling(run, survey, tmp_path):
    path = tmp_path / "profile.json"
    options = ("--exclude", "times,fold", "--states", "2")
    shown = run("learn", survey, *options, "--out", path).stdout
    assert "height (continuous)" in shown
    assert "mean and standard deviation of continuous columns in each state of class" in shown
    assert re.search(r"height +mean +\d+\.\d", shown)
    assert re.search(r" sd +\d+\.\d", run("show", path, "--tables").stdout)
    facts = json.loads(run("score", path, survey, "--json").stdout)
    assert facts["goodness_of_fit"] is None
    assert "not computed: the table has continuous columns" in run("score", path, survey).stdout
    lines = run("predict", path, survey).stdout.splitlines()
    assert lines[0] == "class,class=1,class=2,note"
    assert len(lines) == 41
    assert run("sample", path, 3).stdout.startswith("a,b,c,height\n")


def test_show_prints_continuous_columns_without_a_class(run, survey, tmp_path):
    path = tmp_path / "alone.json"
    run("learn", survey, "--learner", "independence", "--quiet", "--out", path)
    assert re.search(r"height   mean: 2\.78\d+  sd: 1\.6\d+", run("show", path, "--tables").stdout)
