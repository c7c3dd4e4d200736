"""Small models with their tables, one for each kind of network."""

from __future__ import annotations

import numpy as np
import pytest

import latentforest as lf
from latentforest.datasets.generate import with_missing
from reference.mixed_networks import draw_mixed
from reference.random_networks import fill_randomly


def make_tree():
    """A latent tree of two latent variables over five columns."""
    variables = [lf.Variable.hidden("Y1", 2), lf.Variable.hidden("Y2", 3)]
    variables += [lf.Variable(name, ("0", "1")) for name in "abc"]
    variables += [lf.Variable(name, ("x", "y", "z")) for name in "de"]
    parents = {"Y2": "Y1", "a": "Y1", "b": "Y1", "c": "Y1", "d": "Y2", "e": "Y2"}
    return fill_randomly(lf.Structure(variables, parents), 7, share_of_zeros=0.0)


def make_mixed():
    """A pouch, Gaussian leaves and categorical leaves below two latent variables."""
    variables = [lf.Variable.hidden("Y1", 2), lf.Variable.hidden("Y2", 3)]
    variables += [lf.Variable(name) for name in "uvwx"]
    variables += [lf.Variable("k", ("0", "1")), lf.Variable("m", ("0", "1", "2"))]
    parents = {"Y2": "Y1", "u": "Y1", "v": "Y1", "w": "Y2", "x": "Y2", "k": "Y1", "m": "Y2"}
    return draw_mixed(lf.Structure(variables, parents, [("u", "v")]), 4)


def make_dag():
    """A network with a collider and a latent variable."""
    variables = [lf.Variable.hidden("H", 2)]
    variables += [lf.Variable(name, ("0", "1")) for name in "abcd"]
    parents = {"a": "H", "b": ("H", "a"), "c": ("H",), "d": ("b", "c")}
    return fill_randomly(lf.Structure(variables, parents), 3, share_of_zeros=0.0)


KINDS = {"tree": make_tree, "mixed": make_mixed, "dag": make_dag}


@pytest.fixture(scope="session", params=list(KINDS))
def pair(request):
    """A network of each kind with rows drawn from it, some values missing, weighted."""
    network = KINDS[request.param]()
    drawn = with_missing(network.sample(300, random_state=1), 0.1, 2)
    return network, drawn.with_weights(np.random.default_rng(3).uniform(0.5, 2.0, 300))


@pytest.fixture(scope="session")
def tree():
    """A latent tree and complete rows."""
    network = make_tree()
    return network, network.sample(400, random_state=5)


@pytest.fixture(scope="session")
def mixed_network():
    """A network with continuous and categorical columns."""
    return make_mixed()
