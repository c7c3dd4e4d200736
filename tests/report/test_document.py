"""A report as a value, and its files."""

import json
from types import ModuleType

import pytest

import latentforest as lf
from latentforest.errors import ParameterError
from latentforest.report.document import Report
from latentforest.report.sections.comparisons import compare_with, fit_comparisons

DATA = lf.datasets.load("hiv-tests")


@pytest.fixture(scope="module")
def model():
    return lf.LatentClass(2, random_state=0).fit(DATA)


def test_the_package_can_be_called(model):
    import latentforest.report.content

    assert isinstance(latentforest.report, ModuleType)
    assert isinstance(lf.report(model, DATA), Report)


def test_pages_and_data_are_written(model, tmp_path):
    made = lf.report(model, DATA, tmp_path / "report.html", title="Tests")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page == made.html
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    made.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == made.content
    assert repr(made).startswith("Report('Tests', ")


def test_other_files_are_refused(model, tmp_path):
    with pytest.raises(ParameterError, match=r"must end in \.html or \.json"):
        lf.report(model, DATA, tmp_path / "report.pdf")


def test_the_same_page_every_time(model):
    assert lf.report(model, DATA).html == lf.report(model, DATA).html


def test_comparison_models(model):
    told = []
    content = lf.report(model, DATA, compare=20, progress=told.append).content
    names = {each["name"] for each in content["fit"]["models"]}
    assert {"Independence", "Chow–Liu tree", "Latent class model, LatentClass"} <= names
    assert any("for comparison" in text for text in told)
    plain = next(each for each in content["fit"]["models"] if each["name"] == "Independence")
    independent = lf.Independence().fit(DATA)
    assert plain["bic"] == pytest.approx(independent.bic_, rel=1e-8)
    elbow = content["fit"]["elbow"]
    assert elbow["n_states"][:2] == [1, 2]
    assert elbow["bic"][0] == pytest.approx(independent.bic_, rel=1e-8)
    assert elbow["bic"][1] == pytest.approx(model.bic_, rel=1e-8)


def test_a_class_model_is_fitted_again(model):
    rows = compare_with(model.network_, DATA, 20.0)
    again = [row for row in rows if row.get("is_again")]
    assert len(again) == 5
    assert again[0]["n_parameters"] == model.n_parameters_
    assert {row["n_states"] for row in rows if row["name"] == "Latent class model"} == {1, 3, 4}


def test_no_time_means_no_models():
    assert fit_comparisons(DATA, 0.0) == []


def test_classes_end_when_more_do_not_help():
    rows = fit_comparisons(DATA, 60.0)
    classes = [row for row in rows if row["n_states"] is not None]
    best = max(classes, key=lambda row: row["bic"])["n_states"]
    assert classes[-1]["n_states"] == best + 2


def test_continuous_columns():
    data = lf.Dataset.from_table(
        {"x": [0.5, 1.5, 2.25, 8.5, 9.5, 9.75] * 5, "y": list("aabbcc") * 5}
    )
    names = [row["name"] for row in fit_comparisons(data, 60.0)]
    assert "Latent tree, BridgedIslands" not in names
    assert names[0] == "Independence"


@pytest.mark.parametrize("compare", [0, -1.0])
def test_no_negative_time(model, compare):
    with pytest.raises(ParameterError, match="compare must be true, false or positive seconds"):
        lf.report(model, DATA, compare=compare)


def test_another_table_is_not_compared(model):
    content = lf.report(model, DATA.take([0, 1, 2]), compare=True).content
    assert len(content["fit"]["models"]) == 1


def test_the_path_of_a_model_file_will_do(model, tmp_path):
    model.network_.save(tmp_path / "model.json")
    made = lf.report(tmp_path / "model.json", DATA)
    assert made.content["variables"] == lf.report(model.network_, DATA).content["variables"]


def test_what_is_no_model_is_named():
    with pytest.raises(ParameterError, match="got dict, expected a fitted learner, a network"):
        lf.report({}, DATA)
