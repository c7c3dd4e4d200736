"""Clear latent trees with continuous and categorical leaves."""

import numpy as np

from latentforest.data.variable import Variable
from latentforest.model import Network


def make_mixed_tree(kinds, seed=0):
    """Two latent variables with leaves each: numbers ("n"), means apart, or states ("s")."""
    rng = np.random.default_rng(seed)
    variables, parents = [Variable.hidden("Y1", 2), Variable.hidden("Y2", 3)], {"Y2": "Y1"}
    tables = {"Y1": np.array([0.5, 0.5]), "Y2": np.array([[0.7, 0.1, 0.2], [0.1, 0.7, 0.2]])}
    for latent, card in (("Y1", 2), ("Y2", 3)):
        for k, kind in enumerate(kinds):
            name = f"{latent[-1]}{'abcdef'[k]}"
            parents[name] = latent
            if kind == "s":
                variables.append(Variable(name, ("u", "v", "w")))
                rows = 0.1 + 0.7 * np.eye(3)[rng.permutation(3)[:card]]
                tables[name] = rows / rows.sum(axis=1, keepdims=True)
            else:
                variables.append(Variable(name))
                means = 3.0 * rng.permutation(card)
                tables[name] = np.stack([means, rng.uniform(0.7, 1.3, card)], axis=1)
    return Network.from_tables(variables, parents, tables)
