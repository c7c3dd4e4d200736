"""Parameters for rows that were not in the table, beside those of maximum likelihood.

Every row of every table gets pseudo-observations, and a few iterations of EM make the rest agree
with them. Their weights are chosen by evidence (``family_weights``), by random folds, or given as a
number.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.new_rows.family_weights import ONE_STEP, weigh_families
from latentforest.estimation.priors import Smoothing, is_none, pseudo_counts
from latentforest.inference.engine import NO_TIES, Ties, make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.structure import Structure

AUTO, FOLDS = "auto", "cv"
STEPS = EMSettings(max_iterations=50, tolerance=1e-7, accelerate=False)
FIRST = 0.1  # pseudo-counts under which rows are shared out, before weights are chosen


def check_smoothing(smoothing: Smoothing, structure: Structure) -> None:
    """Refuse what is no way to choose pseudo-counts."""
    if isinstance(smoothing, str) and smoothing not in (AUTO, FOLDS, "none", "laplace"):
        raise ParameterError(
            "smoothing must be a number of pseudo-counts, 'auto', 'cv', 'none' or a mapping, "
            f"got {smoothing!r}"
        )
    if smoothing not in (AUTO, FOLDS) and not isinstance(smoothing, Mapping):
        pseudo_counts(structure, smoothing, "smoothing")


def estimate_predictive(
    network: Network,
    data: PatternedData,
    smoothing: Smoothing,
    ties: Ties = NO_TIES,
    is_late: bool = False,
) -> FloatArray | None:
    """Estimate the parameters for new rows; nothing if they are the network's own.

    Parameters
    ----------
    network
        Fitted to the table.
    data
        The table, whose columns have all states that were declared.
    smoothing
        "auto", "cv", or as for ``pseudo_counts``.
    ties
        Which variances are tied, as for ``make_engine``.
    is_late
        Whether to hurry: one iteration only.
    """
    if is_none(smoothing):
        return None
    engine = make_engine(network.structure, data, shared=ties.shared, equal=ties.equal)
    settings = ONE_STEP if is_late else STEPS
    is_chosen = isinstance(smoothing, str) and smoothing in (AUTO, FOLDS)
    given = pseudo_counts(network.structure, FIRST if is_chosen else smoothing, "smoothing")
    found = fit(engine, network.parameters, given, settings, names_bounded=False).parameters
    if not is_chosen:
        return found
    pseudo = weigh_families(engine, network.with_parameters(found))
    if smoothing == FOLDS and not is_late:
        from latentforest.estimation.new_rows.smoothing_folds import choose_strength

        pseudo = choose_strength(network.with_parameters(found), data, pseudo, ties)
    found = fit(
        engine, found, pseudo.counts, settings, names_bounded=False, shares=pseudo.shares
    ).parameters
    _widen_lines(network, data, pseudo.counts, found)
    return found


def _widen_lines(
    network: Network, data: PatternedData, prior: FloatArray, parameters: FloatArray
) -> None:
    """Add what is not known of a line to the variance around it, up to the column's own."""
    structure = network.structure
    for name in structure.continuous:
        n_free = 1.0 + len(structure.continuous_parents(name))
        if n_free == 1.0:
            continue
        parents, table = structure.categorical_parents(name), structure.table_view(parameters, name)
        shares = network.query(list(parents)).reshape(table.shape[:-1]) if parents else np.ones(())
        sizes = data.total_weight * shares + structure.table_view(prior, name)[..., 0]
        factors = (sizes + n_free) / np.maximum(sizes - n_free, 1.0)
        most = np.maximum(table[..., -1], data.summary(name).variance)
        table[..., -1] = np.minimum(table[..., -1] * np.maximum(factors, 1.0), most)
