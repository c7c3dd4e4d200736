"""What all learners share: reading tables, scoring, prediction, sampling.

A learner implements ``_learn``, which returns a ``Learned``; everything else is here.
"""

from __future__ import annotations

import numbers
import time
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, DensityMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from latentforest.data import Dataset, Variable, encode_like
from latentforest.data.table import Table
from latentforest.errors import DataError, DataWarning, ParameterError
from latentforest.estimation.priors import Smoothing
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.learners.column_prediction import (
    find_probabilities,
    hide_column,
    predict_values,
)
from latentforest.learners.progress import Say, open_progress
from latentforest.model import Network
from latentforest.scores.criteria import FitSummary, bic
from latentforest.scores.goodness import goodness_of_fit

KEPT_VALUES = 1 << 24  # of a table that is kept until its goodness of fit is asked for


@dataclass(frozen=True)
class Learned:
    """What a learner found.

    ``attributes`` become further fitted attributes, each with a trailing underscore.
    """

    network: Network
    log_likelihood: float
    history: Table
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """What a learner works with: the data, a seed, a clock and somebody to tell.

    ``given`` is the table with the rows of weight zero, which ``table`` and ``data`` do not have.
    """

    given: Dataset
    table: Dataset
    data: PatternedData
    seed: int
    say: Say
    deadline: float | None

    def seconds_left(self) -> float | None:
        """Time until the limit, never quite nothing; none if there is no limit."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.01)

    def is_late(self) -> bool:
        """Whether the time limit has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline


