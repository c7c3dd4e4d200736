"""The model as the page needs it to answer questions exactly: tables, Gaussian blocks, cliques."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from latentforest.inference.association.pair_tables import is_tree_like
from latentforest.inference.junction.triangulation import triangulate
from latentforest.kernels.types import FloatArray
from latentforest.model.gaussian import join_gaussians
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.report.sections.blocks import MAX_NUMBERS, count_numbers, list_blocks
from latentforest.report.subject import Subject
from latentforest.report.wording import list_exactly, write_number

MAX_CELLS = 5_000_000  # of all cliques
ROOM = (40_000, 400, 300_000)  # numbers in the page: for 50 columns, for each further one, at most

Scope = tuple[str, ...]


def describe_model(subject: Subject) -> dict[str, Any]:
    """Describe the distribution, or say why the page cannot compute with it."""
    network = subject.network
    structure = network.structure
    blocks = list_blocks(structure)
    reason = _refuse_numbers(structure, blocks)
    cliques: list[dict[str, Any]] = []
    if reason is None:
        cliques = _find_cliques(subject, [scope for _, scope in blocks])
        reason = _refuse_cells(structure, cliques)
    if reason is not None:
        nothing: dict[str, Any] = {"families": [], "blocks": [], "cliques": []}
        return {"is_askable": False, "why_not": reason, **nothing}
    predictive = None if network.predictive is network else network.predictive
    if 2 * _count_all(structure, blocks) > _find_room(structure):
        predictive = None  # one of the two is better than none
    return {
        "is_askable": True,
        "why_not": None,
        "families": _list_families(subject, predictive),
        "blocks": [_describe_block(subject, names, predictive) for names, _ in blocks],
        "cliques": _number_cliques(subject, cliques),
    }


def _refuse_numbers(structure: Structure, blocks: Sequence[tuple[Scope, Scope]]) -> str | None:
    for names, scope in blocks:
        n = count_numbers(structure, names, scope)
        if n > MAX_NUMBERS:
            return (
                f"{write_number(len(names))} continuous columns depend on each other and on "
                f"{write_number(len(scope))} others: {write_number(n)} covariances would be needed."
            )
    n, room = _count_all(structure, blocks), _find_room(structure)
    if n <= room:
        return None
    return (
        f"Its tables have {write_number(n)} numbers, more than the {write_number(room)} that are "
        "written into a page."
    )


def _count_all(structure: Structure, blocks: Sequence[tuple[Scope, Scope]]) -> float:
    """Numbers that are written: tables, means and covariances."""
    numbers = set(structure.continuous)
    tables = [math.prod(structure.shape(n)) for n in structure.names if n not in numbers]
    return sum(tables) + sum(count_numbers(structure, *block) for block in blocks)


def _find_room(structure: Structure) -> int:
    few, more, most = ROOM
    return min(few + more * max(0, len(structure.observed) - 50), most)


def _refuse_cells(structure: Structure, cliques: Sequence[dict[str, Any]]) -> str | None:
    cells = sum(
        math.prod(float(structure.shape(name)[-1]) for name in clique["scope"])
        for clique in cliques
    )
    if cells <= MAX_CELLS:
        return None
    return (
        f"Its variables depend on each other too closely: {write_number(cells)} cells would have "
        f"to be summed for each answer, more than {write_number(MAX_CELLS)}."
    )


def _list_families(subject: Subject, predictive: Network | None) -> list[dict[str, Any]]:
    """Tables of the categorical variables."""
    network, numbers = subject.network, set(subject.network.structure.continuous)
    return [
        {
            "variable": subject.places[name],
            "parents": [subject.places[parent] for parent in network.structure.parents(name)],
            "reported": list_exactly(network.table_view(name).ravel()),
            "predictive": None
            if predictive is None
            else list_exactly(predictive.table_view(name).ravel()),
        }
        for name in network.names
        if name not in numbers
    ]


def _describe_block(subject: Subject, names: Scope, predictive: Network | None) -> dict[str, Any]:
    structure = subject.network.structure
    joint = join_gaussians(structure, subject.network.parameters, names)
    other = None if predictive is None else predictive.parameters
    return {
        "variables": [subject.places[name] for name in names],
        "parents": [subject.places[name] for name in joint.scope],
        "reported": _write_joint(structure, subject.network.parameters, names),
        "predictive": None if other is None else _write_joint(structure, other, names),
    }


def _write_joint(structure: Structure, parameters: FloatArray, names: Scope) -> dict[str, Any]:
    joint, d = join_gaussians(structure, parameters, names), len(names)
    return {
        "means": list_exactly(joint.means.reshape(-1, d)),
        "covariances": list_exactly(joint.covariances.reshape(-1, d * d)),
    }


def _find_cliques(subject: Subject, scopes: Sequence[Scope]) -> list[dict[str, Any]]:
    """A tree of cliques, parents first, each with what is multiplied into it."""
    structure = subject.network.structure
    if is_tree_like(structure) and all(len(scope) <= 1 for scope in scopes):
        return _list_edges(structure, scopes)
    numbers = set(structure.continuous)
    names = [name for name in structure.names if name not in numbers]
    cards = {name: structure.shape(name)[-1] for name in names}
    factors = [(*structure.parents(name), name) for name in names]
    found = triangulate(cards, [*factors, *scopes])
    last = len(found) - 1
    above = {child: i for i, clique in enumerate(found) for child in clique.children}
    return [
        {
            "scope": found[i].scope,
            "parent": last - above[i] if i in above else -1,
            "families": [names[f] for f in found[i].factors if f < len(names)],
            "blocks": [f - len(names) for f in found[i].factors if f >= len(names)],
        }
        for i in range(last, -1, -1)
    ]


def _list_edges(structure: Structure, scopes: Sequence[Scope]) -> list[dict[str, Any]]:
    """Cliques of a forest: a root alone, and each other variable with its parent."""
    numbers, home = set(structure.continuous), dict[str, int]()
    cliques: list[dict[str, Any]] = []
    for name in structure.order:
        if name in numbers:
            continue
        parents = structure.parents(name)
        home[name] = len(cliques)
        clique = {"scope": (*parents, name), "families": [name], "blocks": []}
        cliques.append(clique | {"parent": home[parents[0]] if parents else -1})
    for block, scope in enumerate(scopes):
        if scope:
            cliques[home[scope[0]]]["blocks"].append(block)
    return cliques


def _number_cliques(subject: Subject, cliques: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "variables": [subject.places[name] for name in clique["scope"]],
            "parent": clique["parent"],
            "families": [subject.places[name] for name in clique["families"]],
            "blocks": clique["blocks"],
        }
        for clique in cliques
    ]
