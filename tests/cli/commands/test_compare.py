"""``latentforest compare``: what it prints, writes and refuses."""

import json

import pytest

from latentforest import ChowLiu, LatentClass, datasets
from latentforest.formats import save

DATA = datasets.load("role-conflict")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    save(LatentClass(2, random_state=0).fit(DATA), folder / "classes.json")
    save(ChowLiu().fit(DATA).network_.with_predictive(None), folder / "tree.bif")
    return folder / "classes.json", folder / "tree.bif"


def test_it_says_which_differences_matter(run, models):
    shown = run("compare", *models, "--data", "role-conflict").stdout
    assert "'classes.json'" in shown.splitlines()[0]
    assert "(--fitted)" in shown
    assert "structural Hamming distance 7" in shown


def test_rows_that_were_fitted(run, models):
    shown = run("compare", *models, "--data", "role-conflict", "--fitted").stdout
    assert "Vuong's correction" in shown


def test_rows_are_known_by_the_record_of_a_model_file(run, tmp_path):
    paths = tmp_path / "two.json", tmp_path / "tree.json"
    run("learn", "role-conflict", "--states", 2, "--out", paths[0])
    run("learn", "role-conflict", "--learner", "cl", "--out", paths[1])
    shown = run("compare", *paths, "--data", "role-conflict").stdout
    assert "as the models were fitted to these rows, which their records say" in shown
    facts = json.loads(run("compare", *paths, "--data", "role-conflict", "--json").stdout)
    assert [row["fitted"] for row in facts["models"]] == [True, True]


def test_json(run, models):
    facts = json.loads(run("compare", *models, "--data", "role-conflict", "--json").stdout)
    assert facts["source"] == "role-conflict"
    assert [row["n_parameters"] for row in facts["models"]] == [9, 7]
    assert facts["pairs"][0]["first"] == "classes.json"


def test_formats_and_files(run, models, tmp_path):
    arguments = ("compare", *models, "--data", "role-conflict")
    assert run(*arguments, "--format", "csv").stdout.startswith("model,log_likelihood")
    assert "| model " in run(*arguments, "--format", "markdown").stdout
    run(*arguments, "--out", tmp_path / "r.html")
    assert "<!doctype html>" in (tmp_path / "r.html").read_text()
    assert "--force" in run(*arguments, "--out", tmp_path / "r.html", code=2).stderr


def test_files_of_one_name_are_told_apart(run, models, tmp_path):
    save(ChowLiu().fit(DATA), tmp_path / "classes.json")
    other = tmp_path / "classes.json"
    facts = json.loads(run("compare", models[0], other, "--data", "role-conflict", "--json").stdout)
    assert [row["model"] for row in facts["models"]] == [str(models[0]), str(other)]


def test_the_same_file_twice(run, models):
    shown = run("compare", models[0], models[0], "--data", "role-conflict").stdout
    assert "give every row the same probability" in shown


def test_a_table_file_with_weights(run, models, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("A,B,C,D,n\n+,+,-,-,3\n-,-,-,-,1\n")
    facts = json.loads(run("compare", *models, "--data", path, "--weights", "n", "--json").stdout)
    assert facts["pairs"][0]["n_columns"] == 4


@pytest.mark.parametrize(
    ("further", "message"),
    [
        (("--format", "spss"), "expected one of csv, tsv, latex"),
        (("--format", "csv", "--json"), "choose one of --format and --json"),
        (("--out", "r.docx"), "must end in .csv"),
        (("--picture", "r.txt"), "must end in .svg"),
        (("--data", "-"), "standard input"),
    ],
)
def test_wrong_usage(run, models, further, message):
    assert message in run("compare", *models, "--data", "role-conflict", *further, code=2).stderr


def test_one_model_is_too_few(run, models):
    assert "at least two" in run("compare", models[0], "--data", "role-conflict", code=2).stderr


def test_a_table_without_the_columns(run, models):
    assert "'A'" in run("compare", *models, "--data", "house-building", code=1).stderr