class NetworkLearner(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the learners: fits a network to a table and scores rows with it."""

    max_iterations: int
    tolerance: float
    smoothing: Smoothing
    n_jobs: int | None
    random_state: Any
    time_limit: float | None
    progress: bool | Say

    network_: Network
    history_: Table
    log_likelihood_: float
    n_parameters_: int
    bic_: float
    _training: Dataset | None
    _goodness: Table | None

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Store the parameters of a constructor as they are, which is all that it may do.

        ``given`` are the ``locals()`` of the constructor. scikit-learn wants its signature written
        out, and finds the parameters again under their names.
        """
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    @abstractmethod
    def _learn(self, work: Work) -> Learned:
        """Learn a network."""

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn a network from a table.

        Parameters
        ----------
        X
            ``Dataset``, pandas, polars or pyarrow frame, dict of columns, or array.
        y
            Ignored.
        sample_weight
            Weight of each row; multiplies the weights of a ``Dataset``. Their sum is the number of
            observations N of BIC. Rows of weight zero tell which states there are, no more.
        """
        given = self._read(X, sample_weight)
        has_weight = given.weights > 0
        dataset = given if has_weight.all() else given.take(has_weight)
        _warn_of_constant_columns(dataset)
        _warn_of_many_states(dataset)
        _warn_of_small_weights(dataset)
        seed = draw_seed(self.random_state)
        is_number = isinstance(self.time_limit, numbers.Real)
        if self.time_limit is not None and not (is_number and self.time_limit > 0):
            raise ParameterError(f"time_limit must be positive seconds, got {self.time_limit!r}")
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        with open_progress(self.progress) as say:
            data = PatternedData(dataset, self.n_jobs)
            work = Work(given, dataset, data, seed, say, deadline)
            learned = self._learn(work)
        self.n_features_in_ = dataset.n_columns
        self.variables_ = dataset.variables
        if _has_names(X):
            self.feature_names_in_ = np.array(dataset.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.network_ = learned.network
        self.history_ = learned.history
        self.log_likelihood_ = learned.log_likelihood
        self.n_parameters_ = learned.network.dimension
        summary = FitSummary(learned.log_likelihood, self.n_parameters_, dataset.total_weight)
        self.bic_ = bic(summary)
        for name, value in learned.attributes.items():
            setattr(self, name + "_", value)
        self._training, self._goodness = _keep_table(work.data.dataset), None
        return self

    @property
    def goodness_(self) -> Table:
        """Goodness of fit to the training table: one row with the names of `GoodnessOfFit`.

        Computed when it is first asked for. Until then the learner keeps the training table, equal
        rows merged; a very large one it does not keep, and `goodness_of_fit` takes its place.
        """
        check_is_fitted(self, "network_")
        if self._goodness is None:
            if self._training is None:
                raise DataError(
                    "the training table has continuous columns or is too large to be kept; of a "
                    "categorical one, goodness_of_fit(model.network_, data) can be computed"
                )
            found = goodness_of_fit(self.network_, self._training, n_jobs=self.n_jobs)
            self._goodness = found.to_table()
            self._release()
        return self._goodness

    def _release(self) -> None:
        """Let go of the training table, which nothing needs any more."""
        self._training = None

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row."""
        return self._rows(self._encode(X)).log_likelihoods()

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the weighted mean log-likelihood per row."""
        dataset = weigh(self._encode(X), sample_weight)
        values, used = self._rows(dataset).log_likelihoods(), dataset.weights > 0
        return float(np.sum(dataset.weights[used] * values[used]) / dataset.total_weight)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Dataset:
        """Draw rows from the learned network."""
        check_is_fitted(self, "network_")
        return self.network_.sample(n_samples, random_state=draw_seed(random_state))

    def predict_column(self, X: Any, column: str) -> AnyArray:
        """Predict a column from all others: the most probable state, or the expected number.

        States are given by their names, which are texts, also where the column has whole numbers.

        Parameters
        ----------
        X
            A table. Values of the column in it are not looked at; it may be left out.
        column
            Name of one of the columns that the network was learned from.

        Examples
        --------
        >>> from latentforest import ChowLiu, datasets
        >>> data = datasets.load("role-conflict")
        >>> ChowLiu().fit(data).predict_column(data.take([0, 3]), "D").tolist()
        ['+', '-']
        """
        check_is_fitted(self, "network_")
        rows = hide_column(X, self.variables_, column)
        return predict_values(self.network_, rows, column, self.n_jobs)

    def predict_column_proba(self, X: Any, column: str) -> FloatArray:
        """Return the probabilities of a column's states given all others, one row for each row.

        Parameters
        ----------
        X, column
            As for ``predict_column``.
        """
        check_is_fitted(self, "network_")
        rows = hide_column(X, self.variables_, column)
        return find_probabilities(self.network_, rows, column, self.n_jobs)

    def _read(self, X: Any, sample_weight: ArrayLike | None) -> Dataset:
        dataset = X if isinstance(X, Dataset) else Dataset.from_table(_check_array(X))
        return weigh(dataset, sample_weight)

    def _encode(self, X: Any) -> Dataset:
        check_is_fitted(self, "network_")
        if isinstance(X, Dataset):
            if X.variables == self.variables_:
                return X
            return encode_like(X, self.variables_)
        X = _check_array(X)
        if isinstance(X, np.ndarray) and X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return encode_like(X, self.variables_)

    def _rows(self, dataset: Dataset) -> Rows:
        return Rows(self.network_, PatternedData(dataset, self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags

    def __str__(self) -> str:
        if not hasattr(self, "network_"):
            return str(super().__repr__())
        return (
            f"{type(self).__name__}: log-likelihood {self.log_likelihood_:,.2f}, "
            f"{self.n_parameters_:,} parameters, BIC {self.bic_:,.2f}\n{self.network_}"
        )


class LatentLearner(TransformerMixin, NetworkLearner):  # type: ignore[misc]
    """Base of the learners whose networks have latent variables."""

    def predict_proba(self, X: Any) -> FloatArray | list[FloatArray]:
        """Return the posterior of each latent variable for every row.

        Returns
        -------
        ndarray of shape (n_rows, n_states), or a list of such arrays
            One array if there is one latent variable.
        """
        posteriors = self._posteriors(X)
        return posteriors[0] if len(posteriors) == 1 else posteriors

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable state (a code from 0) of each latent variable for every row.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_latents)
            One column is given as a vector.
        """
        dataset = self._encode(X)
        posteriors = self._posteriors(dataset)
        states = np.zeros((dataset.n_rows, len(posteriors)), np.intp)
        for column, posterior in zip(states.T, posteriors, strict=True):
            column[:] = np.argmax(posterior, axis=1)
        return states[:, 0] if states.shape[1] == 1 else states

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> AnyArray:
        """Fit, then return the most probable states of the same rows."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def transform(self, X: Any) -> FloatArray:
        """Return the posteriors of all latent variables side by side."""
        dataset = self._encode(X)
        nothing = np.zeros((dataset.n_rows, 0))  # all there is without latent variables
        return np.concatenate([nothing, *self._posteriors(dataset)], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of ``transform``: variable=state."""
        check_is_fitted(self, "network_")
        structure = self.network_.structure
        names = [
            f"{name}={state}" for name in structure.latents for state in structure.states(name)
        ]
        return np.array(names, dtype=object)

    def _posteriors(self, X: Any) -> list[FloatArray]:
        dataset = self._encode(X)
        rows = self._rows(dataset)
        posteriors, n_impossible = rows.filled_posteriors(self.network_.latents)
        if n_impossible:
            warnings.warn(
                f"{n_impossible} rows have probability zero under the model; they get the "
                "distribution of the latent variables without evidence (smoothing avoids this)",
                DataWarning,
                stacklevel=3,
            )
        return posteriors


def _check_array(X: Any) -> Any:
    """Check arrays as scikit-learn does; frames and mappings are checked when they are encoded."""
    if isinstance(X, list | tuple):
        X = np.array(X, dtype=object) if _holds_text(X) else np.asarray(X)
    elif hasattr(X, "__array__") and not _has_names(X):
        X = np.asarray(X)
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return check_array(X, accept_sparse=True, dtype=None, ensure_all_finite=False)
    return X


def _holds_text(X: list[Any] | tuple[Any, ...]) -> bool:
    return any(isinstance(value, str) or value is None for row in X for value in np.atleast_1d(row))


def _has_names(X: Any) -> bool:
    return isinstance(X, Dataset | Mapping) or hasattr(type(X), "columns")


def weigh(dataset: Dataset, sample_weight: ArrayLike | None) -> Dataset:
    if sample_weight is None:
        return dataset
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(dataset.n_rows, float(sample_weight))
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (dataset.n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({dataset.n_rows},)")
    return dataset.with_weights(dataset.weights * weights)


def _keep_table(table: Dataset) -> Dataset | None:
    """Return a table that goodness of fit can be computed of, unless it is very large."""
    is_categorical = all(variable.is_categorical for variable in table.variables)
    is_small = table.n_rows * table.n_columns <= KEPT_VALUES
    return table if is_categorical and is_small else None


def draw_seed(random_state: Any) -> int:
    """Turn a seed, a generator or nothing into a seed."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def _warn_of_many_states(dataset: Dataset) -> None:
    names = [variable.name for variable in dataset.variables if _is_label(dataset, variable)]
    if names:
        warnings.warn(
            f"columns with nearly as many states as rows, like names or numbers of cases: "
            f"{', '.join(names[:10])}; leave them out",
            DataWarning,
            stacklevel=3,
        )


def _is_label(dataset: Dataset, variable: Variable) -> bool:
    """Whether a column has nearly as many states as there are rows, or just counts the rows."""
    if variable.is_categorical:
        return variable.n_states > max(50, dataset.n_rows / 2)
    values = np.sort(dataset.column(variable.name))
    return dataset.n_rows > 50 and bool(np.all(np.diff(values) == 1.0))


def _warn_of_constant_columns(dataset: Dataset) -> None:
    constant = [name for name in dataset.names if _is_constant(dataset, name)]
    if constant and len(constant) < dataset.n_columns:
        warnings.warn(
            f"columns with a single observed value tell nothing: {', '.join(constant[:10])}"
            + (" …" if len(constant) > 10 else ""),
            DataWarning,
            stacklevel=3,
        )


def _warn_of_small_weights(dataset: Dataset) -> None:
    """Warn if BIC hardly counts parameters because the weights were divided by their sum, say."""
    if dataset.n_rows > 1 and dataset.total_weight < 2:
        warnings.warn(
            f"the weights of {dataset.n_rows:,} rows sum to {dataset.total_weight:g}, which counts "
            "as the number of observations N; the penalty of BIC, log(N) / 2 for each parameter, "
            "is next to nothing or less: give weights that sum to the number of observations",
            DataWarning,
            stacklevel=3,
        )


def _is_constant(dataset: Dataset, name: str) -> bool:
    if dataset.variable(name).is_categorical:
        return int(np.count_nonzero(dataset.counts(name))) < 2
    values = dataset.column(name)
    seen = values[~np.isnan(values)]
    return len(seen) == 0 or bool(seen.min() == seen.max())
