"""XMLBIF, XDSL, NET, UAI and graphs: what is written is read back, what others wrote is read."""

import gzip
import json
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentforest import LatentClass, Network, Variable, datasets, load, save
from latentforest.errors import FileFormatError, FileFormatWarning, ModelError, ParameterError
from latentforest.formats import read_content, write_content
from latentforest.formats.content import ModelContent
from latentforest.formats.identifiers import (
    from_identifier,
    from_xml_text,
    to_identifier,
    to_xml_text,
)
from reference.random_networks import networks

NAMED = [".bif", ".bifxml", ".xmlbif", ".xml", ".xdsl", ".net"]
NAMES = ["rain", "wet grass", "2nd", "x_1", "a_x20_b", "é", "<b>&amp;</b>", "tab\there", "\x1b[31m"]

# The same network as several programs write it: P(b | a, c), all with different numbers.
B_GIVEN_A_C = [[[0.1, 0.2, 0.7], [0.2, 0.2, 0.6]], [[0.3, 0.2, 0.5], [0.4, 0.2, 0.4]]]
XMLBIF = """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF (NETWORK)*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y z</OUTCOME>
  <PROPERTY>position = (73, 165)</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>u</OUTCOME><OUTCOME>v</OUTCOME>
  <OUTCOME>w</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>c</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.25 <!-- a comment --> 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><GIVEN>c</GIVEN>
  <TABLE>.1 .2 .7 .2 .2 .6 .3 .2 .5 .4 .2 .4</TABLE></DEFINITION>
<DEFINITION><FOR>c</FOR><TABLE>5e-1 0.5</TABLE></DEFINITION>
</NETWORK></BIF>"""
XDSL = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="Network1" numsamples="1000">
<nodes>
<cpt id="a"><state id="x"/><state id="y"/><probabilities>0.25 0.75</probabilities></cpt>
<cpt id="c"><state id="s0"/><state id="s1"/><probabilities>0.5 0.5</probabilities></cpt>
<cpt id="b"><state id="u"/><state id="v"/><state id="w"/><parents>a c</parents>
<probabilities>NUMBERS</probabilities></cpt>
<deterministic id="d"><state id="no"/><state id="yes"/><parents>a</parents>
<resultingstates>yes no</resultingstates></deterministic>
</nodes>
<extensions><genie version="1.0" app="WRITER" name="Network1">
<submodel id="s"><node id="a"><name>a long name</name><position>10 20 82 68</position></node>
</submodel></genie></extensions></smile>"""
NET = """net { name = n; software = "another"; node_size = (50 50); }
% a comment with "a quote
node a { states = (x y); label = "a"; position = (10 -20); }
discrete node b { states = ("u" "v \\"q\\"" "w"); }
node c { states = ("0" "1"); subtype = number; }
potential (a |) { data = (0.25 0.75); }
potential ( b | a c ) { data = (((0.1 0.2 0.7)  % c=0
  (0.2 0.2 0.6)) ((0.3 0.2 0.5) (0.4 0.2 0.4))); experience = (1 1 1 1); }
potential (c) { data = (0.5 0.5); }
"""
UAI = """BAYES
3
2 3 2
3
1 0   # a
3 0 2 1
1 2

2
 0.25 0.75
12
 0.1 0.2 0.7 0.2 0.2 0.6
 0.3 0.2 0.5 0.4 0.2 0.4
2
 0.5 0.5
