"""Random generalized latent class models, and the paper's definitions word for word."""

import math

import numpy as np

from latentforest.data.variable import Variable
from latentforest.model import Structure
from reference.enumeration import tree_joint
from reference.random_networks import fill_randomly


def random_generalized(seed, max_latent_states=4, share_of_zeros=0.1):
    """A network of two to four latents in a tree or forest and four to six manifest variables."""
    rng = np.random.default_rng([seed, 14])
    latents = [f"X{i}" for i in range(rng.integers(2, 5))]
    columns = [f"Y{i}" for i in range(rng.integers(4, 7))]
    variables = [Variable.hidden(x, int(rng.integers(2, max_latent_states + 1))) for x in latents]
    variables += [Variable(y, tuple("abc"[: rng.integers(2, 4)])) for y in columns]
    parents = {}
    for i, name in enumerate(latents[1:], 1):
        parents[name] = [latents[rng.integers(i)]] if rng.random() < 0.85 else []
    for i, name in enumerate(columns):
        above = rng.permutation(latents)[: rng.choice(3, p=[0.1, 0.7, 0.2])].tolist()
        above += rng.permutation(columns[:i])[: rng.choice(3, p=[0.6, 0.3, 0.1])].tolist()
        parents[name] = rng.permutation(above).tolist()
    shuffled = [variables[i] for i in rng.permutation(len(variables))]
    return fill_randomly(Structure(shuffled, parents), seed, share_of_zeros)


def manifest_table(network, names):
    """P(manifest variables) by multiplying all tables out."""
    order = [*names, *network.latents]
    joint = tree_joint(network.structure, network.parameters, order)
    return joint.sum(axis=tuple(range(len(names), len(order))))


def is_island(structure, name):
    """An island has no manifest node in its descendants."""
    return all(
        child in structure.latents and is_island(structure, child)
        for child in structure.children(name)
    )


def is_printed_tie(structure, name):
    """The conditions of section 3.2; where the parent is a parent of the child, of its proof."""
    parents, children = structure.parents(name), structure.children(name)
    if len(parents) != 1 or len(children) != 1:
        return False
    card = structure.shape(name)[-1]
    above, below = structure.shape(parents[0])[-1], structure.shape(children[0])[-1]
    others = set(structure.parents(children[0])) - {name}
    if not others:
        return card >= min(above, below)
    return parents[0] in others or card >= above


def is_printed_star(structure, name):
    """The condition of section 3.2, for children that have no other parents."""
    children = structure.children(name)
    if structure.parents(name) or len(children) <= 2:
        return False
    if any(structure.parents(child) != (name,) for child in children):
        return False
    cards = [structure.shape(child)[-1] for child in children]
    return structure.shape(name)[-1] > math.prod(cards) // max(cards)
