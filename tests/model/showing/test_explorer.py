"""Values that a person sets in a notebook, and what follows."""

import sys

import numpy as np
import pytest

import latentforest as lf
from latentforest.errors import LatentForestError, MissingExtraError
from latentforest.model.showing.explorer import _Panel


@pytest.fixture
def network():
    health, fever = lf.Variable.hidden("health", 2), lf.Variable("fever", ("no", "yes"))
    sure, pulse = lf.Variable("sure", ("no", "yes")), lf.Variable("pulse")
    tables = {
        "health": [0.75, 0.25],
        "fever": [[1.0, 0.0], [0.5, 0.5]],
        "sure": [[1.0, 0.0], [0.0, 1.0]],
        "pulse": [[60.0, 25.0], [90.0, 100.0]],
    }
    parents = dict.fromkeys(("fever", "sure", "pulse"), "health")
    return lf.Network.from_tables([health, fever, sure, pulse], parents, tables)


def test_answers_are_those_of_the_network(network):
    explorer = network.explore()
    explorer.set("fever", "yes")
    explorer.set("pulse", 80.0)
    given = {"fever": "yes", "pulse": 80.0}
    np.testing.assert_array_equal(explorer.query("health"), network.query("health", given))
    assert "fever = yes, pulse = 80.0" in explorer.to_html()
    explorer.clear("fever")
    assert explorer.evidence == {"pulse": 80.0}
    explorer.clear()
    assert explorer.evidence == {}


def test_what_is_impossible_is_refused_and_not_set(network):
    explorer = network.explore()
    explorer.set("sure", "no")
    with pytest.raises(LatentForestError, match="fever = yes was not set"):
        explorer.set("fever", "yes")
    assert explorer.evidence == {"sure": "no"}
    with pytest.raises(LatentForestError, match="maybe"):
        explorer.set("fever", "maybe")


def test_the_widget_does_what_is_clicked(network):
    explorer = network.explore()
    panel = _Panel(explorer)
    assert [value for _, value in panel.variable.options] == [None, *network.names]
    panel.variable.value = "sure"
    assert [value for _, value in panel.value.options] == ["no", "yes"]
    panel.value.value = "no"
    panel.button.click()
    assert explorer.evidence == {"sure": "no"}
    assert "sure" not in [value for _, value in panel.variable.options]
    panel.variable.value = "pulse"
    panel.number.value = 61.5
    panel.button.click()
    assert explorer.evidence == {"sure": "no", "pulse": 61.5}
    assert "What follows from" in panel.picture.value
    panel.variable.value = "fever"
    panel.value.value = "yes"
    panel.button.click()
    assert "was not set" in panel.message.value
    panel.known.children[0].click()
    assert explorer.evidence == {"pulse": 61.5}
    assert panel.message.value == ""


def test_the_widget_has_room_for_odd_names(network):
    odd = network.renamed({"fever": "<b>" * 3000, "sure": "\x1b[31m"})
    explorer = odd.explore()
    explorer.set("<b>" * 3000, "no")
    panel = _Panel(explorer)
    assert max(len(text) for text, _ in panel.variable.options) < 120
    assert "<b>" not in panel.picture.value


def test_without_ipywidgets_it_is_said_how_to_install_it(network, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    explorer = network.explore()
    explorer.set("fever", "no")
    with pytest.raises(MissingExtraError, match=r"pip install 'latentforest\[notebook\]'"):
        explorer.widget()
