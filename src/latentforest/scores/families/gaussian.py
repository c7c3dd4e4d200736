"""Maximized log-likelihood of conditional linear Gaussian families, less a price for parameters.

A continuous variable has an intercept, a slope for each continuous parent and a variance for each
configuration of its categorical parents. All configurations are counted, whether they occur or not.
Densities are those of the data's own units. What is done with columns that are constant or linear
functions of others, and with configurations of few rows, is told in ``inference.regressions``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from latentforest.inference.moments import MomentTable
from latentforest.inference.patterns import Mask
from latentforest.inference.regressions import (
    bound_additions,
    find_thin,
    fit_lines,
    fit_pooled,
    leave,
    measure_misfit,
)
from latentforest.kernels.types import FloatArray

LOG_2_PI = math.log(2.0 * math.pi)


class GaussianFamilies:
    """Log-likelihoods of continuous columns given their parents, less a price for each parameter.

    Parameters
    ----------
    table
        What is measured.
    price
        Of a free parameter.

    Examples
    --------
    >>> from latentforest.data import Dataset, Variable
    >>> data = Dataset([Variable("x"), Variable("y")], [[0.0, 1, 2, 3], [0.0, 1, 1, 2]])
    >>> families = GaussianFamilies.bic(MomentTable(data))
    >>> round(families.score(1, [0], 0), 4), round(families.score(1, [], 0), 4)
    (-1.7637, -5.6758)
    """

    def __init__(self, table: MomentTable, price: float) -> None:
        self.table, self.price = table, price
        self._units = [0.5 * math.log(a.variance) for a in table.about]

    @classmethod
    def plain(cls, table: MomentTable) -> GaussianFamilies:
        """Maximized log-likelihood."""
        return cls(table, 0.0)

    @classmethod
    def bic(cls, table: MomentTable) -> GaussianFamilies:
        """BIC, log L - d/2 log N; N is the weight of all rows."""
        return cls(table, 0.5 * math.log(table.total))

    @classmethod
    def aic(cls, table: MomentTable) -> GaussianFamilies:
        """AIC, log L - d."""
        return cls(table, 1.0)

    def score(self, child: int, parents: Sequence[int], groups: Mask) -> float:
        """Score of a column with these continuous parents, and a set of categorical ones."""
        lines = fit_lines(self.table, child, parents, groups)
        moments = self.table.measure(groups, [child, *parents])
        misfits = measure_misfit(moments, lines)
        value = _add_up(moments.weights, misfits[:, None], lines.variances[:, None])
        return float(value[0]) - self._pay(child, len(parents), groups)

    def score_additions(
        self, child: int, parents: Sequence[int], groups: Mask, added: Sequence[int]
    ) -> FloatArray:
        """Scores with one more continuous parent, for each of some candidates."""
        if not self.table.fits(groups):
            return np.array([self.score(child, [*parents, a], groups) for a in added])
        moments = self.table.measure(groups)
        misfits = leave(moments.covariances, child, parents, added)
        variances = np.maximum(misfits, bound_additions(self.table, child, parents, added))
        is_thin = find_thin(moments, len(parents) + 1)
        if is_thin.any():
            thin = moments.take(is_thin)
            for i, a in enumerate(added):
                pooled = fit_pooled(self.table, child, [*parents, a])
                misfits[is_thin, i] = measure_misfit(thin.select([child, *parents, a]), pooled)
                variances[is_thin, i] = pooled.variances
        values = _add_up(moments.weights, misfits, variances)
        return np.asarray(values - self._pay(child, len(parents) + 1, groups))

    def _pay(self, child: int, n_parents: int, groups: Mask) -> float:
        """Return the price of all parameters, and what the column's unit adds."""
        n_parameters = self.table.count_groups(groups) * (n_parents + 2)
        return self.price * n_parameters + self.table.total * self._units[child]


def _add_up(weights: FloatArray, misfits: FloatArray, variances: FloatArray) -> FloatArray:
    """Log-likelihoods of all groups together."""
    logs = LOG_2_PI + np.log(variances) + misfits / variances
    return np.asarray(-0.5 * (weights[:, None] * logs).sum(axis=0))
