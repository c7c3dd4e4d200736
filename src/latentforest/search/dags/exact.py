"""The best of all networks over a few columns: exact, by dynamic programming over subsets.

Silander and Myllymäki (2006), "A simple approach for finding the globally optimal Bayesian network
structure". Sets of parents that no score could make up for (de Campos and Ji 2011) are not counted,
and a set of parents stands only where none of its subsets scores as high.
"""

from __future__ import annotations

import numpy as np

from latentforest.errors import ParameterError
from latentforest.inference.counts import list_bits
from latentforest.inference.patterns import Mask
from latentforest.inference.structures.best_sinks import find_best_network, tabulate_families
from latentforest.kernels.types import FloatArray
from latentforest.search.dags.constraints import ArcConstraints
from latentforest.search.dags.family_scores import MOST_CELLS, FamilyScores, ScoredFamilies

MOST_COLUMNS = 22  # memory is columns times 2^columns times four bytes: 370 MB
SLACK = 1.0 + 1e-9  # no bound hangs on the last bits


def find_best_parents(
    families: ScoredFamilies, constraints: ArcConstraints
) -> tuple[list[Mask], bool]:
    """Find the network of the highest score.

    Of equally good networks, one is taken that depends on the order of the columns only.

    Parameters
    ----------
    families
        Scores of at most ``MOST_COLUMNS`` columns.
    constraints
        On the arcs.

    Returns
    -------
    parents
        Of each variable.
    is_optimal
        False if a better network could have a table of more than ``MOST_CELLS`` cells.
    """
    n = families.n_columns
    if n > MOST_COLUMNS:
        raise ParameterError(
            f"exact search is possible for up to {MOST_COLUMNS} columns, got {n}; "
            "use method 'order' or 'hill-climbing'"
        )
    if not isinstance(families, FamilyScores):
        return find_best_network(score_one_by_one(families, constraints)), True
    needed = max(_limit_cells(families, constraints, j) for j in range(n))
    parents = find_best_network(tabulate_scores(families, constraints, needed))
    largest = max(families.table.count_cells(mask | 1 << j) for j, mask in enumerate(parents))
    if largest <= MOST_CELLS:
        return parents, True
    return find_best_network(tabulate_scores(families, constraints, MOST_CELLS)), False


def tabulate_scores(
    families: FamilyScores, constraints: ArcConstraints, most_cells: float
) -> FloatArray:
    """Score all families of at most so many cells, as ``tabulate_families`` does."""
    n, score = families.n_columns, families.set_score
    most_columns = min(n, constraints.max_parents + 1)
    kinds = [score.find_kinds(j) for j in range(n)]
    values = {
        kind: score.measure_subsets(most_cells, most_columns, kind)
        for kind in sorted({kind for pair in kinds for kind in pair})
    }
    weights = np.zeros((n, n)) if families.arc_weights is None else families.arc_weights
    return tabulate_families(
        [(values[family], values[above]) for family, above in kinds],
        weights,
        constraints.required,
        constraints.allowed,
        constraints.max_parents,
    )


def score_one_by_one(families: ScoredFamilies, constraints: ArcConstraints) -> FloatArray:
    """Score all families of any kind, the parents of each in the order of ``tabulate_families``."""
    n = families.n_columns
    scores = np.full((n, 1 << (n - 1)), -np.inf)
    for j in range(n):
        below = (1 << j) - 1
        required, allowed = constraints.required[j], constraints.allowed[j]
        for others in range(1 << (n - 1)):
            parents = (others & below) | ((others & ~below) << 1)
            is_legal = not parents & ~allowed and not required & ~parents
            if is_legal and parents.bit_count() <= constraints.max_parents:
                scores[j, others] = _score(families, j, parents)
    return scores


def _score(families: ScoredFamilies, variable: int, parents: Mask) -> float:
    """Score a family that may be impossible, because of its kinds or size."""
    known = 0
    for j in list_bits(parents):  # added one by one, each must be possible
        if not families.list_additions(variable, known, 1 << j):
            return -np.inf
        known |= 1 << j
    return families.score(variable, parents)


def _limit_cells(families: FamilyScores, constraints: ArcConstraints, variable: int) -> float:
    """Return how many cells a variable's family may have and still be the best."""
    required = constraints.required[variable]
    n_configurations = families.table.count_cells(required)
    weights = families.arc_weights
    bonus = 0.0 if weights is None else float(np.maximum(weights[variable], 0.0).sum())
    score = families.score(variable, required) - bonus
    limit = families.set_score.limit_cells(variable, score, n_configurations)
    return max(limit, families.table.count_cells(required | 1 << variable)) * SLACK
