"""The best of all networks over a few columns: exact, by dynamic programming over subsets.

Silander and Myllymäki (2006), "A simple approach for finding the globally optimal Bayesian network
structure". Sets of parents that no score could make up for (de Campos and Ji 2011) are not counted,
and a set of parents stands only where none of its subsets scores as high.
"""

from __future__ import annotations

from latentforest.errors import ParameterError
from latentforest.inference.best_sinks import find_best_network
from latentforest.inference.patterns import Mask
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
    parents = find_best_network(
        values, constraints.required, constraints.allowed, constraints.max_parents
    )
    return parents, is_optimal


def _limit_cells(scores: FamilyScores, constraints: ArcConstraints, variable: int) -> float:
    """Return how many cells a variable's family may have and still be the best."""
    required = constraints.required[variable]
    n_configurations = scores.table.count_cells(required)
    score = scores.score(variable, required)
    limit = scores.set_score.limit_cells(variable, score, n_configurations)
    return max(limit, scores.table.count_cells(required | 1 << variable)) * SLACK
