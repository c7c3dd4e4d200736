"""Networks as objects of other libraries, and through their files."""

import gzip
import importlib.metadata
import logging
import sys
import warnings

import numpy as np
import pytest

from latentforest import (
    Network,
    Predictor,
    Variable,
    datasets,
    from_networkx,
    from_pgmpy,
    from_pyagrum,
    load,
    read,
    save,
)
from latentforest.data.results.write import write_table
from latentforest.errors import DataWarning, MissingExtraError, ModelError
from latentforest.formats.identifiers import from_identifier

HEALTH = Network.from_tables(
    [
        Variable.hidden("health", 2),
        Variable("fever", ("no", "some", "yes")),
        Variable("age", ("0", "1")),
    ],
    {"fever": ("health", "age"), "age": "health"},
    {
        "health": [0.25, 0.75],
        "age": [[0.125, 0.875], [0.5, 0.5]],
        "fever": [[[0.1, 0.2, 0.7], [0.2, 0.2, 0.6]], [[0.3, 0.2, 0.5], [0.4, 0.2, 0.4]]],
    },
)
MIXED = Network.from_tables(
    [Variable.hidden("health", 2), Variable("pulse"), Variable("weight")],
    {"pulse": "health", "weight": ("health", "pulse")},
    {
        "health": [0.5, 0.5],
        "pulse": [[70.0, 100.0], [90.0, 100.0]],
        "weight": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
    },
)


def assert_same(found, wanted, tolerance=0.0, read_name=str):
    """The same structure whatever the order, and the same numbers."""
    assert sorted(map(read_name, found.names)) == sorted(wanted.names)
    for name in found.names:
        parents = [read_name(each) for each in found.structure.parents(name)]
        states = [read_name(each) for each in found.structure.states(name)]
        wanted_parents = wanted.structure.parents(read_name(name))
        assert tuple(states) == wanted.structure.states(read_name(name))
        assert sorted(parents) == sorted(wanted_parents)
        axes = [*map(parents.index, wanted_parents), len(parents)]
        table = np.transpose(np.asarray(found.cpd(name)), axes)
        assert np.abs(table - wanted.cpd(read_name(name))).max() <= tolerance


@pytest.fixture
def pgmpy():
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pgmpy.readwrite", reason="pgmpy is not installed")


@pytest.fixture
def pyagrum():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pyagrum", reason="pyAgrum is not installed")


