"""The best network over the columns themselves, without latent variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.inference.counts import CountingTable, count_tables, normalize_tables
from latentforest.model import Network, Structure
from latentforest.scores.criteria import FitSummary, bic
from latentforest.search.dags.canonical import order_columns
from latentforest.search.dags.constraints import check_tables, read_constraints
from latentforest.search.dags.dag import name_parents
from latentforest.search.dags.exact import find_best_parents
from latentforest.search.dags.family_scores import Arc, FamilyScores
from latentforest.search.dags.search import DagSearch, DagSearchSettings

EXACT_COLUMNS = 16  # up to so many, search is exact unless told otherwise


@dataclass(frozen=True)
class BestNetwork:
    """A network over columns with its maximum-likelihood parameters.

    Attributes
    ----------
    network
        Structure and parameters; rows of a table that never occur are uniform.
    log_likelihood, bic
        Of all rows.
    is_optimal
        Whether no network over the columns has a higher score; if not, the score is a lower bound
        of the highest.
    """

    network: Network
    log_likelihood: float
    bic: float
    is_optimal: bool


def best_network(
    data: Dataset,
    criterion: str = "bic",
    *,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    max_parents: int | None = None,
    exact_columns: int = EXACT_COLUMNS,
    check: Callable[[], None] | None = None,
) -> BestNetwork:
    """Find the best network over the columns of a complete categorical table.

    Exact for a few columns, by a search over orders for more. The result does not depend on the
    order of rows or columns, nor on the names of columns unless two of them cannot be told apart by
    what is in them.

    Parameters
    ----------
    data
        Categorical columns without missing values. All states of a column count as parameters,
        also those that do not occur.
    criterion
        "bic", "aic" or "likelihood".
    required, forbidden
        Arcs as pairs (parent, child).
    max_parents
        At most so many parents of a column.
    exact_columns
        Search is exact for so many columns or fewer; at most 22.
    check
        Called now and then; what it raises ends the work.

    Examples
    --------
    >>> from latentforest.datasets import load
    >>> found = best_network(load("hiv-tests"))
    >>> round(found.bic, 3), found.is_optimal
    (-653.657, True)
    """
    given = CountingTable(data)
    table = given.reordered(order_columns(given))
    constraints = read_constraints(table.names, required, forbidden, max_parents)
    check_tables(table, constraints)
    scores = FamilyScores(table, criterion)
    if table.n_columns <= exact_columns:
        parents, is_optimal = find_best_parents(scores, constraints)
    else:
        search = DagSearch(
            scores, constraints, DagSearchSettings(), constraints.required, lambda: _ask(check)
        )
        parents, is_optimal = search.run(), False
    return _estimate(data, name_parents(table.names, parents, data.names), is_optimal)


def _ask(check: Callable[[], None] | None) -> bool:
    if check is not None:
        check()
    return False


def _estimate(data: Dataset, parents: dict[str, tuple[str, ...]], is_optimal: bool) -> BestNetwork:
    structure = Structure(data.variables, parents)
    counts = count_tables(structure, data)
    network = Network(structure, normalize_tables(structure, counts))
    some = counts > 0
    log_likelihood = float(counts[some] @ np.log(network.parameters[some]))
    fit = FitSummary(log_likelihood, network.structure.dimension, data.total_weight)
    return BestNetwork(network, log_likelihood, bic(fit), is_optimal)
