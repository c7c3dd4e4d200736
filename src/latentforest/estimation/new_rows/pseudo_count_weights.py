"""How many pseudo-observations a row of a table should get, by the evidence of its family.

A row of a table has counts n and total N. Its pseudo-observations have the distribution of the
column and the weight w. Rows of one family share a distribution of weights over a grid, which is
fitted to their evidence (empirical Bayes); a row then has the weight that gives its posterior mean
under that distribution, and the more the less the family's links pay: see docs/new-rows.md.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.types import FloatArray

TABLE_WEIGHTS = np.geomspace(0.5, 5000.0, 24)
GAUSSIAN_WEIGHTS = np.geomspace(0.03, 1000.0, 24)
LINE_WEIGHTS = np.geomspace(1e-6, 1e4, 31)
CELL_WEIGHTS = np.geomspace(0.01, 30.0, 25)
N_ROUNDS = 20  # of EM over the shares of the grid's weights
SHARE = 1.0  # pseudo-rows that the shares start with, all weights alike
MOST = 1e9  # weight in proportion to that of the row's own counts: as good as independent


def shape_marginal(counts: FloatArray) -> FloatArray:
    """Return the distribution of a column, in which every state has a positive probability.

    Parameters
    ----------
    counts
        Weight of each state.

    Examples
    --------
    >>> shape_marginal(np.array([70.0, 30.0, 0.0])).round(3).tolist()
    [0.698, 0.3, 0.002]
    """
    cell = weigh_cells(counts)
    marginal: FloatArray = (counts + cell) / (counts.sum() + cell * len(counts))
    return marginal


def weigh_cells(counts: FloatArray) -> float:
    """Return the pseudo-count of each state of a column that has the highest evidence."""
    from scipy.special import gammaln

    total, seen = counts.sum(), counts[counts > 0]
    whole = CELL_WEIGHTS * len(counts)
    evidence = gammaln(whole) - gammaln(whole + total)
    evidence += np.sum(gammaln(CELL_WEIGHTS[:, None] + seen) - gammaln(CELL_WEIGHTS[:, None]), 1)
    return float(CELL_WEIGHTS[int(np.argmax(evidence))])


def weigh_table_rows(counts: FloatArray, marginal: FloatArray, cost: float = 0.0) -> FloatArray:
    """Return the weight of each row's pseudo-counts.

    Parameters
    ----------
    counts
        Expected counts of a table, ``(n_rows, n_states)``.
    marginal
        The distribution of the pseudo-counts.
    cost
        Log-odds against links to the parents before any row was seen.
    """
    from scipy.special import gammaln

    totals, weights = counts.sum(axis=1), TABLE_WEIGHTS[:, None]
    rows, states = np.nonzero(counts)
    cells = weights * marginal[states]
    gains = gammaln(cells + counts[rows, states]) - gammaln(cells)
    evidence = gammaln(weights) - gammaln(weights + totals)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(starts):
        evidence[:, rows[starts]] += np.add.reduceat(gains, starts, axis=1)
    alone = float(counts.sum(axis=0) @ np.log(marginal))
    return _average(evidence.T, totals, TABLE_WEIGHTS, alone + cost)


def weigh_gaussian_rows(
    totals: FloatArray,
    offsets: FloatArray,
    covariances: FloatArray,
    spread: FloatArray,
    n_own: int,
    cost: float = 0.0,
    weights: FloatArray = GAUSSIAN_WEIGHTS,
) -> FloatArray:
    """Return the weight of the pseudo-observations of each Gaussian of a family.

    Parameters
    ----------
    totals
        Expected weight of each, ``(n_rows,)``.
    offsets
        Their means less those of the columns, ``(n_rows, d)``: those of the family's own columns,
        then of its continuous parents.
    covariances
        Their covariances, ``(n_rows, d, d)``.
    spread
        Covariances of the pseudo-observations, ``(d, d)``.
    n_own
        How many of the columns are the family's own.
    cost
        Log-odds against the family's links before any row was seen.
    weights
        Those to choose from.
    """
    evidence, alone = _measure_gaussians(totals, offsets, covariances, spread, weights)
    if n_own < len(spread):
        less = _measure_gaussians(
            totals,
            offsets[:, n_own:],
            covariances[:, n_own:, n_own:],
            spread[n_own:, n_own:],
            weights,
        )
        evidence, alone = evidence - less[0], alone - less[1]
    return _average(evidence, totals, weights, alone + cost)


def _measure_gaussians(
    totals: FloatArray,
    offsets: FloatArray,
    covariances: FloatArray,
    spread: FloatArray,
    weights: FloatArray,
) -> tuple[FloatArray, float]:
    """Evidence of each row for each weight (normal-inverse-Wishart), and that of no difference.

    Up to a constant that both have.
    """
    d = len(spread)
    basis = np.linalg.inv(np.linalg.cholesky(spread))  # columns become uncorrelated
    own = basis @ covariances @ basis.T * totals[:, None, None]
    moved = offsets @ basis.T
    outer = moved[:, :, None] * moved[:, None, :]
    evidence = np.empty((len(totals), len(weights)))
    for g, w in enumerate(weights):
        freedom, pull = w + d - 1.0, w * totals / (w + totals)
        scatter = w * np.eye(d) + own + pull[:, None, None] * outer
        after = np.linalg.slogdet(scatter)[1]
        evidence[:, g] = _log_gamma(0.5 * (freedom + totals), d)
        evidence[:, g] -= _log_gamma(np.array([0.5 * freedom]), d)
        evidence[:, g] += 0.5 * freedom * d * np.log(w) - 0.5 * (freedom + totals) * after
        evidence[:, g] += 0.5 * d * np.log(w / (w + totals))
        evidence[:, g] += 0.5 * d * totals * np.log(2.0)
    squares = np.trace(own, axis1=1, axis2=2) + totals * np.sum(moved**2, axis=1)
    return evidence, float(-0.5 * squares.sum())


def _log_gamma(values: FloatArray, d: int) -> FloatArray:
    """Logarithm of the multivariate gamma function."""
    from scipy.special import gammaln

    steps = 0.5 * np.arange(d)
    result: FloatArray = gammaln(values[:, None] - steps).sum(axis=1)
    result += 0.25 * d * (d - 1) * np.log(np.pi)
    return result


def _average(
    evidence: FloatArray, totals: FloatArray, weights: FloatArray, alone: float
) -> FloatArray:
    """Return the weight of each row, given the evidence of every weight for it.

    ``alone`` is the evidence that all rows are alike.
    """
    used = totals > 0
    if not used.any():
        return np.full(len(totals), 1.0)
    most = evidence.max(axis=1, keepdims=True)
    relative = np.exp(evidence - most)
    shares = np.full(len(weights), 1.0 / len(weights))
    for _ in range(N_ROUNDS):
        given = relative * shares
        given /= given.sum(axis=1, keepdims=True)
        sums = given[used].sum(axis=0) + SHARE / len(weights)
        shares = sums / sums.sum()
    given = relative * shares
    together = float(np.sum(most[used, 0] + np.log(given[used].sum(axis=1))))
    given /= given.sum(axis=1, keepdims=True)
    kept = np.sum(given / (totals[:, None] + weights), axis=1)
    kept /= 1.0 + np.exp(min(alone - together, 700.0))  # the rest goes to the column itself
    result: FloatArray = np.maximum(1.0 / kept - totals, weights[0])
    return np.minimum(result, MOST * np.maximum(totals, 1.0))
