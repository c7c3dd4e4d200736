"""Shapes in a structure that a smaller one can replace: islands, ties, stars, and three more.

Section 3.2 of the paper (generalized latent class models), with exact conditions. In such a model
the parents of latent variables are latent. Shapes are looked for in a structure as it is rooted;
``regularization`` looks at its equivalents, too. Continuous children keep a latent variable: a
mixture of Gaussians is not a Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from latentforest.errors import ModelError
from latentforest.model.questions.summing_out import count_parameters_without
from latentforest.model.structure import MAX_PARENTS, Structure


@dataclass(frozen=True, slots=True)
class Island:
    """Connected latent variables that have no manifest descendant."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Idle:
    """A latent variable that relates no two others: a root with one child, or of one state."""

    name: str


@dataclass(frozen=True, slots=True)
class Tie:
    """A latent variable with one parent and one child, which could as well be joined."""

    name: str
    parent: str
    child: str


@dataclass(frozen=True, slots=True)
class Fork:
    """A latent root of two manifest children, for which a link costs no more than the root."""

    name: str
    children: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Star:
    """A latent root with more states than its children can tell apart.

    Attributes
    ----------
    name
        The root.
    kept
        The child whose table is computed anew. What the others do is a function of the root's
        state and of their arguments.
    arguments
        The other children, none before its parents, with those of their parents that are not
        themselves functions of the root alone.
    n_states
        The number of these functions: as many states are enough.
    """

    name: str
    kept: str
    arguments: tuple[tuple[str, tuple[str, ...]], ...]
    n_states: int


Shape = Island | Idle | Tie | Fork | Star


def check_generalized(structure: Structure) -> None:
    """Refuse a structure in which a latent variable depends on a manifest one."""
    if not structure.observed:
        raise ModelError("the structure has no manifest variable")
    for name in structure.latents:
        for parent in structure.parents(name):
            if parent not in structure.latents:
                raise ModelError(
                    f"latent variable {name!r} has the manifest parent {parent!r}; in a "
                    "generalized latent class model, parents of latent variables are latent"
                )


def find_shapes(structure: Structure) -> Iterator[Shape]:
    """Yield all shapes of a structure as it is rooted."""
    check_generalized(structure)
    yield from find_islands(structure)
    for name in structure.latents:
        yield from find_shapes_at(structure, name)


def find_shapes_at(structure: Structure, name: str) -> Iterator[Shape]:
    """Yield the shapes, islands aside, that have one latent variable in the middle."""
    for find in (find_idle, find_tie, find_fork, find_star):
        shape = find(structure, name)
        if shape is not None:
            yield shape


def find_islands(structure: Structure) -> list[Island]:
    """List the islands."""
    dry: set[str] = set()
    for name in reversed(structure.order):
        if name in structure.latents and dry.issuperset(structure.children(name)):
            dry.add(name)
    islands = []
    for name in structure.names:
        if name in dry:
            island = _collect(structure, name, dry)
            islands.append(Island(tuple(each for each in structure.names if each in island)))
            dry -= island
    return islands


def has_manifest_descendant(structure: Structure, name: str) -> bool:
    """Whether a latent variable is in no island."""
    waiting, seen = [name], {name}
    while waiting:
        for child in structure.children(waiting.pop()):
            if child not in structure.latents:
                return True
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return False


def _collect(structure: Structure, name: str, within: set[str]) -> set[str]:
    """Find what is connected with a variable inside a set."""
    found, waiting = {name}, [name]
    while waiting:
        for other in structure.neighbours(waiting.pop()):
            if other in within and other not in found:
                found.add(other)
                waiting.append(other)
    return found


def find_idle(structure: Structure, name: str) -> Idle | None:
    """Return a root with a single child, or a latent variable of a single state."""
    children = structure.children(name)
    is_single = len(children) == 1 and not structure.parents(name)
    is_idle = structure.shape(name)[-1] == 1 or (is_single and _are_categorical(structure, name))
    return Idle(name) if is_idle and children else None


def find_tie(structure: Structure, name: str) -> Tie | None:
    """Return a latent variable with one parent and one child, if summing it out costs nothing."""
    parents, children = structure.parents(name), structure.children(name)
    if len(parents) != 1 or len(children) != 1 or not _are_categorical(structure, name):
        return None
    if count_parameters_without(structure, name) > 0:
        return None
    return Tie(name, parents[0], children[0])


def find_fork(structure: Structure, name: str) -> Fork | None:
    """Return a root of two manifest children, if a link between these costs no more."""
    children = structure.children(name)
    if structure.parents(name) or len(children) != 2 or not _are_categorical(structure, name):
        return None
    if any(child in structure.latents for child in children):
        return None
    costs = [
        (count_parameters_without(structure, name, pair), pair)
        for pair in _list_orders(structure, children)
    ]
    cost, best = min(costs, default=(1, children))
    return Fork(name, (best[0], best[1])) if cost <= 0 else None


def _list_orders(structure: Structure, children: Sequence[str]) -> list[tuple[str, str]]:
    """List the orders of two children in which one may depend on the other."""
    first, second = children
    union = {*structure.parents(first), *structure.parents(second)}
    if len(union) > MAX_PARENTS:
        return []
    orders = [(first, second), (second, first)]
    return [(a, b) for a, b in orders if b not in _find_ancestors(structure, a)]


def _find_ancestors(structure: Structure, name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = set(structure.parents(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def find_star(structure: Structure, name: str) -> Star | None:
    """Return a root of two or more children, if fewer states give the same distributions."""
    children = structure.children(name)
    if structure.parents(name) or len(children) < 2 or not _are_categorical(structure, name):
        return None
    n_states, sizes = structure.shape(name)[-1], [structure.shape(c)[-1] for c in children]
    if 2 ** (sum(size > 1 for size in sizes) - 1) >= n_states:
        return None  # so many functions, or more, whichever child is kept
    best = None
    for kept in children:
        arguments = _list_arguments(structure, name, kept)
        n_enough = _count_functions(structure, arguments, n_states)
        if n_enough is not None and (best is None or n_enough < best.n_states):
            best = Star(name, kept, tuple(arguments.items()), n_enough)
    return best


def _list_arguments(structure: Structure, name: str, kept: str) -> dict[str, tuple[str, ...]]:
    """List what each child but one depends on when the root's state is known.

    Children that depend on nothing else are functions of the root, and so no arguments of others.
    """
    others = set(structure.children(name)) - {kept}
    arguments: dict[str, tuple[str, ...]] = {}
    for child in structure.order:
        if child in others:
            arguments[child] = tuple(
                parent
                for parent in structure.parents(child)
                if parent != name and arguments.get(parent) != ()
            )
    return arguments


def _count_functions(
    structure: Structure, arguments: dict[str, tuple[str, ...]], below: int
) -> int | None:
    """Count the joint functions of the children from their arguments; none if not so few."""
    total = 1
    for child, above in arguments.items():
        card = structure.shape(child)[-1]
        n_rows = math.prod(structure.shape(parent)[-1] for parent in above)
        if card > 1 and n_rows * math.log(card) > math.log(below):
            return None
        total *= card**n_rows
    return total if total < below else None


def _are_categorical(structure: Structure, name: str) -> bool:
    return not any(child in structure.continuous for child in structure.children(name))
