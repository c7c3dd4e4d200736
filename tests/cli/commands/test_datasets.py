"""The command ``datasets``."""

from __future__ import annotations

import json

import latentforest as lf


def test_list(run):
    result = run("datasets")
    for name in lf.datasets.names():
        assert name in result.stdout
    assert "Hagenaars" in result.stdout


def test_list_as_json(run):
    facts = json.loads(run("datasets", "--json").stdout)
    assert [table["name"] for table in facts["datasets"]] == list(lf.datasets.names())
    assert set(facts["datasets"][0]) == {
        "name",
        "title",
        "observations",
        "distinct_rows",
        "columns",
        "source",
    }


def test_describe_one(run):
    result = run("datasets", "hiv-tests")
    assert "428 observations, 9 distinct rows" in result.stdout
    assert json.loads(run("datasets", "hiv-tests", "--json").stdout)["observations"] == 428


def test_written_table_is_read_back(run, tmp_path):
    path = tmp_path / "table.csv"
    result = run("datasets", "hiv-tests", "--out", path)
    assert "read it with --weights weight" in result.stderr
    data, expected = lf.read(path, weights="weight"), lf.datasets.load("hiv-tests")
    assert data.variables == expected.variables
    assert data.weights.tolist() == expected.weights.tolist()


def test_unknown_name(run):
    assert "there is no table 'hiv'; the tables are" in run("datasets", "hiv", code=1).stderr


def test_out_needs_a_name(run, tmp_path):
    result = run("datasets", "--out", tmp_path / "table.csv", code=2)
    assert "say which table to write" in result.stderr
