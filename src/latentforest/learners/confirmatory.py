"""Confirmatory models: the user states the structure, its parameters are estimated."""

from __future__ import annotations

import numbers
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latentforest.data import Dataset, Variable, encode_like
from latentforest.data.columns.findings import Origin
from latentforest.data.lookup import list_briefly
from latentforest.data.results.table import Table
from latentforest.errors import LatentForestWarning, ModelError, ParameterError
from latentforest.estimation import em
from latentforest.estimation.em import EMSettings, FitResult, Monitor
from latentforest.estimation.priors import Smoothing, pseudo_counts
from latentforest.estimation.starts import count_starts, random_starts
from latentforest.formats import FORMATS, load
from latentforest.inference.engine import Engine, make_engine
from latentforest.kernels.types import FloatArray
from latentforest.learners.common.base import Learned, Work, weigh
from latentforest.learners.common.finish import warn_of_bounds
from latentforest.learners.common.latent_learner import LatentLearner
from latentforest.learners.common.progress import Progress
from latentforest.model import Network, Structure
from latentforest.model.notation import read_structure
from latentforest.model.state_edits import replace_variables
from latentforest.scores.criteria import FitSummary, bic

Stated = Structure | Network | str | os.PathLike[str]


class ConfirmatoryModel(LatentLearner):
    """A structure that the user states, fitted to a table by EM.

    Parameters
    ----------
    structure
        Text such as ``"X[2] -> A, B, C; A, C -> D"`` (see ``model.notation``), a file of such text,
        a `Structure`, a `Network` or the file of one (.json, .bif). A network's parameters are a
        start beside the random ones, and its states keep their order. Columns that are not named
        are left out, with a warning.
    n_starts
        Random starts; a pyramid of short runs picks one. By default as many as cost little: 128 for
        small tables, down to 16 for large ones.
    max_iterations, tolerance
        EM stops after so many iterations, or when one gains at most so much per row. Both are set
        for three reliable decimals of G², which EM nears slowly in models like these.
    smoothing
        Of the parameters for new rows, ``predictive_network_``: "auto" (weights of pseudo-counts
        chosen by evidence), "cv" (by random folds), a number for each cell, or 0 for none.
    prior
        Fits with pseudo-counts (maximum a posteriori). Pseudo-counts: a number for each table cell,
        "none", "laplace", or arrays by variable. Those of a Gaussian are observations with the mean
        and variance of its column.
    n_jobs
        Threads; the result does not depend on it.
    random_state
        Seed.
    time_limit
        Seconds after which the best parameters so far are taken.
    progress
        True shows what is going on; a function gets each message.

    Attributes
    ----------
    network_, log_likelihood_, n_parameters_, bic_, history_
        As for every learner.
    monitor_
        How EM went.
    interrupted_
        True if Ctrl-C ended EM early.

    Examples
    --------
    >>> from latentforest import datasets
    >>> data = datasets.load("role-conflict")
    >>> model = ConfirmatoryModel("X[2] -> A, B, C, D", random_state=0).fit(data)
    >>> round(model.log_likelihood_, 2), model.n_parameters_
    (-504.47, 9)
    """

    def __init__(
        self,
        structure: Stated,
        n_starts: int | None = None,
        max_iterations: int = 10_000,
        tolerance: float = 1e-11,
        smoothing: Smoothing = "auto",
        prior: Smoothing = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_limit: float | None = None,
        progress: Progress = None,
    ) -> None:
        self.structure = structure
        self.n_starts = n_starts
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.smoothing = smoothing
        self.prior = prior
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.time_limit = time_limit
        self.progress = progress

    def find_columns(self, table: Dataset) -> tuple[Variable, ...]:
        """Return the columns of a table that the structure names.

        Examples
        --------
        >>> from latentforest import datasets
        >>> model = ConfirmatoryModel("X[2] -> A, B")
        >>> [column.name for column in model.find_columns(datasets.load("hiv-tests"))]
        ['A', 'B']
        """
        model = _open(self.structure)
        if not isinstance(model, Structure | Network):
            model = read_structure(model, table.variables)
        return tuple(variable for variable in model.variables if not variable.latent)

    def _read(self, X: Any, sample_weight: ArrayLike | None) -> Dataset:
        """Read the columns that the structure names; from an array without names, all."""
        model = _open(self.structure)
        if isinstance(model, Structure | Network):
            variables = [each for each in model.variables if not each.latent]
            _warn_of_others(_list_names(X), [variable.name for variable in variables])
            if not isinstance(X, Dataset) or X.variables != tuple(variables):
                X = encode_like(X, variables, unseen="error")
            return weigh(X, sample_weight)
        dataset = super()._read(X, sample_weight)
        named = read_structure(model, dataset.variables).observed
        if _list_names(X) is None:
            return dataset
        _warn_of_others(dataset.names, named)
        return dataset.select(named)

    def _learn(self, work: Work) -> Learned:
        settings = self._check()
        began = time.monotonic()
        model = _open(self.structure)
        if not isinstance(model, Structure | Network):
            model = read_structure(model, work.table.variables)
        if isinstance(model, Network):
            model = work.adopt(model)
        structure = replace_variables(
            model.structure if isinstance(model, Network) else model, work.table.variables
        )
        engine = make_engine(structure, work.data)
        result = self._fit(work, engine, self._make_starts(work, engine, model), settings)
        warn_of_bounds(result)
        network = Network(structure, result.parameters)
        row = {
            "log_likelihood": result.log_likelihood,
            "n_parameters": network.dimension,
            "bic": bic(
                FitSummary(result.log_likelihood, network.dimension, work.data.total_weight)
            ),
            "iterations": result.monitor.n_iterations,
            "converged": result.monitor.converged,
            "seconds": time.monotonic() - began,
        }
        return Learned(
            network,
            result.log_likelihood,
            Table.from_rows([row]),
            {"monitor": result.monitor, "interrupted": result.monitor.was_interrupted},
        )

    def _arrange(self, learned: Learned, origin: Origin | None) -> Learned:
        """Leave the states of a network that was given as they are."""
        is_given = isinstance(_open(self.structure), Network)
        return learned if is_given else super()._arrange(learned, origin)

    def _check(self) -> EMSettings:
        """Refuse settings that make no sense before any work is done."""
        is_count = isinstance(self.n_starts, numbers.Integral) and self.n_starts >= 1
        if self.n_starts is not None and not is_count:
            raise ParameterError(f"n_starts must be at least 1, got {self.n_starts!r}")
        return EMSettings(self.max_iterations, self.tolerance)

    def _make_starts(self, work: Work, engine: Engine, model: Structure | Network) -> FloatArray:
        n_starts = count_starts(engine) if self.n_starts is None else int(self.n_starts)
        starts = random_starts(
            engine.structure, work.data.dataset, n_starts, work.seed, work.data.summary
        )
        if isinstance(model, Network):
            starts = np.concatenate([model.parameters[None], starts])
        return starts

    def _fit(self, work: Work, engine: Any, starts: FloatArray, settings: EMSettings) -> FitResult:
        """Run EM."""

        def tell(monitor: Monitor) -> None:
            work.say(f"fit: iteration {monitor.n_iterations}")

        work.say(f"fit: {len(starts)} starts")
        prior = pseudo_counts(engine.structure, self.prior)
        return em.fit(engine, starts, prior, settings, tell, work.deadline)


