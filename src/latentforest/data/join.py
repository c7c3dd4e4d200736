"""Several tables of the same columns as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.raw_column import (
    Categories,
    Numbers,
    RawColumn,
    RawTable,
    label_numbers,
    smallest_code_type,
)
from latentforest.data.lookup import check_unique, find_name, list_briefly
from latentforest.errors import DataError

#: Floats tell whole numbers apart up to this.
_EXACT = 2**53


def join_tables(tables: Sequence[RawTable], sources: Sequence[object]) -> RawTable:
    """Put tables one below the other; columns are found by name, states are united.

    Parameters
    ----------
    tables
        Tables with the same columns, in any order.
    sources
        Their names, for messages.
    """
    first = tables[0]
    if len(tables) == 1:
        return first
    for table, source in zip(tables, sources, strict=True):
        check_unique(table.names)
        _check_same(first, table, sources[0], source)
    names = first.names
    places = [[find_name(name, table.names) for name in names] for table in tables]

    def column(i: int) -> RawColumn:
        pieces = [table.column(place[i]) for table, place in zip(tables, places, strict=True)]
        return join_columns(pieces)

    labels = {name: text for table in reversed(tables) for name, text in table.labels.items()}
    n_rows = sum(table.n_rows for table in tables)
    return RawTable(names, n_rows, column, weights=_join_weights(tables), labels=labels)


def _check_same(first: RawTable, other: RawTable, source: object, other_source: object) -> None:
    absent = [name for name in first.names if name not in other.names]
    new = [name for name in other.names if name not in first.names]
    if not absent and not new:
        return
    differences = [f"lacks {list_briefly(absent)}"] if absent else []
    differences += [f"also has {list_briefly(new)}"] if new else []
    raise DataError(
        f"the tables must have the same columns, but {other_source} {' and '.join(differences)}, "
        f"compared with {source}"
    )


def _join_weights(tables: Sequence[RawTable]) -> NDArray[Any] | None:
    if all(table.weights is None for table in tables):
        return None
    weights = [np.ones(t.n_rows) if t.weights is None else t.weights for t in tables]
    return np.concatenate(weights)


def join_columns(pieces: Sequence[RawColumn]) -> RawColumn:
    """One column below the other; numbers stay numbers if all pieces are."""
    kinds = {piece.kind for piece in pieces}
    kind = kinds.pop() if len(kinds) == 1 else None
    numbers = [piece.values for piece in pieces if isinstance(piece, Numbers)]
    if len(numbers) == len(pieces) and _are_exact_together(numbers):
        return Numbers(np.concatenate(numbers), kind)
    tables = [p if isinstance(p, Categories) else label_numbers(p.values) for p in pieces]
    index: dict[tuple[type, object], int] = {}
    parts = []
    for table in tables:
        new = [index.setdefault((type(label), label), len(index)) for label in table.labels]
        parts.append(np.array([*new, -1], dtype=np.int32)[table.codes])
    codes = np.concatenate(parts).astype(smallest_code_type(len(index)))
    declared = all(table.declared for table in tables)
    return Categories([label for _, label in index], codes, declared, kind)


def _are_exact_together(arrays: Sequence[NDArray[Any]]) -> bool:
    """Whether joining loses nothing: all of one type, or no integer too large for a float."""
    if len({array.dtype for array in arrays}) == 1:
        return True
    whole = [array for array in arrays if array.dtype.kind in "iu" and array.size]
    return all(int(a.max()) <= _EXACT and int(a.min()) >= -_EXACT for a in whole)
