"""Networks that searches begin with: empty, a Chow-Liu tree, random, or given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentforest.errors import ParameterError
from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.model.spanning import direct, spanning_forest
from latentforest.model.structure import Structure
from latentforest.search.dags.constraints import ArcConstraints
from latentforest.search.dags.dag import Dag
from latentforest.search.dags.family_scores import ScoredFamilies

RANDOM_PARENTS = 1.0  # of a column, on average, in a random network


def find_chow_liu_parents(families: ScoredFamilies, constraints: ArcConstraints) -> list[Mask]:
    """Return the best forest by the criterion, as far as the constraints allow its arcs."""
    n = families.n_columns
    gains = np.full((n, n), -np.inf)
    for j in range(n):
        others = constraints.list_additions(families, j, 0)
        if others:
            gains[j, others] = families.score_additions(j, 0, others) - families.score(j, 0)
    edges = spanning_forest(np.maximum(gains, gains.T), 0.0)
    above = direct(edges, n, list(range(n)))
    return _add_arcs(
        families, constraints, [(j, parent) for j, parent in enumerate(above) if parent >= 0]
    )


def draw_random_parents(
    families: ScoredFamilies, constraints: ArcConstraints, rng: np.random.Generator
) -> list[Mask]:
    """Draw a network: random arcs, as many as there are columns, that go along a random order."""
    n = families.n_columns
    places = rng.permutation(n)
    pairs = rng.integers(0, n, (round(RANDOM_PARENTS * n), 2)).tolist()
    return _add_arcs(families, constraints, [(i, j) for i, j in pairs if places[j] < places[i]])


def read_parents(structure: Structure, names: Sequence[str]) -> list[Mask]:
    """Turn the parents of a structure over some columns into masks."""
    places = {name: place for place, name in enumerate(names)}
    if set(structure.names) != set(names):
        differ = sorted(set(structure.names) ^ set(names))
        raise ParameterError(f"start and the table differ in {', '.join(map(repr, differ[:10]))}")
    return [sum(1 << places[parent] for parent in structure.parents(name)) for name in names]


def check_start(
    parents: Sequence[Mask], families: ScoredFamilies, constraints: ArcConstraints
) -> None:
    """Refuse a start that breaks the constraints."""
    for j, mask in enumerate(parents):
        extra, lacking = mask & ~constraints.allowed[j], constraints.required[j] & ~mask
        for what, which in (("has the forbidden", extra), ("lacks the required", lacking)):
            if which:
                arc = (families.names[list_bits(which)[0]], families.names[j])
                raise ParameterError(f"start {what} arc {arc!r}")
        if mask.bit_count() > constraints.max_parents:
            raise ParameterError(
                f"start: column {families.names[j]!r} has {mask.bit_count()} parents, "
                f"but max_parents is {constraints.max_parents}"
            )


def _add_arcs(
    families: ScoredFamilies, constraints: ArcConstraints, arcs: Sequence[tuple[int, int]]
) -> list[Mask]:
    """Add arcs (child, parent) to the required ones, those that are possible."""
    dag = Dag(constraints.required)
    for child, parent in arcs:
        if dag.parents[child] >> parent & 1:
            continue
        is_possible = constraints.can_add(families, child, dag.parents[child], parent)
        if is_possible and dag.can_add(child, parent):
            dag.toggle(child, parent)
    return dag.parents
