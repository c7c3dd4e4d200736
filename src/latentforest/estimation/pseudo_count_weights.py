"""How many pseudo-observations a row of a table should get, by the evidence of its family.

A row of a table has counts n and total N. Its pseudo-observations have the distribution of the
column and the weight w. Rows of one family share a distribution of weights over a grid, which is
fitted to their evidence (empirical Bayes); a row then has the weight that gives its posterior mean
under that distribution: see the section on new rows in docs/mathematics.md.
"""

from __future__ import annotations

import numpy as np

from latentforest.kernels.types import FloatArray

TABLE_WEIGHTS = np.geomspace(0.5, 5000.0, 24)
GAUSSIAN_WEIGHTS = np.geomspace(0.001, 30.0, 24)
CELL_WEIGHTS = np.geomspace(0.01, 30.0, 25)
N_ROUNDS = 20  # of EM over the shares of the grid's weights
SHARE = 1.0  # pseudo-rows that the shares start with, all weights alike


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


def weigh_table_rows(counts: FloatArray, marginal: FloatArray) -> FloatArray:
    """Return the weight of each row's pseudo-counts.

    Parameters
    ----------
    counts
        Expected counts of a table, ``(n_rows, n_states)``.
    marginal
        The distribution of the pseudo-counts.
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
    return _average(evidence.T, totals, TABLE_WEIGHTS)


def weigh_gaussian_rows(
    totals: FloatArray, offsets: FloatArray, covariances: FloatArray, spread: FloatArray
) -> FloatArray:
    """Return the weight of the pseudo-observations of each Gaussian of a family.

    Parameters
    ----------
    totals
        Expected weight of each, ``(n_rows,)``.
    offsets
        Their means less those of the columns, ``(n_rows, d)``.
    covariances
        Their covariances, ``(n_rows, d, d)``.
    spread
        Covariances of the columns, ``(d, d)``.
    """
    d = spread.shape[-1]
    basis = np.linalg.inv(np.linalg.cholesky(spread))  # columns become uncorrelated
    own = basis @ covariances @ basis.T * totals[:, None, None]
    moved = offsets @ basis.T
    outer = moved[:, :, None] * moved[:, None, :]
    evidence = np.empty((len(totals), len(GAUSSIAN_WEIGHTS)))
    for g, w in enumerate(GAUSSIAN_WEIGHTS):
        freedom, pull = w + d - 1.0, w * totals / (w + totals)
        scatter = w * np.eye(d) + own + pull[:, None, None] * outer
        after = np.linalg.slogdet(scatter)[1]
        evidence[:, g] = _log_gamma(0.5 * (freedom + totals), d)
        evidence[:, g] -= _log_gamma(np.array([0.5 * freedom]), d)
        evidence[:, g] += 0.5 * freedom * d * np.log(w) - 0.5 * (freedom + totals) * after
        evidence[:, g] += 0.5 * d * np.log(w / (w + totals))
    return _average(evidence, totals, GAUSSIAN_WEIGHTS)


def _log_gamma(values: FloatArray, d: int) -> FloatArray:
    """Logarithm of the multivariate gamma function."""
    from scipy.special import gammaln

    steps = 0.5 * np.arange(d)
    result: FloatArray = gammaln(values[:, None] - steps).sum(axis=1)
    result += 0.25 * d * (d - 1) * np.log(np.pi)
    return result


def _average(evidence: FloatArray, totals: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weight of each row, given the evidence of every weight for it."""
    used = totals > 0
    if not used.any():
        return np.full(len(totals), 1.0)
    relative = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    shares = np.full(len(weights), 1.0 / len(weights))
    for _ in range(N_ROUNDS):
        given = relative * shares
        given /= given.sum(axis=1, keepdims=True)
        sums = given[used].sum(axis=0) + SHARE / len(weights)
        shares = sums / sums.sum()
    given = relative * shares
    given /= given.sum(axis=1, keepdims=True)
    kept = np.sum(given / (totals[:, None] + weights), axis=1)
    result: FloatArray = np.maximum(1.0 / kept - totals, weights[0])
    return result
