"""What the search for a generalized latent class model raises: BIC, AIC, or cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.priors import pseudo_counts
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.model.network import Network
from latentforest.scores.validation import split_weights

CRITERIA = ("bic", "aic", "cv")
N_FOLDS = 5
PSEUDO_COUNT = 0.1  # for each cell, when rows are held out: none is impossible then
SETTINGS = EMSettings(200, 1e-6)


class GlcCriterion(NamedTuple):
    """A score of fitted networks.

    Attributes
    ----------
    score
        Of a network and its log-likelihood; higher is better.
    penalty
        For each parameter, if the score is a penalized log-likelihood.
    """

    score: Callable[[Network, float], float]
    penalty: float | None


def make_criterion(name: str, data: PatternedData) -> GlcCriterion:
    """Return the criterion of that name, for one table."""
    if name == "cv":
        return GlcCriterion(_HeldOut(data.dataset, data.n_jobs), None)
    penalty = 0.5 * math.log(data.total_weight) if name == "bic" else 1.0
    return GlcCriterion(lambda network, value: value - penalty * network.dimension, penalty)


class _HeldOut:
    """The log-likelihood of rows that were held out, fold after fold."""

    def __init__(self, table: Dataset, n_jobs: int) -> None:
        merged = sort_rows(table.merged()[0])
        n_folds = int(min(N_FOLDS, max(2, merged.total_weight)))
        self._folds = [
            (
                PatternedData(_weigh(merged, merged.weights - held), n_jobs),
                PatternedData(_weigh(merged, held), n_jobs),
            )
            for held in split_weights(merged, n_folds, 0)[1]
        ]

    def __call__(self, network: Network, log_likelihood: float) -> float:
        """Fit a network again without each fold, and predict the rows of the fold."""
        prior = pseudo_counts(network.structure, PSEUDO_COUNT)
        total = 0.0
        for train, test in self._folds:
            engine = make_engine(network.structure, train)
            fitted = fit(engine, network.parameters, prior, SETTINGS, names_bounded=False)
            tested = make_engine(network.structure, test).log_likelihood(fitted.parameters)
            total += tested[0] if tested[1] == 0 else -math.inf
        return total


def sort_rows(table: Dataset) -> Dataset:
    """Sort rows by their values, so that nothing depends on their order."""
    return table.take(np.lexsort(table.columns[::-1]))


def _weigh(table: Dataset, weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Dataset:
    return table.with_weights(weights).take(weights > 0)
