"""Scores of networks over complete tables that are sums over families; one file for each kind."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentforest.errors import ParameterError
from latentforest.inference.counts import CountingTable
from latentforest.model.network import Network
from latentforest.scores.families.dirichlet import DirichletScore
from latentforest.scores.families.penalized import PenalizedLikelihood
from latentforest.scores.families.prior_network import PriorNetworkScore, check_prior_network
from latentforest.scores.families.set_score import SetScore

SampleSize = float | Mapping[str, float]


@dataclass(frozen=True)
class FamilyPrior:
    """What Bayesian scores know before the data.

    Parameters
    ----------
    equivalent_sample_size
        Observations that the prior of "bdeu" and "bde" is worth. For "bdeu" it may be a mapping
        from columns to sizes.
    prior_count
        Of each cell, for "ch".
    network
        Prior network of "bde".
    """

    equivalent_sample_size: SampleSize = 1.0
    prior_count: float = 1.0
    network: Network | None = None

    def find_sizes(self, names: Sequence[str]) -> list[float]:
        """Return the equivalent sample size of each column."""
        given = self.equivalent_sample_size
        if not isinstance(given, Mapping):
            return [_check_positive("equivalent_sample_size", given)] * len(names)
        for name in given:
            if name not in names:
                raise ParameterError(f"equivalent_sample_size: there is no column {name!r}")
        return [_check_positive("equivalent_sample_size", given.get(name, 1.0)) for name in names]

    def find_size(self) -> float:
        """Return the equivalent sample size of all columns together."""
        return _check_positive("equivalent_sample_size", self.equivalent_sample_size)


def _check_positive(what: str, value: Any) -> float:
    if not (isinstance(value, numbers.Real) and 0 < float(value) < np.inf):
        raise ParameterError(f"{what} must be a positive number, got {value!r}")
    return float(value)


def _make_bdeu(table: CountingTable, prior: FamilyPrior) -> SetScore:
    return DirichletScore.bdeu(table, prior.find_sizes(table.names))


def _make_bde(table: CountingTable, prior: FamilyPrior) -> SetScore:
    if prior.network is None:
        raise ParameterError("criterion 'bde' needs prior_network; 'bdeu' takes all cells as equal")
    return PriorNetworkScore(table, prior.network, prior.find_size())


def _make_ch(table: CountingTable, prior: FamilyPrior) -> SetScore:
    return DirichletScore.constant(table, _check_positive("prior_count", prior.prior_count))


FAMILY_CRITERIA: dict[str, Callable[[CountingTable, FamilyPrior], SetScore]] = {
    "likelihood": lambda table, _: PenalizedLikelihood.plain(table),
    "bic": lambda table, _: PenalizedLikelihood.bic(table),
    "mdl": lambda table, _: PenalizedLikelihood.bic(table),  # minus MDL
    "aic": lambda table, _: PenalizedLikelihood.aic(table),
    "k2": lambda table, _: DirichletScore.constant(table, 1.0),
    "ch": _make_ch,
    "bdeu": _make_bdeu,
    "bde": _make_bde,
}


def make_family_score(
    criterion: str, table: CountingTable, prior: FamilyPrior | None = None
) -> SetScore:
    """Return the score of that name for a table."""
    if criterion not in FAMILY_CRITERIA:
        known = ", ".join(FAMILY_CRITERIA)
        raise ParameterError(f"unknown criterion {criterion!r}; known are {known}")
    return FAMILY_CRITERIA[criterion](table, prior or FamilyPrior())


__all__ = [
    "FAMILY_CRITERIA",
    "DirichletScore",
    "FamilyPrior",
    "PenalizedLikelihood",
    "PriorNetworkScore",
    "SetScore",
    "check_prior_network",
    "make_family_score",
]