"""


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def forest(names=NAMES):
    """A latent root with one column for each name, with awkward states."""
    root = Variable.hidden("hidden one", 2)
    columns = [Variable(name, ("1", "y z", name)) for name in names]
    tables = {name: [[0.1, 0.2, 0.7], [1 / 3, 1 / 3, 1 / 3]] for name in names}
    parents = dict.fromkeys(names, "hidden one")
    return Network.from_tables([root, *columns], parents, {"hidden one": [0.3, 0.7], **tables})


@pytest.mark.parametrize("suffix", NAMED)
def test_awkward_names_latents_and_numbers_come_back(tmp_path, suffix):
    save(forest(), tmp_path / f"m{suffix}")
    assert load(tmp_path / f"m{suffix}") == forest()


@pytest.mark.parametrize("suffix", [*NAMED, ".uai"])
@settings(max_examples=15, deadline=None)
@given(network=networks())
def test_random_networks_come_back(tmp_path_factory, suffix, network):
    path = tmp_path_factory.mktemp("interchange") / f"m{suffix}"
    if suffix == ".uai":
        with pytest.warns(FileFormatWarning):
            save(network, path)
        assert np.array_equal(load(path).parameters, network.parameters)
        return
    save(network, path)
    again = load(path)
    assert sorted(again.names) == sorted(network.names)
    assert set(again.latents) == set(network.latents)
    for name in network.names:
        assert again.structure.variable(name) == network.structure.variable(name)
        assert again.structure.parents(name) == network.structure.parents(name)
        assert np.array_equal(again.cpd(name), network.cpd(name))


@pytest.mark.parametrize("suffix", [".bif", ".bifxml", ".xdsl", ".net"])
def test_places_survive(tmp_path, suffix):
    places = {name: (10.0 * i, 5.5 + i) for i, name in enumerate(forest().names)}
    write_content(ModelContent(forest(), places), tmp_path / f"m{suffix}")
    assert read_content(tmp_path / f"m{suffix}").positions == places


def test_a_file_without_places_gets_some_for_programs_that_draw(tmp_path):
    save(forest(["a", "b"]), tmp_path / "m.net")
    places = read_content(tmp_path / "m.net").positions
    assert len(set(places.values())) == 3
    assert places["hidden one"][1] < places["a"][1] == places["b"][1]


def test_xmlbif_of_other_programs(tmp_path):
    for name in ("m.xmlbif", "m.xml"):
        content = read_content(write(tmp_path, name, XMLBIF))
        assert content.network.cpd("b").tolist() == B_GIVEN_A_C
        assert content.network.structure.states("a") == ("x", "y z")
        assert content.positions == {"a": (73.0, 165.0)}


def test_xdsl_of_genie(tmp_path):
    numbers = " ".join(str(x) for x in np.ravel(B_GIVEN_A_C))
    text = XDSL.replace("NUMBERS", numbers).replace("WRITER", "GeNIe 4.0")
    content = read_content(write(tmp_path, "m.xdsl", text))
    assert content.network.cpd("b").tolist() == B_GIVEN_A_C
    assert content.network.cpd("d").tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert content.positions == {"a": (10.0, 20.0)}
    assert load(write(tmp_path, "m.xml", text)) == content.network


def test_xdsl_of_pyagrum_lists_parents_the_other_way_round(tmp_path):
    numbers = " ".join(str(x) for x in np.ravel(np.transpose(B_GIVEN_A_C, (1, 0, 2))))
    text = XDSL.replace("NUMBERS", numbers).replace("WRITER", "aGrUM 3.3.1")
    network = load(write(tmp_path, "m.xdsl", text))
    assert network.structure.parents("b") == ("c", "a")
    assert np.array_equal(np.transpose(network.cpd("b"), (1, 0, 2)), B_GIVEN_A_C)


def test_identifiers_of_other_programs_are_not_unescaped(tmp_path):
    text = XDSL.replace("NUMBERS", " ".join(["0.25 0.25 0.5"] * 4)).replace("WRITER", "GeNIe")
    text = text.replace('"s0"', '"x_0"')
    assert load(write(tmp_path, "m.xdsl", text)).structure.states("c") == ("x_0", "s1")


def test_net_of_hugin(tmp_path):
    content = read_content(write(tmp_path, "m.net", NET))
    assert content.network.cpd("b").tolist() == B_GIVEN_A_C
    assert content.network.structure.states("b") == ("u", 'v "q"', "w")
    assert content.positions == {"a": (10.0, 20.0)}


def test_uai(tmp_path):
    network = load(write(tmp_path, "m.uai", UAI))
    assert network.names == ("x0", "x1", "x2")
    assert network.structure.parents("x1") == ("x0", "x2")
    assert network.cpd("x1").tolist() == B_GIVEN_A_C


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("m.xml", "<html><body/></html>", "expected <BIF> or <smile>, found <html>"),
        ("m.bifxml", "<BIF><NETWORK>", "is not an XML file"),
        ("m.bifxml", "<BIF/>", "expected a network with variables"),
        ("m.bifxml", XMLBIF.replace("<FOR>c</FOR>", "<FOR>q</FOR>"), "no variable is named 'q'"),
        ("m.bifxml", XMLBIF.replace("<FOR>c</FOR>", "<FOR>a</FOR>"), "'a' has a second table"),
        ("m.bifxml", XMLBIF.replace("5e-1", "0.9"), "table of 'c', row 1 of 1: expected prob"),
        ("m.bifxml", XMLBIF.replace("5e-1", "half"), "'c': expected numbers, found 'half'"),
        ("m.bifxml", XMLBIF.replace("5e-1", ""), r"expected 2 numbers \(2\), found 1"),
        ("m.bifxml", XMLBIF.replace("nature", "decision", 1), "'a': expected the type 'nature'"),
        ("m.bifxml", "<BIF>" + "<a>" * 100 + "</a>" * 100 + "</BIF>", "more than 64 deep"),
        (
            "m.bifxml",
            XMLBIF.replace("<!ELEMENT", '<!ENTITY e "x"> <!ELEMENT', 1),
            "declares entities",
        ),
        ("m.xdsl", "<smile/>", "expected <smile> with <nodes>"),
        (
            "m.xdsl",
            XDSL.replace("<cpt id", "<noisymax id", 1).replace("</cpt>", "</noisymax>", 1),
            "node 'a' is of the kind 'noisymax'",
        ),
        ("m.xdsl", XDSL, "'b': expected numbers, found 'NUMBERS'"),
        ("m.net", NET.replace("discrete node", "continuous node"), "'continuous node' blocks"),
        ("m.net", NET.replace('"0" "1"', '"0" "1'), "line 5: this quote is never closed"),
        (
            "m.net",
            NET.replace("data = (0.25", "dat = (0.25"),
            "line 6: the potential of 'a' has no",
        ),
        ("m.net", NET[:-5], "the file ends too early"),
        ("m.net", "", "expected a network with variables"),
        ("m.uai", UAI.replace("BAYES", "MARKOV"), "expected 'BAYES' at the beginning"),
        ("m.uai", UAI[:40], "ends too early|only"),
        ("m.uai", UAI.replace("12\n", "999999999\n"), "999999999 numbers in the table"),
        ("m.uai", UAI.replace("3 0 2 1", "3 0 7 1"), "expected numbers below 3"),
        ("m.uai", UAI.replace("2 3 2", "2 999999999 2"), "999999999 states of x1, but only"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, text, problem):
    with pytest.raises(FileFormatError, match=problem):
        load(write(tmp_path, name, text))


def test_a_large_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("latentforest.formats.bytes_file.MAX_BYTES", 100)
    for name, text in (("m.bifxml", XMLBIF), ("m.net", NET), ("m.uai", UAI + " " * 100)):
        with pytest.raises(FileFormatError, match="expected at most 100"):
            load(write(tmp_path, name, text))
    (tmp_path / "m.bif.gz").write_bytes(gzip.compress(b" " * 10_000))
    with pytest.raises(FileFormatError, match="more than 100 bytes when it is uncompressed"):
        load(tmp_path / "m.bif.gz")


def test_rounded_tables_are_scaled_with_a_warning(tmp_path):
    path = write(tmp_path, "m.bifxml", XMLBIF.replace("5e-1", "0.505"))
    with pytest.warns(
        FileFormatWarning, match=r"1 tables did not sum to one.*'c', had the sum 1\.005"
    ):
        network = load(path)
    assert network.cpd("c").sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "text", "likely"),
    [
        ("m.json", XMLBIF, ".bifxml"),
        ("m.txt", NET, ".net"),
        ("m.bif", '{"format": "x"}', ".json"),
        ("m.net", "network n {}\nvariable a {}", ".bif"),
        ("m.bifxml", XDSL, ".xdsl"),
        ("m.xdsl", UAI, ".uai"),
    ],
)
def test_a_file_of_another_name_is_recognised(tmp_path, name, text, likely):
    with pytest.raises(FileFormatError, match=f"it looks like a file whose name ends in {likely}$"):
        load(write(tmp_path, name, text))


def test_what_is_lost_is_said(tmp_path):
    learned = LatentClass(2, random_state=0).fit(datasets.load("hiv-tests"))
    with pytest.warns(
        FileFormatWarning, match="does not keep the parameters for new rows; a .json"
    ):
        save(learned, tmp_path / "m.bif")
    placed = ModelContent(forest(["a"]), {"a": (1.0, 2.0)})
    with pytest.warns(FileFormatWarning, match="where the variables stand in a drawing; a .xdsl"):
        write_content(placed, tmp_path / "m.json")


@settings(max_examples=200)
@given(name=st.text(max_size=12))
def test_identifiers_are_reversible(name):
    text = to_identifier(name)
    assert text.isascii()
    assert text.isidentifier()
    assert text[0].isalpha()
    assert from_identifier(text) == name


@settings(max_examples=200)
@given(name=st.text(max_size=12))
def test_text_in_xml_is_reversible(name):
    text = to_xml_text(name)
    assert text.strip() == text
    assert from_xml_text(text) == name


@settings(max_examples=200)
@given(names=st.lists(st.text("x_12 a", max_size=5), min_size=2, max_size=2, unique=True))
def test_different_names_have_different_identifiers(names):
    assert to_identifier(names[0]) != to_identifier(names[1])


def test_graphs_are_written_and_not_read(tmp_path):
    for suffix in (".dot", ".gv", ".graphml", ".mmd", ".mermaid"):
        save(forest(), tmp_path / f"m{suffix}")
        with pytest.raises(ParameterError, match="a graph without parameters"):
            load(tmp_path / f"m{suffix}")
    root = ElementTree.parse(tmp_path / "m.graphml").getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(root.findall(f".//{space}node")) == len(forest().names)
    assert len(root.findall(f".//{space}edge")) == len(NAMES)
    mermaid = (tmp_path / "m.mmd").read_text()
    assert 'n0(["hidden one"])' in mermaid
    assert "<b>" not in mermaid
    assert mermaid.count("-->") == len(NAMES)


def test_graphs_may_have_continuous_variables_and_tables_not(tmp_path):
    network = Network.from_tables([Variable("pulse")], {}, {"pulse": [70.0, 100.0]})
    save(network, tmp_path / "m.graphml")
    for suffix in (".xdsl", ".net", ".uai", ".bifxml"):
        with pytest.raises(ModelError, match="continuous: 'pulse'"):
            save(network, tmp_path / f"m{suffix}")


def test_networks_save_themselves_in_any_format(tmp_path):
    forest().save(tmp_path / "m.xdsl")
    assert load(tmp_path / "m.xdsl") == forest()
    forest().save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["format"] == "latentforest-network"
