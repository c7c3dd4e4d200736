"""Predicting one column from the others, with any network."""

from __future__ import annotations

from typing import Any

import numpy as np

from latentforest.data import Dataset, Variable, encode_like
from latentforest.data.recipe import Recipe
from latentforest.errors import ParameterError
from latentforest.inference.completions import complete_rows
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model import Network


def hide_column(
    X: Any, variables: tuple[Variable, ...], column: str, recipe: Recipe | None = None
) -> Dataset:
    """Encode a table as if one of its columns had no value, or were not there at all."""
    if column not in [variable.name for variable in variables]:
        names = ", ".join(variable.name for variable in variables[:10])
        raise ParameterError(f"there is no column {column!r}; columns are {names}")
    others = [variable for variable in variables if variable.name != column]
    is_array = isinstance(X, np.ndarray) and X.ndim == 2
    if is_array and X.shape[1] == len(variables):
        X = np.delete(X, [variable.name for variable in variables].index(column), axis=1)
    known = encode_like(X, others, recipe=recipe)
    columns = dict(zip(known.names, known.columns, strict=True))
    is_number = not next(v for v in variables if v.name == column).is_categorical
    nothing = np.full(known.n_rows, np.nan if is_number else -1)
    return Dataset(
        variables, [columns.get(variable.name, nothing) for variable in variables], known.weights
    )


def find_probabilities(
    network: Network, rows: Dataset, column: str, n_jobs: int | None
) -> FloatArray:
    """Return the probabilities of a column's states in each row, ``(n_rows, n_states)``.

    A row that the network holds for impossible gets those without any evidence.
    """
    if not network.structure.variable(column).is_categorical:
        raise ParameterError(f"column {column!r} is continuous; it has no probabilities of states")
    found, _ = Rows(network, PatternedData(rows, n_jobs)).filled_posteriors([column])
    return found[0]


def predict_values(network: Network, rows: Dataset, column: str, n_jobs: int | None) -> AnyArray:
    """Return the most probable state of a column in each row, or the expectation of a number."""
    variable = network.structure.variable(column)
    if not variable.is_categorical:
        filled: AnyArray = complete_rows(network, rows, None, n_jobs)[0].column(column)
        return filled
    best = np.argmax(find_probabilities(network, rows, column, n_jobs), axis=1)
    labels: AnyArray = np.array(variable.states, dtype=object)[best]
    return labels
