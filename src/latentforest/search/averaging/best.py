"""The best few networks over a few columns, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable
from latentforest.inference.structures.ranked_networks import rank_networks
from latentforest.model.structure import Structure
from latentforest.search.averaging.families import score_all_families
from latentforest.search.dags.canonical import order_columns
from latentforest.search.dags.constraints import check_tables, read_constraints
from latentforest.search.dags.dag import name_parents
from latentforest.search.dags.family_scores import Arc, FamilyScores

MOST_COLUMNS = 16  # a search for each column of each network that is found


@dataclass(frozen=True)
class RankedNetwork:
    """A structure over the columns, and its score."""

    structure: Structure
    score: float


def best_networks(
    data: Dataset,
    n_networks: int,
    criterion: str = "bic",
    *,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    max_parents: int | None = None,
) -> list[RankedNetwork]:
    """Find the best networks over the columns of a complete categorical table, the best first.

    Networks with the same independences are different networks here.

    Parameters
    ----------
    data
        Categorical columns without missing values, at most 16.
    n_networks
        How many; fewer are returned if there are no more.
    criterion
        Score of a network, as for ``FamilyScores``.
    required, forbidden
        Arcs as pairs (parent, child).
    max_parents
        At most so many parents of a column.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> found = best_networks(load("hiv-tests"), 3)
    >>> [round(each.score, 3) for each in found]
    [-653.657, -653.657, -653.657]
    """
    if data.n_columns > MOST_COLUMNS:
        raise ParameterError(
            f"the best networks can be listed for up to {MOST_COLUMNS} columns, got "
            f"{data.n_columns}; ModelAverage takes what several runs of a search find"
        )
    given = CountingTable(data)
    table = given.reordered(order_columns(given))
    constraints = read_constraints(table.names, required, forbidden, max_parents)
    check_tables(table, constraints)
    scores = score_all_families(FamilyScores(table, criterion), constraints)
    return [
        RankedNetwork(
            Structure(data.variables, name_parents(table.names, parents, data.names)), score
        )
        for score, parents in islice(rank_networks(scores), n_networks)
    ]
