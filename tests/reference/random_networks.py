"""Hypothesis strategies for small networks, with zeros in some of their tables, and their data."""

import numpy as np
from hypothesis import strategies as st

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.model import Network, Structure


@st.composite
def networks(draw, max_variables=6, max_parents=1, max_states=3, share_of_zeros=0.15):
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
    seed = draw(st.integers(0, 2**32 - 1))
    return fill_randomly(Structure(shuffled, parents), seed, share_of_zeros)


@st.composite
def tables_for(draw, network, max_rows=8, missing=True):
    """Draw a table with the observed variables of a network and a column that it does not use."""
    n_rows = draw(st.integers(1, max_rows))
    unused = Variable("unused", ("a", "b"))
    variables = [network.structure.variable(name) for name in network.observed] + [unused]
    variables = draw(st.permutations(variables))
    columns = []
    for variable in variables:
        codes = st.integers(-1 if missing else 0, variable.n_states - 1)
        columns.append(draw(st.lists(codes, min_size=n_rows, max_size=n_rows)))
    weights = [draw(st.sampled_from([1.0, 2.5]))]
    weights += [draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for _ in range(n_rows - 1)]
    return Dataset(variables, columns, weights)


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
