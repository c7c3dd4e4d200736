"""``--format``: the tables of commands as text for other programs."""

import csv
import io
import json

import pytest

from latentforest import ChowLiu, datasets
from latentforest.formats import save


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_show_prints_profiles(run, model):
    rows = read(run("show", model, "--format", "csv").stdout)
    assert (rows[0]["column"], rows[0]["value"]) == ("class", "size")


def test_show_prints_edges_without_latent_variables(run, tmp_path):
    save(ChowLiu().fit(datasets.load("role-conflict")), tmp_path / "tree.json")
    assert list(read(run("show", tmp_path / "tree.json", "--format", "csv").stdout)[0]) == [
        "parent",
        "child",
        "bits",
        "share",
    ]


def test_score_prints_all_numbers(run, model):
    rows = read(run("score", model, "role-conflict", "--format", "csv").stdout)
    measures = {row["measure"]: row["value"] for row in rows}
    assert measures["n_parameters"] == "9"
    assert {"bic", "g_squared", "log_likelihood"} <= set(measures)


def test_learn_and_fit_print_what_was_found(run):
    shown = run("learn", "hiv-tests", "--states", "1:2", "--format", "json", "--quiet").stdout
    assert [row["n_states"] for row in json.loads(shown)["fit"]] == [1, 2]
    shown = run("fit", "hiv-tests", "X[2] -> A, B, C, D", "--format", "markdown").stdout
    assert shown.startswith("| column")


def test_inspect_and_datasets(run, survey):
    rows = read(run("inspect", survey, "--format", "csv").stdout)
    assert rows[0]["column"] == "a"
    assert "hiv-tests" in run("datasets", "--format", "markdown").stdout
    assert len(read(run("datasets", "hiv-tests", "--format", "csv").stdout)) == 4


def test_predict_writes_a_workbook(run, model, tmp_path):
    run("predict", model, "role-conflict", "--out", tmp_path / "p.xlsx")
    book = pytest.importorskip("python_calamine").load_workbook(tmp_path / "p.xlsx")
    assert book.get_sheet_by_index(0).to_python()[0][0] == "class"


@pytest.mark.parametrize("command", ["show", "score", "learn"])
def test_a_format_that_is_not_known(run, model, command):
    given = {"show": (model,), "score": (model, "role-conflict"), "learn": ("hiv-tests",)}
    result = run(command, *given[command], "--format", "excel", code=2)
    assert "expected one of csv, tsv, latex, markdown, html, json" in result.stderr
