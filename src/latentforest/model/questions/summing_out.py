"""Summing a variable out of a network: the others keep their joint distribution.

The arcs to the variable's children are turned around one by one, which gives each child the
variable's parents, the children before it and their parents (Shachter 1986); a variable without
children then drops out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from latentforest.errors import ModelError
from latentforest.model.questions.ordering import check_size
from latentforest.model.structure import MAX_PARENTS, Structure

Floats = NDArray[np.float64]
Scope = tuple[str, ...]


def find_parents_without(
    structure: Structure, name: str, order: Sequence[str] | None = None
) -> dict[str, Scope]:
    """Return the parents of a variable's children after it is summed out.

    Parameters
    ----------
    structure
        The variable is categorical, and so are its children unless it has a single state.
    name
        The variable that goes.
    order
        Its children in the order in which they shall depend on each other: none before one that it
        descends from. By default that of ``structure.order``.
    """
    if structure.shape(name)[-1] == 1:  # it says nothing
        return {child: _drop(structure, child, name) for child in structure.children(name)}
    _check(structure, name)
    parents: dict[str, Scope] = {}
    above: dict[str, None] = {}
    for child in _sort_children(structure, name) if order is None else order:
        own = [
            each
            for parent in structure.parents(child)
            for each in (structure.parents(name) if parent == name else (parent,))
        ]
        parents[child] = tuple(dict.fromkeys([*own, *above]))
        above.update(dict.fromkeys([*parents[child], child]))
        if len(parents[child]) > MAX_PARENTS:
            raise ModelError(
                f"without {name!r}, variable {child!r} would have {len(parents[child])} parents; "
                f"at most {MAX_PARENTS} are supported"
            )
    return parents


def count_parameters_without(
    structure: Structure, name: str, order: Sequence[str] | None = None
) -> int:
    """Return how many parameters more there are after a variable is summed out; maybe less."""
    change = -_count_free(structure, name, structure.parents(name))
    for child, parents in find_parents_without(structure, name, order).items():
        change += _count_free(structure, child, parents)
        change -= _count_free(structure, child, structure.parents(child))
    return change


def sum_out(
    structure: Structure, parameters: Floats, name: str, order: Sequence[str] | None = None
) -> tuple[Structure, Floats]:
    """Return structure and parameters without a variable, with the joint distribution of the rest.

    The arguments are those of ``find_parents_without``.
    """
    parents = find_parents_without(structure, name, order)
    smaller = structure.remove({name}).rewired(parents)
    tables = _turn_arcs(structure, parameters, name, parents)
    flat = np.empty(smaller.n_values)
    smaller.copy_tables(flat, structure, parameters, but=tables)
    for child, table in tables.items():
        smaller.table_view(flat, child)[...] = table
    return smaller, flat


def _turn_arcs(
    structure: Structure, parameters: Floats, name: str, parents: dict[str, Scope]
) -> dict[str, Floats]:
    """Compute the children's new tables."""
    if structure.shape(name)[-1] == 1:
        return {child: _take_only_row(structure, parameters, name, child) for child in parents}
    scope: Scope = (name, *structure.parents(name))
    own = np.moveaxis(structure.table_view(parameters, name), -1, 0)
    tables = {}
    for child, family in parents.items():
        wide: Scope = (name, *family, child)
        check_size(sum(math.log(structure.shape(each)[-1]) for each in wide), *wide)
        table = structure.table_view(parameters, child)
        joint = align(own, scope, wide) * align(table, (*structure.parents(child), child), wide)
        tables[child] = _normalise(joint.sum(axis=0), -1)
        scope, own = wide, _normalise(joint, 0)
    return tables


def align(table: Floats, scope: Scope, wide: Scope) -> Floats:
    """Give a table an axis for each variable of a wider scope, of length one where it has none."""
    axes = sorted(range(len(scope)), key=lambda axis: wide.index(scope[axis]))
    shape = [1] * len(wide)
    for axis in axes:
        shape[wide.index(scope[axis])] = table.shape[axis]
    return table.transpose(axes).reshape(shape)


def _normalise(table: Floats, axis: int) -> Floats:
    """Divide by the sums along an axis; where these are zero, the result is uniform."""
    sums = table.sum(axis=axis, keepdims=True)
    result = np.full_like(table, 1.0 / table.shape[axis])
    np.divide(table, sums, out=result, where=sums > 0)
    return result


def _check(structure: Structure, name: str) -> None:
    for each in (name, *structure.children(name)):
        if not structure.variable(each).is_categorical:
            raise ModelError(
                f"variable {name!r} cannot be summed out: {each!r} is continuous, and a mixture of "
                "Gaussians is not a Gaussian"
            )


def _sort_children(structure: Structure, name: str) -> list[str]:
    children = set(structure.children(name))
    return [each for each in structure.order if each in children]


def _drop(structure: Structure, child: str, name: str) -> Scope:
    return tuple(parent for parent in structure.parents(child) if parent != name)


def _take_only_row(structure: Structure, parameters: Floats, name: str, child: str) -> Floats:
    table = structure.table_view(parameters, child)
    return np.asarray(np.take(table, 0, axis=structure.categorical_parents(child).index(name)))


def _count_free(structure: Structure, name: str, parents: Sequence[str]) -> int:
    rows = math.prod(structure.shape(parent)[-1] for parent in parents)
    return rows * (structure.shape(name)[-1] - 1)
