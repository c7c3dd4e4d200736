"""Regularization: smaller networks with the same distribution of the manifest variables.

The proof of Theorem 3.5 of the paper (generalized latent class models), made executable: each
function takes a network with parameters and returns one that dominates it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from latentforest.model.network import Network
from latentforest.model.questions.summing_out import sum_out
from latentforest.model.structure import Structure
from latentforest.model.transform import can_be_root, root_structure
from latentforest.search.glc.shapes import (
    Fork,
    Idle,
    Island,
    Shape,
    Star,
    Tie,
    check_generalized,
    find_islands,
    find_shapes_at,
    has_manifest_descendant,
)

Floats = NDArray[np.float64]
NetworkOrStructure = TypeVar("NetworkOrStructure", Network, Structure)


def regularize(model: NetworkOrStructure) -> NetworkOrStructure:
    """Return a regular network that dominates this one; for a structure, its structure.

    Parameters
    ----------
    model
        A network or structure in which the parents of latent variables are latent.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> columns = [Variable(name, ("no", "yes")) for name in "ABCD"]
    >>> latents = [Variable.hidden("X", 2), Variable.hidden("Y", 2)]
    >>> parents = {"Y": "X", "A": "X", "B": "X", "C": "X", "D": "Y"}  # Y is a tie
    >>> regular = regularize(Structure([*latents, *columns], parents))
    >>> regular.latents, regular.parents("D")
    (('X',), ('X',))
    """
    if isinstance(model, Structure):
        return regularize(_make_uniform(model)).structure
    network = model
    while (found := find_irregularity(network.structure)) is not None:
        root, shape = found
        network = replace_shape(network if root is None else network.rooted_at(root), shape)
    return network


def is_regular(structure: Structure) -> bool:
    """Whether neither a structure nor one of its equivalents has a shape that can be replaced.

    Examples
    --------
    >>> from latentforest import Variable, parse_structure
    >>> columns = [Variable(name, ("no", "yes")) for name in "ABC"]
    >>> is_regular(parse_structure("X[2] -> A, B, C", columns))
    True
    >>> is_regular(parse_structure("X[5] -> A, B, C", columns))  # that many cannot be told apart
    False
    """
    return find_irregularity(structure) is None


def find_irregularity(structure: Structure) -> tuple[str | None, Shape] | None:
    """Return a shape of a structure or of an equivalent one, and where to move the root before.

    The shapes of a latent variable appear when the root is where it is, at the variable itself, or
    at one of its neighbours; it need not be anywhere else.
    """
    check_generalized(structure)
    islands = find_islands(structure)
    if islands:
        return None, islands[0]
    for name in structure.latents:
        for root, rooted in _list_rootings(structure, name):
            shape = next(iter((*_find_island(rooted, name), *find_shapes_at(rooted, name))), None)
            if shape is not None:
                return root, shape
    return None


def _list_rootings(structure: Structure, name: str) -> Iterator[tuple[str | None, Structure]]:
    yield None, structure
    if len(structure.neighbours(name)) < 2 or not can_be_root(structure, name):
        return
    if structure.parents(name):
        yield name, root_structure(structure, name)
        return
    for child in structure.children(name):
        if child in structure.latents and structure.parents(child) == (name,):
            yield child, root_structure(structure, child)


def _find_island(structure: Structure, name: str) -> list[Island]:
    if has_manifest_descendant(structure, name):
        return []
    return [island for island in find_islands(structure) if name in island.names]


def list_equivalents(structure: Structure) -> Iterator[Structure]:
    """Yield the structures that differ in the roots of their latent trees, itself first.

    A root and a latent child that has no other parent change places, again and again. These are
    all structures of generalized latent class models that are Markov equivalent to this one, up to
    the direction of manifest links.
    """
    check_generalized(structure)
    found = {structure}
    waiting = [structure]
    for here in waiting:
        yield here
        for root in here.roots:
            for child in here.children(root):
                if child in here.latents and here.parents(child) == (root,):
                    other = here.rewired({root: (child,), child: ()})
                    if other not in found:
                        found.add(other)
                        waiting.append(other)


def replace_shape(network: Network, shape: Shape) -> Network:
    """Return a network without a shape, with the same distribution of the manifest variables."""
    replacement: Callable[[Network, Shape], Network] = _REPLACEMENTS[type(shape)]
    return replacement(network, shape)


def remove_island(network: Network, island: Island) -> Network:
    """Leave out latent variables that no manifest one depends on."""
    structure = network.structure
    smaller = structure.remove(island.names)
    flat = np.empty(smaller.n_values)
    smaller.copy_tables(flat, structure, network.parameters, but=())
    return Network.trusted(smaller, flat, network.n_tied)


def remove_idle(network: Network, idle: Idle) -> Network:
    """Sum out a root with a single child, or leave out a variable with a single state."""
    return _without(network, idle.name)


def integrate_tie(network: Network, tie: Tie) -> Network:
    """Sum a tie out: its child depends on its parent instead.

    ``P(Z | X1, D) = Σ_X2 P(X2 | X1) P(Z | X2, D)``, where D are the other parents of the child Z,
    X1 perhaps among them.
    """
    return _without(network, tie.name)


def link_fork(network: Network, fork: Fork) -> Network:
    """Sum a root of two children out: the second depends on the first and on its parents."""
    return _without(network, fork.name, fork.children)


def _without(network: Network, name: str, order: Sequence[str] | None = None) -> Network:
    smaller = sum_out(network.structure, network.parameters, name, order)
    return Network.trusted(*smaller, network.n_tied)


def adjust_star(network: Network, star: Star) -> Network:
    """Give a root only as many states as its children can tell apart.

    A new state says what each child but one does, as a function of the child's other parents:
    ``P(f1, f2, …) = Σ_x P(x) Π_i Π_u P(f_i(u) | x, u)``. The last child's table is the mean of the
    old rows over ``P(x | f1, f2, …)``.
    """
    structure = network.structure
    variable = structure.variable(star.name)
    fewer = replace(variable, states=structure.states(star.name)[: star.n_states])
    smaller = structure.with_variable(fewer)
    functions = _list_functions(structure, star)
    weights = np.stack([_weigh(network, star, each) for each in functions])
    sums = weights.sum(axis=1)
    old_given_new = np.full_like(weights, 1.0 / weights.shape[1])
    np.divide(weights, sums[:, None], out=old_given_new, where=sums[:, None] > 0)
    tables = {
        child: _write_functions(smaller, star, child, [each[child] for each in functions])
        for child, _ in star.arguments
    }
    axis = structure.parents(star.kept).index(star.name)
    kept = np.tensordot(old_given_new, network.table_view(star.kept), axes=(1, axis))
    tables[star.kept] = np.moveaxis(kept, 0, axis)
    tables[star.name] = sums / sums.sum()
    flat = np.empty(smaller.n_values)
    smaller.copy_tables(flat, structure, network.parameters, but=tables)
    for name, table in tables.items():
        smaller.table_view(flat, name)[...] = table
    return Network.trusted(smaller, flat, network.n_tied)


Function = NDArray[np.intp]  # the state of a child for all states of its arguments


def _list_functions(structure: Structure, star: Star) -> list[dict[str, Function]]:
    """List what the children can do: one function of its arguments for each but one."""
    choices: list[list[Function]] = []
    for child, arguments in star.arguments:
        shape = [structure.shape(parent)[-1] for parent in arguments]
        states = range(structure.shape(child)[-1])
        values = product(states, repeat=int(np.prod(shape)))
        choices.append([np.array(each, np.intp).reshape(shape) for each in values])
    names = [child for child, _ in star.arguments]
    return [dict(zip(names, chosen, strict=True)) for chosen in product(*choices)]


def _weigh(network: Network, star: Star, functions: dict[str, Function]) -> Floats:
    """Return the joint probability of some functions with each old state of the root."""
    weights = network.table_view(star.name).copy()
    for child, arguments in star.arguments:
        parents = network.structure.parents(child)
        for cell in np.ndindex(functions[child].shape):
            known = dict(zip(arguments, cell, strict=True))
            index = tuple(
                slice(None)
                if parent == star.name
                else known[parent]
                if parent in known
                else int(functions[parent][()])
                for parent in parents
            )
            weights *= network.table_view(child)[(*index, functions[child][cell])]
    return weights


def _write_functions(
    structure: Structure, star: Star, child: str, functions: list[Function]
) -> Floats:
    """Write functions as a table of zeros and ones."""
    table = np.zeros(structure.shape(child))
    parents = structure.parents(child)
    axis, arguments = parents.index(star.name), dict(star.arguments)[child]
    places = [parents.index(parent) for parent in arguments]
    for row in np.ndindex(table.shape[:-1]):
        cell = tuple(row[place] for place in places)
        table[(*row, functions[row[axis]][cell])] = 1.0
    return table


_REPLACEMENTS: dict[type, Callable[..., Network]] = {
    Island: remove_island,
    Idle: remove_idle,
    Tie: integrate_tie,
    Fork: link_fork,
    Star: adjust_star,
}


def _make_uniform(structure: Structure) -> Network:
    """Return any parameters of a structure."""
    flat = np.empty(structure.n_values)
    for name in structure.names:
        structure.table_view(flat, name)[...] = 1.0 / structure.shape(name)[-1]
    return Network.trusted(structure, flat)
