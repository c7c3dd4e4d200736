"""How well a network reproduces a table: G², X², bivariate residuals, separation of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.table import Table
from latentforest.errors import DataError
from latentforest.inference.engine import make_engine
from latentforest.inference.forest import PatternedData, require_categorical
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model.network import Network

CHUNK_ROWS = 1 << 14  # rows whose indicators are held at once
LEAST_PER_CELL = 5.0  # rows per cell of the full table below which p-values are not given


@dataclass(frozen=True)
class GoodnessOfFit:
    """Test statistics of a network against the full contingency table.

    ``p_g_squared`` and ``p_x_squared`` are ``nan`` when the table is too sparse for the chi-square
    approximation (fewer than five rows per cell on average) or no degrees of freedom are left.
    """

    g_squared: float
    x_squared: float
    degrees_of_freedom: int
    p_g_squared: float
    p_x_squared: float
    n_cells: int


def compute_goodness_of_fit(network: Network, data: PatternedData | Dataset) -> GoodnessOfFit:
    """Compare observed with expected counts in every cell of the table of all columns.

    Columns must be categorical and rows complete: with missing values, G² does not measure fit
    alone.

    Parameters
    ----------
    network
        A forest whose observed variables are the columns of the data.
    data
        The table.
    """
    data = data if isinstance(data, PatternedData) else PatternedData(data)
    table = data.dataset.select(network.observed)
    require_categorical(table)
    if table.has_missing:
        raise DataError("G² and X² need complete rows; this table has missing values")
    merged, _ = table.merged()
    cells = PatternedData(merged)
    log_p = make_engine(network.structure, cells).row_log_likelihoods(network.parameters)
    counts, total = merged.weights, float(merged.weights.sum())
    seen = counts > 0
    counts, log_p = counts[seen], log_p[seen]
    with np.errstate(over="ignore", divide="ignore"):
        expected = total * np.exp(log_p)
        g_squared = 2.0 * float(np.sum(counts * (np.log(counts / total) - log_p)))
        x_squared = float(np.sum((counts - expected) ** 2 / expected) + total - expected.sum())
    n_cells = math.prod(variable.n_states for variable in merged.variables)
    freedom = n_cells - 1 - network.dimension
    is_dense = n_cells <= total / LEAST_PER_CELL
    return GoodnessOfFit(
        g_squared,
        x_squared,
        freedom,
        _tail(g_squared, freedom) if is_dense else math.nan,
        _tail(x_squared, freedom) if is_dense else math.nan,
        n_cells,
    )


def _tail(statistic: float, freedom: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic)) if freedom > 0 else math.nan


def compute_bivariate_residuals(network: Network, data: PatternedData | Dataset) -> Table:
    """Compare observed and expected two-way tables of all pairs of categorical columns.

    The residual is Pearson's statistic of the two-way table over its degrees of freedom: far above
    one means that the network leaves an association between the two columns unexplained. Rows
    that lack one of the two values are left out for that pair.

    Returns
    -------
    Table
        Columns ``first``, ``second``, ``residual``, largest first.
    """
    dataset = data.dataset if isinstance(data, PatternedData) else data
    names = _list_categorical(network)
    if len(names) < 2:
        return Table({"first": [], "second": [], "residual": []})
    edges = np.cumsum([0, *(network.structure.shape(name)[-1] for name in names)])
    observed = _count_pairs(dataset.select(names), edges)
    expected = _expect_pairs(network, edges)
    starts = edges[:-1]
    sums = np.add.reduceat(np.add.reduceat(observed, starts, axis=0), starts, axis=1)
    sizes = np.diff(edges)
    expected *= np.repeat(np.repeat(sums, sizes, axis=0), sizes, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = (observed - expected) ** 2 / expected
    cells[(observed == 0) & (expected == 0)] = 0.0
    statistics = np.add.reduceat(np.add.reduceat(cells, starts, axis=0), starts, axis=1)
    freedom = np.maximum(np.outer(sizes - 1, sizes - 1), 1)
    first, second = np.triu_indices(len(names), 1)
    residuals = np.where(np.outer(sizes > 1, sizes > 1), statistics / freedom, 0.0)[first, second]
    order = np.argsort(-residuals, kind="stable")
    return Table(
        {
            "first": [names[i] for i in first[order]],
            "second": [names[j] for j in second[order]],
            "residual": residuals[order].tolist(),
        }
    )


def _list_categorical(network: Network) -> tuple[str, ...]:
    continuous = set(network.structure.continuous)
    return tuple(name for name in network.observed if name not in continuous)


def _count_pairs(dataset: Dataset, edges: AnyArray) -> FloatArray:
    """Count the rows with each pair of states of any two columns, all columns side by side."""
    counts = np.zeros((edges[-1], edges[-1]))
    for low in range(0, dataset.n_rows, CHUNK_ROWS):
        rows = slice(low, low + CHUNK_ROWS)
        weights = dataset.weights[rows]
        indicators = np.zeros((len(weights), edges[-1]))
        for start, column in zip(edges[:-1], dataset.columns, strict=True):
            codes = column[rows].astype(np.int64)
            seen = np.flatnonzero(codes >= 0)
            indicators[seen, start + codes[seen]] = 1.0
        counts += indicators.T @ (indicators * weights[:, None])
    return counts


def _expect_pairs(network: Network, edges: AnyArray) -> FloatArray:
    """Probabilities of each pair of states of any two observed variables."""
    names, latents = _list_categorical(network), network.latents
    expected = np.zeros((edges[-1], edges[-1]))
    if len(latents) == 1 and all(network.structure.parents(name) == latents for name in names):
        profiles = np.concatenate([network.cpd(name) for name in names], axis=1)
        return profiles.T @ (profiles * network.cpd(latents[0])[:, None])
    for i, first in enumerate(names[:-1]):
        joints = compute_pair_marginals(network, first, names[i + 1 :])
        expected[edges[i] : edges[i + 1], edges[i + 1] :] = np.concatenate(joints, axis=1)
    return expected + expected.T


def compute_pair_marginals(network: Network, first: str, others: Sequence[str]) -> list[FloatArray]:
    """Return the joint distribution of one variable with each of some others."""
    if not network.structure.is_forest:
        return [network.query([first, name]) for name in others]
    rooted = network.rooted_at(first)
    structure = rooted.structure
    joint: dict[str, FloatArray] = {}
    for name in structure.order:
        parents = structure.parents(name)
        if name == first:
            joint[name] = np.diag(rooted.cpd(name))
        elif parents and parents[0] in joint and name not in structure.continuous:
            joint[name] = joint[parents[0]] @ rooted.cpd(name)
    alone = rooted.cpd(first)
    return [
        joint[name] if name in joint else np.outer(alone, network.marginal(name)) for name in others
    ]


def compute_entropy(posteriors: Sequence[FloatArray], weights: FloatArray) -> float:
    """Sum over rows and latent variables of the entropy of the posterior, in nats."""
    total = 0.0
    for posterior in posteriors:
        logs = np.log(np.where(posterior > 0, posterior, 1.0))
        total -= float(np.nansum(weights * np.sum(posterior * logs, axis=1)))
    return total


def compute_entropy_r2(posterior: FloatArray, weights: FloatArray) -> float:
    """How much the rows tell about the class: one if certain, zero if no more than class sizes.

    One less the mean entropy of the posterior over the entropy of the class sizes.
    """
    sizes = weights @ posterior / weights.sum()
    prior = compute_entropy([sizes[None, :]], np.ones(1))
    if prior == 0.0:
        return 1.0
    return 1.0 - compute_entropy([posterior], weights) / float(weights.sum()) / prior
