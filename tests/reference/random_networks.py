"""Hypothesis strategies for small networks, with zeros in some of their tables."""

import numpy as np
from hypothesis import strategies as st

from latentforest.data.variable import Variable
from latentforest.model import Network, Structure


@st.composite
def networks(draw, max_variables=6, max_parents=1, max_states=3):
    """Draw a network whose variables have at most ``max_parents`` parents."""
    n_variables = draw(st.integers(1, max_variables))
    variables, parents = [], {}
    for position in range(n_variables):
        n_states = draw(st.integers(1, max_states))
        latent = draw(st.booleans())
        name = f"{'Y' if latent else 'X'}{position}"
        variables.append(Variable(name, tuple("abcdef"[:n_states]), latent))
        earlier = [variable.name for variable in variables[:-1]]
        n_parents = draw(st.integers(0, min(max_parents, position)))
        parents[name] = draw(st.permutations(earlier))[:n_parents]
    shuffled = draw(st.permutations(variables))
    return fill_randomly(Structure(shuffled, parents), draw(st.integers(0, 2**32 - 1)))


def fill_randomly(structure, seed, share_of_zeros=0.15):
    """Give a structure random tables, some of whose entries are exactly zero."""
    rng = np.random.default_rng(seed)
    tables = {}
    for name in structure.names:
        table = rng.random(structure.shape(name)) + 0.01
        table[rng.random(table.shape) < share_of_zeros] = 0.0
        table[..., rng.integers(table.shape[-1])] += 0.01
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    parents = {name: structure.parents(name) for name in structure.names}
    return Network.from_tables(structure.variables, parents, tables)
