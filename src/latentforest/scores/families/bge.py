"""BGe: the marginal likelihood of linear Gaussian networks, for continuous columns.

Geiger and Heckerman (2002), "Parameter priors for directed acyclic graphical models", with the
constants of Kuipers, Moffa and Heckerman (2014), "Addendum on the scoring of Gaussian directed
acyclic graphical models". Mean and precision matrix of all n columns are normal-Wishart. Networks
with the same independences have the same score.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from latentforest.errors import ParameterError
from latentforest.inference.moments import MomentTable
from latentforest.kernels.types import FloatArray


class _Left(NamedTuple):
    """What is left of a matrix without some columns, and the determinant of these."""

    covariances: FloatArray
    log_determinant: float


class BGe:
    """Logarithm of the marginal likelihood of families of continuous columns.

    The prior mean is that of the columns. The prior matrix is T = t D with
    t = α_μ (α_w - n - 1) / (α_μ + 1), and D has the columns' variances on its diagonal: so the
    score does not depend on their units, but for the constant that densities have.

    Parameters
    ----------
    table
        What is measured.
    mean_weight
        α_μ: how many observations the prior mean is worth.
    degrees
        α_w: degrees of freedom; by default n + α_μ + 1. Above n + 1.
    variances
        Diagonal of D in the columns' own units; ones give T = t I there.

    Examples
    --------
    >>> from latentforest.data import Dataset, Variable
    >>> data = Dataset([Variable("x"), Variable("y")], [[0.0, 1, 2, 3], [0.0, 1, 1, 2]])
    >>> score = BGe(MomentTable(data))
    >>> forth = score.score(0, []) + score.score(1, [0])
    >>> back = score.score(1, []) + score.score(0, [1])
    >>> round(forth, 9) == round(back, 9)
    True
    """

    def __init__(
        self,
        table: MomentTable,
        mean_weight: float = 1.0,
        degrees: float | None = None,
        variances: Sequence[float] | None = None,
    ) -> None:
        n = table.n_columns
        alpha_w = n + mean_weight + 1.0 if degrees is None else degrees
        if not mean_weight > 0:
            raise ParameterError(f"mean_weight must be positive, got {mean_weight!r}")
        if not alpha_w > n + 1:
            raise ParameterError(
                f"degrees must be above the number of columns plus one, {n + 1}, got {degrees!r}"
            )
        self.table, self._alpha_mu = table, float(mean_weight)
        self._base = float(alpha_w - n)
        units = np.array([about.variance for about in table.about])
        t = mean_weight * (alpha_w - n - 1.0) / (mean_weight + 1.0)
        self._prior = t * (np.ones(n) if variances is None else np.asarray(variances) / units)
        (covariances,) = table.measure(0).covariances
        self._sum: FloatArray = table.total * covariances + np.diag(self._prior)
        self._unit_logs = 0.5 * np.log(units)

    def score(self, child: int, parents: Sequence[int]) -> float:
        """Score of a column with these parents."""
        left = self._eliminate(parents, [child])
        own = left.covariances[0, 0]
        return float(self._judge(child, parents, own, left.log_determinant))

    def score_additions(
        self, child: int, parents: Sequence[int], added: Sequence[int]
    ) -> FloatArray:
        """Scores with one more parent, for each of some candidates."""
        scores = np.empty(len(added))
        left = self._eliminate(parents, [child, *added])
        for i, a in enumerate(added):
            other, shared = left.covariances[i + 1, i + 1], left.covariances[0, i + 1]
            own = left.covariances[0, 0] - shared**2 / other
            scores[i] = self._judge(child, [*parents, a], own, left.log_determinant + log(other))
        return scores

    def _eliminate(self, parents: Sequence[int], columns: Sequence[int]) -> _Left:
        """Take the parents out of the posterior matrix R, for some other columns."""
        own = self._sum[np.ix_(columns, columns)]
        if not parents:
            return _Left(own, 0.0)
        root = np.linalg.cholesky(self._sum[np.ix_(parents, parents)])
        turned = np.linalg.solve(root, self._sum[np.ix_(parents, columns)])
        return _Left(own - turned.T @ turned, 2.0 * float(np.log(np.diag(root)).sum()))

    def _judge(
        self, child: int, parents: Sequence[int], left: float, log_determinant: float
    ) -> float:
        """Ratio of the marginal likelihoods of the family and of its parents.

        ``left`` is what the parents leave of the column's entry of R, the ratio of determinants;
        ``log_determinant`` is that of the parents' part of R.
        """
        n, base = self.table.total, self._base + len(parents)  # α_w - n + l
        prior, alpha = self._prior, self._alpha_mu
        value = -0.5 * n * log(pi) + 0.5 * log(alpha / (n + alpha))
        value += gammaln(0.5 * (n + base + 1.0)) - gammaln(0.5 * (base + 1.0))
        value += 0.5 * (base + 1.0) * log(prior[child])
        value += 0.5 * float(np.log(prior[list(parents)]).sum())
        value -= 0.5 * (n + base + 1.0) * log(left) + 0.5 * log_determinant
        return float(value - n * self._unit_logs[child])
