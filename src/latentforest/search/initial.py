"""Making any forest a regular latent tree, which a search can begin with.

Inner columns become leaves of latent copies, the trees of a forest are joined, latent variables
with two neighbours are summed out, and states that regularity does not allow are merged. What is
not changed keeps its parameters; the rest are guesses for EM.
"""

from __future__ import annotations

import numpy as np

from latentforest.data.variable import Variable
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.information import indicators, joint_counts, posterior_information
from latentforest.inference.posteriors import compute_posteriors, fill_impossible
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.spanning import Edge, spanning_forest
from latentforest.model.structure import Structure
from latentforest.search.naming import name_new_latent
from latentforest.search.operators.state_deletion import merge_states
from latentforest.search.regularity import most_states
from latentforest.search.states import Around, with_states
from latentforest.search.tables import pack

BLUR = 0.05  # share of the uniform distribution in the table of a column below its latent copy


def make_regular(
    network: Network, data: PatternedData, max_states: int | None = None
) -> Network | None:
    """Return a regular latent tree close to a network; nothing if that has no edge.

    Columns of a single state stay alone.

    Parameters
    ----------
    network
        A forest over the columns of the table, with or without latent variables.
    data
        The table.
    max_states
        Most states of a latent variable.
    """
    network = cut_constant(network)
    network = dissolve(lift_columns(network), least=1)
    if not network.latents:
        return None
    network = dissolve(join_trees(network, data), least=2)
    return reduce_states(network, max_states)


def cut_constant(network: Network) -> Network:
    """Cut variables of a single state off; latent ones disappear."""
    structure = network.structure
    constant = {name for name in structure.names if structure.shape(name)[-1] == 1}
    tables: dict[str, FloatArray] = {}
    cut: dict[str, tuple[str, ...]] = {}
    gone = constant & set(structure.latents)
    for name in structure.names:
        if constant & {name, *structure.parents(name)}:
            cut[name] = ()
            if name not in gone:
                tables[name] = network.cpd(name).reshape(-1, structure.shape(name)[-1])[0]
    return pack(structure.rewired(cut).remove(gone), network, tables) if cut else network


def lift_columns(network: Network) -> Network:
    """Put a latent copy in the place of every column that has children."""
    structure = network.structure
    inner = [name for name in structure.observed if structure.children(name)]
    copies: dict[str, str] = {}
    for name in inner:
        copies[name] = name_new_latent({*structure.names, *copies.values()})
    variables = [Variable.hidden(copies[x], structure.shape(x)[-1]) for x in inner]
    parents: dict[str, tuple[str, ...]] = {}
    tables: dict[str, FloatArray] = {}
    for name in structure.names:
        place = copies.get(name, name)
        parents[place] = tuple(copies.get(z, z) for z in structure.parents(name))
        tables[place] = network.cpd(name)
    for x, copy in copies.items():
        n_states = structure.shape(x)[-1]
        parents[x] = (copy,)
        tables[x] = (1 - BLUR) * np.eye(n_states) + BLUR / n_states
    lifted = Structure([*variables, *structure.variables], parents)
    return pack(lifted, network, tables)


def join_trees(network: Network, data: PatternedData) -> Network:
    """Join the trees where latent variables tell most of each other (Chow and Liu).

    A column alone is hung on the latent variable that tells most of it.
    """
    structure = network.structure
    alone = [
        name
        for name in structure.observed
        if not structure.neighbours(name) and structure.shape(name)[-1] > 1
    ]
    latents = structure.latents
    shares = _find_shares(network, data, alone)
    hidden, columns = shares[: len(latents)], shares[len(latents) :]
    number = {name: i for i, name in enumerate(latents)}
    kept = [(number[z], number[y]) for y in latents for z in structure.parents(y)]
    pairs = _span(posterior_information(hidden, hidden, data.row_weights), kept)
    for i, j in pairs:
        table = _condition(joint_counts(hidden[i], hidden[j], data.row_weights))
        network = _hang(network, latents[j], latents[i], table)
    best = posterior_information(columns, hidden, data.row_weights).argmax(axis=1)
    for name, share, i in zip(alone, columns, best, strict=True):
        table = _condition(joint_counts(hidden[i], share, data.row_weights))
        network = _hang(network, name, latents[i], table)
    return network


def _span(gains: FloatArray, kept: list[Edge]) -> list[Edge]:
    """Return the edges of the best spanning tree that has the edges given, without these."""
    highest = 2.0 * gains.max(initial=0.0) + 1.0
    for i, j in kept:
        gains[i, j] = gains[j, i] = highest
    return [edge for edge in spanning_forest(gains) if gains[edge] < highest]


def _condition(counts: FloatArray) -> FloatArray:
    """Distributions of the second variable given the first; a count more for each cell."""
    table: FloatArray = (counts + 1.0) / (counts + 1.0).sum(axis=1, keepdims=True)
    return table


def _find_shares(network: Network, data: PatternedData, alone: list[str]) -> list[FloatArray]:
    """Posteriors of the latent variables, and the values of columns alone, row by row."""
    forest = Forest(network.structure, data)
    shares = compute_posteriors(forest, network, network.latents)
    fill_impossible(shares, network, network.latents)
    return shares + [data.spread([indicators(data.dataset, name)]) for name in alone]


def _hang(network: Network, name: str, parent: str, table: FloatArray) -> Network:
    """Root a tree at a variable and make it the child of one in another tree."""
    network = network.rooted_at(name)
    return pack(network.structure.rewired({name: (parent,)}), network, {name: table})


def dissolve(network: Network, least: int) -> Network:
    """Sum latent variables out that have at most so many neighbours, one or two.

    One between two columns stays.
    """
    goes_on = True
    while goes_on:
        goes_on = False
        for name in network.latents:
            around = sorted(network.structure.neighbours(name), key=network.latents.__contains__)
            is_bridge = len(around) == 2 and around[-1] not in network.latents
            if len(around) <= least and not is_bridge:
                network, goes_on = _sum_out(network, name, around), True
    return network


def _sum_out(network: Network, name: str, around: list[str]) -> Network:
    """Remove a variable with up to two neighbours, the last of which is latent if any is."""
    if not around:
        return pack(network.structure.remove([name]), network, {})
    network = network.rooted_at(around[-1])
    tables: dict[str, FloatArray] = {}
    structure = network.structure
    for below in around[:-1]:
        tables[below] = network.cpd(name) @ network.cpd(below)
        structure = structure.rewired({below: (around[-1],)})
    return pack(structure.remove([name]), network, tables)


def reduce_states(network: Network, max_states: int | None = None) -> Network:
    """Merge states until every latent variable is regular."""
    goes_on = True
    while goes_on:
        goes_on = False
        for name in network.latents:
            structure = network.structure
            cards = [structure.shape(z)[-1] for z in structure.neighbours(name)]
            bound = min(most_states(cards), max_states or most_states(cards))
            n_states = structure.shape(name)[-1]
            if n_states > max(bound, 2):
                network = with_states(network, name, n_states - 1, _merge_smallest)
                goes_on = True
    return network


def _merge_smallest(around: Around) -> Around:
    i, j = np.sort(np.argsort(around.prior, kind="stable")[:2])
    return merge_states(around, int(i), int(j))
