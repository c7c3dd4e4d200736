"""Predictive log-likelihood: on held-out rows and by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.data.dataset import Dataset
from latentforest.data.dealing import count_observations, deal
from latentforest.errors import ParameterError, UnobservedStatesWarning
from latentforest.kernels.types import FloatArray


class Estimator(Protocol):
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


def hold_out(learner: Estimator, train: Dataset, test: Dataset) -> float:
    """Fit a copy of the learner to one table; return the log-likelihood of the other."""
    from sklearn.base import clone

    with warnings.catch_warnings():  # a state that a fold lacks is nothing to worry about
        warnings.simplefilter("ignore", UnobservedStatesWarning)
        fitted = clone(learner).fit(train)
    if getattr(fitted, "interrupted_", False):
        raise KeyboardInterrupt
    used = test.weights > 0
    return float(np.sum(test.weights[used] * fitted.score_samples(test)[used]))


def cross_validate(
    learner: Estimator,
    data: Any,
    folds: int | ArrayLike = 10,
    random_state: int | None = 0,
) -> ValidationResult:
    """Predictive log-likelihood by cross-validation.

    Parameters
    ----------
    learner
        Not changed: a clone is fitted for each fold. Rows are predicted with its predictive
        parameters, see ``smoothing``; of maximum likelihood (``smoothing=0``), a pattern that only
        the test rows have is impossible.
    data
        Dataset or anything that makes one.
    folds
        The label of each row's fold, or a number of folds. Observations are then dealt out at
        random; where all weights are whole numbers, each row stands for that many of them.
    random_state
        Seed of the dealing.

    Examples
    --------
    >>> from latentforest import Independence, datasets
    >>> result = cross_validate(Independence(), datasets.load("hiv-tests"), folds=3)
    >>> len(result.log_likelihoods)
    3
    """
    dataset = data if isinstance(data, Dataset) else Dataset.from_table(data)
    names, test_weights = split_weights(dataset, folds, random_state)
    values = []
    with _say_once():
        for weights in test_weights:
            train = dataset.with_weights(dataset.weights - weights).take(dataset.weights > weights)
            test = dataset.with_weights(weights).take(weights > 0)
            values.append(hold_out(learner, train, test))
    sums = np.array([weights.sum() for weights in test_weights])
    return ValidationResult(tuple(names), np.array(values), sums)


@contextmanager
def _say_once() -> Iterator[None]:
    """Give each warning once: the folds are parts of one table, and say the same of it."""
    said: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as said:
            yield
    finally:
        for each in {str(one.message): one for one in reversed(said)}.values():
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def split_weights(
    dataset: Dataset, folds: int | ArrayLike, random_state: int | None = 0
) -> tuple[list[Any], list[FloatArray]]:
    """Return the names of the folds, and the weight of each row in each of them."""
    weights = dataset.weights
    if not isinstance(folds, int | np.integer):
        labels = _check_labels(dataset.n_rows, folds)
        names = list(dict.fromkeys(labels.tolist()))
        return names, [np.where(labels == name, weights, 0.0) for name in names]
    counts, units = count_observations(weights)
    if not 2 <= folds <= counts.sum():
        what = "rows" if counts.max() <= 1 else "observations"
        raise ParameterError(f"folds must be between 2 and the {counts.sum()} {what}, got {folds}")
    parts = deal(counts, int(folds), np.random.default_rng(random_state))
    return list(range(int(folds))), [part * units for part in parts]


def _check_labels(n_rows: int, folds: ArrayLike) -> NDArray[Any]:
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
