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
from latentforest.kernels.counts.sinks import (
    find_parents,
    score_best_networks,
    score_best_parents,
    score_sink,
)
from latentforest.kernels.types import FloatArray
from latentforest.search.dags.constraints import MOST_CELLS, ArcConstraints
from latentforest.search.dags.family_scores import FamilyScores

MOST_COLUMNS = 22  # memory is columns times 2^columns times four bytes: 370 MB
SLACK = 1.0 + 1e-9  # no bound hangs on the last bits


def find_best_parents(scores: FamilyScores, constraints: ArcConstraints) -> tuple[list[Mask], bool]:
    """Find the network of the highest score.

    Of equally good networks, one is taken that depends on the order of the columns only.

    Parameters
    ----------
    scores
        Of families of at most ``MOST_COLUMNS`` columns.
    constraints
        On the arcs.

    Returns
    -------
    parents
        Of each variable.
    is_optimal
        False if a better network could have a table of more than ``MOST_CELLS`` cells.
    """
    n_columns = scores.n_columns
    if n_columns > MOST_COLUMNS:
        raise ParameterError(
            f"exact search is possible for up to {MOST_COLUMNS} columns, got {n_columns}; "
            "use hill climbing"
        )
    needed = max(_limit_cells(scores, constraints, j) for j in range(n_columns))
    most_columns = min(n_columns, constraints.max_parents + 1)
    values = scores.set_score.measure_subsets(min(needed, MOST_CELLS), most_columns)
    largest = scores.table.count_cells((1 << n_columns) - 1)
    is_optimal = min(needed, largest) <= MOST_CELLS
    return _trace(values, constraints), is_optimal


def _limit_cells(scores: FamilyScores, constraints: ArcConstraints, variable: int) -> float:
    """Return how many cells a variable's family may have and still be the best."""
    required = constraints.required[variable]
    n_configurations = scores.table.count_cells(required)
    score = scores.score(variable, required)
    limit = scores.set_score.limit_cells(variable, score, n_configurations)
    return max(limit, scores.table.count_cells(required | 1 << variable)) * SLACK


def _trace(values: FloatArray, constraints: ArcConstraints) -> list[Mask]:
    """Compare all networks; then take the sinks off, from the last column to the first."""
    n_columns = len(constraints.required)
    limits = list(zip(constraints.required, constraints.allowed, strict=True))
    most = constraints.max_parents
    best = np.empty((n_columns, 1 << (n_columns - 1)))
    for j in range(n_columns):
        score_best_parents(values, j, *limits[j], most, best[j])
    totals = np.empty(1 << n_columns)
    score_best_networks(best, totals)
    parents, left = [0] * n_columns, (1 << n_columns) - 1
    while left:
        sink = _find_sink(best, totals, left)
        left ^= 1 << sink
        parents[sink] = int(find_parents(values, sink, left, *limits[sink], most))
    return parents


def _find_sink(best: FloatArray, totals: FloatArray, members: Mask) -> int:
    """Find the last column that is a sink of a best network over these."""
    columns = reversed(list_bits(members))
    return next(j for j in columns if score_sink(best, totals, members, j) == totals[members])
