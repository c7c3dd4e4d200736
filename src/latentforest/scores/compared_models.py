"""Models that are compared: each with its own table, and what it says of the rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from latentforest.data import Dataset, encode_like
from latentforest.errors import ModelError, ParameterError
from latentforest.formats import load
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import AnyArray, BoolArray, FloatArray
from latentforest.model.network import Network
from latentforest.scores.criteria import FitSummary, bic

Models = Mapping[str, Any] | Sequence[Any]


class ComparedModel:
    """A model and what it says of the rows of a table.

    Parameters
    ----------
    name
        What the model is called.
    model
        A fitted learner, a network or a model file.
    data
        Any table that has the model's columns. A ``Dataset`` of the model's variables is taken as
        it is.
    n_jobs
        Threads.
    """

    def __init__(self, name: str, model: Any, data: Any, n_jobs: int | None = None) -> None:
        self.name, self._model, self._n_jobs = name, model, n_jobs
        self.network = _find_network(name, model)
        self.table = _encode(self.network, data)
        patterned = PatternedData(self.table, n_jobs)
        expected = self.network.with_parameters(self.network.parameters)  # without a posterior
        rows = Rows(expected, patterned)
        self.reported = rows.log_likelihoods()
        self.predictive = self.predict(self.table)
        self.states: list[AnyArray] = [
            np.argmax(posterior, axis=1)
            for posterior in rows.filled_posteriors(self.network.latents)[0]
        ]

    @property
    def columns(self) -> dict[str, bool]:
        """Names of the columns, and whether they are categorical."""
        return {variable.name: variable.is_categorical for variable in self.table.variables}

    @property
    def weights(self) -> FloatArray:
        """Weight of each row."""
        return self.table.weights

    @cached_property
    def was_fitted(self) -> bool | None:
        """Whether the model was fitted to these rows, as its record says; None if there is none."""
        record = self.network.record
        known = None if record is None else record.table.get("hash")
        return None if known is None else bool(self.table.hash == known)

    @property
    def dimension(self) -> int:
        """Number of free parameters."""
        return self.network.dimension

    def predict(self, table: Dataset) -> FloatArray:
        """Return the log-likelihood of each row under the predictive parameters."""
        if isinstance(getattr(self._model, "network_", None), Network):
            scores: FloatArray = self._model.score_samples(table)  # of an average, that of all
            return scores
        return Rows(self.network.predictive, PatternedData(table, self._n_jobs)).log_likelihoods()

    def predict_without(self, hidden: Mapping[str, BoolArray]) -> FloatArray:
        """Return the same where some cells are missing: rows by column."""
        columns = []
        for name, column in zip(self.table.names, self.table.columns, strict=True):
            gap = np.nan if column.dtype.kind == "f" else -1
            columns.append(np.where(hidden[name], gap, column) if name in hidden else column)
        return self.predict(Dataset(self.table.variables, columns, self.weights))

    def describe(self) -> dict[str, Any]:
        """A row of the table of models."""
        used = self.weights > 0
        total = float(self.weights[used] @ self.reported[used])
        mean = float(self.weights[used] @ self.predictive[used]) / self.table.total_weight
        return {
            "model": self.name,
            "log_likelihood": total,
            "n_parameters": self.dimension,
            "bic": bic(FitSummary(total, self.dimension, self.table.total_weight)),
            "predictive_per_row": mean,
            "n_columns": self.table.n_columns,
            "n_latents": len(self.network.latents),
            "fitted": self.was_fitted,
            "impossible_rows": int(np.count_nonzero(np.isneginf(self.reported) & used)),
        }


def read_models(models: Models) -> dict[str, Any]:
    """Models by name."""
    if isinstance(models, Mapping):
        given = {str(name): model for name, model in models.items()}
    elif isinstance(models, Sequence) and not isinstance(models, str):
        given = {_name(model, place): model for place, model in enumerate(models, 1)}
        if len(given) < len(models):
            given = {f"{place} {_name(m, place)}": m for place, m in enumerate(models, 1)}
    else:
        raise ParameterError(
            f"models: got {models!r}, expected a list of models or names with them"
        )
    if not given:
        raise ParameterError("models: got none, expected at least one")
    return given


def check_same_rows(models: Sequence[ComparedModel]) -> None:
    """Refuse tables of different rows, or of different weights."""
    first = models[0]
    for other in models[1:]:
        if other.table.n_rows != first.table.n_rows:
            raise ModelError(
                f"the models {first.name!r} and {other.name!r} got different tables: "
                f"{first.table.n_rows:,} and {other.table.n_rows:,} rows"
            )
        if not np.array_equal(other.weights, first.weights):
            raise ModelError(
                f"the models {first.name!r} and {other.name!r} weigh the rows differently, as "
                "they remember from the tables that they were learned from; pass a Dataset, whose "
                "weights count for all"
            )


def find_hidden(
    first: ComparedModel, second: ComparedModel
) -> tuple[dict[str, BoolArray], dict[str, BoolArray], tuple[str, ...]]:
    """Find the cells that only one of two models can look at.

    Returns
    -------
    hidden_first, hidden_second
        Rows by column: cells that the model has a value for and the other has not, because it
        lacks the column, or does not know the value.
    shared
        Columns of the same kind that both have, in the order of the first.
    """
    ours, theirs = first.columns, second.columns
    shared = tuple(name for name, kind in ours.items() if theirs.get(name) is kind)
    known = {name: (_is_there(first.table, name), _is_there(second.table, name)) for name in shared}
    return (
        _list_hidden(first.table, {name: pair[1] for name, pair in known.items()}),
        _list_hidden(second.table, {name: pair[0] for name, pair in known.items()}),
        shared,
    )


def _list_hidden(table: Dataset, others: Mapping[str, BoolArray]) -> dict[str, BoolArray]:
    hidden = {}
    for name in table.names:
        there = _is_there(table, name)
        gone = there & ~others[name] if name in others else there
        if gone.any() or name not in others:
            hidden[name] = gone
    return hidden


def _is_there(table: Dataset, name: str) -> BoolArray:
    column = table.column(name)
    there: BoolArray = ~np.isnan(column) if column.dtype.kind == "f" else column >= 0
    return there


def _name(model: Any, place: int) -> str:
    if isinstance(model, str | os.PathLike):
        return Path(model).name
    return f"model {place}" if isinstance(model, Network) else type(model).__name__


def _find_network(name: str, model: Any) -> Network:
    if isinstance(model, str | os.PathLike):
        model = load(model)
    network = getattr(model, "network_", model)
    if not isinstance(network, Network):
        raise ParameterError(
            f"models: {name!r} is a {type(model).__name__}, expected a fitted learner, a network "
            "or a model file"
        )
    if not network.observed:
        raise ModelError(f"the model {name!r} has no observed variable, so it says nothing of rows")
    return network


def _encode(network: Network, data: Any) -> Dataset:
    variables = [network.structure.variable(each) for each in network.observed]
    if isinstance(data, Dataset) and data.variables == tuple(variables):
        return data
    return encode_like(data, variables, recipe=network.recipe)
