"""The commands ``report`` and ``learn --report``."""

import json

import pytest

import latentforest as lf


def test_a_page_and_its_data(run, model, tmp_path):
    page, content = tmp_path / "report.html", tmp_path / "content.json"
    result = run(
        "report", model, "role-conflict", "--out", page, "--json-out", content,
        "--title", "Roles", "--noun", "people",
    )  # fmt: skip
    assert "The report was written to" in result.stderr
    assert result.stdout == ""
    found = json.loads(content.read_text(encoding="utf-8"))
    assert (found["title"], found["noun"]) == ("Roles", "people")
    assert found["table"]["is_training"] is True
    assert found["table"]["source"] == "role-conflict"
    assert "Roles" in page.read_text(encoding="utf-8")


def test_without_a_table(run, model, tmp_path):
    out = tmp_path / "content.json"
    run("report", model, "--json-out", out)
    assert json.loads(out.read_text(encoding="utf-8"))["table"] is None


def test_json(run, model, tmp_path):
    page = tmp_path / "report.html"
    found = json.loads(run("report", model, "role-conflict", "--out", page, "--json").stdout)
    assert found["report"] == str(page)
    assert found["source"] == "role-conflict"
    assert isinstance(found["warnings"], list)


def test_nothing_is_overwritten_unasked(run, model, tmp_path):
    page = tmp_path / "report.html"
    page.write_text("mine")
    assert "--force replaces it" in run("report", model, "--out", page, code=2).output
    assert page.read_text() == "mine"
    run("report", model, "--out", page, "--force")
    assert page.read_text() != "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing would be written"),
        (("--out", "page.pdf"), "must end in .html"),
        (("--out", "page.html", "--compare"), "needs the table"),
        (("--out", "page.html", "--id", "person"), "needs the table"),
        (("--json-out", "content.txt"), "must end in .json"),
    ],
)
def test_wrong_usage(run, model, arguments, words):
    assert words in run("report", model, *arguments, code=2).output


def test_the_model_is_not_overwritten(run, model, tmp_path):
    text = model.read_text()
    output = run("report", model, "--json-out", model, "--force", code=2).output
    assert "is the same file" in output
    assert model.read_text() == text


def test_names_and_rows(run, survey, tmp_path):
    saved, out = tmp_path / "model.json", tmp_path / "content.json"
    table = tmp_path / "named.csv"
    lines = survey.read_text().splitlines()
    named = [f"{'who' if i == 0 else f'p{i}'},{line}" for i, line in enumerate(lines)]
    table.write_text("\n".join(named) + "\n")
    run("learn", table, "--exclude", "who,times,fold,height", "--out", saved, "-q")
    lf.Labels({"class": "habits"}).save(tmp_path / "names.json")
    run(
        "report", saved, table, "--json-out", out, "--names", tmp_path / "names.json", "--id", "who"
    )
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["rows"]["ids"][:2] == ["p1", "p2"]
    assert found["variables"][0]["label"] == "habits"
    assert found["table"]["is_training"] is True
    assert found["reproduce"]["command"].startswith("latentforest learn")


def test_learn_writes_a_report_and_keeps_the_comparisons(run, tmp_path):
    saved, page = tmp_path / "model.json", tmp_path / "report.html"
    run("learn", "hiv-tests", "--states", "2", "--out", saved, "--report", page, "-q")
    names = [row["name"] for row in lf.load(saved).record.comparisons]
    assert "Independence" in names
    assert "Independence" in page.read_text(encoding="utf-8")


def test_learn_refuses_a_report_that_is_there(run, tmp_path):
    page = tmp_path / "report.html"
    page.write_text("mine")
    output = run("learn", "hiv-tests", "--report", page, code=2).output
    assert "--report" in output
    assert page.read_text() == "mine"


def test_compare(run, model, tmp_path):
    text, out = model.read_text(), tmp_path / "content.json"
    run("report", model, "role-conflict", "--compare", "--json-out", out, "-q")
    found = json.loads(out.read_text(encoding="utf-8"))
    assert len(found["fit"]["models"]) > 1
    assert model.read_text() == text
