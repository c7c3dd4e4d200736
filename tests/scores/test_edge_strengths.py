"""Strengths of edges, the threshold of significance, and pictures."""

import numpy as np
import pytest

from latentforest import Network, Structure, Variable
from latentforest.data.results.table import Table
from latentforest.scores.edge_strengths import draw_edges, find_threshold, measure_edges


def make(parents, *latents):
    variables = [Variable(name, ("0", "1")) for name in "abc"]
    variables += [Variable.hidden(name, 2) for name in latents]
    structure = Structure(variables, parents)
    return Network(structure, np.full(structure.n_values, 0.5))


@pytest.fixture
def edges():
    networks = [make({"b": "a"}), make({"c": ("a", "b")}), make({"a": "h", "b": "h"}, "h")]
    return measure_edges(networks, [0.5, 0.3, 0.2])


def test_edges_arcs_and_common_neighbours(edges):
    rows = {(row["left"], row["right"]): row for row in edges.rows()}
    assert list(rows) == [("a", "b"), ("a", "c"), ("b", "c")]
    ab, ac = rows["a", "b"], rows["a", "c"]
    assert (ab["probability"], ab["forward"], ab["backward"]) == (0.5, 0.25, 0.25)
    assert (ac["probability"], ac["forward"], ac["backward"]) == pytest.approx((0.3, 0.3, 0.0))
    assert (ab["together"], ac["together"]) == pytest.approx((0.2, 0.0))


def test_the_published_example():
    """Scutari and Nagarajan (2013): three of six edges are significant."""
    strengths = np.array([0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439])
    threshold = find_threshold(strengths)
    assert threshold == 0.3921
    assert (strengths > threshold).sum() == 3


@pytest.mark.parametrize(
    ("strengths", "expected"), [([], 0.0), ([0.0, 0.0, 1.0], 0.0), ([1.0, 1.0], 0.0)]
)
def test_no_doubt(strengths, expected):
    assert find_threshold(strengths) == expected


def test_the_closest_flat_function():
    """No other level is closer in area to the distribution function."""
    strengths = np.random.default_rng(0).beta(0.5, 0.5, 15)
    grid = (np.arange(20_000) + 0.5) / 20_000
    observed = (strengths[:, None] <= grid).mean(axis=0)
    areas = [np.abs(observed - level / 15).mean() for level in range(16)]
    level = int(np.argmin(areas))
    assert find_threshold(strengths) == np.sort(strengths)[level - 1]


def test_pictures(edges):
    text = draw_edges(edges, 0.2)
    assert '"a" -> "b" [label="0.50", penwidth=1.50, color="gray50", dir=none];' in text
    assert '"a" -> "c" [label="0.30", penwidth=0.90, color="gray70", dir=forward];' in text
    assert "->" not in draw_edges(edges, 0.9)


def test_pictures_of_trees():
    edges = Table({"left": ["a"], "right": ["b"], "probability": [0.75]})
    assert 'color="gray25", dir=none' in draw_edges(edges)