@pytest.mark.filterwarnings("ignore")
def test_pgmpy_and_back(pgmpy):
    model = HEALTH.to_pgmpy()
    assert set(model.latents) == {"health"}
    assert model.check_model()
    assert from_pgmpy(model) == HEALTH
    posterior = HEALTH.query("health", {"fever": "yes"})
    from pgmpy.inference import VariableElimination

    theirs = VariableElimination(model).query(["health"], {"fever": "yes"}, show_progress=False)
    assert np.allclose(theirs.values, posterior, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_pyagrum_and_back(pyagrum):
    model = HEALTH.to_pyagrum()
    assert from_pyagrum(model, latents=["health"]) == HEALTH
    inference = pyagrum.LazyPropagation(model)
    inference.setEvidence({"fever": "yes"})
    theirs = inference.posterior("health").toarray()
    assert np.allclose(theirs, HEALTH.query("health", {"fever": "yes"}), atol=1e-12)


def test_networkx_and_back():
    pytest.importorskip("networkx", reason="networkx is not installed")
    for network in (HEALTH, MIXED):
        graph = network.to_networkx()
        assert set(graph.edges) == {
            (p, n) for n in network.names for p in network.structure.parents(n)
        }
        assert from_networkx(graph) == network
    del graph.nodes["pulse"]["table"]
    with pytest.raises(ModelError, match="'pulse' has no attribute 'table'"):
        from_networkx(graph)


def test_a_library_that_is_missing_has_its_line_of_installation(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'latentforest\[interchange\]'"):
        HEALTH.to_networkx()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", ["nul\0", "half\ud800"])
def test_texts_that_pyagrum_cannot_hold(pyagrum, text):
    odd = Network.from_tables([Variable("a", ("x", text))], {}, {"a": [0.5, 0.5]})
    with pytest.raises(ModelError, match="pyAgrum cannot hold the text"):
        odd.to_pyagrum()


def test_continuous_variables_are_named():
    for convert in (MIXED.to_pgmpy, MIXED.to_pyagrum):
        with pytest.raises(ModelError, match="continuous: 'pulse', 'weight'"):
            convert()


def published(name):
    """A network of the bnlearn repository, which comes with pgmpy."""
    files = importlib.metadata.files("pgmpy") or []
    found = [file for file in files if file.name == f"{name}.bif.gz"]
    return load(str(found[0].locate()))


READERS = {".bifxml": "XMLBIFReader", ".xdsl": "XDSLReader", ".net": "NETReader"}
WRITERS = {".bifxml": "XMLBIFWriter", ".xdsl": "XDSLWriter", ".net": "NETWriter"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("name", ["health", "alarm", "insurance", "hailfinder"])
def test_pgmpy_reads_and_writes_the_same(tmp_path, pgmpy, name, suffix):
    network = HEALTH if name == "health" else published(name)
    module = importlib.import_module(f"pgmpy.readwrite.{READERS[suffix].removesuffix('Reader')}")
    save(network, tmp_path / f"m{suffix}")
    read_name = from_identifier if suffix == ".xdsl" else str
    theirs = getattr(module, READERS[suffix])(str(tmp_path / f"m{suffix}")).get_model()
    assert_same(from_pgmpy(theirs), network, 1e-15, read_name)
    writer = getattr(module, WRITERS[suffix])(network.to_pgmpy())
    getattr(writer, f"write_{module.__name__.split('.')[-1].lower()}")(str(tmp_path / f"w{suffix}"))
    assert_same(load(tmp_path / f"w{suffix}"), network, 1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", [".bifxml", ".net"])
@pytest.mark.parametrize("name", ["health", "alarm", "insurance", "hailfinder", "munin1"])
def test_pyagrum_reads_the_same(tmp_path, pgmpy, pyagrum, name, suffix):
    network = HEALTH if name == "health" else published(name)
    save(network, tmp_path / f"m{suffix}")
    found = from_pyagrum(pyagrum.loadBN(str(tmp_path / f"m{suffix}")))
    assert_same(found, network, 1e-7)  # in single precision


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", [".bifxml", ".xdsl", ".net"])
@pytest.mark.parametrize("name", ["alarm", "insurance", "hailfinder", "munin1"])
def test_files_of_pyagrum_are_read(tmp_path, pgmpy, pyagrum, name, suffix):
    network = published(name)
    pyagrum.saveBN(network.to_pyagrum(), str(tmp_path / f"m{suffix}"))
    assert_same(load(tmp_path / f"m{suffix}"), network, 1e-6)  # six digits


def test_compressed_files_are_what_they_say(tmp_path):
    save(HEALTH, tmp_path / "m.bif.gz")
    assert gzip.decompress((tmp_path / "m.bif.gz").read_bytes()).startswith(b"network")


@pytest.mark.parametrize("name", ["insurance", "hailfinder", "child"])
def test_a_state_called_none_is_a_state_in_files_of_rows(tmp_path, pgmpy, name):
    network = published(name)
    rows = network.sample(300, random_state=0)
    write_table(rows.to_columns(), tmp_path / "rows.csv")
    with pytest.warns(DataWarning, match="may mean 'no value' count as states: .*'None'"):
        found = read(tmp_path / "rows.csv")
    assert found.n_missing == 0
    assert Predictor(network).score(found) == Predictor(network).score(rows)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "suffix"),
    [("alarm", ".bif"), ("insurance", ".bifxml"), ("hailfinder", ".xdsl"), ("alarm", ".net")],
)
def test_posteriors_survive(tmp_path, pgmpy, pyagrum, name, suffix):
    network = published(name)
    save(network, tmp_path / f"m{suffix}")
    again = load(tmp_path / f"m{suffix}")
    first, *_, last = network.structure.order
    evidence = {last: network.structure.states(last)[0]}
    found = again.query(first, evidence)
    assert np.allclose(found, network.query(first, evidence), atol=1e-14)
    theirs = pyagrum.LazyPropagation(again.to_pyagrum())
    theirs.setEvidence(evidence)
    assert np.allclose(theirs.posterior(first).toarray(), found, atol=1e-7)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", [".bifxml", ".net"])
def test_latent_trees_go_through_other_programs(tmp_path, pgmpy, pyagrum, suffix):
    tree = datasets.random_latent_tree(12, width=3, random_state=1)
    save(tree, tmp_path / f"m{suffix}")
    assert load(tmp_path / f"m{suffix}") == tree
    pyagrum.saveBN(pyagrum.loadBN(str(tmp_path / f"m{suffix}")), str(tmp_path / f"w{suffix}"))
    assert_same(load(tmp_path / f"w{suffix}"), tree, 1e-6)
