"""Where structural EM begins: structures without latent variables, and with given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.variable import Variable
from latentforest.estimation.starts import random_starts
from latentforest.inference.association.information import pair_scores
from latentforest.inference.patterns import Mask
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.spanning import direct, spanning_forest
from latentforest.model.structure import Structure
from latentforest.scores.edges import edge_score
from latentforest.search.dags.constraints import ArcConstraints
from latentforest.search.structural.arcs import obey

MOST_TABLE_ROWS = 256  # of a column below several latent variables, in a start
LEAST_BELOW = 3  # columns below a latent variable of a start


def span_columns(table: Dataset, constraints: ArcConstraints, n_jobs: int) -> tuple[Mask, ...]:
    """Return the forest of the highest BIC by pairs of columns, as far as it is allowed.

    Each pair is counted on the rows that have both. There may be further variables.
    """
    gains = pair_scores(table, edge_score("bic", table.total_weight), n_jobs)
    above = direct(spanning_forest(gains, 0.0), table.n_columns, [])
    masks = [0 if parent < 0 else 1 << int(parent) for parent in above]
    more = len(constraints.required) - table.n_columns
    return obey([*masks, *[0] * more], constraints)


def hang_columns(
    parents: Sequence[Mask],
    variables: Sequence[Variable],
    below: Mapping[str, Sequence[str]],
    constraints: ArcConstraints,
) -> tuple[Mask, ...]:
    """Put latent variables above columns, and remove the arcs between columns of one of them.

    Columns get as many of their latent parents as their tables allow.
    """
    names = [variable.name for variable in variables]
    place = {name: j for j, name in enumerate(names)}
    kept, arcs = list(parents), [0] * len(names)
    room = [MOST_TABLE_ROWS] * len(names)
    for latent, columns in below.items():
        inside = sum(1 << place[name] for name in columns)
        n_states = variables[place[latent]].n_states
        for name in columns:
            j = place[name]
            kept[j] &= ~inside
            if room[j] >= n_states:
                room[j] //= n_states
                arcs[j] |= 1 << place[latent]
    return obey_in_turn(arcs, kept, constraints)


def obey_in_turn(
    first: Sequence[Mask], then: Sequence[Mask], constraints: ArcConstraints
) -> tuple[Mask, ...]:
    """Keep the arcs that are allowed, of some first, then of others."""
    needed = ArcConstraints(obey(first, constraints), constraints.allowed, constraints.max_parents)
    return obey(then, needed)


def draw_below(
    latents: Sequence[str], columns: Sequence[str], generator: np.random.Generator
) -> dict[str, list[str]]:
    """Draw columns for each latent variable, at least some."""
    found = {}
    for latent in latents:
        least = min(LEAST_BELOW, len(columns))
        size = int(generator.integers(least, len(columns) + 1))
        chosen = np.sort(generator.permutation(len(columns))[:size])
        found[latent] = [columns[j] for j in chosen]
    return found


def draw_parameters(
    structure: Structure, network: Network | None, table: Dataset, n_starts: int, seed: int
) -> FloatArray:
    """Draw parameters; families that a network has, too, keep those of the network."""
    starts = random_starts(structure, table, n_starts, seed)
    if network is None:
        return starts
    old = network.structure
    changed = {
        name
        for name in structure.names
        if name not in old
        or structure.parents(name) != old.parents(name)
        or structure.shape(name) != old.shape(name)
    }
    for start in starts:
        structure.copy_tables(start, old, network.parameters, changed)
    return starts
