"""The free tables of a forest and what the M-step must know of them, laid out for the kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from latentforest.estimation.block_families import (
    AT_BOUND,
    find_bounded_in_blocks,
    list_blocks,
    list_numbers_of_updates,
    list_tasks_of_updates,
    list_tied,
)
from latentforest.inference.engine import Engine
from latentforest.inference.plan import place_sums
from latentforest.kernels.gaussian.leaves import N_ROWS
from latentforest.kernels.layout import NO_SUMS, Families
from latentforest.kernels.types import FloatArray
from latentforest.model.structure import Structure


def find_bounded(engine: Engine, theta: FloatArray) -> tuple[str, ...]:
    """Name the columns, constant ones aside, with a variance at its lower bound."""
    structure = engine.structure
    if not structure.continuous:
        return ()
    inside = {name for block in list_blocks(engine) for name in block.own}
    found = [*find_bounded_in_blocks(engine, theta)] if inside else []
    for name in (set(structure.continuous) & set(engine.free)) - inside:
        about = engine.data.summary(name)
        variances = structure.table_view(theta, name)[..., -1]
        bound = about.least_variance * (1.0 + AT_BOUND)
        if not about.is_constant and np.any(variances <= bound):
            found.append(name)
    return tuple(sorted(found, key=structure.names.index))


def free_families(engine: Engine) -> Families:
    """List where the free tables lie in the parameter vector."""
    if not engine.structure.continuous:
        return list_families(engine.structure, engine.free)
    blocks, tied = list_blocks(engine), list_tied(engine)
    apart = {name for block in blocks for name in block.own} | set(tied)
    names = [name for name in engine.free if name not in apart]
    families = list_families(engine.structure, names, engine.place_sums()[0])
    entries, tasks = list_tasks_of_updates(engine)
    nothing = [0] * len(entries)
    return Families(
        np.array([*families.offset, *entries], np.int64),
        np.array([*families.n_rows, *nothing], np.int64),
        np.array([*families.n_states, *nothing], np.int64),
        np.array([*families.sums, *(NO_SUMS for _ in entries)], np.int64),
        np.array(tasks, np.int64),
    )


def list_families(
    structure: Structure, names: Sequence[str], sums: Mapping[str, int] | None = None
) -> Families:
    """List where some tables, none of them in a block, lie in the parameter vector.

    ``sums`` are the places of an engine's sums, by default those of a forest.
    """
    sums = place_sums(structure)[0] if sums is None else sums
    shapes, offsets = [structure.shapes[name] for name in names], structure.offsets
    return Families(
        np.array([offsets[name] for name in names], np.int64),
        np.array([math.prod(shape[:-1]) for shape in shapes], np.int64),
        np.array([shape[-1] for shape in shapes], np.int64),
        np.array([sums.get(name, NO_SUMS) for name in names], np.int64),
        np.empty(0, np.int64),
    )


def extend_prior(engine: Engine, prior: FloatArray, shares: FloatArray | None = None) -> FloatArray:
    """Put what the M-step must know of each free Gaussian's column behind the pseudo-counts.

    ``shares``, in the layout of the pseudo-counts, tells how much of the columns' correlations the
    pseudo-observations of a pouch, or around a line, have; by default all.
    """
    if not engine.structure.continuous:
        return prior.copy()
    sums, size = engine.place_sums()
    extended = np.zeros(size)
    extended[: len(prior)] = prior
    inside = {name for block in list_blocks(engine) for name in block.own}
    for name in engine.structure.continuous:
        if name in inside:
            share = 1.0 if shares is None else engine.structure.table_view(shares, name)[..., 1]
            engine.structure.table_view(extended, name)[..., 1] = share
        elif name in engine.free:
            about = engine.data.summary(name)
            n_rows = math.prod(engine.structure.shape(name)[:-1])
            row = (about.mean, about.variance, about.least_variance)
            extended[sums[name] : sums[name] + N_ROWS * n_rows] = np.tile(row, n_rows)
    return np.concatenate([extended, *list_numbers_of_updates(engine)])
