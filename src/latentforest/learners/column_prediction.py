"""Predicting one column from the others, with any network."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentforest.data import Dataset, Variable, encode_like
from latentforest.errors import ParameterError
from latentforest.inference.completions import complete_rows
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model import Network


def hide_column(X: Any, variables: tuple[Variable, ...], column: str) -> Dataset:
    """Encode a table as if one of its columns had no value, or were not there at all."""
    if column not in [variable.name for variable in variables]:
        names = ", ".join(variable.name for variable in variables[:10])
        raise ParameterError(f"there is no column {column!r}; columns are {names}")
    others = [variable for variable in variables if variable.name != column]
    is_array = isinstance(X, np.ndarray) and X.ndim == 2
    if is_array and X.shape[1] == len(variables):
        X = np.delete(X, [variable.name for variable in variables].index(column), axis=1)
    known = encode_like(X, others)
    columns = dict(zip(known.names, known.columns, strict=True))
    is_number = not next(v for v in variables if v.name == column).is_categorical
    nothing = np.full(known.n_rows, np.nan if is_number else -1)
    return Dataset(
        variables, [columns.get(variable.name, nothing) for variable in variables], known.weights
    )


def check_has_states(network: Network, column: str) -> None:
    """Refuse a column of numbers."""
    if column in network.structure.continuous:
        raise ParameterError(f"column {column!r} is continuous; it has no probabilities of states")


def name_states(network: Network, column: str, probabilities: FloatArray) -> AnyArray:
    """Return the most probable state in each row."""
    states = np.array(network.structure.states(column), dtype=object)
    labels: AnyArray = states[np.argmax(probabilities, axis=1)]
    return labels


def predict_numbers(network: Network, rows: Dataset, column: str, n_jobs: int | None) -> AnyArray:
    """Return the expectation of a number in each row; of impossible ones, by other parameters."""
    filled: AnyArray = complete_rows(network, rows, None, n_jobs)[0].column(column)
    lost = np.isnan(filled)
    if lost.any() and network.predictive is not network:
        odd, filled = rows.take(lost), filled.copy()
        filled[lost] = complete_rows(network.predictive, odd, None, n_jobs)[0].column(column)
    return filled
