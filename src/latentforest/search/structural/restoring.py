"""From the network of a search back to one over the columns as they were given."""

from __future__ import annotations

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.search.glc.fits import transfer
from latentforest.search.naming import name_latents


def put_back(network: Network, table: Dataset) -> Network:
    """Give a network's columns the order that they have in a table."""
    old, names = network.structure, [*table.names, *network.latents]
    parents = {name: tuple(n for n in names if n in old.parents(name)) for name in names}
    structure = Structure([old.variable(name) for name in names], parents)
    return Network(structure, transfer(structure, old, network.parameters))


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