def fit(
    structure: Stated, data: Any, *, sample_weight: ArrayLike | None = None, **settings: Any
) -> ConfirmatoryModel:
    """Estimate the parameters of a structure.

    Parameters
    ----------
    structure
        As text, `Structure`, `Network` or file: see `ConfirmatoryModel`.
    data
        ``Dataset``, pandas, polars or pyarrow frame, dict of columns, or array.
    sample_weight
        Weight of each row; multiplies the weights of a ``Dataset``.
    settings
        ``n_starts``, ``smoothing``, ``prior``, ``max_iterations``, ``tolerance``, ``n_jobs``,
        ``random_state``, ``time_limit``, ``progress``, as for `ConfirmatoryModel`.

    Examples
    --------
    >>> from latentforest import datasets
    >>> model = fit("X[2] -> A, B, C, D", datasets.load("role-conflict"), random_state=0)
    >>> round(model.bic_, 2)
    -528.66
    >>> print(model.network_)
    X (latent, 2 states: 0.72 0.28)
    └── A (2), B (2), C (2), D (2)
    """
    return ConfirmatoryModel(structure, **settings).fit(data, sample_weight=sample_weight)


def _open(stated: Stated) -> Stated:
    """Return a structure, a network, or what text is read from."""
    if isinstance(stated, Network):
        if stated.n_tied:
            raise ModelError(
                f"{stated.n_tied} parameters of the network are equal to others by design, which "
                "cannot be kept here; state its structure (network.structure) to let them differ"
            )
        return stated
    if isinstance(stated, Structure) or (isinstance(stated, str) and "->" in stated):
        return stated
    if isinstance(stated, str | os.PathLike):
        is_model = os.fspath(stated).lower().endswith(tuple(FORMATS))
        return _open(load(stated)) if is_model else stated
    raise ParameterError(
        f"structure must be text, a Structure, a Network or a file, got {type(stated).__name__}"
    )


def _list_names(X: Any) -> Sequence[str] | None:
    """Names of the columns of a table; nothing for arrays and lists of rows."""
    if isinstance(X, Dataset):
        return X.names
    if isinstance(X, Mapping):
        return list(X)
    for attribute in ("column_names", "columns"):
        if hasattr(X, attribute):
            return list(map(str, getattr(X, attribute)))
    return None


def _warn_of_others(names: Sequence[str] | None, named: Sequence[str]) -> None:
    others = [name for name in names or () if name not in set(named)]
    if others:
        warnings.warn(
            f"columns that the structure does not name are left out: {list_briefly(others)}",
            LatentForestWarning,
            stacklevel=4,
        )
