"""Scores of networks over complete tables that are sums over families; one file for each kind."""

from __future__ import annotations

from collections.abc import Callable

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable
from latentforest.scores.families.penalized import PenalizedLikelihood
from latentforest.scores.families.set_score import SetScore

FAMILY_CRITERIA: dict[str, Callable[[CountingTable], SetScore]] = {
    "likelihood": PenalizedLikelihood.plain,
    "bic": PenalizedLikelihood.bic,
    "aic": PenalizedLikelihood.aic,
}


def make_family_score(criterion: str, table: CountingTable) -> SetScore:
    """Return the score of that name for a table."""
    if criterion not in FAMILY_CRITERIA:
        known = ", ".join(FAMILY_CRITERIA)
        raise ParameterError(f"unknown criterion {criterion!r}; known are {known}")
    return FAMILY_CRITERIA[criterion](table)


__all__ = ["FAMILY_CRITERIA", "PenalizedLikelihood", "SetScore", "make_family_score"]
