"""What an edge between two columns of a forest adds to a score.

All scores here are sums over edges, up to a constant. ``N`` is the total weight. A pair that is
complete in rows of weight n only is judged on these, and its gain is multiplied by N / n.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.inference.association.information import Score, table_information
from latentforest.inference.association.mixed_information import (
    InformationSettings,
    information_matrix,
)
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray

EDGE_CRITERIA = ("likelihood", "bic", "aic", "bde")


def edge_score(criterion: str, total_weight: float, equivalent_size: float = 1.0) -> Score:
    """Return the function that ``pair_scores`` needs.

    Parameters
    ----------
    criterion
        "likelihood": the log-likelihood; "bic", "aic": less the penalty of the edge's parameters;
        "bde": the marginal likelihood with Dirichlet priors (BDeu).
    total_weight
        N.
    equivalent_size
        Observations that the prior of "bde" is worth.
    """
    penalties: dict[str, float] = {
        "likelihood": 0.0,
        "bic": 0.5 * math.log(total_weight) if total_weight > 0 else 0.0,
        "aic": 1.0,
    }
    if criterion == "bde":
        return _scale(lambda table: _marginal_likelihood(table, equivalent_size), total_weight)
    if criterion not in penalties:
        known = ", ".join(EDGE_CRITERIA)
        raise ParameterError(f"unknown criterion {criterion!r}; known are {known}")
    return _scale(lambda table: _penalized(table, penalties[criterion]), total_weight)


def continuous_scores(data: Dataset, criterion: str, n_jobs: int | None = None) -> FloatArray:
    """Return what an edge adds to a score for all pairs with a continuous column.

    The edge makes a Gaussian depend on the other column: a mean and a variance for each state of
    a categorical one, a line of a continuous one. Other pairs have zero.

    Parameters
    ----------
    data
        Columns of any kind.
    criterion
        "likelihood", "bic" or "aic".
    n_jobs
        Threads.
    """
    settings = InformationSettings("gaussian", n_jobs=n_jobs)
    total = data.total_weight
    price = {"likelihood": 0.0, "bic": 0.5 * math.log(total) if total > 0 else 0.0, "aic": 1.0}
    if criterion not in price:
        raise ParameterError(
            f"criterion {criterion!r} is for categorical columns; with continuous ones, expected "
            f"{', '.join(map(repr, price))}"
        )
    is_number = np.array([not variable.is_categorical for variable in data.variables])
    slopes = [2 * (v.n_states - 1) if v.is_categorical else 1 for v in data.variables]
    # Parameters of the edge by its parent, which is the categorical column if one is.
    n_more = np.where(is_number, np.array(slopes)[:, None], slopes)
    seen = np.stack([_is_there(column) for column in data.columns]).astype(np.float64)
    complete = (seen * data.weights) @ seen.T
    information = information_matrix(data, settings=settings)
    np.fill_diagonal(information, 0.0)
    gains: FloatArray = information * complete - price[criterion] * n_more
    gains *= np.divide(total, complete, out=np.ones_like(complete), where=complete > 0)
    gains[~(is_number[:, None] | is_number)] = 0.0
    return gains


def _is_there(column: AnyArray) -> BoolArray:
    there: BoolArray = ~np.isnan(column) if column.dtype.kind == "f" else column >= 0
    return there


def _scale(gain: Callable[[FloatArray], FloatArray], total_weight: float) -> Score:
    def score(table: FloatArray) -> FloatArray:
        complete = table.sum(axis=(0, 2))
        factor = np.divide(total_weight, complete, out=np.ones_like(complete), where=complete > 0)
        scaled: FloatArray = gain(table) * factor
        return scaled

    return score


def _penalized(table: FloatArray, penalty: float) -> FloatArray:
    information = table_information(table.transpose(1, 3, 0, 2)) * table.sum(axis=(0, 2))
    gain: FloatArray = information - penalty * (table.shape[0] - 1) * (table.shape[2] - 1)
    return gain


def _marginal_likelihood(table: FloatArray, size: float) -> FloatArray:
    """Logarithm of the Bayes factor of the edge: joint table against two independent columns."""
    cells = table.shape[0] * table.shape[2]
    joint = _dirichlet(table, size / cells).sum(axis=(0, 2))
    left = _dirichlet(table.sum(axis=2), size / table.shape[0]).sum(axis=0)
    right = _dirichlet(table.sum(axis=0), size / table.shape[2]).sum(axis=1)
    total = table.sum(axis=(0, 2))
    result: FloatArray = joint - left - right + gammaln(total + size) - gammaln(size)
    return result


def _dirichlet(counts: FloatArray, prior: float) -> FloatArray:
    result: FloatArray = gammaln(counts + prior) - gammaln(prior)
    return result
