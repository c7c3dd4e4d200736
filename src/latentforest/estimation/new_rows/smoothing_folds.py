"""Choosing how strong pseudo-counts are by what predicts random folds best."""

from __future__ import annotations

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.dealing import count_observations, deal
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.new_rows.family_weights import PseudoCounts, scale
from latentforest.inference.engine import NO_TIES, Engine, Ties, make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.ties import find_best

FACTORS = (1.0, 0.1, 0.3, 3.0, 10.0, 30.0)  # the first one wins ties
N_FOLDS = 5
SETTINGS = EMSettings(max_iterations=200, tolerance=1e-6)


def choose_strength(
    network: Network,
    data: PatternedData,
    pseudo: PseudoCounts,
    ties: Ties = NO_TIES,
) -> PseudoCounts:
    """Return the pseudo-counts times the factor that predicts rows best which were not fitted.

    The structure stays. Observations are dealt out at random to folds, whatever the order of the
    rows; parameters are fitted again without each, and its rows are predicted.

    Parameters
    ----------
    network
        Where EM starts.
    data
        The table.
    pseudo
        Pseudo-counts by evidence.
    ties
        Which variances are tied, as for ``make_engine``.
    """
    table = _sort(data.dataset)
    candidates = [scale(network.structure, pseudo, factor) for factor in FACTORS]
    folds = deal_out(table, N_FOLDS)
    scores = np.zeros(len(FACTORS))
    for held_out in folds:
        left = table.weights - held_out
        if not left.any() or not held_out.any():
            continue
        train = PatternedData(table.with_weights(left).take(left > 0))
        test = PatternedData(table.with_weights(held_out).take(held_out > 0))
        fitting = make_engine(network.structure, train, shared=ties.shared, equal=ties.equal)
        judging = make_engine(network.structure, test)
        scores += [_judge(fitting, judging, network.parameters, each) for each in candidates]
    return candidates[find_best(scores)]


def _judge(fitting: Engine, judging: Engine, start: FloatArray, pseudo: PseudoCounts) -> float:
    """Log-likelihood of held-out rows under parameters fitted to the others."""
    found = fit(fitting, start, pseudo.counts, SETTINGS, names_bounded=False, shares=pseudo.shares)
    value, impossible = judging.log_likelihood(found.parameters)
    return value if impossible == 0 else -np.inf


def deal_out(table: Dataset, n_folds: int) -> list[FloatArray]:
    """Return the weight of each row in each of some random folds."""
    counts, units = count_observations(table.weights)
    n_folds = min(n_folds, int(counts.sum()))
    return [part * units for part in deal(counts, n_folds, np.random.default_rng(0))]


def _sort(table: Dataset) -> Dataset:
    """Put rows in an order that follows from their values, so that their own does not matter."""
    keys = [table.weights, *(table.column(name) for name in sorted(table.names, reverse=True))]
    return table.take(np.lexsort(keys))
