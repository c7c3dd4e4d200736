"""Files of many formats on the command line."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from scipy import sparse


@pytest.fixture
def survey(tmp_path):
    """Two CSV files of a table with two classes, the second with its columns turned round."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 200)
    items = (rng.random((200, 4)) < np.where(hidden, 0.9, 0.1)[:, None]).astype(int)
    frame = pd.DataFrame(items + 1, columns=list("abcd"))
    frame[:120].to_csv(tmp_path / "one.csv", index=False)
    frame[120:][list("dcba")].to_csv(tmp_path / "two.csv", index=False)
    frame.to_csv(tmp_path / "all.csv", index=False)
    return tmp_path, frame


LEARN = ["--states", "2", "--starts", "2", "--json"]


def learned(text):
    return json.loads(text)["log_likelihood"]


def test_several_files_and_standard_input(survey, run):
    folder, _ = survey
    whole = learned(run("learn", folder / "all.csv", *LEARN).stdout)
    parts = run("learn", folder / "one.csv", folder / "two.csv", *LEARN)
    assert learned(parts.stdout) == pytest.approx(whole)
    command = [sys.executable, "-m", "latentforest", "learn", "-", *LEARN]
    content = (folder / "all.csv").read_bytes()
    piped = subprocess.run(command, input=content, capture_output=True, check=True)
    assert learned(piped.stdout) == pytest.approx(whole)


def test_predictions_are_in_the_order_of_the_files(survey, run):
    folder, _ = survey
    model = folder / "m.json"
    run("learn", folder / "all.csv", *LEARN, "--out", model)
    whole = run("predict", model, folder / "all.csv").stdout
    assert run("predict", model, folder / "one.csv", folder / "two.csv").stdout == whole
    parts = run("score", model, folder / "one.csv", folder / "two.csv", "--json").stdout
    assert json.loads(parts)["rows"] == 200
    structure = "X[2] -> a, b, c, d"
    fitted = run("fit", folder / "one.csv", folder / "two.csv", structure, "--json")
    assert fitted.exit_code == 0


def test_sheets_labels_and_vocabularies(survey, run):
    folder, frame = survey
    with pd.ExcelWriter(folder / "t.xlsx", engine="xlsxwriter") as writer:
        frame[:5].to_excel(writer, sheet_name="notes", index=False)
        frame.to_excel(writer, sheet_name="data", index=False)
    whole = learned(run("learn", folder / "all.csv", *LEARN).stdout)
    assert learned(run("learn", folder / "t.xlsx", "--sheet", "data", *LEARN).stdout) == whole
    assert learned(run("learn", folder / "t.xlsx", "--sheet", "2", *LEARN).stdout) == whole
    told = run("learn", folder / "t.xlsx", *LEARN)
    assert "pass --sheet for another ('data')" in told.stderr
    labels = {name: {1: "no", 2: "yes"} for name in "abcd"}
    pyreadstat.write_sav(frame, str(folder / "t.sav"), variable_value_labels=labels)
    assert '"yes"' in run("learn", folder / "t.sav", *LEARN).stdout
    assert '"yes"' not in run("learn", folder / "t.sav", "--no-labels", *LEARN).stdout
    sparse.save_npz(folder / "t.npz", sparse.csr_array(frame.to_numpy() - 1))
    (folder / "words.txt").write_text("cat\ndog\nsun\nmoon\n")
    named = run("learn", folder / "t.npz", "--vocabulary", folder / "words.txt", *LEARN)
    assert '"moon"' in named.stdout


def test_row_names_are_told(survey, run):
    folder, frame = survey
    frame.to_csv(folder / "indexed.csv")
    result = run("learn", folder / "indexed.csv", *LEARN)
    assert "taken for row names and not for data" in result.stderr
    assert learned(result.stdout) == learned(run("learn", folder / "all.csv", *LEARN).stdout)
