import copy
import json
import re

import numpy as np
import pytest
from hypothesis import given

from latentforest.data.variable import Variable
from latentforest.errors import FileFormatError
from latentforest.model import Network
from latentforest.model.files.document import from_document, load, to_document
from reference.random_networks import networks

DOCUMENT = {
    "format": "latentforest-network",
    "version": 1,
    "variables": [
        {"name": "health", "states": ["1", "2"], "latent": True},
        {"name": "fever", "states": ["no", "low", "high"], "latent": False},
    ],
    "families": [
        {"variable": "health", "parents": [], "probabilities": [0.75, 0.25]},
        {
            "variable": "fever",
            "parents": ["health"],
            "probabilities": [[1.0, 0.0, 0.0], [0.25, 0.25, 0.5]],
        },
    ],
}


@given(network=networks(max_parents=2))
def test_document_gives_the_same_network(network):
    text = json.dumps(to_document(network))
    assert from_document(json.loads(text)) == network


def test_file_gives_the_same_network(tmp_path):
    variables = [Variable("größe \U0001f333", ("a", '"', "\\")), Variable.hidden("Y", 2)]
    third = 1.0 / 3.0
    network = Network.from_tables(
        variables,
        {variables[0].name: "Y"},
        {"Y": [5e-324, 1.0], variables[0].name: [[third, third, third], [0.1, 0.2, 0.7]]},
    )
    network.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again == network
    assert again.parameters.tobytes() == network.parameters.tobytes()
    assert load(str(tmp_path / "model.json")) == network


def test_document_is_the_documented_one():
    network = from_document(DOCUMENT)
    assert to_document(network) == DOCUMENT
    np.testing.assert_array_equal(network.cpd("fever")[1], [0.25, 0.25, 0.5])


def test_file_has_a_line_for_each_variable_and_family(tmp_path):
    from_document(DOCUMENT).save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert json.loads(text) == DOCUMENT
    assert '  {"variable": "health", "parents": [], "probabilities": [0.75, 0.25]},' in (
        text.splitlines()
    )
    assert len(text.splitlines()) == 12


def test_families_in_any_order_and_unknown_keys_are_read():
    document = {**DOCUMENT, "families": DOCUMENT["families"][::-1], "comment": "hello"}
    assert from_document(document) == from_document(DOCUMENT)


def change(path, value):
    """Return the document with one value replaced, or its key removed."""
    document = copy.deepcopy(DOCUMENT)
    *above, last = path
    target = document
    for key in above:
        target = target[key]
    if value is KeyError:
        del target[last]
    else:
        target[last] = value
    return document


