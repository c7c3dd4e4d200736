"""Arcs as bit masks: what is allowed, single changes, structures that obey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.search.dags.constraints import ArcConstraints


class ArcChange(NamedTuple):
    """A structure with one arc added, deleted or reversed.

    Attributes
    ----------
    operator
        "add", "delete" or "reverse".
    parent, child
        The arc, as it was before it was reversed.
    parents
        Of each variable, afterwards.
    """

    operator: str
    parent: int
    child: int
    parents: tuple[Mask, ...]


def list_changes(parents: Sequence[Mask], constraints: ArcConstraints) -> Iterator[ArcChange]:
    """List all structures that differ in one arc and obey, by child and then by parent."""
    above = find_ancestors(parents)
    for child in range(len(parents)):
        for parent in list_bits(constraints.allowed[child] | parents[child]):
            if not parents[child] >> parent & 1:
                is_legal = not above[parent] >> child & 1
                if is_legal and parents[child].bit_count() < constraints.max_parents:
                    yield _change("add", parents, parent, child)
            elif not constraints.required[child] >> parent & 1:
                yield _change("delete", parents, parent, child)
                if _can_reverse(parents, constraints, above, parent, child):
                    yield _change("reverse", parents, parent, child)


def _change(operator: str, parents: Sequence[Mask], parent: int, child: int) -> ArcChange:
    changed = list(parents)
    changed[child] ^= 1 << parent
    if operator == "reverse":
        changed[parent] ^= 1 << child
    return ArcChange(operator, parent, child, tuple(changed))


def _can_reverse(
    parents: Sequence[Mask],
    constraints: ArcConstraints,
    above: Sequence[Mask],
    parent: int,
    child: int,
) -> bool:
    """Whether there is no other path from the parent to the child, and the new arc is allowed."""
    others = list_bits(parents[child] ^ 1 << parent)
    return (
        bool(constraints.allowed[parent] >> child & 1)
        and parents[parent].bit_count() < constraints.max_parents
        and not any(above[other] >> parent & 1 for other in others)
    )


def find_ancestors(parents: Sequence[Mask]) -> list[Mask]:
    """Find the ancestors of each variable of an acyclic structure."""
    above = list(parents)
    while True:
        longer = [_unite(above, mask) for mask in above]
        if longer == above:
            return above
        above = longer


def _unite(above: Sequence[Mask], mask: Mask) -> Mask:
    union = mask
    for j in list_bits(mask):
        union |= above[j]
    return union


def obey(parents: Sequence[Mask], constraints: ArcConstraints) -> tuple[Mask, ...]:
    """Keep the arcs that are allowed and close no cycle, from the first child on.

    Required arcs are there from the beginning. What is allowed the other way only is turned.
    """
    found = list(constraints.required)
    for child, mask in enumerate(parents):
        for parent in list_bits(mask & ~constraints.required[child]):
            for a, b in ((parent, child), (child, parent)):
                is_allowed = bool(constraints.allowed[b] >> a & 1) and not found[b] >> a & 1
                has_room = found[b].bit_count() < constraints.max_parents
                if is_allowed and has_room and not find_ancestors(found)[a] >> b & 1:
                    found[b] |= 1 << a
                    break
    return tuple(found)


def perturb(
    parents: Sequence[Mask],
    constraints: ArcConstraints,
    n_changes: int,
    generator: np.random.Generator,
) -> tuple[Mask, ...]:
    """Add, delete or reverse some arcs at random."""
    changed = tuple(parents)
    for _ in range(n_changes):
        changes = list(list_changes(changed, constraints))
        if not changes:
            break
        operators = sorted({change.operator for change in changes})
        operator = operators[int(generator.integers(len(operators)))]
        among = [change for change in changes if change.operator == operator]
        changed = among[int(generator.integers(len(among)))].parents
    return changed


def to_masks(names: Sequence[str], parents: Mapping[str, Sequence[str]]) -> tuple[Mask, ...]:
    """Turn names of parents into bit masks."""
    place = {name: j for j, name in enumerate(names)}
    return tuple(sum(1 << place[each] for each in parents.get(name, ())) for name in names)


def to_names(names: Sequence[str], parents: Sequence[Mask]) -> dict[str, tuple[str, ...]]:
    """Turn bit masks into names of parents."""
    return {
        name: tuple(names[j] for j in list_bits(mask))
        for name, mask in zip(names, parents, strict=True)
    }
