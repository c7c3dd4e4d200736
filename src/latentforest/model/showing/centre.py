"""The centre of each tree of a forest, on which a picture hangs."""

from __future__ import annotations

from latentforest.model.structure import Structure

REACH = 0.12  # how much the largest distance counts, for each node of a tree


def find_centres(structure: Structure) -> list[str]:
    """Return the centre of each tree that has a latent variable, in the structure's order.

    The centre is the latent variable with the smallest sum of distances to the columns, plus
    0.12 times the number of nodes times the largest distance; of equal ones the first by name.

    Examples
    --------
    >>> from latentforest import Structure, Variable
    >>> variables = [Variable.hidden(name, 2) for name in ("x", "y", "z")]
    >>> find_centres(Structure(variables, {"y": "x", "z": "y"}))
    ['y']
    """
    centres, seen = [], set[str]()
    for name in structure.latents:
        if name not in seen:
            tree = _measure(structure, name)
            seen |= set(tree)
            latents = [each for each in structure.latents if each in tree]
            centres.append(min(latents, key=lambda each: (_weigh(structure, each), each)))
    return centres


def find_ways(structure: Structure) -> tuple[dict[str, str], dict[str, int]]:
    """Return the neighbour of each variable toward its centre, and its distance from there.

    Centres, and variables of trees without one, have no such neighbour. In a network that is no
    forest there are no centres.
    """
    toward: dict[str, str] = {}
    depths: dict[str, int] = {}
    if not structure.is_forest:
        return toward, depths
    for centre in find_centres(structure):
        distances = _measure(structure, centre)
        depths |= distances
        for name, distance in distances.items():
            for other in _list_neighbours(structure, name):
                if distances[other] > distance:
                    toward[other] = name
    return toward, depths


def _weigh(structure: Structure, name: str) -> float:
    """The smaller, the more central; columns count, or all nodes if there are none."""
    found = _measure(structure, name)
    columns = [d for each, d in found.items() if not structure.variable(each).latent]
    distances = columns or list(found.values())
    return round(sum(distances) + REACH * len(found) * max(distances), 9)


def _measure(structure: Structure, name: str) -> dict[str, int]:
    """Distances of all variables of the same tree."""
    found, waiting = {name: 0}, [name]
    for one in waiting:
        for other in _list_neighbours(structure, one):
            if other not in found:
                found[other] = found[one] + 1
                waiting.append(other)
    return found


def _list_neighbours(structure: Structure, name: str) -> tuple[str, ...]:
    return (*structure.parents(name), *structure.children(name))
