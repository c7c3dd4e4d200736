"""The end of a file's name chooses its format."""

import numpy as np
import pytest

from latentforest import Dirichlet, Network, PosteriorNetwork, Variable, load, save
from latentforest.errors import FileFormatWarning, ModelError, ParameterError
from latentforest.formats import FORMATS
from latentforest.model import Structure

COIN = Network.from_tables([Variable("coin", ("heads", "tails"))], {}, {"coin": [0.5, 0.5]})


@pytest.mark.parametrize(
    "name",
    [
        "m.json",
        "m.bif",
        "m.bif.gz",
        "M.BIF",
        "a.json.bif",
        "m.JSON",
        "m.xml",
        "m.bifxml",
        "m.xmlbif",
        "m.xdsl",
        "m.net",
    ],
)
def test_writing_then_reading(tmp_path, name):
    save(COIN, tmp_path / name)
    assert load(tmp_path / name) == COIN
    assert load(str(tmp_path / name)) == COIN


def test_the_formats_differ(tmp_path):
    for suffix in set(FORMATS) - {".uai"}:
        save(COIN, tmp_path / f"m{suffix}")
    with pytest.warns(FileFormatWarning, match=r"m\.uai does not keep the names of variables"):
        save(COIN, tmp_path / "m.uai")
    starts = {suffix: (tmp_path / f"m{suffix}").read_bytes()[:2] for suffix in FORMATS}
    assert starts[".json"] == b"{\n"
    assert starts[".bif.gz"] == b"\x1f\x8b"
    assert starts[".xml"] == starts[".xdsl"] == b"<?"
    assert {starts[".bif"], starts[".net"], starts[".uai"]} == {b"ne", b"BA"}


@pytest.mark.parametrize("name", ["model", "model.txt", "model.gz", "model.json.gz", "bif"])
def test_unknown_formats_are_not_written(tmp_path, name):
    with pytest.raises(ParameterError, match=r"path: got .*ends in one of \.json, \.bif, "):
        save(COIN, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_other_names_are_read_as_json(tmp_path):
    COIN.save(tmp_path / "model.json")
    (tmp_path / "model.json").rename(tmp_path / "model.network")
    assert load(tmp_path / "model.network") == COIN


def test_a_continuous_variable_needs_json(tmp_path):
    network = Network.from_tables([Variable("pulse")], {}, {"pulse": [70.0, 100.0]})
    with pytest.raises(ModelError, match=r"\.bif\.gz files hold categ.*continuous: 'pulse';"):
        save(network, tmp_path / "model.bif.gz")
    assert list(tmp_path.iterdir()) == []
    save(network, tmp_path / "model.json")
    assert load(tmp_path / "model.json") == network


def test_what_bif_does_not_keep_is_said(tmp_path):
    structure = Structure([Variable("coin", ("heads", "tails"))], {})
    tied = Network(structure, np.array([0.5, 0.5]), n_tied=1)
    with pytest.warns(FileFormatWarning, match=r"m\.bif does not keep how many parameters are tie"):
        save(tied, tmp_path / "m.bif")
    assert load(tmp_path / "m.bif") == COIN
    save(tied, tmp_path / "m.json")
    assert load(tmp_path / "m.json") == tied


def test_a_posterior_is_lost_in_bif_and_kept_in_json(tmp_path):
    network = PosteriorNetwork(COIN.structure, {"coin": Dirichlet(np.array([2.0, 2.0]))})
    with pytest.warns(FileFormatWarning, match="does not keep the posterior of the parameters; a"):
        save(network, tmp_path / "m.bif")
    assert type(load(tmp_path / "m.bif")) is Network
    assert load(tmp_path / "m.bif") == COIN
    save(network, tmp_path / "m.json")
    assert load(tmp_path / "m.json") == network


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "model.bif")
