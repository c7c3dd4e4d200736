import sys

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from latentforest.data import read
from latentforest.errors import (
    DataWarning,
    FileFormatError,
    MissingExtraError,
    ReadingWarning,
)

FRAME = pd.DataFrame(
    {
        "smokes": [1, 2, 9, 1, np.nan, 2],
        "sex": ["m", "f", "x", "", "m", "f"],
        "scale": [1.0, 4, 7, 3, 2, 7],
        "income": [100.5, 200.0, -1.0, 350.25, 0, 80],
    }
)
LABELS = {
    "smokes": {2: "no", 1: "yes", 3: "maybe", 9: "refused"},
    "sex": {"m": "male", "f": "female", "x": "unknown"},
    "scale": {1: "disagree", 7: "agree"},
    "income": {-1: "refused"},
}


@pytest.fixture
def spss(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(
        FRAME,
        str(path),
        column_labels={"smokes": "Do you smoke?"},
        variable_value_labels=LABELS,
        missing_ranges={"smokes": [9], "sex": ["x"], "income": [{"lo": -5, "hi": -1}]},
    )
    return path


def test_labels_name_the_states_in_the_order_of_their_codes(spss):
    data = read(spss)
    assert data.variable("smokes").states == ("yes", "no", "maybe")
    assert data.column("smokes").tolist() == [0, 1, -1, 0, -1, 1]
    assert data.variable("sex").states == ("female", "male")
    assert data.column("sex").tolist() == [1, 0, -1, -1, 1, 0]


def test_a_scale_with_labelled_ends_is_categorical(spss):
    data = read(spss)
    assert data.variable("scale").states == ("disagree", "2", "3", "4", "agree")
    assert data.column("scale").tolist() == [0, 3, 4, 2, 1, 4]


def test_amounts_with_labelled_codes_stay_continuous(spss):
    values = read(spss).column("income")
    np.testing.assert_array_equal(values, [100.5, 200, np.nan, 350.25, 0, 80])


def test_labels_of_columns_are_carried_along(spss):
    data = read(spss)
    assert data.labels == {"smokes": "Do you smoke?"}
    assert data.select(["scale", "smokes"]).take([0, 1]).merged()[0].labels == data.labels
    assert data.with_weights(None).with_seen_states().labels == data.labels
    assert data.select(["scale"]).labels == {}
    assert read(spss, like=data.variables).labels == data.labels


def test_without_labels_codes_are_values(spss):
    data = read(spss, labels=False)
    assert data.variable("smokes").states == ("1", "2")
    assert data.variable("sex").states == ("f", "m")
    assert data.variable("scale").states == ("1", "2", "3", "4", "7")


def test_options_are_those_of_every_source(spss):
    data = read(spss, kinds={"scale": "continuous"}, missing=["2", ""], exclude=["income"])
    assert data.column("scale").tolist()[:2] == [1, 4]
    assert data.variable("smokes").states == ("yes", "maybe")  # code 2 means "no value"
    assert read(spss, missing=["no"]).variable("smokes").states == ("yes", "maybe")
    assert read(spss, states={"smokes": ["no", "yes"]}).column("smokes").tolist()[:2] == [1, 0]
    assert read(spss, weights="scale").total_weight == 24
    assert read(spss, columns=["sex"]).names == ("sex",)


def test_codes_among_amounts_that_are_not_declared_missing(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(FRAME, str(path), variable_value_labels=LABELS)
    with pytest.warns(ReadingWarning, match=r"'income' is continuous.*-1 'refused'.*missing="):
        assert read(path).column("income")[2] == -1
    assert np.isnan(read(path, missing=["-1", ""]).column("income")[2])


def test_one_label_for_two_codes(tmp_path):
    path = tmp_path / "t.sav"
    frame = pd.DataFrame({"a": [1.0, 2, 3]})
    labels = {"a": {1: "other", 2: "b", 3: "other"}}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels)
    assert read(path).variable("a").states == ("other (1)", "b", "other (3)")


@pytest.mark.parametrize("label", [None, "a label of some length"])
def test_the_weight_of_an_spss_file_is_named(tmp_path, label):
    path = tmp_path / "t.sav"
    frame = pd.DataFrame(
        {"text": ["x", "a much longer text"], "weighting": [1.0, 2.0], "a": [1, 2]}
    )
    pyreadstat.write_sav(frame, str(path), column_labels={"text": label} if label else None)
    content = bytearray(path.read_bytes())
    content[76:80] = (4).to_bytes(4, "little")  # the text takes three elements of eight bytes
    path.write_bytes(content)
    with pytest.warns(ReadingWarning, match=r"weighted by 'weighting'.*weights='weighting'"):
        read(path)
    assert read(path, exclude=["weighting"]).n_columns == 2
    assert read(path, weights="weighting").total_weight == 3


def test_stata_with_extended_missing_values(tmp_path):
    path = tmp_path / "t.dta"
    frame = FRAME.assign(smokes=pd.Series([1, 2, "a", 1, np.nan, 2], dtype=object))
    labels = {"smokes": {1: "yes", 2: "no", "a": "refused"}, "scale": LABELS["scale"]}
    pyreadstat.write_dta(
        frame,
        str(path),
        column_labels={"scale": "How much?"},
        variable_value_labels=labels,
        missing_user_values={"smokes": ["a"]},
    )
    data = read(path)
    assert data.variable("smokes").states == ("yes", "no")
    assert data.column("smokes").tolist() == [0, 1, -1, 0, -1, 1]
    assert data.variable("scale").states == ("disagree", "2", "3", "4", "agree")
    assert data.labels == {"scale": "How much?"}


def test_sas_transport(tmp_path):
    path = tmp_path / "t.xpt"
    pyreadstat.write_xport(FRAME, str(path), column_labels={"sex": "Sex"})
    data = read(path)
    assert data.variable("smokes").states == ("1", "2", "9")
    assert data.column("income").tolist() == FRAME["income"].tolist()
    assert data.labels == {"sex": "Sex"}


@pytest.mark.parametrize("name", ["t.sav", "t.dta", "t.xpt", "t.sas7bdat", "t.por"])
def test_files_of_another_format(tmp_path, name):
    (tmp_path / name).write_bytes(b"a,b\n1,2\n" * 100)
    with pytest.raises(FileFormatError, match=r"cannot be read as an? (SPSS|Stata|SAS) file"):
        read(tmp_path / name)


def test_portable_and_compressed_spss(spss, tmp_path):
    import gzip

    path = tmp_path / "t.por"
    pyreadstat.write_por(FRAME.rename(columns=str.upper), str(path))
    assert read(path).n_rows == 6
    packed = tmp_path / "t.sav.gz"
    packed.write_bytes(gzip.compress(spss.read_bytes()))
    assert read(packed).variables == read(spss).variables


def test_dates(tmp_path):
    path = tmp_path / "t.sav"
    frame = pd.DataFrame({"d": pd.to_datetime(["2020-01-01", "2021-01-01"]), "a": [1.0, 2.0]})
    pyreadstat.write_sav(frame, str(path))
    with pytest.warns(DataWarning, match="dates or times are left out: 'd'"):
        assert read(path).names == ("a",)


def test_without_pyreadstat_the_message_says_what_to_install(spss, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'latentforest\[stats\]'"):
        read(spss)
