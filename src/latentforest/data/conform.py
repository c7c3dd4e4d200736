"""Encodes a new table with the variables that a model was trained on."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.column_checks import Reader, relabel
from latentforest.data.columns.missing_texts import Missing, check_missing, texts_of
from latentforest.data.columns.raw_column import (
    Categories,
    Numbers,
    RawColumn,
    RawTable,
    drop_missing,
    to_floats,
)
from latentforest.data.columns.recipe import Recipe
from latentforest.data.dataset import Dataset
from latentforest.data.encode import Weights, encode_known, freeze, list_markers, read_weights
from latentforest.data.files.sparse import is_sparse, open_sparse_like
from latentforest.data.lookup import check_unique, find_name, list_briefly
from latentforest.data.sources import open_table
from latentforest.data.values import list_states
from latentforest.data.variable import Variable
from latentforest.errors import DataError, ParameterError, UnseenStatesWarning
from latentforest.visible import make_encodable

_LISTED_COLUMNS = 5
_LISTED_STATES = 5


def encode_like(
    table: object,
    variables: Sequence[Variable],
    *,
    unseen: str = "missing",
    weights: Weights | None = None,
    missing: Missing | None = None,
    recipe: Recipe | None = None,
) -> Dataset:
    """Encode a table with given variables.

    Columns are found by name in tables that have names (other columns are ignored), and by
    position in arrays and lists of rows. Values find their states as text, as equal numbers, or as
    true and false.

    Parameters
    ----------
    table
        Anything that ``Dataset.from_table`` takes.
    variables
        Variables of the result, in its order.
    unseen
        What to do with states that a variable does not have: ``"missing"`` counts them as
        missing, with one warning, and `Dataset.unseen_rows` says where; ``"error"`` raises an
        error. A column that has values, but none that is known, is always an error.
    weights
        Name of the column that holds the row weights, or an array of shape (n_rows,). A
        Dataset keeps its own weights if this is left out.
    missing
        Texts that mean "no value", unless they are states of the variable; if left out, those of
        the recipe, or the usual ones.
    recipe
        How the model's own table was read: its missing texts, labels and decimal mark apply, and
        its weights if the table has that column.

    Examples
    --------
    >>> data = encode_like({"b": [1, 2], "a": ["x", "y"]}, [Variable("a", ("y", "x"))])
    >>> data.column("a").tolist()
    [1, 0]
    """
    if unseen not in ("missing", "error"):
        raise ParameterError(f"unseen: got {unseen!r}, expected 'missing' or 'error'")
    how = recipe or Recipe()
    texts = how.texts() if missing is None else check_missing(missing)
    if isinstance(table, Dataset):
        weights, how = table.weights if weights is None else weights, Recipe()
        table = open_dataset(table)
    if is_sparse(table):
        table = open_sparse_like(table, variables)
    raw = open_table(table)
    if weights is None and how.weight in raw.names:
        weights = how.weight
    raw = _keep_weights(raw, weights)
    reader = Reader(how.decimal)
    positions = _match_columns(raw, variables)
    columns: list[NDArray[Any]] = []
    unknown: dict[str, list[str]] = {}
    rows = np.zeros(raw.n_rows, bool)
    for variable, position in zip(variables, positions, strict=True):
        markers = list_markers(variable, texts_of(texts, variable.name))
        given = drop_missing(raw.column(position), markers)
        given = relabel(given, how.labels.get(variable.name, {}))
        column, names = _encode_one(given, variable, markers, reader)
        columns.append(column)
        if names:
            unknown[variable.name] = names
            rows |= _find_unknown(given, column)
            if unseen == "missing":
                _check_known(variable, column, names)
    _report(unknown, unseen)
    labels = {} if raw.positional else raw.labels
    data = Dataset(variables, columns, read_weights(raw, weights, texts), labels=labels)
    return data.with_unseen_rows(rows) if unknown else data


def _find_unknown(column: RawColumn, codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Rows that have a value, but none of the variable's."""
    has_value = column.codes >= 0 if isinstance(column, Categories) else ~np.isnan(column.values)
    unknown: NDArray[np.bool_] = has_value & (codes < 0)
    return unknown


def _keep_weights(table: RawTable, weights: Weights | None) -> RawTable:
    """The same table, whose weights column can be fetched twice."""
    if not isinstance(weights, str):
        return table
    place = find_name(weights, table.names)
    kept = table.column(place)
    return replace(table, column=lambda i: kept if i == place else table.column(i))


def open_dataset(data: Dataset) -> RawTable:
    """View an encoded table column by column."""

    def column(i: int) -> RawColumn:
        states = data.variables[i].states
        if states is None:
            return Numbers(data.columns[i])
        return Categories(states, data.columns[i], declared=True)

    return RawTable(data.names, data.n_rows, column, labels=data.labels)


def _match_columns(table: RawTable, variables: Sequence[Variable]) -> list[int]:
    """Position in the table of each variable's column."""
    if table.positional:
        if len(table.names) != len(variables):
            raise DataError(
                f"the array has {len(table.names)} columns, expected {len(variables)}: "
                f"{list_briefly(variable.name for variable in variables)}"
            )
        return list(range(len(variables)))
    check_unique(table.names)
    position = {name: i for i, name in enumerate(table.names)}
    for variable in variables:  # files write halves of characters as escapes
        written = make_encodable(variable.name)
        if variable.name not in position and written in position:
            position[variable.name] = position[written]
    absent = [variable.name for variable in variables if variable.name not in position]
    if absent:
        raise DataError(
            f"the table lacks the column{'s' if len(absent) > 1 else ''} {list_briefly(absent)}; "
            f"it has {list_briefly(table.names)}"
        )
    return [position[variable.name] for variable in variables]


def _encode_one(
    column: RawColumn, variable: Variable, missing: Collection[str], reader: Reader
) -> tuple[NDArray[Any], list[str]]:
    if variable.is_categorical:
        return encode_known(column, variable, missing)
    column = reader.read_numbers(column, variable.name, "continuous")
    return freeze(to_floats(column, variable.name)), []


def _check_known(variable: Variable, column: NDArray[Any], unknown: Sequence[str]) -> None:
    """Refuse a column without any known value, which is coded otherwise or is another column."""
    if (column < 0).all():
        raise DataError(
            f"column {variable.name!r}: none of its values is known: it holds "
            f"{list_briefly(unknown, _LISTED_STATES)}, expected "
            f"{list_states(variable.states or ())}; if they are meant to count as missing, make "
            "them missing in the table"
        )


def _report(unknown: Mapping[str, Sequence[str]], unseen: str) -> None:
    """One warning or error for all states that the variables do not have."""
    if not unknown:
        return
    listed = [
        f"column {name!r}: {list_briefly(states, _LISTED_STATES)}"
        for name, states in list(unknown.items())[:_LISTED_COLUMNS]
    ]
    if len(unknown) > _LISTED_COLUMNS:
        listed.append(f"and {len(unknown) - _LISTED_COLUMNS} more columns")
    text = "; ".join(listed)
    if unseen == "error":
        raise DataError(f"states that are not known: {text}")
    message = f"states that were not seen before count as missing: {text}"
    warnings.warn(message, UnseenStatesWarning, stacklevel=3)
