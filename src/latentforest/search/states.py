"""One state of a latent variable more or less: a state split in two halves, or two states merged.

The halves must differ, or EM would never tell them apart: probabilities move alternately up and
down, means of Gaussians move away from each other. Local fits of trees make the same tables in
compiled code (``kernels.regions.star_starts``), where no Python runs between the starts of a
candidate; a test compares the two.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from latentforest.kernels.types import FloatArray
from latentforest.model.covariances import find_principal_axis, orient, standardize
from latentforest.model.network import Network
from latentforest.model.structure import Structure
from latentforest.search.tables import mix, pack

APART = 0.5  # how far halves are pushed apart: share of a probability, deviations of a Gaussian
BLUR = 0.05  # share of the rows on one side of a state that stays with the other half
HALVES = np.array([1.0, -1.0])


@dataclass(frozen=True)
class Around:
    """The tables around a latent variable: P(hub) and P(neighbour | hub).

    ``continuous`` names the Gaussian ones, single or of a pouch of ``pouches``. ``steps`` are how
    far the means of single ones should move when a state is split, for each state.
    """

    prior: FloatArray
    tables: Mapping[str, FloatArray]
    continuous: Collection[str]
    steps: Mapping[str, FloatArray] = field(default_factory=dict)
    pouches: Sequence[tuple[str, ...]] = ()


def split_state(around: Around, k: int = 0) -> Around:
    """Split a state in two halves that differ a little; the second comes last."""
    source, halves = [*range(len(around.prior)), k], [k, -1]
    prior = around.prior[source]
    prior[halves] *= 0.5
    tables = {z: table[source] for z, table in around.tables.items()}
    in_pouch = {z for pouch in around.pouches for z in pouch}
    for z, table in tables.items():
        if z not in around.continuous:
            table[halves] = halve(table[k])
        elif z not in in_pouch:
            step = around.steps[z][k] if around.steps else None
            moved = move_apart(table[halves, 0], table[halves, -1], HALVES, step)
            table[halves, 0], table[halves, -1] = moved
    for pouch in around.pouches:
        moved_pouch = _halve_pouch(np.stack([around.tables[z][k] for z in pouch]))
        for i, z in enumerate(pouch):
            tables[z][halves] = moved_pouch[:, i]
    return replace(around, prior=prior, tables=tables)


def split_all(around: Around) -> list[Around]:
    """Split each state in turn."""
    return [split_state(around, k) for k in range(len(around.prior))]


def merge_states(around: Around, i: int = 0, j: int = 1) -> Around:
    """Merge two states, ``i`` before ``j``, into one with their probability."""
    prior = around.prior
    weights = prior[[i, j]]
    shares = weights / weights.sum() if weights.sum() > 0 else np.array([0.5, 0.5])
    kept = [s for s in range(len(prior)) if s != j]
    merged = prior[kept]
    merged[i] = weights.sum()
    tables = {}
    for z, table in around.tables.items():
        tables[z] = table[kept]
        tables[z][i] = mix(shares[None], table[[i, j]], z in around.continuous)[0]
    return replace(around, prior=merged, tables=tables)


def merge_all(around: Around) -> list[Around]:
    """Merge each pair of states in turn."""
    pairs = itertools.combinations(range(len(around.prior)), 2)
    return [merge_states(around, i, j) for i, j in pairs]


def split_starts(network: Network, name: str, structure: Structure) -> FloatArray:
    """Make starts with one more state of a root: each state split in turn.

    Means of Gaussians move half a deviation up and down; those of a pouch along the direction in
    which it varies most.

    Parameters
    ----------
    network
        Fitted with one state less.
    name
        The latent root whose state is split.
    structure
        The structure with one more state.
    """
    tables = {z: network.table_view(z) for z in structure.children(name)}
    pouches = [pouch for pouch in structure.pouches if pouch[0] in tables]
    around = Around(network.table_view(name), tables, structure.continuous, pouches=pouches)
    starts = [
        pack(structure, network, {name: each.prior, **each.tables}).parameters
        for each in split_all(around)
    ]
    return np.stack(starts)


def alternate(n_states: int) -> FloatArray:
    """By what share the probabilities of a first half rise and fall."""
    return np.where(np.arange(n_states) % 2, -APART, APART)


def halve(row: FloatArray) -> FloatArray:
    """Two distributions around one: mass moved alternately up and down."""
    signs = alternate(row.shape[-1])
    pair = np.stack([row * (1 + signs), row * (1 - signs)])
    pair /= pair.sum(axis=-1, keepdims=True)
    return pair


def move_apart(
    means: FloatArray, variances: FloatArray, sides: FloatArray, step: float | None = None
) -> tuple[FloatArray, FloatArray]:
    """Move Gaussians up (side 1), down (-1) or not at all (0); mixed again, they are as before.

    The step is half a deviation by default.
    """
    if step is not None:
        return means + sides * step, variances - (sides * step) ** 2
    shrunk = np.where(sides != 0, (1 - APART**2) * variances, variances)
    return means + APART * sides * np.sqrt(variances), shrunk


def _halve_pouch(rows: FloatArray) -> FloatArray:
    """Two joint Gaussians around one: means in the first column, then covariances."""
    means, covariances = rows[:, 0], rows[:, 1:]
    spread, correlations = standardize(covariances)
    size, axis = find_principal_axis(correlations)
    step = APART * np.sqrt(size) * orient(axis) * spread
    pair = np.stack([rows, rows])
    pair[0, :, 0], pair[1, :, 0] = means + step, means - step
    pair[:, :, 1:] -= np.outer(step, step)
    return pair


def split_shares(shares: FloatArray, k: int, away: FloatArray) -> FloatArray:
    """Divide the rows of a state along the direction in which they differ most.

    Parameters
    ----------
    shares
        Of each row in each state, ``(n_rows, n_states)``.
    k
        The state; its second half comes last.
    away
        How far each row is from the mean of the state, ``(n_rows, n_features)``.
    """
    share = shares[:, k]
    _, axis = find_principal_axis((away * share[:, None]).T @ away)
    side = away @ axis > 0
    upper = share * np.where(side, 1.0 - BLUR, BLUR)
    return np.column_stack([shares[:, :k], share - upper, shares[:, k + 1 :], upper])


def merge_shares(shares: FloatArray, i: int, j: int) -> FloatArray:
    """Give the rows of one state to another."""
    merged = np.delete(shares, j, axis=1)
    merged[:, i - (i > j)] += shares[:, j]
    return merged
