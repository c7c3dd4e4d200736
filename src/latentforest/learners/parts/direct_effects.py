"""Direct effects in latent class models: links between columns that the classes leave dependent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from latentforest.data import Variable
from latentforest.data.results.table import Table
from latentforest.errors import ParameterError
from latentforest.learners.parts.glc_settings import read_links
from latentforest.model import Structure

LEAST_RESIDUAL = 3.84  # of a pair that is tried: the 5% point of chi-square with one degree
N_TRIED = 3  # pairs that are tried before no further one is added

Effects = tuple[tuple[str, str], ...]


def read_effects(effects: Any, variables: Sequence[Variable]) -> Effects:
    """Read pairs of categorical columns, the first of which is a parent; none for "auto"."""
    if effects is None or effects == "auto":
        return ()
    names = [variable.name for variable in variables]
    if isinstance(effects, str) and "->" not in effects:
        raise ParameterError(f'direct_effects must be pairs of columns or "auto", got {effects!r}')
    found = read_links("direct_effects", effects, names)
    pairs = sorted(found, key=lambda pair: (names.index(pair[1]), names.index(pair[0])))
    numbers = {variable.name for variable in variables if not variable.is_categorical}
    for pair in pairs:
        if numbers & set(pair) or pair[0] == pair[1]:
            raise ParameterError(
                f"direct_effects: {pair[0]} -> {pair[1]} is not a pair of categorical columns"
            )
    return tuple(pairs)


def link_columns(structure: Structure, effects: Effects) -> Structure:
    """Add links between columns to the structure of a latent class model."""
    more: dict[str, tuple[str, ...]] = {}
    for parent, child in effects:
        more[child] = (*more.get(child, structure.parents(child)), parent)
    return structure.with_parents(more) if more else structure


def list_further(residuals: Table, effects: Effects, names: Sequence[str]) -> Iterator[Effects]:
    """Yield the effects with one more, where residuals are largest; columns follow their order."""
    known = {frozenset(pair) for pair in effects}
    n_tried = 0
    for first, second, residual in zip(
        residuals["first"], residuals["second"], residuals["residual"], strict=True
    ):
        if n_tried == N_TRIED or not residual > LEAST_RESIDUAL:
            return
        if {first, second} in known:
            continue
        n_tried += 1
        parent, child = sorted((first, second), key=list(names).index)
        yield (*effects, (parent, child))
