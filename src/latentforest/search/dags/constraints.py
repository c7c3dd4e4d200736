"""Which arcs a network must have, which it must not, and how many parents a variable may have."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable, list_bits
from latentforest.inference.patterns import Mask
from latentforest.model.structure import MAX_PARENTS
from latentforest.search.dags.family_scores import MOST_CELLS, Arc, ScoredFamilies


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

    def list_additions(self, families: ScoredFamilies, child: int, parents: Mask) -> list[int]:
        """List the columns that may become parents of a variable that has some."""
        if parents.bit_count() >= self.max_parents:
            return []
        return families.list_additions(child, parents, self.allowed[child] & ~parents)

    def can_add(self, families: ScoredFamilies, child: int, parents: Mask, added: int) -> bool:
        """Whether a column may become a further parent of a variable."""
        is_allowed = self.allowed[child] >> added & 1 and parents.bit_count() < self.max_parents
        return bool(is_allowed) and bool(families.list_additions(child, parents, 1 << added))

    def find_required_ancestors(self) -> list[Mask]:
        """Return the columns that each variable stands below by required arcs."""
        above = list(self.required)
        for _ in above:  # as many rounds as the longest path has arcs, at most
            wider = [mask | union(above[j] for j in list_bits(mask)) for mask in above]
            if wider == above:
                break
            above = wider
        return above


def union(masks: Iterable[Mask]) -> Mask:
    """Unite some sets."""
    united = 0
    for mask in masks:
        united |= mask
    return united


def read_constraints(
    names: Sequence[str],
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    max_parents: int | None = None,
    tiers: Iterable[str | Iterable[str]] | None = None,
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
    tiers
        Groups of columns, or single ones, from the earliest to the latest: no arc goes from a later
        to an earlier one. Single columns fix their order. Others are free.
    """
    most = MAX_PARENTS if max_parents is None else max_parents
    if not (isinstance(most, numbers.Integral) and 0 <= most <= MAX_PARENTS):
        raise ParameterError(
            f"max_parents must be a whole number from 0 to {MAX_PARENTS}, got {max_parents!r}"
        )
    needed = _read_arcs(names, "required", required)
    banned = _read_arcs(names, "forbidden", forbidden)
    later = _read_tiers(names, tiers or ())
    everything = (1 << len(names)) - 1
    allowed = tuple(everything & ~(1 << j) & ~banned[j] & ~later[j] for j in range(len(names)))
    _check(names, needed, allowed, most)
    return ArcConstraints(needed, allowed, int(most))


def check_kinds(families: ScoredFamilies, constraints: ArcConstraints) -> None:
    """Refuse required arcs that cannot be, because of the kinds of their columns."""
    for child, parents in enumerate(constraints.required):
        for parent in list_bits(parents):
            if not families.list_additions(child, 0, 1 << parent):
                arc = (families.names[parent], families.names[child])
                raise ParameterError(
                    f"required arc {arc!r} is not possible: a categorical column has no "
                    "continuous parent, and tables must not be too large"
                )


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
    if isinstance(arcs, str) or not isinstance(arcs, Iterable):
        raise ParameterError(f"{what} must be pairs (parent, child), got {arcs!r}")
    for arc in arcs:
        if isinstance(arc, str) or not isinstance(arc, Sequence) or len(arc) != 2:
            raise ParameterError(f"{what} arcs must be pairs (parent, child), got {arc!r}")
        for name in arc:
            if name not in places:
                raise ParameterError(f"{what} arc {tuple(arc)!r}: there is no column {name!r}")
        parent, child = arc
        if parent == child:
            raise ParameterError(f"{what} arc {tuple(arc)!r} goes from a column to itself")
        parents[places[child]] |= 1 << places[parent]
    return tuple(parents)


def _read_tiers(names: Sequence[str], tiers: Iterable[str | Iterable[str]]) -> list[Mask]:
    """Find the columns of later tiers than each column's own."""
    places = {name: place for place, name in enumerate(names)}
    groups: list[Mask] = []
    if isinstance(tiers, str) or not isinstance(tiers, Iterable):
        raise ParameterError(f"tiers must be lists of columns, got {tiers!r}")
    for tier in tiers:
        group = 0
        for name in [tier] if isinstance(tier, str) else tier:
            if name not in places:
                raise ParameterError(f"tiers: there is no column {name!r}")
            if (group | union(groups)) >> places[name] & 1:
                raise ParameterError(f"tiers: column {name!r} is named twice")
            group |= 1 << places[name]
        groups.append(group)
    later = [0] * len(names)
    for number, group in enumerate(groups):
        for j in list_bits(group):
            later[j] = union(groups[number + 1 :])
    return later


def _check(
    names: Sequence[str], required: Sequence[Mask], allowed: Sequence[Mask], most: int
) -> None:
    for child, (needed, possible) in enumerate(zip(required, allowed, strict=True)):
        both = needed & ~possible
        if both:
            parent = names[both.bit_length() - 1]
            raise ParameterError(
                f"arc {(parent, names[child])!r} is both required and forbidden (by name or tiers)"
            )
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
