"""Random latent trees with pouches, categorical columns beside them, and rows drawn from them."""

import numpy as np

from latentforest.data.variable import Variable
from latentforest.datasets.generate import with_missing
from latentforest.model import Structure
from reference.mixed_networks import draw_mixed

SHAPES = {
    "one pouch": ({"Y1": 2}, {}, {"Y1": [("a", "b")]}, {}),
    "star": ({"Y1": 3}, {}, {"Y1": [("a", "b"), ("c",), ("d", "e", "f")]}, {"K": "Y1"}),
    "two latents": (
        {"Y1": 2, "Y2": 3},
        {"Y2": "Y1"},
        {"Y1": [("a", "b"), ("c",)], "Y2": [("d",), ("e", "f")]},
        {"K": "Y2", "L": "Y1"},
    ),
    "chain": (
        {"Y1": 2, "Y2": 2, "Y3": 3},
        {"Y2": "Y1", "Y3": "Y2"},
        {"Y1": [("a",), ("b",)], "Y2": [("c", "d")], "Y3": [("e",), ("f",)]},
        {"K": "Y1", "L": "Y3"},
    ),
}


def make_pouch_structure(kind):
    """The structure of that name."""
    cards, arcs, pouches, leaves = SHAPES[kind]
    variables = [Variable.hidden(name, card) for name, card in cards.items()]
    parents = dict(arcs)
    for latent, groups in pouches.items():
        for group in groups:
            variables += [Variable(name) for name in group]
            parents |= dict.fromkeys(group, latent)
    for name, latent in leaves.items():
        variables.append(Variable(name, ("no", "yes", "maybe")))
        parents[name] = latent
    groups = [group for each in pouches.values() for group in each if len(group) > 1]
    return Structure(variables, parents, groups)


def draw_pouch_network(kind, seed):
    """Random tables for the structure of that name."""
    return draw_mixed(make_pouch_structure(kind), seed)


def draw_rows(network, n_rows=60, missing=0.15, seed=0):
    """Rows with weights and missing values."""
    data = with_missing(network.sample(n_rows, random_state=seed), missing, random_state=seed)
    return data.with_weights(np.random.default_rng(seed).choice([0.5, 1.0, 2.0], n_rows))
