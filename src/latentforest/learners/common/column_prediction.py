"""Predicting one column from the others, with any network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from latentforest.data import Dataset, Variable, encode_like
from latentforest.data.columns.recipe import Recipe
from latentforest.data.values import restore_values
from latentforest.errors import ParameterError
from latentforest.inference.completions import complete_rows
from latentforest.kernels.types import AnyArray, FloatArray
from latentforest.model import Network


def hide_column(
    X: Any, variables: tuple[Variable, ...], column: str, recipe: Recipe | None = None
) -> Dataset:
    """Encode a table as if one of its columns had no value, or were not there at all."""
    _check_names(variables, [column])
    return keep_columns(X, variables, [v.name for v in variables if v.name != column], recipe)


def keep_columns(
    X: Any, variables: tuple[Variable, ...], names: Sequence[str], recipe: Recipe | None = None
) -> Dataset:
    """Encode a table as if only some of its columns had values, or were there at all."""
    names = [names] if isinstance(names, str) else list(names)
    _check_names(variables, names)
    kept = [variable for variable in variables if variable.name in names]
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == len(variables):
        X = X[:, [variable.name in names for variable in variables]]
    if not kept:
        raise ParameterError("given: expected the name of at least one column, got none")
    known = encode_like(X, kept, recipe=recipe)
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


def check_has_states(network: Network, column: str) -> None:
    """Refuse a column of numbers."""
    if column in network.structure.continuous:
        raise ParameterError(f"column {column!r} is continuous; it has no probabilities of states")


def name_states(network: Network, column: str, probabilities: FloatArray) -> AnyArray:
    """Return the most probable value in each row."""
    values: AnyArray = restore_values(network.structure.states(column))
    best: AnyArray = values[np.argmax(probabilities, axis=1)]
    return best


def predict_numbers(network: Network, rows: Dataset, column: str, n_jobs: int | None) -> AnyArray:
    """Return the expectation of a number in each row; of impossible ones, by other parameters."""
    filled: AnyArray = complete_rows(network, rows, None, n_jobs)[0].column(column)
    lost = np.isnan(filled)
    if lost.any() and network.predictive is not network:
        odd, filled = rows.take(lost), filled.copy()
        filled[lost] = complete_rows(network.predictive, odd, None, n_jobs)[0].column(column)
    return filled
