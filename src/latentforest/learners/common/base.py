"""What all learners share: reading tables, scoring, prediction, sampling.

A learner implements ``_learn``, which returns a ``Learned``; everything else is here.
"""

from __future__ import annotations

import numbers
import time
import warnings
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from latentforest.data import Dataset, Variable, encode_like
from latentforest.data.columns.findings import Origin
from latentforest.data.columns.recipe import Recipe
from latentforest.data.lookup import list_briefly
from latentforest.data.results.table import Table
from latentforest.data.values import as_array
from latentforest.errors import (
    DataError,
    ModelError,
    ParameterError,
    UnobservedStatesWarning,
)
from latentforest.estimation.new_rows.predictive_parameters import (
    check_smoothing,
    estimate_predictive,
)
from latentforest.estimation.priors import Smoothing
from latentforest.inference.engine import NO_TIES, Ties
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray
from latentforest.learners.common.column_checks import (
    check_columns,
    list_features,
    take_features,
)
from latentforest.learners.common.column_prediction import (
    check_has_states,
    hide_column,
    keep_columns,
    name_states,
    predict_numbers,
)
from latentforest.learners.common.display import describe_model, is_fitted, write_model
from latentforest.learners.common.interruption import (
    hurry,
    learn_in_any_case,
    make_late,
    mark_interrupted,
)
from latentforest.learners.common.notes import note_full_states
from latentforest.learners.common.progress import Progress, Say, open_progress
from latentforest.learners.common.recording import describe_fit
from latentforest.model import Network, Structure
from latentforest.model.state_edits import add_states, drop_states
from latentforest.model.state_order import order_states
from latentforest.scores.criteria import FitSummary, bic
from latentforest.scores.goodness import goodness_of_fit

KEPT_VALUES = 1 << 24  # of a table that is kept until its goodness of fit is asked for


@dataclass(frozen=True)
class Learned:
    """What a learner found.

    ``attributes`` become further fitted attributes, each with a trailing underscore. ``ties`` says
    which variances were estimated to be equal, as for ``make_engine``.
    """

    network: Network
    log_likelihood: float
    history: Table
    attributes: dict[str, Any] = field(default_factory=dict)
    ties: Ties = NO_TIES


@dataclass(frozen=True)
class Work:
    """What a learner works with: the data, a seed, a clock and somebody to tell.

    ``given`` is the table with the rows of weight zero and the states that no row has, which
    ``table`` and ``data`` do not have.
    """

    given: Dataset
    table: Dataset
    data: PatternedData
    seed: int
    say: Say
    deadline: float | None
    interruptions: list[str] = field(default_factory=list)  # of learners that this one uses

    def seconds_left(self) -> float | None:
        """Time until the limit, never quite nothing; none if there is no limit."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.01)

    def check_interruptions(self) -> None:
        """Raise ``KeyboardInterrupt`` if it ended a learner that this one uses."""
        if self.interruptions:
            raise KeyboardInterrupt(self.interruptions[0])

    def is_late(self) -> bool:
        """Whether the time limit has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def adopt(self, network: Network) -> Network:
        """Return a network that the user gave with the states of the table.

        One that lacks some of them stays as it is, to be refused.
        """
        for variable in self.table.variables:
            known = (
                network.structure.states(variable.name) if variable.name in network.names else ()
            )
            if not set(variable.states or ()) <= set(known):
                return network
        return drop_states(network, self.table.variables)


