"""Predictive log-likelihood: on held-out rows and by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.data.dataset import Dataset
from latentforest.errors import ParameterError
from latentforest.kernels.types import FloatArray


class Learner(Protocol):
    """What validation needs of an estimator."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit to rows."""

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row."""


@dataclass(frozen=True)
class ValidationResult:
    """Log-likelihoods of rows that were not fitted.

    Attributes
    ----------
    fold_names
        Label of each fold.
    log_likelihoods
        Weighted sum over each fold's rows.
    weights
        Total weight of each fold's rows.
    """

    fold_names: tuple[Any, ...]
    log_likelihoods: FloatArray
    weights: FloatArray

    @property
    def mean_per_row(self) -> float:
        """Predictive log-likelihood per row over all folds."""
        return float(self.log_likelihoods.sum() / self.weights.sum())

    @property
    def mean_per_fold(self) -> float:
        """Average over folds of the log-likelihood of a fold's rows (CVPLL)."""
        return float(self.log_likelihoods.mean())


def hold_out(learner: Learner, train: Dataset, test: Dataset) -> float:
    """Fit a copy of the learner to one table; return the log-likelihood of the other."""
    from sklearn.base import clone

    fitted = clone(learner).fit(train)
    used = test.weights > 0
    return float(np.sum(test.weights[used] * fitted.score_samples(test)[used]))


def cross_validate(
    learner: Learner,
    data: Any,
    folds: int | ArrayLike = 10,
    random_state: int | None = 0,
) -> ValidationResult:
    """Predictive log-likelihood by cross-validation.

    Parameters
    ----------
    learner
        Not changed: a clone is fitted for each fold. Give it some smoothing: a table estimated by
        maximum likelihood makes a pattern that only the test rows have impossible.
    data
        Dataset or anything that makes one.
    folds
        Number of folds of shuffled rows, or the label of each row's fold.
    random_state
        Seed of the shuffling.

    Examples
    --------
    >>> from latentforest import Independence, datasets
    >>> result = cross_validate(Independence(smoothing=1), datasets.load("hiv-tests"), folds=3)
    >>> len(result.log_likelihoods)
    3
    """
    dataset = data if isinstance(data, Dataset) else Dataset.from_table(data)
    labels = assign_folds(dataset.n_rows, folds, random_state)
    names = list(dict.fromkeys(labels.tolist())) if np.ndim(folds) else sorted(set(labels.tolist()))
    values, weights = [], []
    for name in names:
        test = labels == name
        values.append(hold_out(learner, dataset.take(~test), dataset.take(test)))
        weights.append(float(dataset.weights[test].sum()))
    return ValidationResult(tuple(names), np.array(values), np.array(weights))


def assign_folds(n_rows: int, folds: int | ArrayLike, random_state: int | None = 0) -> NDArray[Any]:
    """Return the fold of each row: given labels checked, or shuffled rows dealt out evenly."""
    if isinstance(folds, int | np.integer):
        if not 2 <= folds <= n_rows:
            raise ParameterError(f"folds must be between 2 and the {n_rows} rows, got {folds}")
        order = np.random.default_rng(random_state).permutation(n_rows)
        labels = np.empty(n_rows, np.int64)
        labels[order] = np.arange(n_rows) % folds
        return labels
    labels = np.asarray(folds)
    if labels.shape != (n_rows,):
        raise ParameterError(
            f"folds has shape {labels.shape}, expected one label for {n_rows} rows"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ParameterError("folds: some rows have no label (nan)")
    if len(set(labels.tolist())) < 2:
        raise ParameterError("folds must have at least two different labels")
    return labels
