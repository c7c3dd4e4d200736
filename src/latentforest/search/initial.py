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
from latentforest.model.spanning import spanning_forest
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
    for name in structure.names:
        if constant & {name, *structure.parents(name)}:
            cut[name] = ()
            tables[name] = network.cpd(name).reshape(-1, structure.shape(name)[-1])[0]
    rest = [name for name in structure.latents if name in constant]
    return pack(structure.rewired(cut).remove(rest), network, tables) if cut else network


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
    """Join the trees, and columns alone, where latent variables tell most of each other."""
    structure = network.structure
    alone = [
        name
        for name in structure.observed
        if not structure.neighbours(name) and structure.shape(name)[-1] > 1
    ]
    names = [*structure.latents, *alone]
    shares = _find_shares(network, data, alone)
    gains = posterior_information(shares, shares, data.row_weights)
    first = len(structure.latents)
    gains[first:, first:] = -np.inf  # two columns alone are not joined
    number = {name: i for i, name in enumerate(names)}
    kept = {
        (number[parent], number[name])
        for name in structure.latents
        for parent in structure.parents(name)
    }
    for i, j in kept:
        gains[i, j] = gains[j, i] = np.inf
    for i, j in spanning_forest(_rank_first(gains)):
        if (i, j) not in kept and (j, i) not in kept:
            counts = joint_counts(shares[i], shares[j], data.row_weights) + 1.0
            table = counts / counts.sum(axis=1, keepdims=True)
            network = _hang(network, names[j], names[i], table)
    return network


def _rank_first(gains: FloatArray) -> FloatArray:
    """Replace infinite gains by one that is higher than all others."""
    finite = gains[np.isfinite(gains)]
    return np.where(gains == np.inf, 2.0 * finite.max(initial=0.0) + 1.0, gains)


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
