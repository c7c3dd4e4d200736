"""How well a network reproduces a table: G², X², bivariate residuals, separation of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.table import Table
from latentforest.errors import DataError
from latentforest.inference.forest import Forest, PatternedData
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network

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

    Rows must be complete: with missing values, G² does not measure fit alone.

    Parameters
    ----------
    network
        A forest whose observed variables are the columns of the data.
    data
        The table.
    """
    data = data if isinstance(data, PatternedData) else PatternedData(data)
    table = data.dataset.select(network.observed)
    if table.has_missing:
        raise DataError("G² and X² need complete rows; this table has missing values")
    merged, _ = table.merged()
    cells = PatternedData(merged)
    log_p = Forest(network.structure, cells).row_log_likelihoods(network.parameters)
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
    """Compare observed and expected two-way tables of all pairs of observed variables.

    The residual is Pearson's statistic of the two-way table over its degrees of freedom: far above
    one means that the network leaves an association between the two columns unexplained. Rows
    that lack one of the two values are left out for that pair.

    Returns
    -------
    Table
        Columns ``first``, ``second``, ``residual``, largest first.
    """
    dataset = data.dataset if isinstance(data, PatternedData) else data
    names = list(network.observed)
    rows: list[tuple[str, str, float]] = []
    for i, first in enumerate(names[:-1]):
        joints = compute_pair_marginals(network, first, names[i + 1 :])
        for second, expected in zip(names[i + 1 :], joints, strict=True):
            rows.append((first, second, _residual(dataset, first, second, expected)))
    rows.sort(key=lambda row: (-row[2], row[0], row[1]))
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return Table(dict(zip(("first", "second", "residual"), map(list, columns), strict=True)))


def _residual(dataset: Dataset, first: str, second: str, joint: FloatArray) -> float:
    a, b = dataset.column(first).astype(np.int64), dataset.column(second).astype(np.int64)
    both = (a >= 0) & (b >= 0)
    cells = a[both] * joint.shape[1] + b[both]
    observed = np.bincount(cells, weights=dataset.weights[both], minlength=joint.size)
    expected = observed.sum() * joint.ravel()
    possible = expected > 0
    freedom = (joint.shape[0] - 1) * (joint.shape[1] - 1)
    if freedom == 0:
        return 0.0
    if observed[~possible].any():
        return math.inf
    gaps = observed[possible] - expected[possible]
    return float(np.sum(gaps**2 / expected[possible]) / freedom)


def compute_pair_marginals(network: Network, first: str, others: Sequence[str]) -> list[FloatArray]:
    """Return the joint distribution of one variable with each of some others, in a forest."""
    rooted = network.rooted_at(first)
    structure = rooted.structure
    joint: dict[str, FloatArray] = {}
    for name in structure.order:
        parents = structure.parents(name)
        if name == first:
            joint[name] = np.diag(rooted.cpd(name))
        elif parents and parents[0] in joint:
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
