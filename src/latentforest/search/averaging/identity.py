"""When two searches found the same model."""

from __future__ import annotations

import hashlib
from typing import Any

from latentforest.model.structure import Structure


def describe_model(structure: Structure) -> tuple[Any, ...]:
    """Return a value that is equal for structures that say the same of the columns.

    Without latent variables these are structures with the same independences. Latent variables are
    told apart by their numbers of states and their neighbours, whatever their names; in a forest
    the directions of arcs do not matter.

    Parameters
    ----------
    structure
        Any structure.

    Examples
    --------
    >>> from latentforest.data import Variable
    >>> a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    >>> forward, backward = Structure([a, b], {"b": "a"}), Structure([a, b], {"a": "b"})
    >>> describe_model(forward) == describe_model(backward)
    True
    """
    if not structure.latents:
        graph = structure.cpdag()
        undirected = frozenset(map(frozenset, graph.undirected))
        return frozenset(graph.directed), undirected, frozenset(map(frozenset, structure.pouches))
    is_forest = structure.is_forest
    marks = {
        name: f"column {name}" if name in structure.observed else str(structure.shape(name)[-1])
        for name in structure.names
    }
    for _ in range(len(structure.latents) + 1):  # as far as latent variables reach
        marks = {name: _refine(structure, marks, name, is_forest) for name in structure.names}
    pouches = frozenset(map(frozenset, structure.pouches))
    return (*sorted(marks.values()), pouches)


def _refine(structure: Structure, marks: dict[str, str], name: str, is_forest: bool) -> str:
    """Describe a variable by its mark and those of its neighbours."""
    above = sorted(marks[each] for each in structure.parents(name))
    below = sorted(marks[each] for each in structure.children(name))
    around: Any = sorted([*above, *below]) if is_forest else (above, below)
    return hashlib.sha256(repr((marks[name], around)).encode()).hexdigest()
