"""Mutual information of pairs of any kind: categorical, continuous and latent variables.

Two estimators. The first, by *neighbours*, supposes nothing of the continuous variables: that of
Kraskov, Stögbauer and Grassberger (2004, their first) for two continuous variables, that of Ross
(2014) for a categorical and a continuous one. The second is *Gaussian*: what the log-likelihood of
a row gains on average when one variable of the pair becomes the parent of the other, both being
Gaussian or one given the other. Pairs of categorical variables have the plug-in estimate of
``information`` in both; so do latent variables, through posterior pseudo-frequencies.

A pair is judged on the rows in which neither is missing. Weights are exact in plug-in and Gaussian
estimates. Estimates by neighbours are means over the rows, which the weights enter; where rows are
counted, their number is multiplied by their mean weight. So weights shift the densities as they
should, but a row of weight two is not the same as two rows, which would be neighbours of each
other.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.inference.association.information import (
    Check,
    indicators,
    mutual_information,
    posterior_information,
)
from latentforest.inference.columns import SHARE, summarize
from latentforest.inference.threads import count_threads, map_threads
from latentforest.kernels.types import AnyArray, FloatArray

NOISE = 1e-10  # deviation of what keeps equal values apart, in deviations of the column
ROUNDING = 1e-14  # distances are not known better
MOST_CELLS = 1 << 24  # rows times pairs that are judged by neighbours

Estimator = Literal["neighbours", "gaussian"]
Completion = Literal["expected", "map"]


@dataclass(frozen=True)
class InformationSettings:
    """How mutual information is estimated.

    Parameters
    ----------
    estimator
        "neighbours" (Kraskov, Ross) or "gaussian".
    completion
        How latent variables count: "expected" weighs every state with its posterior probability,
        "map" gives each row to its most probable state. With a continuous variable and
        "neighbours", "expected" supposes that it is Gaussian given the state, with the expected
        moments.
    n_neighbors
        Of the estimates by neighbours.
    seed
        Of the noise that keeps equal values apart. Each column has its own, derived from its name.
    n_jobs
        Threads; the result does not depend on it.
    """

    estimator: Estimator = "neighbours"
    completion: Completion = "expected"
    n_neighbors: int = 3
    seed: int = 0
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.estimator not in ("neighbours", "gaussian"):
            raise ParameterError(
                f"estimator must be 'neighbours' or 'gaussian', got {self.estimator!r}"
            )
        if self.completion not in ("expected", "map"):
            raise ParameterError(f"completion must be 'expected' or 'map', got {self.completion!r}")
        if self.n_neighbors < 1:
            raise ParameterError(f"n_neighbors must be at least 1, got {self.n_neighbors!r}")


DEFAULT = InformationSettings()


def information_matrix(
    data: Dataset,
    posteriors: Mapping[str, FloatArray] | None = None,
    settings: InformationSettings = DEFAULT,
    check: Check | None = None,
) -> FloatArray:
    """Return the mutual information of all pairs of columns and latent variables, in nats.

    Parameters
    ----------
    data
        Categorical and continuous columns.
    posteriors
        For each latent variable the probabilities of its states in every row,
        ``(n_rows, n_states)``.
    settings
        The estimators.
    check
        Called before each pair, maybe by several threads; what it raises ends the work.

    Returns
    -------
    ndarray of shape (n_variables, n_variables)
        Columns first, then latent variables. The diagonal has the entropies of categorical
        variables and infinity for continuous ones.

    Examples
    --------
    >>> values = np.arange(6) + 0.5
    >>> data = Dataset.from_table({"a": list("xxxyyy"), "b": values, "c": values % 2})
    >>> gaussian = InformationSettings("gaussian")
    >>> information_matrix(data, settings=gaussian)[0].round(4)
    array([0.6931, 0.738 , 0.0589])
    """
    sides = _prepare(data, posteriors or {}, settings)
    result = np.zeros((len(sides), len(sides)))
    _fill_plug_in(result, sides, data, settings, check)
    pairs = [
        (i, j)
        for i in range(len(sides))
        for j in range(i, len(sides))
        if sides[i].is_continuous or sides[j].is_continuous
    ]
    estimates = _estimate_all([(sides[i], sides[j]) for i, j in pairs], data, settings, check)
    for (i, j), value in zip(pairs, estimates, strict=True):
        result[i, j] = result[j, i] = np.inf if i == j else value
    return result


def measure_dependence(data: Dataset, n_jobs: int | None = None) -> FloatArray:
    """Return the mutual information of all pairs of columns, to group them by.

    Pairs with continuous columns by neighbours, which sees dependence of any form; by Gaussians,
    which is much faster, if there are very many pairs and rows. The diagonal is zero where it would
    be infinite.
    """
    is_number = np.array([not variable.is_categorical for variable in data.variables])
    if not is_number.any():
        return mutual_information(data, n_jobs)
    n_cells = int(is_number.sum()) * data.n_columns * data.n_rows
    estimator: Estimator = "neighbours" if n_cells <= MOST_CELLS else "gaussian"
    result = information_matrix(data, settings=InformationSettings(estimator, n_jobs=n_jobs))
    result[np.diag_indices(len(result))] = np.where(is_number, 0.0, np.diag(result))
    return result


def information_about(
    target: str | FloatArray,
    data: Dataset,
    posteriors: Mapping[str, FloatArray] | None = None,
    settings: InformationSettings = DEFAULT,
    check: Check | None = None,
) -> FloatArray:
    """Return the mutual information of one variable with all columns and latent variables.

    Parameters
    ----------
    target
        Name of a column or latent variable, or the posterior of another latent variable.
    data, posteriors, settings, check
        As for ``information_matrix``, of which this is a row.
    """
    sides = _prepare(data, posteriors or {}, settings)
    if isinstance(target, str):
        names = [*data.names, *(posteriors or {})]
        if target not in names:
            raise ParameterError(f"there is no variable {target!r}; expected one of {names}")
        here = names.index(target)
    else:
        here = len(sides)
        sides.append(_latent(np.asarray(target, np.float64), settings))
    side, n_variables = sides[here], data.n_columns + len(posteriors or {})
    result = np.zeros(n_variables)
    others = [j for j in range(n_variables) if side.is_continuous or sides[j].is_continuous]
    pairs = [(side, sides[j]) for j in others if j != here]
    estimates = _estimate_all(pairs, data, settings, check)
    result[[j for j in others if j != here]] = estimates
    if side.is_continuous:
        result[here] = np.inf
        return result
    discrete = [j for j in range(n_variables) if not sides[j].is_continuous]
    tables = [sides[j].values for j in discrete]
    result[discrete] = posterior_information([side.values], tables, data.weights)[0]
    if here in discrete:
        result[here] = _entropy(side.values, data.weights)
    return result


class _Side(NamedTuple):
    """One variable of a pair.

    ``values`` are ``(n_rows,)`` numbers in deviations of the column, nan where they are missing;
    or ``(n_rows, n_states)`` probabilities, zeros where the value is missing.
    """

    values: FloatArray
    is_soft: bool = False
    least_variance: float = SHARE

    @property
    def is_continuous(self) -> bool:
        return self.values.ndim == 1


def _prepare(
    data: Dataset, posteriors: Mapping[str, FloatArray], settings: InformationSettings
) -> list[_Side]:
    sides = [_column(data, name, settings) for name in data.names]
    for name, posterior in posteriors.items():
        if posterior.ndim != 2 or len(posterior) != data.n_rows:
            raise ParameterError(
                f"the posterior of {name!r} has shape {posterior.shape}, expected "
                f"({data.n_rows}, n_states)"
            )
        sides.append(_latent(posterior, settings))
    return sides


def _column(data: Dataset, name: str, settings: InformationSettings) -> _Side:
    if data.variable(name).is_categorical:
        return _Side(indicators(data, name))
    values = data.column(name)
    about = summarize(name, values, data.weights)
    scaled = (values - about.mean) / np.sqrt(about.variance)
    if about.is_constant:
        scaled = np.where(np.isnan(values), np.nan, 0.0)
    if settings.estimator == "neighbours":
        stream = np.random.default_rng(
            [settings.seed, zlib.crc32(name.encode(errors="surrogatepass"))]
        )
        scaled = scaled + NOISE * stream.standard_normal(len(values))
    return _Side(scaled, least_variance=about.least_variance / about.variance)


def _latent(posterior: FloatArray, settings: InformationSettings) -> _Side:
    if settings.completion == "expected":
        return _Side(posterior, is_soft=True)
    return _Side(np.eye(posterior.shape[1])[posterior.argmax(axis=1)])


def _fill_plug_in(
    result: FloatArray,
    sides: list[_Side],
    data: Dataset,
    settings: InformationSettings,
    check: Check | None,
) -> None:
    """Pairs of categorical and latent variables."""
    columns = [j for j in range(data.n_columns) if not sides[j].is_continuous]
    latents = list(range(data.n_columns, len(sides)))
    if columns:
        table = data.select([data.names[j] for j in columns])
        result[np.ix_(columns, columns)] = mutual_information(table, settings.n_jobs, check=check)
    if latents:
        tables = [sides[j].values for j in [*columns, *latents]]
        rows = posterior_information([sides[j].values for j in latents], tables, data.weights)
        result[np.ix_(latents, [*columns, *latents])] = rows
        result[np.ix_([*columns, *latents], latents)] = rows.T
    for j in latents:
        result[j, j] = _entropy(sides[j].values, data.weights)


def _entropy(rows: FloatArray, weights: FloatArray) -> float:
    counts = weights @ rows
    shares = counts[counts > 0] / counts.sum()
    return float(-shares @ np.log(shares))


def _estimate_all(
    pairs: Sequence[tuple[_Side, _Side]],
    data: Dataset,
    settings: InformationSettings,
    check: Check | None,
) -> list[float]:
    def estimate(pair: tuple[_Side, _Side]) -> float:
        a, b = pair
        if check is not None:
            check()
        return 0.0 if a is b else _estimate(a, b, data.weights, settings)

    return list(map_threads(estimate, pairs, count_threads(settings.n_jobs)))


def _estimate(a: _Side, b: _Side, weights: FloatArray, settings: InformationSettings) -> float:
    """Return the mutual information of a pair with at least one continuous variable."""
    if not a.is_continuous:
        a, b = b, a
    used = ~np.isnan(a.values) & (weights > 0)
    used &= ~np.isnan(b.values) if b.is_continuous else b.values.any(axis=1)
    x, y, w = a.values[used], b.values[used], weights[used]
    if len(x) < 2:
        return 0.0
    if b.is_continuous:
        if settings.estimator == "gaussian":
            return gaussian_pair(x, y, w)
        return kraskov_information(x, y, w, settings.n_neighbors)
    if settings.estimator == "gaussian":
        return gaussian_gain(x, y, w, a.least_variance)
    if b.is_soft:
        return mixture_information(x, y, w, a.least_variance)
    return ross_information(x, y.argmax(axis=1), w, settings.n_neighbors)


def kraskov_information(x: FloatArray, y: FloatArray, weights: FloatArray, k: int) -> float:
    """Return the estimate of Kraskov et al. of two continuous variables without equal values."""
    n = len(x)
    k = min(k, n - 1)
    distances, neighbours = cKDTree(np.column_stack([x, y])).query(
        np.column_stack([x, y]), k + 1, p=np.inf
    )
    w = weights / weights.mean()
    near = (w[neighbours].sum(axis=1) - w) / k  # every row is a neighbour of itself
    of_x, of_y = (_Line(values, w).log_count(values, distances[:, -1]) for values in (x, y))
    local = digamma(n) + digamma(k) + np.log(near) - of_x - of_y
    return max(0.0, float(w @ local / n))


def ross_information(x: FloatArray, codes: AnyArray, weights: FloatArray, k: int) -> float:
    """Return Ross's estimate of a continuous variable, without equal values, and a categorical.

    Rows that are alone in their state do not count.
    """
    states, inverse = np.unique(codes, return_inverse=True)
    counts = np.bincount(inverse)
    kept = counts[inverse] > 1
    x, codes, w = x[kept], codes[kept], weights[kept]
    n = len(x)
    if n == 0:
        return 0.0
    w = w / w.mean()
    radius, within = np.empty(n), np.empty(n)
    for state in states[counts > 1]:
        here = codes == state
        radius[here], within[here] = _look_around(x[here], w[here], k)
    local = digamma(n) + within - _Line(x, w).log_count(x, radius)
    return max(0.0, float(w @ local / n))


def _look_around(x: FloatArray, w: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Distances to the neighbours in a state, and how many there are, less all in the state."""
    n = len(x)
    k = min(k, n - 1)
    distances, neighbours = cKDTree(x[:, None]).query(x[:, None], k + 1)
    near = (w[neighbours].sum(axis=1) - w) / k
    all_of_them = digamma(n) + np.log(w.mean())
    return distances[:, -1], digamma(k) + np.log(near) - all_of_them


