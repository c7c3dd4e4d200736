"""Predicting one column from the others, with any network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from latentforest.data import Dataset, Variable, encode_like
from latentforest.errors import ParameterError
from latentforest.inference.completions import complete_rows
from latentforest.inference.forest import PatternedData
from latentforest.inference.rows import Rows
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model import Network


def hide_column(X: Any, variables: tuple[Variable, ...], column: str) -> Dataset:
    """Encode a table as if one of its columns had no value, or were not there at all."""
    _check_names(variables, [column])
    return keep_columns(X, variables, [v.name for v in variables if v.name != column])


def keep_columns(X: Any, variables: tuple[Variable, ...], names: Sequence[str]) -> Dataset:
    """Encode a table as if only some of its columns had values, or were there at all."""
    names = [names] if isinstance(names, str) else list(names)
    _check_names(variables, names)
    kept = [variable for variable in variables if variable.name in names]
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == len(variables):
        X = X[:, [variable.name in names for variable in variables]]
    if not kept:
        raise ParameterError("given: expected the name of at least one column, got none")
    known = encode_like(X, kept)
    columns = dict(zip(known.names, known.columns, strict=True))
    nothing = {True: np.full(known.n_rows, -1), False: np.full(known.n_rows, np.nan)}
    return Dataset(
        variables,
        [columns.get(each.name, nothing[each.is_categorical]) for each in variables],
        known.weights,
    )


def _check_names(variables: tuple[Variable, ...], names: Sequence[str]) -> None:
    known = [variable.name for variable in variables]
    for name in names:
        if name not in known:
            shown = ", ".join(known[:10]) + (", …" if len(known) > 10 else "")
            raise ParameterError(f"there is no column {name!r}; columns are {shown}")


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
