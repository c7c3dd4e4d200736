"""Networks with more or fewer states of their observed variables: states that never occurred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from latentforest.data.variable import Variable
from latentforest.model.network import Network
from latentforest.model.parameters import join_covariances
from latentforest.model.structure import Structure

Floats = NDArray[np.float64]
Places = Mapping[str, NDArray[np.intp]]


def add_states(network: Network, variables: Sequence[Variable]) -> Network:
    """Give a network the states that its columns were declared with.

    A new state has probability zero. Below a new state of a parent, a variable has its distribution
    in the network, whatever that parent.

    Parameters
    ----------
    network
        Its observed variables have some of the states that ``variables`` have.
    variables
        Columns, with all their states.

    Examples
    --------
    >>> coin = Network.from_tables([Variable("coin", ("heads", "tails"))], {}, {"coin": [0.5, 0.5]})
    >>> more = add_states(coin, [Variable("coin", ("edge", "heads", "tails"))])
    >>> more.cpd("coin").tolist(), more.dimension
    ([0.0, 0.5, 0.5], 1)
    """
    structure = replace_variables(network.structure, variables)
    if structure == network.structure:
        return network
    places = _place_states(structure, network.structure)
    flat = np.empty(structure.n_values)
    for name in structure.names:
        if structure.pouch(name)[0] == name:
            _spread(network, structure, name, places, flat)
    about = network.about.select(structure.variables)
    return Network(structure, flat, network.n_tied).with_about(about)


def drop_states(network: Network, variables: Sequence[Variable]) -> Network:
    """Leave out the states that columns do not have; what is left of a distribution is scaled up.

    Parameters
    ----------
    network
        Its observed variables have all states that ``variables`` have.
    variables
        Columns of the network.
    """
    structure = replace_variables(network.structure, variables)
    if structure == network.structure:
        return network
    places, flat = _place_states(network.structure, structure), np.empty(structure.n_values)
    for name in structure.names:
        axes = [places[each] for each in structure.categorical_parents(name)]
        table = network.cpd(name)[np.ix_(*axes, _own_axis(structure, name, places))]
        if structure.variable(name).is_categorical:
            sums = table.sum(axis=-1, keepdims=True)
            table = np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), 1 / table.shape[-1])
        structure.table_view(flat, name)[...] = table
    about = network.about.select(structure.variables)
    return Network(structure, flat, network.n_tied).with_about(about)


def drop_impossible_states(network: Network, kept: Sequence[Variable] = ()) -> Network:
    """Leave out the states of observed variables that have probability zero in every case.

    Parameters
    ----------
    network
        Any network.
    kept
        Variables whose states are left in anyway.
    """
    names = {variable.name: set(variable.states or ()) for variable in kept}
    variables = []
    for variable in network.variables:
        states = possible_states(network, variable)
        if not variable.latent and states is not None:
            more = names.get(variable.name, set())
            some = [s for s in variable.states or () if s in states or s in more]
            variables.append(Variable(variable.name, tuple(some)))
    return drop_states(network, variables)


def possible_states(network: Network, variable: Variable) -> tuple[str, ...] | None:
    """Return the states of an observed variable that can occur; nothing for a continuous one."""
    if variable.states is None or variable.latent:
        return variable.states
    table = network.cpd(variable.name)
    seen = np.any(table > 0, axis=tuple(range(table.ndim - 1)))
    return tuple(state for state, is_seen in zip(variable.states, seen, strict=True) if is_seen)


def replace_variables(structure: Structure, variables: Sequence[Variable]) -> Structure:
    """Return the structure with other states of some observed variables."""
    given = {variable.name: variable for variable in variables}
    new = [given.get(each.name, each) for each in structure.variables]
    if tuple(new) == structure.variables:
        return structure
    parents = {name: structure.parents(name) for name in structure.names}
    return Structure(new, parents, structure.pouches)


def _place_states(full: Structure, few: Structure) -> Places:
    """Codes in the one structure of the states that the other has, for each categorical name."""
    places = {}
    for name in full.names:
        if full.variable(name).is_categorical:
            codes = {state: code for code, state in enumerate(full.states(name))}
            places[name] = np.array([codes[state] for state in few.states(name)], np.intp)
    return places


def _own_axis(structure: Structure, name: str, places: Places) -> NDArray[np.intp]:
    width = structure.shape(name)[-1]
    return places[name] if name in places else np.arange(width, dtype=np.intp)


def _spread(
    network: Network, structure: Structure, name: str, places: Places, flat: Floats
) -> None:
    """Write the tables of a variable, and of those in its pouch, into larger ones."""
    parents = structure.categorical_parents(name)
    axes = [places[parent] for parent in parents]
    is_wider = any(len(places[p]) < len(structure.states(p)) for p in parents)
    means = _average(network, name, parents) if is_wider else {}
    for each in structure.pouch(name):
        view, own = structure.table_view(flat, each), _own_axis(structure, each, places)
        view[...] = 0.0
        if is_wider:
            view[..., own] = means[each]
        view[np.ix_(*axes, own)] = network.cpd(each)


def _average(network: Network, name: str, parents: Sequence[str]) -> dict[str, Floats]:
    """Return one row for a variable whatever its parents, and for those in its pouch."""
    structure, shape = network.structure, network.cpd(name).shape[:-1]
    weights = network.query(list(parents)).reshape(shape)
    mixed = {
        each: np.tensordot(weights, network.cpd(each), len(shape)) for each in structure.pouch(name)
    }
    if structure.variable(name).is_categorical or structure.continuous_parents(name):
        return mixed
    pouch = structure.pouch(name)
    offsets = np.stack([network.cpd(each)[..., 0] - mixed[each][0] for each in pouch], axis=-1)
    flat = offsets.reshape(-1, len(pouch))
    between = flat.T @ (weights.reshape(-1, 1) * flat)
    if len(pouch) > 1:
        covariances = join_covariances(structure, pouch, network.parameters)
        total = np.tensordot(weights, covariances, len(shape)) + between
        total = (total + total.T) / 2
        return {each: np.array([mixed[each][0], *total[i]]) for i, each in enumerate(pouch)}
    return {name: np.array([mixed[name][0], mixed[name][1] + float(between[0, 0])])}
