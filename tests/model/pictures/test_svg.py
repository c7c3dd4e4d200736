"""Networks as SVG: well-formed, of any names, without anything from elsewhere."""

import defusedxml.ElementTree as ElementTree
import pytest

import latentforest as lf
from latentforest import datasets
from latentforest.model.pictures.shapes import estimate_width
from latentforest.model.pictures.svg import write_svg
from latentforest.model.pictures.tree import draw_network

SPACE = "{http://www.w3.org/2000/svg}"
ODD = ["<script>alert(1)</script>", "\x1b[31m", "a & b \"c\" 'd'", "\ud800 half", "$x$" * 2000]


def parse(network, width=960.0):
    return ElementTree.fromstring(write_svg(draw_network(network, estimate_width, width)))


def test_texts_and_edges_are_there():
    network = datasets.random_latent_tree(16, depth=2, width=4, random_state=0)
    page = parse(network)
    texts = [each.text for each in page.iter(f"{SPACE}text")]
    assert set(network.observed) <= set(texts)
    paths = list(page.iter(f"{SPACE}path"))
    assert len(paths) >= len(network.names) - 1
    assert page.get("aria-label") == f"{len(network.latents)} hidden variables over 16 columns"


def test_sizes_of_states_are_lengths():
    network = datasets.random_latent_class(4, 2, random_state=0)
    bars = [each for each in parse(network).iter(f"{SPACE}rect") if each.get("fill") == "#b9d2ec"]
    share = float(network.query("Y1")[0])
    page = parse(network)
    dark = [each for each in page.iter(f"{SPACE}rect") if each.get("fill") == "#134377"]
    first, second = float(bars[0].get("width")), float(dark[0].get("width"))
    assert (first + 1) / (first + second + 2) == pytest.approx(share, abs=0.02)


def test_names_are_text():
    network = lf.LatentClass(2, random_state=0).fit(datasets.load("hiv-tests")).network_
    odd = network.renamed(dict(zip(network.names, ODD, strict=True)))
    page = odd._repr_html_()
    assert "<script" not in page
    assert "\x1b" not in page
    assert len(page) < 60_000
    parse(odd)


@pytest.mark.parametrize("learner", [lf.Independence, lf.ChowLiu, lf.BayesianNetworkSearch])
def test_networks_without_latent_variables(learner):
    network = learner().fit(datasets.load("coleman-panel")).network_
    page = network._repr_html_()
    assert page.startswith("<div><svg ")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_learners_have_the_picture_beside_the_diagram():
    model = lf.LatentClass(2, random_state=0).fit(datasets.load("hiv-tests"))
    page = model._repr_mimebundle_()["text/html"]
    assert "<svg " in page
    assert "sk-" in page  # scikit-learn's diagram