class _Line:
    """Values in order, to count those near a point."""

    def __init__(self, values: FloatArray, weights: FloatArray) -> None:
        order = np.argsort(values)
        self._values = values[order]
        self._weights = np.concatenate([[0.0], np.cumsum(weights[order])])

    def log_count(self, points: FloatArray, radius: FloatArray) -> FloatArray:
        """Digamma of the number of values nearer than a radius, plus the log of their weight."""
        inside = np.maximum(radius - ROUNDING * (1.0 + np.abs(points)), 0.0)
        low = np.searchsorted(self._values, points - inside, side="left")
        high = np.searchsorted(self._values, points + inside, side="right")
        count = np.maximum(high - low, 1)
        weight = (self._weights[high] - self._weights[low]) / count
        result: FloatArray = digamma(count) + np.log(np.maximum(weight, np.finfo(float).tiny))
        return result


def gaussian_pair(x: FloatArray, y: FloatArray, weights: FloatArray) -> float:
    """Return the mutual information of two variables that are jointly Gaussian."""
    shares = weights / weights.sum()
    dx, dy = x - shares @ x, y - shares @ y
    vx, vy, covariance = shares @ dx**2, shares @ dy**2, shares @ (dx * dy)
    if vx <= 0 or vy <= 0:
        return 0.0
    return -0.5 * float(np.log(max(1.0 - covariance**2 / (vx * vy), SHARE)))


