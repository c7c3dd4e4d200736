"""The content of a report as a whole: plain, the same every time, for every kind of model."""

import json

import numpy as np
import pytest

import latentforest as lf
from latentforest.errors import DataError, LatentForestWarning, ParameterError
from latentforest.report.content import make_content

KEYS = [
    "format", "version", "made_by", "title", "subtitle", "noun", "table", "words", "variables",
    "graph", "model", "profiles", "fit", "rows", "reproduce", "missing",
]  # fmt: skip


def write(content):
    return json.dumps(content, allow_nan=False)


def test_it_is_plain_and_the_same_every_time(pair):
    one, other = (make_content(*pair) for _ in range(2))
    assert list(one) == KEYS
    assert write(one) == write(other)
    assert json.loads(write(one)) == one


def test_the_order_of_rows_does_not_matter_beside_the_rows(pair):
    network, data = pair
    order = np.random.default_rng(0).permutation(data.n_rows)
    one, other = make_content(network, data), make_content(network, data.take(order))
    for key in ("table", "variables", "graph", "model", "profiles"):
        assert _rounded(one[key]) == _rounded(other[key]), key
    assert one["words"]["warnings"] == other["words"]["warnings"]


def _rounded(value):
    """The same with numbers of five digits: sums in another order differ in the last ones."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def test_without_a_table(pair):
    content = make_content(pair[0])
    assert content["table"] is None
    assert content["fit"] is None
    assert content["rows"] is None
    assert "latentforest report model.json" in content["missing"]["data"]
    assert content["model"]["is_askable"]
    assert all(each["counts"] is None for each in content["profiles"])
    assert "without its table" in content["words"]["paragraphs"][0][2]


LEARNERS = [
    lf.LatentClass(2, random_state=0),
    lf.EAST(random_state=0, max_steps=2),
    lf.BridgedIslands(random_state=0),
    lf.IncrementalForest(random_state=0),
    lf.GeneralizedLatentClass(random_state=0, n_starts=2, n_kicks=0, max_steps=1),
    lf.BayesianNetworkSearch(random_state=0, n_restarts=1),
    lf.ChowLiu(),
    lf.Independence(),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_every_kind_of_learner(learner):
    data = lf.datasets.load("coleman-panel")
    model = learner.fit(data)
    content = make_content(model, data)
    write(content)
    assert content["table"]["is_training"] is True
    (this,) = (each for each in content["fit"]["models"] if each["is_this"])
    assert this["bic"] == pytest.approx(model.bic_, rel=1e-8)
    assert type(model).__name__ in content["subtitle"]
    assert content["reproduce"]["facts"][0]["label"] == "latentforest"


def test_a_file_of_another_program_has_no_record(tmp_path, tree):
    data = tree[1]
    lf.ChowLiu(smoothing=0).fit(data).network_.save(tmp_path / "model.bif")
    content = make_content(lf.load(tmp_path / "model.bif"), data)
    assert content["table"]["is_training"] is None
    assert content["subtitle"] == "A tree of columns"
    assert "lf.load" in content["reproduce"]["python"]
    assert content["fit"]["search"] is None


def test_another_table_is_told(tree):
    data = tree[1]
    model = lf.LatentClass(2, random_state=0).fit(data)
    content = make_content(model, data.take(np.arange(100)))
    assert content["table"]["is_training"] is False
    assert "This is not the table" in "".join(
        each for each in content["words"]["paragraphs"][0] if isinstance(each, str)
    )
    assert "table" in [each["id"] for each in content["words"]["warnings"]]
    labels = [each["label"] for each in content["reproduce"]["facts"]]
    assert "SHA-256 of the table it was learned from" in labels
    (this,) = content["fit"]["models"]
    expected = model._rows(model._encode(data.take(np.arange(100)))).log_likelihoods().sum()
    assert this["log_likelihood"] == pytest.approx(expected, rel=1e-8)


def test_an_average_has_no_report():
    data = lf.datasets.load("coleman-panel")
    model = lf.ModelAverage(lf.BayesianNetworkSearch(n_restarts=0), n_models=2, random_state=0)
    with pytest.raises(ParameterError, match=r"an average has several.*models_\[0\]"):
        make_content(model.fit(data), data)


@pytest.mark.parametrize("model", [None, 3, lf.EAST()])
def test_what_is_no_model(model):
    with pytest.raises(ParameterError, match="expected a fitted learner, a network or the path"):
        make_content(model)


def test_names_of_rows(tree):
    pandas = pytest.importorskip("pandas")
    network, data = tree
    frame = pandas.DataFrame(data.to_columns())
    assert make_content(network, frame)["rows"]["ids"] is None
    named = frame.set_index(pandas.Index([f"p{i}" for i in range(len(frame))]))
    assert make_content(network, named)["rows"]["ids"][:2] == ["p0", "p1"]
    frame["person"] = [f"q{i}" for i in range(len(frame))]
    content = make_content(network, frame, ids="person")
    assert content["rows"]["ids"][-1] == f"q{len(frame) - 1}"
    assert content["table"]["n_columns"] == 5
    with pytest.raises(DataError, match="ids: got 2 names for 400 rows"):
        make_content(network, frame, ids=["a", "b"])
    with pytest.raises(DataError, match="there is no column 'who' in the table"):
        make_content(network, frame, ids="who")


def test_a_file_and_its_weights(tmp_path, tree):
    network, data = tree
    lines = [",".join([*data.names, "w"])]
    rows = zip(*data.to_columns().values(), strict=True)
    lines += [",".join([*row, str(1 + i % 2)]) for i, row in enumerate(rows)]
    path = tmp_path / "some_people.csv"
    path.write_text("\n".join(lines))
    content = make_content(network, path, weights="w", noun="people")
    assert content["title"] == "some people"
    assert content["table"]["total_weight"] == 600
    assert content["table"]["is_weighted"]
    assert content["words"]["paragraphs"][0][0] == {"strong": "600 people"}


def test_labels_of_a_file_win(tmp_path, tree):
    network, data = tree
    labels = lf.Labels({"Y1": "habits", "a": "Do you smoke?"}, {"Y1": {"1": "few"}})
    labels.save(tmp_path / "names.json")
    content = make_content(network, data, labels=tmp_path / "names.json")
    hidden, column = content["variables"][0], content["variables"][2]
    assert (hidden["label"], hidden["suggested"]) == ("habits", False)
    assert hidden["state_labels"] == ["few", "2"]
    assert column["label"] == "Do you smoke?"
    assert content["variables"][1]["suggested"]


def test_labels_of_other_variables_are_left_out(tree):
    with pytest.warns(LatentForestWarning, match="the network does not have"):
        content = make_content(tree[0], labels=lf.Labels({"Y1": "habits", "Y9": "nothing"}))
    assert content["variables"][0]["label"] == "habits"


def test_one_class_is_no_hidden_variable(tree):
    model = lf.LatentClass(1).fit(tree[1])
    content = make_content(model, tree[1])
    first = content["words"]["paragraphs"][0]
    assert first[-1] == "The model has one class, in which the columns are independent."


def test_hostile_names_are_kept_as_they_are():
    names = ["<script>alert(1)</script>", "\x1b[31m", "\u202eright", "x" * 10_000]
    rng = np.random.default_rng(0)
    data = lf.Dataset.from_table({name: rng.choice(["<b>", "&amp;"], 60) for name in names})
    content = make_content(lf.LatentClass(2, random_state=0).fit(data), data)
    assert [each["name"] for each in content["variables"][1:]] == names
    json.loads(write(content))
