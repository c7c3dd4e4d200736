"""Latent trees with rows, completed by hand, for tests of data completion."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from latentforest.data.variable import Variable
from latentforest.datasets import (
    generate,
    random_latent_class,
    random_latent_forest,
    random_latent_tree,
)
from latentforest.inference.forest import PatternedData
from latentforest.model import Structure
from latentforest.search.trees.completion.counts import Completion
from latentforest.search.trees.model import Model
from latentforest.search.trees.operators.node_relocation import NodeRelocation
from latentforest.search.trees.operators.state_deletion import StateDeletion
from latentforest.search.trees.tree import Rules
from reference import completion as oracle
from reference.enumeration import tree_joint
from reference.random_networks import fill_randomly

RULES = Rules(any_mediator=True)


def make_caterpillar(seed):
    """Three latent variables in a row; one that loses its leaf is dissolved."""
    latents = [Variable.hidden(f"Y{i}", n) for i, n in enumerate((3, 2, 2, 2))]
    leaves = [Variable(f"X{i}", "abc"[: 2 + i % 2]) for i in range(8)]
    parents = {"Y0": "Y1", "Y2": "Y1", "Y3": "Y2"}
    parents |= {f"X{i}": f"Y{h}" for i, h in enumerate((0, 0, 0, 1, 2, 3, 3, 3))}
    return fill_randomly(Structure([*latents, *leaves], parents), seed, share_of_zeros=0.1)


def make_networks():
    """Some networks small enough to write their completed data out."""
    tree = random_latent_tree(
        6, depth=2, width=3, n_states=(2, 3), n_latent_states=(2, 3), random_state=1
    )
    return {
        "class": random_latent_class(6, 5, n_states=(2, 3), random_state=0),
        "tree": tree,
        "rooted at the side": tree.rooted_at("Y3"),
        "deep": random_latent_tree(9, depth=3, width=2, random_state=2).rooted_at("Y4"),
        "forest": random_latent_forest(
            2, 8, depth=2, width=2, n_latent_states=(2, 3), random_state=3
        ),
        "caterpillar": make_caterpillar(4),
        "caterpillar, rooted at its end": make_caterpillar(5).rooted_at("Y3"),
    }


NETWORKS = make_networks()


class Case:
    """A model with its completed data, fast and written out."""

    def __init__(self, network, n_rows, missing_rate):
        rng = np.random.default_rng(7)
        dataset = generate(network, n_rows, missing_rate, random_state=rng)
        dataset = dataset.with_weights(rng.choice([0.0, 0.5, 1.0, 2.0], n_rows))
        self.network, self.names = network, network.names
        self.model = Model(network, 0.0, PatternedData(dataset))
        self.completed = oracle.complete(network, dataset)
        self.joint = tree_joint(network.structure, network.parameters, list(network.names))
        self.penalty = 0.5 * math.log(dataset.total_weight)

    def propose(self, operator):
        return list(operator.propose(self.model.tree, RULES))

    def score(self, candidates):
        return type(candidates[0]).score(Completion(self.model.messages), candidates)

    def gain(self, candidate):
        """By how much a candidate's expected BIC is higher, families counted in completed data.

        An origin that a relocation dissolves is kept: summing it out changes no probability.
        """
        before, change = self.network.structure, candidate.change
        if isinstance(candidate, NodeRelocation):
            candidate = replace(candidate, dissolved=None)
        after = candidate.edit(self.network).structure
        if isinstance(candidate, StateDeletion):
            value = oracle.best_merging(after, self.completed, self.names, candidate.hub)
        else:
            value = oracle.expected_log_likelihood(after, self.completed, self.names)
        value -= oracle.expected_log_likelihood(before, self.completed, self.names)
        return value - self.penalty * change

    def triple(self, hub, left, right):
        return oracle.count(self.completed, self.names, (left, right, hub))

    def model_joint(self, wanted):
        return oracle.count(self.joint, self.names, wanted)

    def pairs_of(self, hub):
        return list(itertools.combinations(self.model.messages.neighbours(hub), 2))


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-9)
