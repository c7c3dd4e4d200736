"""How well a network reproduces a table: tests against the saturated model, entropy of classes."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from latentforest.data.conform import encode_like
from latentforest.data.dataset import Dataset
from latentforest.data.results.table import Table
from latentforest.errors import DimensionWarning, ParameterError
from latentforest.inference.forest import PatternedData, check_columns, require_categorical
from latentforest.kernels.types import FloatArray
from latentforest.model.network import Network
from latentforest.model.state_edits import drop_impossible_states
from latentforest.scores.bootstrap import bootstrap as draw_statistics
from latentforest.scores.bootstrap import compute_bootstrap_p
from latentforest.scores.effective_dimension import compute_effective_dimension
from latentforest.scores.residuals import (
    PairResiduals,
    compare_pairs,
    compute_log_probabilities,
    tabulate_pairs,
)
from latentforest.scores.saturated import MAX_CELLS, SaturatedFit, fit_saturated

LEAST_PER_CELL = 5.0  # rows per cell of the full table below which chi-square is not trusted
POWER = 2 / 3  # of Cressie and Read
BOUNDARY = 0.01  # a probability that stands for fewer rows of the table than this counts as zero


@dataclass(frozen=True)
class GoodnessOfFit:
    """Tests of a network against the saturated model.

    Attributes
    ----------
    g_squared
        Likelihood ratio statistic, twice the difference of the log-likelihoods.
    x_squared, cressie_read
        Pearson's statistic, and that of Cressie and Read with the power 2/3.
    df, df_nominal
        Degrees of freedom: what the saturated model has free, less the effective dimension of the
        network, or less the number of its parameters.
    p, p_x_squared, p_cressie_read
        Of G² and of the other two, by chi-square with ``df`` or by bootstrap. ``nan`` if no
        degrees of freedom are left, if the table is too sparse for chi-square (fewer than five
        rows per cell on average, or more than a million cells) and, but for G², if it has
        missing values.
    p_by
        "chi-square" or "bootstrap".
    dissimilarity
        Share of the rows that would have to move to another cell for a perfect fit.
    n_boundary
        Number of parameters that are zero, as good as: they are not counted out of ``df``.
    n_cells
        Cells of the full table.
    bivariate
        Residuals of all pairs of columns, see `compute_bivariate_residuals`; with a bootstrap,
        also their p-values.
    """

    g_squared: float
    x_squared: float
    df: int
    df_nominal: int
    p: float
    cressie_read: float
    dissimilarity: float
    p_x_squared: float
    p_cressie_read: float
    p_by: str
    n_boundary: int
    n_cells: int
    bivariate: Table = field(repr=False, compare=False)

    def to_table(self) -> Table:
        """Make a table of one row, without the pairs."""
        names = [each.name for each in fields(self) if each.name != "bivariate"]
        return Table({name: [getattr(self, name)] for name in names})


def goodness_of_fit(
    network: Network,
    data: Any,
    bootstrap: int = 0,
    random_state: int = 0,
    n_starts: int = 8,
    n_jobs: int | None = None,
) -> GoodnessOfFit:
    """Test a network against the saturated model of a table.

    The p-values hold for maximum likelihood estimates from the same table. Rows with missing values
    are compared with the saturated model that EM fits to them, in tables of up to a million cells.

    Parameters
    ----------
    network
        Any network of categorical variables; the observed ones are columns of the table.
    data
        The table.
    bootstrap
        Number of tables that are drawn from the network and fitted again, for p-values; with none
        they come from chi-square. A few hundred are enough; sparse tables need them.
    random_state
        Seed of the bootstrap.
    n_starts
        Random starts of each fit, beside one at the network's own parameters.
    n_jobs
        Threads; the result does not depend on it.

    Examples
    --------
    >>> from latentforest import LatentClass, datasets
    >>> table = datasets.load("coleman-panel")
    >>> network = LatentClass(n_states=2, random_state=0).fit(table).network_
    >>> fit = goodness_of_fit(network, table)
    >>> round(fit.g_squared, 2), fit.df, fit.p < 0.001
    (249.5, 6, True)
    """
    if not isinstance(network, Network):
        kind = type(network).__name__
        raise ParameterError(f"network must be a Network, got {kind}; a learner has network_")
    if not isinstance(bootstrap, numbers.Integral) or bootstrap < 0:
        raise ParameterError(f"bootstrap must be a whole number of tables, got {bootstrap!r}")
    if not isinstance(n_starts, numbers.Integral) or n_starts < 0:
        raise ParameterError(f"n_starts must be a whole number, got {n_starts!r}")
    network, table = _drop_unseen(network, _read(network, data))
    result = measure_goodness(network, table)
    if result.df != result.df_nominal:
        _warn_of_dimension(network, result)
    if not bootstrap:
        return result
    return _with_bootstrap(
        network, table, result, (int(bootstrap), random_state, int(n_starts), n_jobs)
    )


def measure_goodness(network: Network, table: Dataset) -> GoodnessOfFit:
    """Test a network by chi-square; the table has the network's columns and no others."""
    fit = _saturate(network, table)
    statistics = _compare(network, fit)
    effective = compute_effective_dimension(network.structure, fit.margins)
    df = fit.n_free - effective
    n_rows = float(fit.rows.weights.sum())
    is_trusted = fit.n_cells <= min(MAX_CELLS, n_rows / LEAST_PER_CELL)
    g_squared, x_squared, cressie_read, dissimilarity = statistics
    others = df if is_trusted and not fit.rows.has_missing else 0
    return GoodnessOfFit(
        g_squared=g_squared,
        x_squared=x_squared,
        df=df,
        df_nominal=fit.n_free - _count_parameters(network),
        p=_tail(g_squared, df if is_trusted else 0),
        cressie_read=cressie_read,
        dissimilarity=dissimilarity,
        p_x_squared=_tail(x_squared, others),
        p_cressie_read=_tail(cressie_read, others),
        p_by="chi-square",
        n_boundary=_count_boundary(network, n_rows),
        n_cells=fit.n_cells,
        bivariate=tabulate_pairs(compare_pairs(network, table)),
    )


