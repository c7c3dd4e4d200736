"""Posteriors in network files."""

import copy
import json
import re
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentforest import Network, PosteriorNetwork, load
from latentforest.errors import FileFormatError
from latentforest.model.files.document import from_document, to_document
from reference.posterior_networks import make_network

NETWORK = make_network()
DOCUMENT = to_document(NETWORK)


@given(seed=st.integers(0, 2**32 - 1))
def test_document_gives_the_same_posterior_to_the_last_bit(seed):
    network = make_network(seed)
    again = from_document(json.loads(json.dumps(to_document(network))))
    assert again == network
    assert again.parameters.tobytes() == network.parameters.tobytes()
    for name, family in network.posterior.items():
        for field in fields(family):
            one, other = (getattr(each, field.name) for each in (family, again.posterior[name]))
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
            assert type(one) is type(other)


def test_file_gives_the_same_posterior(tmp_path):
    NETWORK.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert type(again) is PosteriorNetwork
    assert again == NETWORK
    lines = (tmp_path / "model.json").read_text(encoding="utf-8").splitlines()
    assert sum('"concentrations"' in line for line in lines) == 3


def test_the_rest_of_the_file_is_that_of_the_network_of_expected_parameters():
    plain = NETWORK.with_parameters(NETWORK.parameters)
    rest = {key: value for key, value in DOCUMENT.items() if key != "posterior"}
    assert rest == to_document(plain)
    assert type(from_document(rest)) is Network
    assert from_document(rest) == plain


def test_entries_have_the_documented_keys():
    keys = {entry["variable"]: set(entry) - {"variable"} for entry in DOCUMENT["posterior"]}
    gaussian = {"means", "weights", "shapes", "rates"}
    assert keys == {
        "y": {"concentrations"},
        "a": {"concentrations"},
        "b": {"concentrations"},
        "u": gaussian,
        "w": gaussian,
        "v": {"center", "unit", "coefficients", "weights", "shapes", "rates"},
        "p": {"means", "weights", "freedoms", "scatters"},
    }


def test_entries_in_any_order_and_unknown_keys_are_read():
    posterior = [{**entry, "comment": 1} for entry in DOCUMENT["posterior"][::-1]]
    assert from_document({**DOCUMENT, "posterior": posterior}) == NETWORK


PLACES = {entry["variable"]: i for i, entry in enumerate(DOCUMENT["posterior"])}


def change(path, value):
    """Return the document with one value of the posterior replaced, or its key removed."""
    document = copy.deepcopy(DOCUMENT)
    *above, last = path
    target = document["posterior"]
    for key in above:
        target = target[key]
    if value is KeyError:
        del target[last]
    else:
        target[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ([PLACES["a"]], KeyError, "posterior: expected one for variable 'a', found none"),
        ([0], 3, "posterior[0]: expected an object, found 3"),
        ([0, "variable"], KeyError, "posterior[0]: expected a key 'variable', found none"),
        ([0, "variable"], "x", "posterior[0]: expected the posterior of a variable, found 'x'"),
        ([0, "variable"], "q", "posterior[0]: expected the posterior of a variable, found 'q'"),
        ([1, "variable"], "y", "posterior[1]: variable 'y' has a second posterior"),
        ([0, "concentrations"], KeyError, "posterior[0]: expected a key 'concentrations'"),
        (
            [0, "concentrations"],
            [1.0, 2.0],
            "posterior[0].concentrations: expected a list of 3 entries, found a list of 2 entries",
        ),
        (
            [0, "concentrations", 1],
            -0.5,
            "posterior[0].concentrations: expected positive numbers, found -0.5",
        ),
        ([0, "concentrations", 1], 0, "expected positive numbers, found 0.0"),
        ([0, "concentrations", 1], "2", "concentrations[1]: expected a finite number, found '2'"),
        ([PLACES["u"], "means", 2], None, "means[2]: expected a finite number, found None"),
        ([PLACES["u"], "rates"], 1.0, "rates: expected a list of 3 entries, found 1.0"),
        ([PLACES["u"], "shapes", 0], -1, "shapes: expected positive numbers, found -1.0"),
        ([PLACES["u"], "weights"], KeyError, "expected a key 'weights', found none"),
        ([PLACES["v"], "unit"], -2.0, "unit: expected positive numbers, found -2.0"),
        ([PLACES["v"], "center"], [0.0], "center: expected a finite number, found a list of 1"),
        ([PLACES["v"], "coefficients"], [0.0], "coefficients: expected a list of 2 entries"),
        ([PLACES["v"], "weights", 0], [1.0, 9.0], "symmetric and positive definite"),
        ([PLACES["p"], "freedoms", 0], 0.5, "freedom must be above the number of variables"),
        ([PLACES["p"], "scatters", 0, 1], [1.0], "scatters[0][1]: expected a list of 2 entries"),
        ([PLACES["u"], "means", 0], 99.0, "the table of 'u' is not the one expected under its"),
    ],
)
def test_damaged_posteriors_are_refused(path, value, message):
    with pytest.raises(FileFormatError, match=re.escape(message)) as caught:
        from_document(change(path, value), source="model.json")
    assert str(caught.value).startswith("model.json: ")


@pytest.mark.parametrize("posterior", [None, {}, "text"])
def test_a_posterior_that_is_no_list_is_refused(posterior):
    with pytest.raises(FileFormatError, match=r"the document\.posterior: expected a list, found"):
        from_document({**DOCUMENT, "posterior": posterior})


def test_a_posterior_of_no_forest_is_refused():
    document = copy.deepcopy(DOCUMENT)
    document["families"][2] |= {"parents": ["a", "y"], "probabilities": [[[0.5, 0.5]] * 3] * 2}
    document["posterior"][2]["concentrations"] = [[[1.0, 1.0]] * 3] * 2
    with pytest.raises(FileFormatError, match="forests only"):
        from_document(document)
