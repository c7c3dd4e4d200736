"""Sparse matrices and bags of words, one byte a cell: never a dense matrix of floats."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.raw_column import Categories, Numbers, RawColumn, RawTable
from latentforest.data.variable import Variable
from latentforest.errors import DataError, FileFormatError, ParameterError, ReadingWarning

_PRESENCE = ("0", "1")
_COUNTS = ("presence", "values")


def is_sparse(table: object) -> bool:
    """Whether a table is a sparse matrix or array of scipy."""
    return hasattr(table, "tocsc") and hasattr(table, "nnz")


def open_sparse(
    matrix: Any,
    names: Sequence[str] | None = None,
    vocabulary: Mapping[str, int] | Sequence[str] | None = None,
    counts: str = "presence",
) -> RawTable:
    """View a sparse matrix column by column.

    Parameters
    ----------
    matrix
        Of shape (n_rows, n_columns), such as ``CountVectorizer`` makes.
    names, vocabulary
        Names of the columns: a list, or a mapping from words to columns.
    counts
        ``"presence"``: every column has the states 0 and 1, and what is not zero is 1.
        ``"values"``: whole numbers are kept.
    """
    if counts not in _COUNTS:
        raise ParameterError(f"counts: got {counts!r}, expected 'presence' or 'values'")
    columns = _check_matrix(matrix)
    listed = name_words(columns.shape[1], names, vocabulary)
    if counts == "presence" and columns.nnz and columns.data.max() > 1:
        warnings.warn(
            "the sparse matrix has counts above 1, of which only presence is kept; pass "
            "counts='values' to keep them",
            ReadingWarning,
            stacklevel=5,
        )

    def column(i: int) -> RawColumn:
        return _find_presence(columns, i) if counts == "presence" else _find_values(columns, i)

    return RawTable(
        listed, columns.shape[0], column, positional=names is None and vocabulary is None
    )


def open_sparse_like(matrix: Any, variables: Sequence[Variable]) -> RawTable:
    """View a sparse matrix as a model's table: presence where a variable has the states 0 and 1."""
    columns = _check_matrix(matrix)
    width = columns.shape[1]
    presence = [variable.states == _PRESENCE for variable in variables]

    def column(i: int) -> RawColumn:
        return _find_presence(columns, i) if presence[i] else _find_values(columns, i)

    return RawTable(name_words(width, None, None), columns.shape[0], column, positional=True)


def read_sparse(
    path: Path, vocabulary: Mapping[str, int] | Sequence[str] | Path | None, counts: str
) -> RawTable:
    """Read a matrix that scipy saved (``.npz``) or one in the Matrix Market format (``.mtx``)."""
    from scipy import io, sparse

    with path.open("rb") as file:
        is_archive = file.read(2) == b"PK"
    try:
        matrix = sparse.load_npz(path) if is_archive else io.mmread(path)
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path} is not a sparse matrix: {error}") from None
    if not is_sparse(matrix):
        raise FileFormatError(f"{path} holds a dense matrix, expected a sparse one")
    return open_sparse(matrix, None, read_words(vocabulary), counts)


def read_words(
    vocabulary: Mapping[str, int] | Sequence[str] | Path | None,
) -> Mapping[str, int] | Sequence[str] | None:
    """Words of a vocabulary; those of a file are its lines."""
    if isinstance(vocabulary, str | Path):
        lines = Path(vocabulary).read_text(encoding="utf-8-sig").splitlines()
        return [line.strip() for line in lines if line.strip()]
    return vocabulary


def name_words(
    width: int, names: Sequence[str] | None, vocabulary: Mapping[str, int] | Sequence[str] | None
) -> tuple[str, ...]:
    """Names of the columns of a matrix: given, of a vocabulary, or x0, x1, …"""
    if names is not None and vocabulary is not None:
        raise ParameterError("names= and vocabulary= say the same; pass one of them")
    if isinstance(vocabulary, Mapping):
        names = sorted(vocabulary, key=lambda word: vocabulary[word])
        if [int(vocabulary[word]) for word in names] != list(range(width)):
            raise DataError(
                f"vocabulary: expected a word for each of the columns 0 to {width - 1}, got "
                f"{len(names)} words"
            )
    elif vocabulary is not None:
        names = vocabulary
    listed = tuple(f"x{i}" for i in range(width)) if names is None else tuple(map(str, names))
    if len(listed) != width:
        raise DataError(f"the array has {width} columns, but {len(listed)} names were given")
    return listed


def _check_matrix(matrix: Any) -> Any:
    if len(matrix.shape) != 2:
        raise DataError(f"a sparse matrix must have two dimensions, got {len(matrix.shape)}")
    columns = matrix.tocsc()
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    data = columns.data
    if data.dtype.kind not in "biuf":
        raise DataError(f"a sparse matrix must hold numbers, got {data.dtype}")
    if data.dtype.kind == "f" and (data != np.floor(data)).any():
        raise DataError(
            "the sparse matrix holds fractions or NaN; expected counts: pass the matrix != 0 for "
            "presence, or a dense array for continuous columns"
        )
    if data.dtype.kind != "b" and (data < 0).any():
        raise DataError("the sparse matrix holds negative numbers; expected counts")
    return columns


def _slice(columns: Any, i: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows and values of a column."""
    part = slice(columns.indptr[i], columns.indptr[i + 1])
    return columns.indices[part], columns.data[part]


def _find_presence(columns: Any, i: int) -> Categories:
    rows, values = _slice(columns, i)
    codes = np.zeros(columns.shape[0], dtype=np.int8)
    codes[rows[values != 0]] = 1
    return Categories(_PRESENCE, codes, declared=True)


def _find_values(columns: Any, i: int) -> Numbers:
    rows, values = _slice(columns, i)
    whole = np.zeros(columns.shape[0], dtype=np.int64)
    whole[rows] = values
    return Numbers(whole)
