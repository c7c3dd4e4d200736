"""What annealing fills in: blocks of open cells in rows, with every way to fill them.

Rows are grouped by which of their cells are open (latent or missing). Open cells without a value
below them sum out and are left alone. Of the others, those that share a table depend on each other:
they make a block. Rows that have the same values around a block are one unit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.kernels.annealing import Units
from latentforest.kernels.types import AnyArray, FloatArray, IntArray, LongArray
from latentforest.model.structure import Structure
from latentforest.scores.evidence.closed_form import find_cells, list_codes

MOST_CELLS = 1 << 24  # of all completions of all units


class Openings(NamedTuple):
    """Units to fill in, how many observations each has, counts of families with nothing open."""

    units: Units
    copies: FloatArray
    base: FloatArray


class _UnitGroup(NamedTuple):
    """Units of one block: ``(n_units, n_completions, width)`` cells, rows that each stands for."""

    cells: IntArray
    copies: FloatArray


def find_openings(structure: Structure, table: Dataset) -> Openings | None:
    """List the units of a table; nothing if there are too many completions."""
    weights = table.weights
    codes, base = list_codes(structure, table), np.zeros(structure.n_values)
    groups, n_cells = list[_UnitGroup](), 0
    for rows, is_open in _group_rows(structure, codes):
        here = {name: column[rows] for name, column in codes.items()}
        kept = _drop_barren(structure, is_open)
        seen = [name for name in structure.names if name not in is_open]
        for name in (each for each in seen if kept.isdisjoint(structure.parents(each))):
            cells = find_cells(structure, name, here)
            base += np.bincount(cells, weights[rows], minlength=len(base))
        for block in _find_blocks(structure, kept, seen):
            families = _list_families(structure, block, {*seen, *kept})
            shapes = [structure.shape(name)[-1] for name in block]
            n_cells += len(rows) * math.prod(shapes) * len(families)
            if n_cells > MOST_CELLS:
                return None
            groups.append(_make_units(structure, here, weights[rows], block, families))
    copies = np.concatenate([np.empty(0), *(group.copies for group in groups)])
    return Openings(_join(groups), copies, base)


def _group_rows(
    structure: Structure, codes: dict[str, AnyArray]
) -> Iterator[tuple[LongArray, set[str]]]:
    """Group the rows by which of their cells are open."""
    is_open = np.stack([codes[name] < 0 for name in structure.names], axis=1)
    patterns, group_of = np.unique(is_open, axis=0, return_inverse=True)
    for g, pattern in enumerate(patterns):
        names = {name for name, flag in zip(structure.names, pattern, strict=True) if flag}
        yield np.flatnonzero(group_of.reshape(-1) == g), names


def _drop_barren(structure: Structure, is_open: Collection[str]) -> set[str]:
    """Open variables that have a value somewhere below."""
    kept = set[str]()
    for name in reversed(structure.order):
        below = structure.children(name)
        if name in is_open and any(each not in is_open or each in kept for each in below):
            kept.add(name)
    return kept


def _find_blocks(structure: Structure, kept: set[str], seen: Collection[str]) -> list[list[str]]:
    """Join open variables that are together in a family."""
    blocks: list[set[str]] = []
    for name in structure.names:
        members = {each for each in (*structure.parents(name), name) if each in kept}
        if members and (name in kept or name in seen):  # a barren variable joins nobody
            touched = [block for block in blocks if block & members]
            blocks = [block for block in blocks if not block & members]
            blocks.append(members.union(*touched))
    return [sorted(block, key=structure.names.index) for block in blocks]


def _list_families(
    structure: Structure, block: Collection[str], counted: Collection[str]
) -> list[str]:
    """Variables of the families that a block is part of."""
    return [
        name
        for name in structure.names
        if name in counted and not set(block).isdisjoint((*structure.parents(name), name))
    ]


def _make_units(
    structure: Structure,
    codes: dict[str, AnyArray],
    weights: FloatArray,
    block: list[str],
    families: list[str],
) -> _UnitGroup:
    """List the completions of a block in all rows; merge rows whose completions are the same."""
    ways = itertools.product(*(range(structure.shape(name)[-1]) for name in block))
    choices = np.array(list(ways), np.int64).T[:, None, :]
    filled = {name: column[:, None] for name, column in codes.items()}
    filled.update(zip(block, choices, strict=True))
    shape = (len(weights), choices.shape[-1])
    places = [np.broadcast_to(find_cells(structure, name, filled), shape) for name in families]
    cells = np.stack(places, axis=-1).astype(np.int32)
    unique, unit_of = np.unique(cells.reshape(len(cells), -1), axis=0, return_inverse=True)
    copies = np.asarray(np.bincount(unit_of.reshape(-1), weights, len(unique)), np.float64)
    return _UnitGroup(unique.reshape(-1, *cells.shape[1:]), copies)


def _join(groups: list[_UnitGroup]) -> Units:
    """Put the units of all blocks one after another."""
    shapes = np.array([group.cells.shape for group in groups], np.int64).reshape(-1, 3)
    n_units, sizes = shapes[:, 0], shapes[:, 1] * shapes[:, 2]
    lengths, n_completions = np.repeat(sizes, n_units), np.repeat(shapes[:, 1], n_units)
    return Units(
        np.concatenate([np.empty(0, np.int32), *(group.cells.ravel() for group in groups)]),
        np.cumsum(lengths) - lengths,
        np.repeat(shapes[:, 2], n_units),
        n_completions,
        np.cumsum(n_completions) - n_completions,
    )
