"""Making any forest a regular latent tree, which a search can begin with.

Inner columns become leaves of latent copies, the trees of a forest are joined, latent variables
with two neighbours are summed out, and states that regularity does not allow are merged. Continuous
columns that depend on others of their kind are cut off and join a tree like those that were alone.
What is not changed keeps its parameters; the rest are guesses for EM.
"""

from __future__ import annotations

import numpy as np

from latentforest.data.variable import Variable
from latentforest.inference.association.information import (
    indicators,
    joint_counts,
    posterior_information,
)
from latentforest.inference.association.mixed_information import expected_moments, gaussian_gain
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.spanning import Edge, spanning_forest
from latentforest.model.structure import Structure
from latentforest.search.naming import name_new_latent
from latentforest.search.regularity import most_states
from latentforest.search.states import Around, merge_states
from latentforest.search.tables import mix, pack
from latentforest.search.trees.states import with_states
from latentforest.ties import find_best

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
    network = cut_constant(cut_numbers(open_pouches(network), data))
    network = dissolve(lift_columns(network), least=1)
    if not network.latents:
        return None
    network = dissolve(join_trees(network, data), least=2)
    return reduce_states(network, max_states)


def open_pouches(network: Network) -> Network:
    """Make the columns of a pouch leaves of their own, with their means and variances."""
    structure = network.structure
    if not structure.pouches:
        return network
    tables = {}
    for pouch in structure.pouches:
        for j, name in enumerate(pouch):
            tables[name] = network.table_view(name)[..., [0, 1 + j]]
    return pack(structure.with_pouches(()), network, tables)


def cut_numbers(network: Network, data: PatternedData) -> Network:
    """Cut columns off that depend on other continuous ones."""
    structure = network.structure
    cut = [name for name in structure.continuous if structure.continuous_parents(name)]
    if not cut:
        return network
    parents = {name: structure.parents(name) for name in structure.names} | dict.fromkeys(cut, ())
    tables = {name: _alone(data, name) for name in cut}
    return pack(Structure(structure.variables, parents), network, tables)


def _alone(data: PatternedData, name: str) -> FloatArray:
    """Mean and variance of a column."""
    about = data.summary(name)
    return np.array([about.mean, about.variance])


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
            if name not in gone:  # all rows are the same if there is one
                tables[name] = network.table_view(name).reshape(-1, structure.shape(name)[-1])[0]
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
        tables[place] = network.table_view(name)
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
        if not structure.neighbours(name) and _can_vary(structure, data, name)
    ]
    latents = structure.latents
    hidden = _find_shares(network, data)
    number = {name: i for i, name in enumerate(latents)}
    kept = [(number[z], number[y]) for y in latents for z in structure.parents(y)]
    pairs = _span(posterior_information(hidden, hidden, data.row_weights), kept)
    for i, j in pairs:
        table = _condition(joint_counts(hidden[i], hidden[j], data.row_weights))
        network = _hang(network, latents[j], latents[i], table)
    for name in alone:
        find = _hang_number if name in structure.continuous else _hang_column
        i, table = find(data, name, hidden)
        network = _hang(network, name, latents[i], table)
    return network


def _can_vary(structure: Structure, data: PatternedData, name: str) -> bool:
    if name in structure.continuous:
        return not data.summary(name).is_constant
    return structure.shape(name)[-1] > 1


def _hang_column(
    data: PatternedData, name: str, hidden: list[FloatArray]
) -> tuple[int, FloatArray]:
    """Return the latent variable that tells most of a column, and the table of the column."""
    share = data.spread([indicators(data.dataset, name)])
    best = find_best(posterior_information([share], hidden, data.row_weights)[0])
    return best, _condition(joint_counts(hidden[best], share, data.row_weights))


def _hang_number(
    data: PatternedData, name: str, hidden: list[FloatArray]
) -> tuple[int, FloatArray]:
    """Return the latent variable that tells most of a continuous column, and its Gaussians."""
    values, about = data.spread([data.dataset.column(name)]), data.summary(name)
    seen = ~np.isnan(values)
    x, weights = values[seen], data.row_weights[seen]
    gains = [gaussian_gain(x, each[seen], weights, about.least_variance) for each in hidden]
    best = find_best(gains)
    _, means, variances = expected_moments(x, hidden[best][seen], weights, about.least_variance)
    return best, np.stack([means, variances], axis=1)


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


def _find_shares(network: Network, data: PatternedData) -> list[FloatArray]:
    """Posteriors of the latent variables, row by row."""
    return Rows(network, data).filled_posteriors(network.latents)[0]


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
            is_bridge = len(around) == 2 and (
                around[-1] not in network.latents or around[0] in network.structure.continuous
            )
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
        is_number = below in structure.continuous
        tables[below] = mix(network.table_view(name), network.table_view(below), is_number)
        structure = structure.rewired({below: (around[-1],)})
    return pack(structure.remove([name]), network, tables)


def reduce_states(network: Network, max_states: int | None = None) -> Network:
    """Merge states until every latent variable is regular."""
    goes_on = True
    while goes_on:
        goes_on = False
        for name in network.latents:
            structure = network.structure
            around, n_states = structure.neighbours(name), structure.shape(name)[-1]
            bound = n_states
            if set(structure.continuous).isdisjoint(around):
                bound = most_states([structure.shape(z)[-1] for z in around])
            if n_states > max(min(bound, max_states or bound), 2):
                network = with_states(network, name, n_states - 1, _merge_smallest)
                goes_on = True
    return network


def _merge_smallest(around: Around) -> Around:
    i, j = np.sort(np.argsort(around.prior, kind="stable")[:2])
    return merge_states(around, int(i), int(j))
