"""Which arcs a network must have, which it must not, and how many parents a variable may have."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, list_bits
from latentforest.inference.patterns import Mask
from latentforest.model.structure import MAX_PARENTS

Arc = tuple[str, str]  # from parent to child

# Cells of the largest table of a network; with BIC, larger ones would need some 10^7 rows.
MOST_CELLS = float(1 << 22)


@dataclass(frozen=True)
class ArcConstraints:
    """Constraints on the parents of each variable, as bit masks.

    Attributes
    ----------
    required
        Parents that a variable must have.
    allowed
        Parents that it may have, the required ones among them; never itself.
    max_parents
        How many it may have.
    """

    required: tuple[Mask, ...]
    allowed: tuple[Mask, ...]
    max_parents: int


def read_constraints(
    names: Sequence[str],
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    max_parents: int | None = None,
) -> ArcConstraints:
    """Check constraints that are given by names.

    Parameters
    ----------
    names
        Of all columns, in the order of the masks' bits.
    required, forbidden
        Arcs as pairs (parent, child).
    max_parents
        At most so many parents of a variable.
    """
    most = MAX_PARENTS if max_parents is None else max_parents
    if not (isinstance(most, numbers.Integral) and 0 <= most <= MAX_PARENTS):
        raise ParameterError(
            f"max_parents must be a whole number from 0 to {MAX_PARENTS}, got {max_parents!r}"
        )
    needed = _read_arcs(names, "required", required)
    banned = _read_arcs(names, "forbidden", forbidden)
    everything = (1 << len(names)) - 1
    allowed = tuple(everything & ~(1 << j) & ~banned[j] for j in range(len(names)))
    _check(names, needed, allowed, most)
    return ArcConstraints(needed, allowed, int(most))


def check_tables(table: CountingTable, constraints: ArcConstraints) -> None:
    """Refuse required parents with which a table would be too large."""
    for child, parents in enumerate(constraints.required):
        n_cells = table.count_cells(parents | 1 << child)
        if n_cells > MOST_CELLS:
            raise ParameterError(
                f"with its required parents, column {table.names[child]!r} has a table of "
                f"{n_cells:,.0f} cells; expected at most {MOST_CELLS:,.0f}"
            )


def _read_arcs(names: Sequence[str], what: str, arcs: Iterable[Arc]) -> tuple[Mask, ...]:
    """Turn arcs into the mask of each variable's parents."""
    places = {name: place for place, name in enumerate(names)}
    parents = [0] * len(names)
    for arc in arcs:
        if isinstance(arc, str) or len(arc) != 2:
            raise ParameterError(f"{what} arcs must be pairs (parent, child), got {arc!r}")
        for name in arc:
            if name not in places:
                raise ParameterError(f"{what} arc {tuple(arc)!r}: there is no column {name!r}")
        parent, child = arc
        if parent == child:
            raise ParameterError(f"{what} arc {tuple(arc)!r} goes from a column to itself")
        parents[places[child]] |= 1 << places[parent]
    return tuple(parents)


def _check(
    names: Sequence[str], required: Sequence[Mask], allowed: Sequence[Mask], most: int
) -> None:
    for child, (needed, possible) in enumerate(zip(required, allowed, strict=True)):
        both = needed & ~possible
        if both:
            parent = names[both.bit_length() - 1]
            raise ParameterError(f"arc {(parent, names[child])!r} is both required and forbidden")
        if needed.bit_count() > most:
            raise ParameterError(
                f"column {names[child]!r} has {needed.bit_count()} required parents, "
                f"but max_parents is {most}"
            )
    _check_cycles(names, required)


def _check_cycles(names: Sequence[str], required: Sequence[Mask]) -> None:
    """Take away columns whose required parents are gone, until none is left."""
    left = (1 << len(names)) - 1
    while left:
        free = [j for j in list_bits(left) if not required[j] & left]
        if not free:
            inside = ", ".join(sorted(names[j] for j in list_bits(left)))
            raise ParameterError(f"required arcs form a cycle among {inside}")
        left &= ~sum(1 << j for j in free)
