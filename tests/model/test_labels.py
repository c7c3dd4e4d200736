"""Texts beside the names of variables and states."""

import json
import pickle

import pytest

from latentforest import Labels, Network, PosteriorNetwork, Record, Structure, Variable, load
from latentforest.errors import FileFormatError, ModelError
from latentforest.model.conjugate import Dirichlet
from latentforest.model.state_edits import drop_states

LABELS = Labels({"h": "health", "f": "fever?"}, {"h": {"1": "ill"}, "f": {"a": "none"}})


@pytest.fixture
def network():
    variables = [Variable.hidden("h", 2), Variable("f", ("a", "b", "c"))]
    tables = {"h": [0.25, 0.75], "f": [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]]}
    network = Network.from_tables(variables, {"f": "h"}, tables)
    return network.with_labels(LABELS).with_record(Record("EAST", history=[{"variables": ["h"]}]))


def test_no_text_is_the_name():
    assert Labels().variable("h") == "h"
    assert LABELS.state("h", "2") == "2"
    assert not Labels({"a": " "}, {"b": {"1": ""}})


def test_merged_labels_win():
    merged = LABELS.merged(Labels({"h": "state"}, {"h": {"2": "well"}}))
    assert merged.variables == {"h": "state", "f": "fever?"}
    assert merged.states["h"] == {"1": "ill", "2": "well"}


def test_a_label_of_something_else_is_refused(network):
    with pytest.raises(ModelError, match="'x', which is not a variable"):
        network.with_labels(Labels({"x": "y"}))
    with pytest.raises(ModelError, match="'9', no state of 'h'"):
        network.with_labels(Labels(states={"h": {"9": "y"}}))
    with pytest.raises(ModelError, match="expected a text, got 3"):
        Labels({"x": 3})


def test_labels_do_not_change():
    with pytest.raises(TypeError):
        LABELS.variables["h"] = "other"


def test_edits_keep_what_is_known(network):
    for other in (network.rooted_at("f"), network.predictive, network.with_predictive(None)):
        assert other.about == network.about
    assert network.with_parameters(network.parameters).labels == LABELS
    assert network.with_parameters(network.parameters).record is None


def test_labels_of_states_move_with_them(network):
    assert network.relabelled("h", [1, 0]).labels.states["h"] == {"2": "ill"}


def test_renaming(network):
    renamed = network.renamed({"h": "hidden"})
    assert renamed.labels.variable("hidden") == "health"
    assert renamed.labels.state("hidden", "1") == "ill"
    assert renamed.record.history[0]["variables"] == ("hidden",)


def test_states_that_are_left_out_have_no_label(network):
    few = drop_states(network, [Variable("f", ("b", "c"))])
    assert few.labels == Labels(LABELS.variables, {"h": {"1": "ill"}})


def test_posterior_networks_keep_it():
    structure = Structure([Variable.hidden("h", 2)], {})
    network = PosteriorNetwork(structure, {"h": Dirichlet([3.0, 1.0])})
    network = network.with_labels(Labels({"h": "x"}, {"h": {"1": "large"}}))
    assert network.relabelled("h", [1, 0]).labels.state("h", "2") == "large"
    assert network.renamed({"h": "g"}).labels.variable("g") == "x"
    assert pickle.loads(pickle.dumps(network)).labels == network.labels


def test_files_and_pickles(network, tmp_path):
    network.save(tmp_path / "m.json")
    for again in (load(tmp_path / "m.json"), pickle.loads(pickle.dumps(network))):
        assert again == network
        assert again.about == network.about


def test_the_file_of_names(tmp_path):
    path = tmp_path / "names.json"
    LABELS.save(path, table="ab12")
    assert json.loads(path.read_text())["table"] == "ab12"
    assert Labels.read(path) == LABELS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "x"}, "format: expected 'latentforest-labels', found 'x'"),
        ({"version": 2}, "version: expected 1, found 2"),
        ({"variables": []}, "variables: expected an object, found a list"),
        ({"states": {"h": {"1": 3}}}, "states of 'h', '1': expected a string, found 3"),
    ],
)
def test_damaged_files_of_names(tmp_path, change, message):
    path = tmp_path / "names.json"
    LABELS.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FileFormatError, match=message):
        Labels.read(path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("labels", 3, "labels: expected an object"),
        ("labels", {"variables": {"x": "y"}}, "'x', which is not a variable"),
        ("record", [], "record: expected an object"),
        ("record", {}, "expected a key 'learner'"),
        ("record", {"learner": "EAST", "history": 3}, "record.history: expected a list, found 3"),
    ],
)
def test_damaged_network_files(network, tmp_path, key, value, message):
    path = tmp_path / "m.json"
    network.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(FileFormatError, match=message):
        load(path)