FEVER = ("families", 1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], KeyError, "the document: expected a key 'format', found none"),
        (["format"], "gpickle", "format: expected 'latentforest-network', found 'gpickle'"),
        (["version"], 3, "version: expected 1 or 2, found 3"),
        (["version"], True, "the document.version: expected a whole number, found True"),
        (["tied"], "two", "the document.tied: expected a whole number, found 'two'"),
        (["tied"], -1, "n_tied must be from 0 to"),
        (["tied"], 10_000, "n_tied must be from 0 to"),
        (["variables"], {}, "the document.variables: expected a list, found an object"),
        (["variables"], [], "a network needs at least one variable"),
        (["variables", 0], "health", r"variables[0]: expected an object, found 'health'"),
        (["variables", 0, "name"], 7, "variables[0].name: expected a string, found 7"),
        (["variables", 0, "name"], "", "name must be a non-empty string"),
        (["variables", 0, "name"], "fever", "two variables are named 'fever'"),
        (["variables", 0, "states"], None, "variables[0].states: expected a list, found None"),
        (["variables", 0, "states"], [1, 2], "states[0]: expected a string, found 1"),
        (["variables", 0, "states"], ["1", "1"], "'health' has repeated state names"),
        (["variables", 0, "states"], [], "variable 'health' has no states"),
        (["variables", 0, "latent"], 1, "variables[0].latent: expected true or false, found 1"),
        (["variables", 0, "latent"], KeyError, "variables[0]: expected a key 'latent'"),
        (["families", 1], KeyError, "families: expected one for variable 'fever', found none"),
        ([*FEVER, "variable"], "health", "families[1]: variable 'health' has a second family"),
        ([*FEVER, "variable"], "cough", "'cough', which is not among the variables"),
        ([*FEVER, "parents"], "health", "families[1].parents: expected a list, found 'health'"),
        ([*FEVER, "parents"], ["cough"], "parent 'cough' of 'fever' is not among"),
        ([*FEVER, "parents"], ["fever"], "variable 'fever' is its own parent"),
        (["families", 0, "parents"], ["fever"], "the parents form a cycle"),
        (
            [*FEVER, "probabilities"],
            [[1.0, 0.0, 0.0]],
            "families[1].probabilities: expected a list of 2 entries, found a list of 1 entries",
        ),
        (
            [*FEVER, "probabilities", 1],
            0.5,
            "families[1].probabilities[1]: expected a list of 3 entries, found 0.5",
        ),
        (
            [*FEVER, "probabilities", 1, 2],
            "0.5",
            "families[1].probabilities[1][2]: expected a finite number, found '0.5'",
        ),
        ([*FEVER, "probabilities", 1, 2], True, "expected a finite number, found True"),
        ([*FEVER, "probabilities", 1, 2], float("nan"), "expected a finite number, found nan"),
        ([*FEVER, "probabilities", 1, 2], 10**400, "expected a finite number, found 1000"),
        ([*FEVER, "probabilities", 1, 2], [0.5], "expected a finite number, found a list of 1"),
        ([*FEVER, "probabilities", 1, 2], 0.6, "'fever', row health=2: probabilities must sum"),
        ([*FEVER, "probabilities", 1], [0.9, 0.6, -0.5], "probabilities must be in [0, 1]"),
    ],
)
def test_wrong_documents_are_refused(path, value, message):
    with pytest.raises(FileFormatError, match=re.escape(message)) as caught:
        from_document(change(path, value), source="model.json")
    assert str(caught.value).startswith("model.json: ")


@pytest.mark.parametrize("document", [None, [], "text", 3])
def test_documents_that_are_no_object_are_refused(document):
    with pytest.raises(FileFormatError, match="document: the document: expected an object, found"):
        from_document(document)


def test_tables_larger_than_the_file_are_refused_before_they_are_made():
    states = [str(k) for k in range(1000)]
    names = [f"X{i}" for i in range(31)]
    document = {
        **DOCUMENT,
        "variables": [{"name": n, "states": states, "latent": False} for n in [*names, "Z"]],
        "families": [{"variable": n, "parents": [], "probabilities": []} for n in names]
        + [{"variable": "Z", "parents": names, "probabilities": []}],
    }
    with pytest.raises(FileFormatError, match="expected a list of 1000 entries"):
        from_document(document)


TEXT = json.dumps(DOCUMENT)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "Expecting value"),
        (TEXT[: len(TEXT) // 2].encode(), "as JSON text, but"),
        (TEXT.encode("utf-16"), "can't decode byte"),
        (b"\x80\x04\x95 pickle", "can't decode byte"),
        (b"<xml/>", "Expecting value"),
        (TEXT.replace("0.75", "NaN").encode(), "it holds NaN, which is not a finite number"),
        (TEXT.replace("0.75", "-Infinity").encode(), "it holds -Infinity"),
        (TEXT.replace("0.75", "1e999").encode(), "expected a finite number, found inf"),
        (TEXT.replace("0.75", "9" * 5000).encode(), "as JSON text, but"),
        (TEXT.replace('"version": 1', '"version": 1, "version": 1').encode(), "repeats one of"),
        (b"[" * 100_000, "nested too deeply"),
        ((TEXT + TEXT).encode(), "Extra data"),
    ],
)
def test_damaged_files_are_refused(tmp_path, content, message):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_absent_file_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent.json")
