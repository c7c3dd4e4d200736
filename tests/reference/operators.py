"""All operators on latent trees: each file of the folder has one, so a new one is tested too."""

import importlib
import pkgutil

from latentforest.search.trees import operators
from latentforest.search.trees.tree_candidate import TreeCandidate


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
