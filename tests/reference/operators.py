"""All operators on latent trees: each file of the folder has one, so a new one is tested too."""

import importlib
import pkgutil

import latentforest as lf
from latentforest.search.trees import operators
from latentforest.search.trees.tree import LatentTree, Rules
from latentforest.search.trees.tree_candidate import TreeCandidate
from reference.restricted import draw_latent_tree


def find_operators():
    found = []
    for module in pkgutil.iter_modules(operators.__path__, operators.__name__ + "."):
        here = vars(importlib.import_module(module.name)).values()
        (operator,) = (
            each
            for each in here
            if isinstance(each, type)
            and issubclass(each, TreeCandidate)
            and each.__module__ == module.name
        )
        found.append(operator)
    return found


OPERATORS = find_operators()
ANY_MEDIATOR = Rules(any_mediator=True)
TREE_SEEDS = range(56)


def draw_tree(seed):
    """Trees of all sorts: one to seven latent variables, few or many leaves, few or many states."""
    latent_states = [(2, 3), (2, 3, 4), (2, 5, 7), (3, 6)][seed % 4]
    return draw_latent_tree(seed, 1 + seed % 7, latent_states, (2, 3, 5), n_more=seed % 3)


def propose_in(network, rules=ANY_MEDIATOR, operators=OPERATORS):
    tree = LatentTree(network.structure)
    return [candidate for each in operators for candidate in each.propose(tree, rules)]


def card(network, name):
    return network.structure.shape(name)[-1]


def cards(network):
    """States of the latent variables, whatever their names."""
    return sorted(card(network, name) for name in network.latents)


def neighbours(network, name):
    return set(network.structure.neighbours(name))


def same_shape(first, second):
    return lf.tree_distance(first, second) == 0 and cards(first) == cards(second)
