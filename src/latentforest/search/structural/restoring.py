"""From the network of a search back to one over the columns as they were given."""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.kernels.types import FloatArray, LongArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.search.glc.fits import transfer
from latentforest.search.naming import name_latents


def put_back(network: Network, table: Dataset) -> Network:
    """Give a network's columns the order and the states that they have in a table.

    States that the network does not have get no probability; below such states of its parents, a
    variable is uniform.
    """
    old = network.structure
    names = [*table.names, *network.latents]
    parents = {name: tuple(n for n in names if n in old.parents(name)) for name in names}
    few = Structure([old.variable(name) for name in names], parents)
    latents = [old.variable(name) for name in network.latents]
    full = Structure([*table.variables, *latents], parents)
    return Network(full, _spread(full, few, transfer(few, old, network.parameters)))


def _spread(full: Structure, few: Structure, parameters: FloatArray) -> FloatArray:
    """Write tables into those of a structure with more states."""
    spread = np.empty(full.n_values)
    for name in full.names:
        view = full.table_view(spread, name)
        view[...] = 1.0 / view.shape[-1]
        family = [_find_states(full, few, each) for each in (*full.parents(name), name)]
        view[np.ix_(*family[:-1])] = 0.0
        view[np.ix_(*family)] = few.table_view(parameters, name)
    return spread


def _find_states(full: Structure, few: Structure, name: str) -> LongArray:
    places = {state: code for code, state in enumerate(full.states(name))}
    return np.array([places[state] for state in few.states(name)], np.int64)


def number_latents(network: Network, table: Dataset) -> Network:
    """Number the latent variables that were found, without those that came and went."""
    names = dict(zip(network.latents, name_latents(len(network.latents), table.names), strict=True))
    old = network.structure
    variables = [Variable(names.get(v.name, v.name), v.states, v.latent) for v in network.variables]
    parents = {
        names.get(name, name): tuple(names.get(each, each) for each in old.parents(name))
        for name in old.names
    }
    return Network(Structure(variables, parents), network.parameters)
