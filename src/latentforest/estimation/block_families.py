"""What the M-step of blocks, and of equal variances, needs, laid out for the kernels.

See ``block_updates`` and ``tied_updates`` in ``kernels.gaussian``, and ``kernels.forest.em``.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from latentforest.inference.blocks import (
    GaussianBlock,
    find_least,
    list_scales,
    list_tasks,
    list_units,
    whiten,
)
from latentforest.inference.engine import Engine
from latentforest.kernels.addresses import address_of
from latentforest.kernels.forest.em import measure_block
from latentforest.kernels.layout import N_TABLE_ENTRIES, TABLES
from latentforest.kernels.types import FloatArray
from latentforest.model.covariances import find_least_eigenvalue
from latentforest.model.parameters import join_covariances

AT_BOUND = 1e-9  # how far above its bound an eigenvalue may be to count as bounded


def list_blocks(engine: Engine) -> list[GaussianBlock]:
    """List the blocks of a forest that have a free family."""
    if not engine.structure.continuous:
        return []
    return [block for block in engine.blocks if block.members(engine.free)]


def list_tied(engine: Engine) -> list[str]:
    """List the Gaussian leaves that have equal variances with each other or in all states."""
    inside = {name for block in list_blocks(engine) for name in block.own}
    tied = (engine.shared | engine.equal) - inside
    return [name for name in engine.structure.continuous if name in tied & set(engine.free)]


def list_tasks_of_updates(engine: Engine) -> tuple[list[int], list[int]]:
    """Write down the tasks of all blocks with free families.

    Those of leaves with equal variances come last, if there are any.

    Returns the entry at which the tasks of each block start, and the tasks.
    """
    entries, tasks, place = _list_block_tasks(engine)
    names = list_tied(engine)
    if names:
        from latentforest.kernels.gaussian import tied_updates  # compiles, so only when needed

        structure, (sums, _) = engine.structure, engine.place_sums()
        entries.append(len(tasks))
        n_states = math.prod(structure.shape(names[0])[:-1])
        start = entries[-1] + TABLES + N_TABLE_ENTRIES * len(names)
        addresses = [tied_updates.REVISE_ADDRESS, address_of(measure_block)]
        tasks += [place, start, *addresses, len(names)]
        for j, name in enumerate(names):
            tasks += [structure.offset(name), 2, n_states, place + 4 * j]
        tasks += [len(names), n_states, int(names[0] in engine.shared), int(bool(engine.equal))]
        for name in names:
            tasks += [structure.offset(name), sums[name]]
    return entries, tasks


def _list_block_tasks(engine: Engine) -> tuple[list[int], list[int], int]:
    structure, (sums, place) = engine.structure, engine.place_sums()
    entries, tasks = list[int](), list[int]()
    for block in list_blocks(engine):
        from latentforest.kernels.gaussian import block_updates  # compiles, so only when needed

        entries.append(len(tasks))
        names = [name for family in block.members(engine.free) for name in family]
        core = list_tasks(structure, block, sums[block.names[0]], engine.free, engine.shared)
        units = place + _count_numbers(block)
        tasks += [
            place,
            entries[-1] + TABLES + N_TABLE_ENTRIES * len(names),
            block_updates.REVISE_ADDRESS,
            address_of(measure_block),
            len(names),
        ]
        for name in names:
            shape = structure.shape(name)
            tasks += [structure.offset(name), shape[-1], math.prod(shape[:-1]), units]
            units += 2 * shape[-1]
        tasks += core
        place = units
    return entries, tasks, place


def list_numbers_of_updates(engine: Engine) -> list[FloatArray]:
    """Write down scales, correlations, bounds and units of all blocks with free families.

    Of leaves with equal variances, only units are needed.
    """
    parts = []
    for block in list_blocks(engine):
        about = {name: engine.data.summary(name) for name in block.names}
        parts.append(_list_numbers(engine, block))
        for family in block.members(engine.free):
            parts += [list_units(engine.structure, name, about) for name in family]
    for name in list_tied(engine):
        parts.append(list_units(engine.structure, name, {name: engine.data.summary(name)}))
    return parts


def _count_numbers(block: GaussianBlock) -> int:
    """Length of what ``_list_numbers`` returns."""
    d = len(block.names)
    return 2 * d + d * d + sum(len(family) ** 2 for family in block.families)


def _list_numbers(engine: Engine, block: GaussianBlock) -> FloatArray:
    about = [engine.data.summary(name) for name in block.names]
    correlations = engine.data.correlations(block.names)
    bounds = find_least(engine.structure, block, correlations, about)
    parts = [list_scales(about), correlations.ravel()]
    return np.concatenate([*parts, *(whiten(bound).ravel() for bound in bounds)])


def find_bounded_in_blocks(engine: Engine, theta: FloatArray) -> Collection[str]:
    """Name the variables of blocks whose variance is at its bound.

    Constant columns, and those that are nearly linear functions of others, are left aside.
    """
    structure, found, aside = engine.structure, list[str](), set(find_collinear(engine))
    for block in list_blocks(engine):
        about = [engine.data.summary(name) for name in block.names]
        bounds = find_least(structure, block, engine.data.correlations(block.names), about)
        for family, bound in zip(block.families, bounds, strict=True):
            own = [about[block.names.index(name)] for name in family]
            varying = np.flatnonzero(
                [not a.is_constant and n not in aside for n, a in zip(family, own, strict=True)]
            )
            if family[0] not in engine.free or len(varying) == 0:
                continue
            if len(family) > 1:
                covariances = join_covariances(structure, family, theta)
            else:
                covariances = structure.table_view(theta, family[0])[..., -1:, None]
            scale = np.sqrt([each.variance for each in own])[varying]
            covariances = covariances[..., varying, :][..., varying] / np.outer(scale, scale)
            least, error = find_least_eigenvalue(covariances, bound[np.ix_(varying, varying)])
            if least <= 1.0 + max(AT_BOUND, error):
                found += [family[i] for i in varying]
    return found


def find_collinear(engine: Engine) -> tuple[str, ...]:
    """Name the columns that are nearly linear functions of others in their family, or above it."""
    structure, found = engine.structure, set[str]()
    for block in list_blocks(engine):
        for family in block.members(engine.free):
            names = (*family, *structure.continuous_parents(family[0]))
            found.update(engine.data.find_collinear(names))
    return tuple(name for name in structure.names if name in found)
