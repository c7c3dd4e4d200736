"""A report as a value, and its files."""

import json
import re
from types import ModuleType

import pytest

import latentforest as lf
from latentforest.errors import LatentForestWarning, ParameterError
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
    with pytest.warns(LatentForestWarning, match="not fitted for comparison"):
        content = lf.report(model, DATA.take([0, 1, 2]), compare=True).content
    assert len(content["fit"]["models"]) == 1


def test_a_comparison_needs_the_table(model):
    with pytest.raises(ParameterError, match="compare needs the table"):
        lf.report(model, compare=True)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("noun", "", "noun must say what the rows are, got ''"),
        ("noun", 5, "noun must be a text, got 5"),
        ("title", 5, "title must be a text, got 5"),
        (
            "labels",
            {"class": "K"},
            "labels must be Labels or the path of a file of names, got dict",
        ),
        ("ids", 5, "ids must be the name of a column or a name for each row, got 5"),
        ("compare", "yes", "compare must be true, false or positive seconds, got 'yes'"),
        ("compare", None, "compare must be true, false or positive seconds, got None"),
    ],
)
def test_what_is_given_is_checked(model, option, value, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        lf.report(model, DATA, **{option: value})


@pytest.mark.parametrize(("when", "n_models"), [("another seed", 0), ("Chow", 6)])
def test_an_interruption_ends_the_comparison_and_not_the_report(model, when, n_models):
    told = []

    def tell(text):
        told.append(text)
        if when in text:
            raise KeyboardInterrupt

    assert len(compare_with(model.network_, DATA, 60.0, tell)) == n_models
    assert told[-1] == "interrupted; the report shows what was compared until then"


def test_missing_values_are_counted_by_weight():
    table = {"a": ["x", "y", None, "x"], "b": ["u", "v", "v", "u"]}
    model = lf.Independence().fit(table)
    content = lf.report(model, table, weights=[1.0, 1.0, 6.0, 2.0]).content
    assert content["table"]["missing_share"] == pytest.approx(0.3)


def test_the_path_of_a_model_file_will_do(model, tmp_path):
    model.network_.save(tmp_path / "model.json")
    made = lf.report(tmp_path / "model.json", DATA)
    assert made.content["variables"] == lf.report(model.network_, DATA).content["variables"]


def test_what_is_no_model_is_named():
    with pytest.raises(ParameterError, match="got dict, expected a fitted learner, a network"):
        lf.report({}, DATA)
