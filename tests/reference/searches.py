"""Trees that are easy to find, and what a search for them must give."""

import numpy as np
import pytest

import latentforest as lf
from latentforest import EAST
from latentforest.data.variable import Variable
from latentforest.model import Network
from latentforest.search.regularity import find_irregular


def clear_tree(latents, n_leaves, n_states=3, strength=0.8, seed=0):
    """A tree of strong tables.

    ``latents`` maps names to numbers of states and parents, ``n_leaves`` to numbers of leaves.
    """
    rng = np.random.default_rng(seed)
    cards = {name: card for name, (card, _) in latents.items()}
    parents = {name: above for name, (_, above) in latents.items() if above}
    for name, n in n_leaves.items():
        for _ in range(n):
            leaf = f"X{len(cards) - len(latents) + 1}"
            cards[leaf], parents[leaf] = n_states, name
    tables = {}
    for name, card in cards.items():
        if name not in parents:
            tables[name] = np.full(card, 1.0 / card)
            continue
        table = np.full((cards[parents[name]], card), (1.0 - strength) / (card - 1))
        table[np.arange(len(table)), rng.permutation(card)[np.arange(len(table)) % card]] = strength
        tables[name] = table
    variables = [
        Variable.hidden(name, card) if name in latents else Variable(name, tuple("abcd"[:card]))
        for name, card in cards.items()
    ]
    return Network.from_tables(variables, parents, tables)


def learn(data, **settings):
    return EAST(**{"random_state": 0, **settings}).fit(data)


def cards(network):
    return sorted(network.structure.shape(name)[-1] for name in network.latents)


def assert_valid(model, data):
    assert not find_irregular(model.network_.structure)
    assert np.isfinite(model.bic_)
    exact = lf.log_score(model.network_.with_predictive(None), data)
    assert model.log_likelihood_ == pytest.approx(exact, rel=1e-9)
    assert model.n_parameters_ == model.network_.dimension
    assert model.bic_ >= max(model.history_["bic"]) - 1e-6