class NetworkLearner(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the learners: fits a network to a table and scores rows with it."""

    max_iterations: int
    tolerance: float
    smoothing: Smoothing
    prior: Any
    n_jobs: int | None
    random_state: Any
    time_limit: float | None
    progress: Progress

    network_: Network
    history_: Table
    log_likelihood_: float
    n_parameters_: int
    bic_: float
    seconds_: float
    interrupted_: bool
    left_out_: dict[str, str]
    _places: list[int]
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

    def _learn_simplest(self, work: Work) -> Learned:
        """Learn a network at once, when Ctrl-C came before there was one; the time is up."""
        return self._learn(work)

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

        Examples
        --------
        >>> from latentforest import LatentClass
        >>> table = {"item": ["yes", "no", "yes", "no"], "score": [5.5, 1.0, 4.5, 0.5]}
        >>> model = LatentClass(1).fit(table, sample_weight=[2, 1, 1, 2])
        >>> round(float(model.network_.marginal("item")["yes"]), 6)
        0.5
        """
        began = time.monotonic()
        whole = self._read(X, sample_weight)
        given, declared, self.left_out_ = check_columns(whole)
        dataset = declared.with_seen_states(but=self._stated_columns())
        warn_of_unobserved(declared.variables, dataset)
        check_smoothing(getattr(self, "smoothing", None), Structure(dataset.variables, {}))
        seed = draw_seed(self.random_state)
        is_number = isinstance(self.time_limit, numbers.Real)
        if self.time_limit is not None and not (is_number and self.time_limit > 0):
            raise ParameterError(f"time_limit must be positive seconds, got {self.time_limit!r}")
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        with open_progress(self.progress) as say:
            data = PatternedData(dataset, self.n_jobs)
            work = Work(given, dataset, data, seed, say, deadline)
            learned = learn_in_any_case(self._learn, self._learn_simplest, work)
            learned = self._arrange(learned, declared.origin)
            left = make_late(work) if learned.attributes["interrupted"] else work
            network, is_over = hurry(left, lambda work: self._complete(work, learned))
            learned = mark_interrupted(learned) if is_over else learned
        features, self._places = list_features(whole, declared)
        self.n_features_in_ = len(features)
        self.variables_ = declared.variables
        if _has_names(X):
            self.feature_names_in_ = np.array(features, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.network_ = network
        self.history_ = learned.history
        self.log_likelihood_ = learned.log_likelihood
        self.n_parameters_ = learned.network.dimension
        summary = FitSummary(learned.log_likelihood, self.n_parameters_, dataset.total_weight)
        self.bic_ = bic(summary)
        for name, value in learned.attributes.items():
            setattr(self, name + "_", value)
        self._training, self._goodness = _keep_table(work.data.dataset), None
        self.seconds_ = time.monotonic() - began
        self.network_ = network.with_about(describe_fit(self, declared))
        return self

    def _arrange(self, learned: Learned, origin: Origin | None) -> Learned:
        """Put the states of latent variables in an order that says something."""
        declared = frozenset[str]() if origin is None else origin.ordered
        return replace(learned, network=order_states(learned.network, declared))

    def _stated_columns(self) -> Collection[str]:
        """Columns of which all states count, because the user gave pseudo-counts of each."""
        prior = getattr(self, "prior", None)
        return tuple(prior) if isinstance(prior, Mapping) else ()

    def _complete(self, work: Work, learned: Learned) -> Network:
        """Give the network all states that were declared, and parameters for new rows."""
        network, data = add_states(learned.network, work.given.variables), work.data
        smoothing = getattr(self, "smoothing", None)
        if network.structure != learned.network.structure:
            data = PatternedData(work.given.take(work.given.weights > 0), self.n_jobs)
        is_late = work.is_late() or bool(learned.attributes.get("interrupted"))
        if smoothing == "cv" and not is_late:
            work.say("smoothing: random folds")
        found = estimate_predictive(network, data, smoothing, learned.ties, is_late)
        return network.with_predictive(found)

    @property
    def notes_(self) -> tuple[str, ...]:
        """Hints about the result, in sentences: a choice that ended at the edge of its range."""
        check_is_fitted(self, "network_")
        return tuple(note_full_states(self.network_, getattr(self, "max_states", None)))

    def profiles(self, latent: str | None = None, columns: Sequence[str] | None = None) -> Table:
        """Say what the states of latent variables mean, as `Network.profiles` does.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> model = LatentClass(2, random_state=0).fit(datasets.load("role-conflict"))
        >>> print(model.profiles(columns=["D"]))
        column  value   bits    all      1      2
         class   size         1.000  0.721  0.279
             D      +  0.269  0.310  0.132  0.769
             D      -  0.269  0.690  0.868  0.231
        """
        check_is_fitted(self, "network_")
        return self.network_.profiles(latent, columns)

    def posteriors(self, X: Any, given: Sequence[str] | None = None) -> dict[str, FloatArray]:
        """Return the posterior of every latent variable for every row, by name.

        Parameters
        ----------
        X
            A table.
        given
            Names of the columns that are looked at, by default all; the others need not be there.

        Returns
        -------
        posteriors
            An array of shape (n_rows, n_states) for each latent variable. Without latent variables
            there is none.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> model = LatentClass(2, random_state=0).fit(data)
        >>> found = model.posteriors(data.take([0, 1]), given=["A"])
        >>> list(found), found["class"].shape
        (['class'], (2, 2))
        """
        self._encode_some(X, given)
        if self.network_.latents:
            raise ModelError("an average has no latent variables; each of models_ has its own")
        return {}

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
            seen = drop_states(self.network_, self._training.variables)
            found = goodness_of_fit(seen, self._training, n_jobs=self.n_jobs)
            self._goodness = found.to_table()
            self._release()
        return self._goodness

    def _release(self) -> None:
        """Let go of the training table, which nothing needs any more."""
        self._training = None

    @property
    def predictive_network_(self) -> Network:
        """The network with the parameters that meet new rows: what ``smoothing`` makes of it."""
        check_is_fitted(self, "network_")
        return self.network_.predictive

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row under the predictive parameters.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> model = LatentClass(2, random_state=0).fit(data)
        >>> model.score_samples(data).shape == (data.n_rows,)
        True
        """
        return self._predictive_rows(self._encode(X)).log_likelihoods()

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the weighted mean log-likelihood per row under the predictive parameters.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> round(LatentClass(2, random_state=0).fit(data).score(data), 3)
        -1.474
        """
        dataset = weigh(self._encode(X), sample_weight)
        values, used = self._predictive_rows(dataset).log_likelihoods(), dataset.weights > 0
        return float(np.sum(dataset.weights[used] * values[used]) / dataset.total_weight)

    def row_notes(self, X: Any) -> AnyArray:
        """Say of each row whether there is something odd about it.

        Returns
        -------
        ndarray of str objects, of shape (n_rows,)
            "" for an ordinary row; "unseen" if it has a value that is none of the column's states
            and counts as missing; "impossible" if the reported model (``network_``) gives it
            probability zero; "unseen, impossible" if both.

        Examples
        --------
        >>> from latentforest import ChowLiu
        >>> model = ChowLiu().fit({"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", "v"]})
        >>> model.row_notes({"a": ["x", "x"], "b": ["u", "v"]}).tolist()
        ['', 'impossible']
        """
        dataset = self._encode(X)
        impossible = np.isneginf(self._rows(dataset).log_likelihoods())
        return note_rows(dataset.unseen_rows, impossible)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Dataset:
        """Draw rows from the learned network.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> LatentClass(2, random_state=0).fit(data).sample(3, random_state=0)
        Dataset(3 rows, 4 columns: 4 categorical)
        """
        check_is_fitted(self, "network_")
        return self.network_.sample(n_samples, random_state=draw_seed(random_state))

    def predict_column(self, X: Any, column: str) -> AnyArray:
        """Predict a column from all others: the most probable state, or the expected number.

        A column whose states are all whole numbers gives whole numbers, one of true and false gives
        booleans, any other the names of the states. All of them are values that a table may hold.

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
        rows = hide_column(self._take_features(X), self.variables_, column, self._recipe())
        if self.network_.structure.variable(column).is_categorical:
            return name_states(self.network_, column, self._find_posteriors(rows, [column])[0][0])
        return predict_numbers(self.network_, rows, column, self.n_jobs)

    def predict_column_proba(self, X: Any, column: str) -> FloatArray:
        """Return the probabilities of a column's states given all others, one row for each row.

        Parameters
        ----------
        X, column
            As for ``predict_column``.

        Examples
        --------
        >>> from latentforest import LatentClass, datasets
        >>> data = datasets.load("hiv-tests")
        >>> model = LatentClass(2, random_state=0).fit(data)
        >>> model.predict_column_proba(data, "A").shape == (data.n_rows, 2)
        True
        """
        check_is_fitted(self, "network_")
        check_has_states(self.network_, column)
        rows = hide_column(self._take_features(X), self.variables_, column, self._recipe())
        return self._find_posteriors(rows, [column])[0][0]

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
        return encode_like(self._take_features(X), self.variables_, recipe=self._recipe())

    def _recipe(self) -> Recipe | None:
        """How tables are read; the weights of new rows are the caller's."""
        recipe = self.network_.recipe
        return None if recipe is None else replace(recipe, weight=None)

    def _take_features(self, X: Any) -> Any:
        """Columns of an array that were not left out."""
        is_whole = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == self.n_features_in_
        return take_features(X, getattr(self, "_places", None)) if is_whole else X

    def _encode_some(self, X: Any, given: Sequence[str] | None) -> Dataset:
        """Encode a table as if only some of its columns had values."""
        check_is_fitted(self, "network_")
        if given is None:
            return self._encode(X)
        return keep_columns(self._take_features(X), self.variables_, given, self._recipe())

    def _rows(self, dataset: Dataset) -> Rows:
        """What the reported model says of rows."""
        return Rows(self.network_, PatternedData(dataset, self.n_jobs))

    def _predictive_rows(self, dataset: Dataset) -> Rows:
        """What the model says of rows with the parameters for new ones."""
        return Rows(self.network_.predictive, PatternedData(dataset, self.n_jobs))

    def _find_posteriors(
        self, dataset: Dataset, names: Sequence[str]
    ) -> tuple[list[FloatArray], int]:
        """Posteriors under the reported model; of rows impossible there, under the predictive one.

        Also returns the number of these rows.
        """
        posteriors = self._rows(dataset).posteriors(names)
        impossible = np.zeros(dataset.n_rows, bool)
        for posterior in posteriors:
            impossible |= np.isnan(posterior[:, 0])
        if impossible.any():
            odd = dataset.with_weights(None).take(impossible)
            others = self._predictive_rows(odd).filled_posteriors(names)[0]
            for posterior, other in zip(posteriors, others, strict=True):
                posterior[impossible] = other
        return posteriors, int(np.count_nonzero(impossible))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags

    def __str__(self) -> str:
        if not is_fitted(self):
            return str(super().__repr__())
        return describe_model(self)

    def _html_repr(self) -> str:
        return write_model(self, super()._html_repr())


def _check_array(X: Any) -> Any:
    """Check arrays as scikit-learn does; frames and mappings are checked when they are encoded."""
    if isinstance(X, list | tuple):
        X = np.array(X, dtype=object) if _holds_text(X) else as_array(X)
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


def note_rows(unseen: BoolArray, impossible: BoolArray) -> AnyArray:
    """Put into words which rows have unknown values, and which are impossible."""
    notes = np.array(["", "unseen", "impossible", "unseen, impossible"], dtype=object)
    noted: AnyArray = notes[unseen.astype(np.intp) + 2 * impossible]
    return noted


def draw_seed(random_state: Any) -> int:
    """Turn a seed, a generator or nothing into a seed."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def warn_of_unobserved(declared: Sequence[Variable], kept: Dataset) -> None:
    """Name the states that were declared but do not occur, and say whether they count."""
    dropped = _list_lost(declared, kept.variables)
    counted = _list_lost(kept.variables, kept.with_seen_states().variables)
    for listed, said in (
        (dropped, "do not count as parameters, and have probability zero but for new rows"),
        (counted, "count as parameters, because the prior has a share for each of them"),
    ):
        if listed:
            more = f"; and {len(listed) - 5} more columns" if len(listed) > 5 else ""
            warnings.warn(
                f"states that no row has {said}: {'; '.join(listed[:5])}{more}",
                UnobservedStatesWarning,
                stacklevel=3,
            )


def _list_lost(some: Sequence[Variable], fewer: Sequence[Variable]) -> list[str]:
    """Columns with the states that they have here and not there."""
    listed = []
    for one, other in zip(some, fewer, strict=True):
        lost = [state for state in one.states or () if state not in (other.states or ())]
        if lost:
            listed.append(f"column {one.name!r}: {list_briefly(lost, 5)}")
    return listed
