"""An order of the columns that depends on what is in them, not on where they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentforest.inference.counts import CountingTable
from latentforest.search.dags.family_scores import FamilyScores


def order_columns(table: CountingTable) -> list[int]:
    """Order the columns by their content.

    First by the number of states and the counts of these; columns that agree in both by what they
    share with all other columns, told apart as far as possible; what is still equal by name.
    States have no order here.
    """
    marginals = [table.count_family(j, ()).counts for j in range(table.n_columns)]
    ranks = _rank(
        [
            (int(card), tuple(np.sort(counts.ravel()).tolist()))
            for card, counts in zip(table.cards, marginals, strict=True)
        ]
    )
    scores = FamilyScores(table, "likelihood")
    n_classes = 0
    while n_classes < len(set(ranks)) < len(ranks):
        n_classes = len(set(ranks))
        ranks = _rank([_describe(scores, ranks, j) for j in range(len(ranks))])
    return sorted(range(len(ranks)), key=lambda j: (ranks[j], table.names[j]))


def _rank(keys: list[Any]) -> list[int]:
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [places[key] for key in keys]


def _describe(scores: FamilyScores, ranks: list[int], column: int) -> Any:
    """Describe a column by its rank and, if others have it too, its pairs with all columns."""
    if ranks.count(ranks[column]) == 1:
        return ranks[column], ()
    others = [j for j in range(len(ranks)) if j != column]
    shared = scores.score_additions(column, 0, others)
    return ranks[column], tuple(
        sorted(zip([ranks[j] for j in others], shared.tolist(), strict=True))
    )
