"""Choosing pseudo-counts by cross-validation."""

from __future__ import annotations

import numpy as np

from latentforest.data import Dataset
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.priors import pseudo_counts
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData
from latentforest.inference.threads import map_threads
from latentforest.kernels.types import FloatArray
from latentforest.model import Network
from latentforest.scores.validation import split_weights

PSEUDO_COUNTS = (0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
N_FOLDS = 9
SETTINGS = EMSettings(max_iterations=1000, tolerance=1e-7)


def choose_pseudo_count(network: Network, table: Dataset, n_jobs: int) -> float:
    """Return the pseudo-count that predicts rows best that were not fitted.

    The structure stays; parameters are fitted again without one fold of consecutive rows after
    another, and the rows of the fold are predicted. Folds of consecutive rows, because tables
    are often sorted, and new rows may then differ from the old ones as the folds do among
    themselves. Tables of frequencies have no order: their observations are dealt out at random.

    Parameters
    ----------
    network
        Fitted to the table by maximum likelihood.
    table
        At least two rows, or observations.
    n_jobs
        Threads.
    """
    folds = _make_folds(table)

    def judge(value: float) -> float:
        prior = pseudo_counts(network.structure, value)
        return sum(_predict(network, table, fold, prior) for fold in folds)

    scores = list(map_threads(judge, PSEUDO_COUNTS, n_jobs))
    return PSEUDO_COUNTS[int(np.argmax(scores))]


def _make_folds(table: Dataset) -> list[FloatArray]:
    """Weights of the rows that are held out, fold after fold."""
    weights = table.weights
    if bool(np.all(weights == np.floor(weights)) and weights.max() > 1):
        return split_weights(table, int(min(N_FOLDS, weights.sum())), 0)[1]
    labels = np.arange(table.n_rows) * min(N_FOLDS, table.n_rows) // table.n_rows
    return [np.where(labels == label, weights, 0.0) for label in range(labels[-1] + 1)]


def _predict(network: Network, table: Dataset, held_out: FloatArray, prior: FloatArray) -> float:
    """Log-likelihood of held-out rows under parameters fitted to the others."""
    left = table.weights - held_out
    if not left.any() or not held_out.any():
        return 0.0
    train = PatternedData(table.with_weights(left).take(left > 0))
    test = PatternedData(table.with_weights(held_out).take(held_out > 0))
    engine = make_engine(network.structure, train)
    fitted = fit(engine, network.parameters, prior, SETTINGS)
    value, impossible = make_engine(network.structure, test).log_likelihood(fitted.parameters)
    return value if impossible == 0 else -np.inf
