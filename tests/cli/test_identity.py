"""Rows of results are known again: --id, --keep, and notes on odd rows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import latentforest as lf

WEIRD = [["id", "A", "B", "C", "D", "text"]]
WEIRD += [["007", "+", "+", "-", "-", "a, b"], ["08", "+", "new", "-", "+", ""]]
WEIRD += [["1e3", "-", "-", "+", "NA", " x"]]


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(WEIRD)
    return path


def read_rows(text):
    return list(csv.DictReader(text.splitlines()))


def test_results_have_the_identifiers_as_they_are(run, model, table):
    rows = read_rows(run("predict", model, table, "--id", "id").stdout)
    assert list(rows[0]) == ["id", "class", "class=1", "class=2", "note"]
    assert [row["id"] for row in rows] == ["007", "08", "1e3"]
    assert [row["note"] for row in rows] == ["", "unseen", ""]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--keep", "all"], ["id", "A", "B", "C", "D", "text"]),
        (["--keep", "D,text"], ["D", "text"]),
        (["--id", "text", "--id", "id", "--keep", "A,id"], ["text", "id", "A"]),
        (["--id", "text,id", "--keep", "all"], ["text", "id", "A", "B", "C", "D"]),
    ],
)
def test_kept_columns_stand_before_the_results(run, model, table, tmp_path, options, expected):
    out = tmp_path / "classes.csv"
    run("predict", model, table, *options, "--out", out)
    rows = read_rows(out.read_text())
    assert list(rows[0])[: len(expected)] == expected
    header, *lines = WEIRD
    for name in expected:
        assert [row[name] for row in rows] == [line[header.index(name)] for line in lines]


def test_rows_of_scores_have_identifiers_and_notes(run, model, table, tmp_path):
    out = tmp_path / "rows.csv"
    run("score", model, table, "--per-row", out, "--id", "id", "--keep", "text")
    rows = read_rows(out.read_text())
    assert [row["id"] for row in rows] == ["007", "08", "1e3"]
    assert list(rows[0])[:3] == ["id", "text", "log_likelihood"]
    assert [row["note"] for row in rows] == ["", "unseen", ""]
    assert "add it" in run("score", model, table, "--id", "id", code=2).stderr


def test_impossible_rows_are_noted_and_have_a_class(run, tmp_path):
    path, new, out = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "model.json"
    path.write_text("a,b,c\n" + "x,u,1\n" * 9 + "y,v,2\n" * 9)
    new.write_text("a,b,c\nx,v,1\nx,u,1\n")
    run("learn", path, "--states", "2", "--out", out, "--quiet")
    rows = read_rows(run("predict", out, new).stdout)
    assert [row["note"] for row in rows] == ["impossible", ""]
    assert all(row["class"] and row["class=1"] for row in rows)


@pytest.mark.parametrize("command", [("predict", "--out"), ("score", "--per-row")])
def test_files_of_both_commands_mark_the_same_rows(run, tmp_path, command):
    path, new = tmp_path / "old.csv", tmp_path / "new.csv"
    model, out = tmp_path / "model.json", tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "x,u,1\n" * 9 + "y,v,2\n" * 9)
    new.write_text("a,b,c\nx,u,1\nx,v,1\nz,u,1\nx,v,3\n")
    run("learn", path, "--states", "2", "--out", model, "--quiet")
    name, option = command
    run(name, model, new, option, out)
    notes = [row["note"] for row in read_rows(out.read_text())]
    assert notes == ["", "impossible", "unseen", "unseen, impossible"]


def test_a_name_that_is_in_both_is_refused(run, model, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("class,A,B,C,D\nmine,+,+,+,+\n")
    result = run("predict", model, path, "--keep", "all", code=1)
    assert "the table has a column 'class', and so has the result; leave it out" in result.stderr
    result = run("predict", model, path, "--id", "clas", code=1)
    assert "there is no column 'clas'; did you mean 'class'" in result.stderr


def test_built_in_tables_have_columns_too(run, model):
    rows = read_rows(run("predict", model, "role-conflict", "--id", "A").stdout)
    assert len(rows) == 16
    assert rows[0]["A"] in "+-"
    assert (
        "there is no column" in run("predict", model, "role-conflict", "--id", "E", code=1).stderr
    )


def test_frames_keep_their_index():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(lf.datasets.load("role-conflict").to_columns())
    frame.index = pandas.Index([f"p{i}" for i in range(len(frame))], name="person")
    learner = lf.LatentClass(2, random_state=0).fit(frame)
    table = learner.predict_table(frame)
    assert table.columns == ("person", "class", "class=1", "class=2", "note")
    assert table["person"][:2] == ["p0", "p1"]
    again = table.to_pandas()
    assert again.index.equals(frame.index)
    assert again["class"].tolist() == [str(1 + code) for code in learner.predict(frame)]
    assert list(again["class=1"]) == learner.predict_proba(frame)[:, 0].tolist()
    moved = learner.set_output(transform="pandas").transform(frame)
    assert moved.index.equals(frame.index)
    assert list(moved.columns) == ["class=1", "class=2"]
    arrays = lf.Predictor(learner.network_).predict_table(frame.to_numpy())
    assert arrays["row"] == list(range(16))
    assert arrays.to_pandas()["class"].tolist() == again["class"].tolist()


def test_learners_are_saved_and_frames_scored(tmp_path):
    pandas = pytest.importorskip("pandas")
    data = lf.datasets.load("role-conflict")
    model, path = lf.LatentClass(2, random_state=0), tmp_path / "model.json"
    with pytest.raises(lf.errors.ModelError, match="this LatentClass has no network yet; fit it"):
        lf.save(model, path)
    lf.save(model.fit(data), path)
    assert lf.load(path) == model.network_
    with pytest.raises(lf.errors.ModelError, match="expected a Network or a fitted learner to sav"):
        lf.save("model", path)
    rows = data.with_weights(None)
    frame = pandas.DataFrame(rows.to_columns())
    network = model.network_
    assert lf.log_score(network, frame) == lf.log_score(network, rows)
