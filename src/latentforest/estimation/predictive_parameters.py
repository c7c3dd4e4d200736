"""Parameters for rows that were not in the table, beside those of maximum likelihood.

Every row of every table gets pseudo-observations, and a few iterations of EM from the reported
parameters make the rest agree with them. The pseudo-observations of a row have the distribution of
the column, so that no declared state has probability zero; their weights are chosen by evidence
(``pseudo_count_weights``), by random folds, or given as a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from latentforest.errors import ParameterError
from latentforest.estimation.em import EMSettings, fit
from latentforest.estimation.priors import Smoothing, is_none, pseudo_counts
from latentforest.estimation.pseudo_count_weights import (
    shape_marginal,
    weigh_cells,
    weigh_gaussian_rows,
    weigh_table_rows,
)
from latentforest.inference.engine import NO_TIES, Engine, Ties, make_engine
from latentforest.inference.forest import PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.parameters import join_covariances
from latentforest.model.structure import Structure

AUTO, FOLDS = "auto", "cv"
STEPS = EMSettings(max_iterations=50, tolerance=1e-7, accelerate=False)
ONE_STEP = EMSettings(max_iterations=1, tolerance=1e-7, accelerate=False)


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
    if isinstance(smoothing, str) and smoothing in (AUTO, FOLDS):
        prior = weigh_families(engine, network)
        if smoothing == FOLDS and not is_late:
            from latentforest.estimation.smoothing_folds import choose_factor

            prior *= choose_factor(network, data, prior, ties)
    else:
        prior = pseudo_counts(network.structure, smoothing, "smoothing")
    settings = ONE_STEP if is_late else STEPS
    return fit(engine, network.parameters, prior, settings, names_bounded=False).parameters


def weigh_families(engine: Engine, network: Network) -> FloatArray:
    """Return pseudo-counts shaped like the columns' distributions, with weights by evidence.

    The counts are those expected under the network's own parameters.

    Examples
    --------
    >>> from latentforest import ChowLiu, datasets
    >>> data = PatternedData(datasets.load("role-conflict"))
    >>> network = ChowLiu(smoothing=0).fit(data.dataset).network_
    >>> weigh_families(make_engine(network.structure, data), network).round(1).tolist()[:2]
    [1.5, 1.5]
    """
    structure = engine.structure
    counts = np.zeros(engine.n_counts)
    engine.expected_counts(network.parameters, counts)
    counts = counts[: structure.n_values]
    prior, sizes = np.zeros(structure.n_values), _Sizes(network, engine, counts)
    for name in structure.names:
        view = structure.table_view(prior, name)
        if structure.variable(name).is_categorical:
            view[...] = _weigh_table(structure.table_view(counts, name))
        elif structure.pouch(name)[0] == name and structure.categorical_parents(name):
            weights = _weigh_gaussians(network, engine.data, name, sizes.of(name))
            for each in structure.pouch(name):
                each_view = structure.table_view(prior, each)
                each_view[...] = weights.reshape(each_view.shape[:-1])[..., None]
    return prior


def _weigh_table(counts: FloatArray) -> FloatArray:
    """Pseudo-counts of a categorical table."""
    rows = counts.reshape(-1, counts.shape[-1])
    totals = rows.sum(axis=0)
    if len(rows) == 1:
        return np.full(counts.shape, weigh_cells(totals))
    marginal = shape_marginal(totals)
    weights = weigh_table_rows(rows, marginal)
    shaped: FloatArray = (weights[:, None] * marginal).reshape(counts.shape)
    return shaped


class _Sizes:
    """Expected weights of the configurations of a continuous variable's categorical parents."""

    def __init__(self, network: Network, engine: Engine, counts: FloatArray) -> None:
        self._network, self._data, self._counts = network, engine.data, counts
        self._known: dict[tuple[str, ...], FloatArray] = {}

    def of(self, name: str) -> FloatArray:
        """Of the rows in which the variable has a value."""
        parents = self._network.structure.categorical_parents(name)
        if parents not in self._known:
            self._known[parents] = self._count(parents)
        weights = self._data.dataset.weights
        has_value = ~np.isnan(self._data.dataset.column(name))
        return self._known[parents] * float(weights[has_value].sum() / weights.sum())

    def _count(self, parents: tuple[str, ...]) -> FloatArray:
        structure, total = self._network.structure, self._data.total_weight
        if len(parents) == 1:
            table = structure.table_view(self._counts, parents[0])
            found = table.reshape(-1, table.shape[-1]).sum(axis=0)
            if found.sum() > 0:
                scaled: FloatArray = found * (total / found.sum())
                return scaled
        joint: FloatArray = total * self._network.query(list(parents)).ravel()
        return joint


def _weigh_gaussians(
    network: Network, data: PatternedData, name: str, sizes: FloatArray
) -> FloatArray:
    """Weights for the Gaussians, one for each configuration of the categorical parents.

    What was seen of each is read off its fitted parameters.
    """
    structure, table = network.structure, network.cpd(name)
    pouch, lines = structure.pouch(name), structure.continuous_parents(name)
    about = [data.summary(each) for each in pouch]
    n_rows = math.prod(table.shape[:-1])
    if len(pouch) > 1:
        deviations = np.sqrt([each.variance for each in about])
        spread = data.correlations(pouch) * np.outer(deviations, deviations)
        covariances = join_covariances(structure, pouch, network.parameters)
        means = [network.cpd(each)[..., 0].ravel() for each in pouch]
        offsets = np.stack(means, axis=1) - [each.mean for each in about]
        return weigh_gaussian_rows(
            sizes, offsets, covariances.reshape(n_rows, len(pouch), len(pouch)), spread
        )
    variances = table[..., -1].reshape(n_rows, 1, 1)
    if lines:
        left = about[0].variance * _find_unexplained(data.correlations((name, *lines)))
        return weigh_gaussian_rows(sizes, np.zeros((n_rows, 1)), variances, np.array([[left]]))
    offsets = table[..., 0].reshape(n_rows, 1) - about[0].mean
    return weigh_gaussian_rows(sizes, offsets, variances, np.array([[about[0].variance]]))


def _find_unexplained(correlations: FloatArray) -> float:
    """Share of the first column's variance that the others do not explain linearly."""
    others = correlations[1:, 1:]
    explained = correlations[0, 1:] @ np.linalg.solve(others, correlations[1:, 0])
    return max(1.0 - float(explained), 1e-9)
