"""Changes of a network that leave the distribution of its observed variables as it is."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from latentforest.errors import ModelError
from latentforest.model.structure import Structure

Floats = NDArray[np.float64]


def reroot(structure: Structure, parameters: Floats, name: str) -> tuple[Structure, Floats]:
    """Turn the arcs between a variable and the root of its tree around, by Bayes' rule."""
    path = _path_from_root(structure, name)
    rerooted = root_structure(structure, name)
    tables = _turn_tables(structure, parameters, path)
    flat = np.empty(rerooted.n_values)
    rerooted.copy_tables(flat, structure, parameters, but=tables)
    for each, table in tables.items():
        rerooted.table_view(flat, each)[...] = table
    return rerooted, flat


def root_structure(structure: Structure, name: str) -> Structure:
    """Turn the arcs between a variable and the root above it around.

    The structure need not be a forest, but no variable on that way may have two parents.
    """
    if name in structure.continuous:
        raise ModelError(f"variable {name!r} is continuous; only a categorical one can be a root")
    path = _path_from_root(structure, name)
    turned: dict[str, tuple[str, ...]] = {child: (parent,) for child, parent in pairwise(path)}
    return structure.rewired({**turned, name: ()})


def can_be_root(structure: Structure, name: str) -> bool:
    """Whether a variable can be made a root by turning arcs around that stand alone."""
    while parents := structure.parents(name):
        if len(parents) > 1:
            return False
        name = parents[0]
    return True


def _path_from_root(structure: Structure, name: str) -> list[str]:
    if not can_be_root(structure, name):
        raise ModelError(
            f"only a forest can be rooted at {name!r}: a variable has more than one parent"
        )
    path = [name]
    while parents := structure.parents(path[-1]):
        path.append(parents[0])
    return path[::-1]


def _turn_tables(structure: Structure, parameters: Floats, path: list[str]) -> dict[str, Floats]:
    """Compute the new tables of the variables on the path."""
    tables = {}
    marginal = structure.table_view(parameters, path[0])
    for parent, child in pairwise(path):
        joint = marginal[:, None] * structure.table_view(parameters, child)
        tables[parent] = _normalise_rows(joint.T)
        marginal = joint.sum(axis=0)
        # Rows that sum to one only nearly must not drift further along a long path.
        marginal = marginal / marginal.sum()
    tables[path[-1]] = marginal
    return tables


def _normalise_rows(table: Floats) -> Floats:
    """Divide rows by their sums; rows of zeros become uniform."""
    sums = table.sum(axis=1, keepdims=True)
    rows = np.full_like(table, 1.0 / table.shape[1])
    np.divide(table, sums, out=rows, where=sums > 0)
    return rows


Orders = Mapping[str, Sequence[int]]  # of states: new state k is old state order[k]


def relabel(structure: Structure, parameters: Floats, orders: Orders) -> Floats:
    """Return the parameters with the states of some latent variables in another order."""
    codes = {name: _read_order(structure, name, order) for name, order in orders.items()}
    flat = parameters.copy()
    for name in {*codes, *(child for each in codes for child in structure.children(each))}:
        table = structure.table_view(parameters, name)
        for axis, parent in enumerate(structure.categorical_parents(name)):
            if parent in codes:
                table = table.take(codes[parent], axis=axis)
        if name in codes:
            table = table.take(codes[name], axis=-1)
        structure.table_view(flat, name)[...] = table
    return flat


def _read_order(structure: Structure, name: str, order: Sequence[int]) -> list[int]:
    variable = structure.variable(name)
    if not variable.latent:
        raise ModelError(f"variable {name!r} is observed; only latent states can be relabelled")
    try:
        codes = [operator.index(code) for code in order]
    except TypeError:
        codes = []
    if sorted(codes) != list(range(variable.n_states)):
        raise ModelError(
            f"order of the states of {name!r} must hold each of 0 to {variable.n_states - 1} "
            f"once, got {order!r}"
        )
    return codes


def rename(structure: Structure, mapping: Mapping[str, str]) -> Structure:
    """Return the structure with other names for some variables."""
    for name in mapping:
        structure.variable(name)

    def new(name: str) -> str:
        return mapping.get(name, name)

    return Structure(
        [replace(variable, name=new(variable.name)) for variable in structure.variables],
        {new(name): tuple(map(new, structure.parents(name))) for name in structure.names},
        [tuple(map(new, pouch)) for pouch in structure.pouches],
    )