def gaussian_gain(
    x: FloatArray, rows: FloatArray, weights: FloatArray, least_variance: float
) -> float:
    """Return what a row gains on average when a Gaussian gets a categorical parent."""
    share, _, variance = expected_moments(x, rows, weights, least_variance)
    total = weights / weights.sum()
    overall = max(float(total @ (x - total @ x) ** 2), least_variance)
    return max(0.0, 0.5 * float(np.log(overall) - share @ np.log(variance)))


def mixture_information(
    x: FloatArray, rows: FloatArray, weights: FloatArray, least_variance: float
) -> float:
    """Return the information of a latent variable and one that is Gaussian given its state.

    The states have their expected moments; the mean over the rows of the logarithm of the density
    given the state, less that of the mixture.
    """
    share, mean, variance = expected_moments(x, rows, weights, least_variance)
    logs = -0.5 * (np.log(2.0 * np.pi * variance) + (x[:, None] - mean) ** 2 / variance)
    largest = logs.max(axis=1)
    mixture = largest + np.log(np.exp(logs - largest[:, None]) @ share)
    total = weights / weights.sum()
    return max(0.0, float(total @ ((rows * logs).sum(axis=1) - mixture)))


def expected_moments(
    x: FloatArray, rows: FloatArray, weights: FloatArray, least_variance: float
) -> tuple[FloatArray, Any, Any]:
    """Shares, means and variances of the states; those without weight are those of all rows."""
    counts = weights @ rows
    kept = counts > 0
    mean = np.full(len(counts), float(weights @ x / weights.sum()))
    variance = np.full(len(counts), float(weights @ (x - mean[0]) ** 2 / weights.sum()))
    mean[kept] = (weights * x) @ rows[:, kept] / counts[kept]
    squares = (x[:, None] - mean[kept]) ** 2
    variance[kept] = (weights[:, None] * rows[:, kept] * squares).sum(axis=0) / counts[kept]
    return counts / counts.sum(), mean, np.maximum(variance, least_variance)