class Statistics(NamedTuple):
    """Distances of a table from a network."""

    g_squared: float
    x_squared: float
    cressie_read: float
    dissimilarity: float


def _read(network: Network, data: Any) -> Dataset:
    """Take the network's columns of a table."""
    if isinstance(data, PatternedData):
        data = data.dataset
    if not isinstance(data, Dataset):
        data = encode_like(data, [network.structure.variable(name) for name in network.observed])
    table: Dataset = data.select([name for name in network.observed if name in data.names])
    check_columns(network.structure, PatternedData(table))
    require_categorical(table)
    return table


def _drop_unseen(network: Network, table: Dataset) -> tuple[Network, Dataset]:
    """Leave out states that the network gives no probability and no row of the table has."""
    few = drop_impossible_states(network, table.with_seen_states().variables)
    if few is network:
        return network, table
    return few, encode_like(table, [few.structure.variable(name) for name in table.names])


def _saturate(network: Network, table: Dataset) -> SaturatedFit:
    """Fit the saturated model to a table, starting from what the network says."""
    return fit_saturated(table, lambda cells: np.exp(compute_log_probabilities(network, cells)))


def _compare(network: Network, fit: SaturatedFit) -> Statistics:
    """Compute the distances; cells that cannot occur in the rows add what is expected of them."""
    log_p = compute_log_probabilities(network, fit.cells)
    of_rows = log_p if fit.rows is fit.cells else compute_log_probabilities(network, fit.rows)
    counts, total = fit.counts, float(fit.counts.sum())
    expected = total * np.exp(log_p)
    rest = total - expected.sum()
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excess = np.where(counts > 0, counts * ((counts / expected) ** POWER - 1), 0.0)
        squares = np.where(counts == expected, 0.0, (counts - expected) ** 2 / expected)
    return Statistics(
        2.0 * float(fit.rows.weights @ (fit.log_p - of_rows)),
        float(squares.sum() + rest),
        2.0 / (POWER * (POWER + 1)) * float(excess.sum()),
        float(np.abs(counts - expected).sum() + rest) / (2.0 * total),
    )


def _tail(statistic: float, df: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(df, max(statistic, 0.0))) if df > 0 else math.nan


def _count_parameters(network: Network) -> int:
    """Count the parameters of states that the network or the table has."""
    return network.structure.dimension - network.n_tied


def _count_boundary(network: Network, n_rows: float) -> int:
    """Count the probabilities that are zero, as good as, and could be estimated."""
    return int(np.count_nonzero(network.parameters * n_rows < BOUNDARY))


def _warn_of_dimension(network: Network, fit: GoodnessOfFit) -> None:
    dimension = _count_parameters(network)
    rank = dimension + fit.df_nominal - fit.df
    warnings.warn(
        f"the network has {dimension} parameters, but a table of its columns can determine "
        f"{rank} of them: df is {fit.df}, not {fit.df_nominal}, and other parameters fit as well",
        DimensionWarning,
        stacklevel=3,
    )


def _with_bootstrap(
    network: Network, table: Dataset, result: GoodnessOfFit, settings: tuple[int, int, int, Any]
) -> GoodnessOfFit:
    """Replace the p-values by those of a bootstrap."""

    def measure(fitted: Network, drawn: Dataset) -> FloatArray:
        statistics = _compare(fitted, _saturate(fitted, drawn))
        return np.array([*statistics[:3], *compare_pairs(fitted, drawn).residuals])

    pairs: PairResiduals = compare_pairs(network, table)
    found = [result.g_squared, result.x_squared, result.cressie_read, *pairs.residuals]
    drawn = draw_statistics(network, table, measure, *settings)
    p = compute_bootstrap_p(np.array(found), drawn)
    names = ("p", "p_x_squared", "p_cressie_read")
    changes = dict(zip(names, p[:3].tolist(), strict=True))
    return replace(result, **changes, p_by="bootstrap", bivariate=tabulate_pairs(pairs, p[3:]))


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
