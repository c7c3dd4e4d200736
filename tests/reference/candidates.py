"""Models with candidates of all operators, and what their proposals must satisfy."""

from latentforest.inference.forest import PatternedData
from latentforest.search.trees.candidate import LocalEffort
from latentforest.search.trees.model import Model
from latentforest.search.trees.restricted import evaluate_restricted
from latentforest.search.trees.tree import Rules
from reference.operators import OPERATORS
from reference.restricted import (
    draw_latent_tree,
    draw_rows,
    measure,
)

SEEDS = range(15)


def make_model(network, dataset):
    data = PatternedData(dataset)
    return Model(network, measure(network, dataset), data)


def draw_model(seed, n_rows=30, **settings):
    """Two to five latent variables; values are missing; weights are below and above one."""
    states = (2, 3, 5) if seed % 2 else (2, 3, 4)
    network = draw_latent_tree(seed, 2 + seed % 4, states, n_more=seed % 3)
    return make_model(network, draw_rows(network, n_rows, seed, **settings))


def propose(model, operators=OPERATORS, any_mediator=True):
    rules = Rules(any_mediator=any_mediator)
    return [candidate for each in operators for candidate in each.propose(model.tree, rules)]


def evaluate(model, candidates, mu=3, nu=5, seed=0):
    return evaluate_restricted(model, candidates, LocalEffort(mu, nu, seed), lambda proposals: None)
