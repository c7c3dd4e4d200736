"""What the command line adds to the record of a model."""

from __future__ import annotations

import json
import warnings

import pytest

import latentforest as lf
from latentforest.errors import FileFormatWarning


def drop_seconds(value):
    """The same document without the times that things took."""
    if isinstance(value, dict):
        return {key: drop_seconds(each) for key, each in value.items() if key != "seconds"}
    return list(map(drop_seconds, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("command", [["learn"], ["fit", "X[2] -> a, b, c"]])
def test_source_and_command(run, survey, tmp_path, command):
    out = tmp_path / "my model.json"
    run(command[0], survey, *command[1:], "--exclude", "height,times,fold", "--out", out)
    record = lf.load(out).record
    assert record.source == "survey.csv"
    assert record.command.startswith(f"latentforest {command[0]} {survey}")
    assert record.command.endswith(f"'{out}'")
    assert record.seed == 0
    assert record.table["hash"] == lf.read(survey, columns=["a", "b", "c"]).hash


def test_files_of_the_same_run_differ_in_seconds_only(run, survey, tmp_path):
    out, found = tmp_path / "model.json", []
    for jobs in ("1", "1"):
        run("learn", survey, "--learner", "east", "--jobs", jobs, "--out", out, "--force")
        found.append(drop_seconds(json.loads(out.read_text())))
    assert found[0] == found[1]


def test_other_formats_speak_of_labels_and_not_of_the_record(tmp_path):
    model = lf.LatentClass(2, random_state=0, smoothing=0).fit(lf.datasets.load("hiv-tests"))
    network = model.network_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network.save(tmp_path / "plain.bif")
    with pytest.warns(FileFormatWarning, match=r"does not keep the labels; a \.json file does"):
        network.with_labels(lf.Labels({"A": "first test"})).save(tmp_path / "labelled.bif")
