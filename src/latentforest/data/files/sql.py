"""Reads the result of a query through ADBC or a DB-API connection."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from typing import Any

from latentforest.data.columns.missing_texts import Missing
from latentforest.data.columns.raw_column import RawTable
from latentforest.data.columns.recipe import Recipe, plan_encoding, read_recipe
from latentforest.data.dataset import Dataset
from latentforest.data.encode import Encoding, Kinds, Weights, encode_table
from latentforest.data.files.arrow_file import open_arrow
from latentforest.data.intern import intern_objects
from latentforest.errors import DataError, ParameterError

_PIECE = 10_000


def read_sql(
    query: str,
    connection: Any,
    *,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    kinds: Kinds | None = None,
    states: Mapping[str, Sequence[object]] | None = None,
    weights: Weights | None = None,
    missing: Missing | None = None,
    columns: Collection[str] | None = None,
    exclude: Collection[str] = (),
    decimal: str | None = None,
    recipe: Recipe | str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read the result of a query.

    Parameters
    ----------
    query
        A statement that gives rows.
    connection
        An open connection of ADBC, whose result arrives in columns, or of any DB-API driver
        (``sqlite3``, ``psycopg``, …). It stays open.
    parameters
        Values for the placeholders of the query, in the driver's own notation.
    kinds, states, weights, missing, columns, exclude, decimal, recipe
        As for ``read``.

    Examples
    --------
    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("create table survey (smokes text, age real)")
    >>> _ = connection.execute("insert into survey values ('yes', 31.5), ('no', null)")
    >>> read_sql("select * from survey", connection)
    Dataset(2 rows, 2 columns: 1 categorical, 1 continuous; 1 missing value)
    """
    if not hasattr(connection, "cursor"):
        raise ParameterError(
            f"connection: got {type(connection).__name__}, expected a connection of ADBC or of a "
            "DB-API driver (of SQLAlchemy, engine.raw_connection())"
        )
    with closing(connection.cursor()) as cursor:
        cursor.execute(query, *(() if parameters is None else (parameters,)))
        if hasattr(cursor, "fetch_arrow_table"):
            table = open_arrow("the query", cursor.fetch_arrow_table())
        else:
            table = _fetch(cursor)
    asked = Encoding(kinds, states or {}, columns=columns, exclude=exclude, decimal=decimal)
    options, weights = plan_encoding(read_recipe(recipe), table.names, asked, weights, missing)
    return Dataset(*encode_table(table, options, weights))


def _fetch(cursor: Any) -> RawTable:
    if cursor.description is None:
        raise DataError("the query gives no rows: expected a statement such as 'select …'")
    names = tuple(str(entry[0]) for entry in cursor.description)
    columns: list[list[Any]] = [[] for _ in names]
    while rows := cursor.fetchmany(_PIECE):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
    return RawTable(names, len(columns[0]), lambda i: intern_objects(columns[i], names[i]))
