"""Dataset: an immutable table of encoded columns with a weight per row."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentforest.data.columns.findings import Origin
from latentforest.data.columns.missing_texts import Missing
from latentforest.data.columns.raw_column import smallest_code_type
from latentforest.data.columns.recipe import Recipe, plan_encoding, read_recipe
from latentforest.data.columns.state_names import DEFAULT_MISSING
from latentforest.data.encode import (
    Encoding,
    Kinds,
    Weights,
    encode_table,
    freeze,
    read_weights,
)
from latentforest.data.lookup import check_unique, find_name
from latentforest.data.merge import merge_rows
from latentforest.data.sources import open_table
from latentforest.data.table_hash import hash_table
from latentforest.data.variable import Variable
from latentforest.errors import DataError, ParameterError


class Dataset:
    """A table of categorical codes and continuous values, with a weight per row.

    A categorical column holds state numbers in the smallest signed integer type that fits,
    -1 for missing; a continuous column holds float64, NaN for missing. All arrays are
    read-only: a writable array is copied, a read-only one is kept.

    Parameters
    ----------
    variables
        One for each column.
    columns
        Arrays of shape (n_rows,).
    weights
        Shape (n_rows,), not negative and not all zero; all ones if left out.
    origin
        What the table was before it was encoded, if that is known.
    labels
        What columns are about, by name, such as the wording of a question.

    Examples
    --------
    >>> colour = Variable("colour", ("green", "red"))
    >>> data = Dataset([colour, Variable("size")], [[0, 1, -1], [1.5, 2.0, 1.5]])
    >>> data
    Dataset(3 rows, 2 columns: 1 categorical, 1 continuous; 1 missing value)
    >>> data.counts("colour").tolist()
    [1.0, 1.0]
    """

    __slots__ = (
        "_columns",
        "_labels",
        "_names",
        "_origin",
        "_places",
        "_unseen",
        "_variables",
        "_weights",
    )

    def __init__(
        self,
        variables: Sequence[Variable],
        columns: Sequence[ArrayLike],
        weights: ArrayLike | None = None,
        origin: Origin | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self._origin = origin
        self._variables = tuple(variables)
        self._names = tuple(variable.name for variable in self._variables)
        if not self._variables:
            raise DataError("a table needs at least one column, got none")
        if len(columns) != len(self._variables):
            raise DataError(f"{len(self._variables)} variables, but {len(columns)} columns")
        check_unique(self._names)
        self._places = {name: place for place, name in enumerate(self._names)}
        self._columns = tuple(map(_check_column, self._variables, columns))
        self._check_lengths()
        self._weights = _check_weights(weights, len(self._columns[0]))
        self._unseen: NDArray[np.bool_] | None = None
        known = labels or {}
        self._labels = {name: known[name] for name in self._names if name in known}

    @classmethod
    def from_table(
        cls,
        table: object,
        *,
        kinds: Kinds | None = None,
        states: Mapping[str, Sequence[object]] | None = None,
        weights: Weights | None = None,
        missing: Missing | None = None,
        names: Sequence[str] | None = None,
        vocabulary: Mapping[str, int] | Sequence[str] | None = None,
        counts: str = "presence",
        decimal: str | None = None,
        recipe: Recipe | str | os.PathLike[str] | None = None,
    ) -> Dataset:
        """Encode a table.

        Text, booleans and categorical types become categorical. So do whole numbers (also those
        written as text) with at most 20 distinct values; other numbers become continuous.
        States keep the order of a pandas categorical, polars Enum or Arrow dictionary. Otherwise
        numbers are sorted by size, the words of a known scale (such as *never* to *always*) and
        bands (such as ``18-24``, ``65+``) from low to high, all else by the alphabet.

        Parameters
        ----------
        table
            A pandas, polars or Arrow table, a two-dimensional NumPy array, a sparse matrix of
            counts, a mapping from names to columns, a list of rows, or a Dataset.
        kinds
            ``"categorical"`` or ``"continuous"`` for all columns, or a mapping for some.
        states
            All states of some columns, in their order; their kind is then categorical. A value
            finds its state as text, as an equal number, or as true or false.
        weights
            Name of the column that holds the row weights, or an array of shape (n_rows,).
        missing
            Texts that mean "no value", in addition to ``None``, NaN and the like; if left out,
            the usual ones such as ``NA``. A text that is a number, such as ``"-9"``, also matches
            that number. A mapping from columns to such lists adds to the usual texts in these.
        names
            Column names of an array or a list of rows; ``x0``, ``x1``, … if left out.
        vocabulary
            Column names of a sparse matrix: words in their order, or a mapping from words to
            columns, such as the ``vocabulary_`` of a ``CountVectorizer``.
        counts
            Of a sparse matrix: ``"presence"`` makes 1 of all counts above 0, ``"values"`` keeps
            them.
        decimal
            The decimal mark of texts that are numbers, ``"."`` or ``","``, where both are possible.
        recipe
            A `Recipe`, or the TOML file of one. The other arguments win over it.

        Examples
        --------
        >>> data = Dataset.from_table({"sex": ["f", "m", "?"], "age": [31.5, 40.0, 27.2]})
        >>> data.variable("sex").states
        ('f', 'm')
        >>> data.column("sex").tolist()
        [0, 1, -1]
        """
        if isinstance(table, Dataset):
            if any(each is not None for each in (kinds, states, names, decimal, recipe)):
                raise ParameterError(
                    "kinds=, states=, names=, decimal= and recipe= do not apply to a Dataset, "
                    "which is encoded already"
                )
            return table._reweighted(weights)
        raw = open_table(table, names, vocabulary, counts)
        asked = Encoding(kinds, {} if states is None else states, decimal=decimal)
        asked, weights = plan_encoding(read_recipe(recipe), raw.names, asked, weights, missing)
        return cls(*encode_table(raw, asked, weights))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Variables in the order of the columns."""
        return self._variables

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """Encoded columns, each of shape (n_rows,)."""
        return self._columns

    @property
    def weights(self) -> NDArray[np.float64]:
        """Row weights, shape (n_rows,)."""
        return self._weights

    @property
    def labels(self) -> dict[str, str]:
        """What columns are about, by name; columns without such a text are not in it."""
        return dict(self._labels)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names."""
        return self._names

    @property
    def left_out(self) -> Mapping[str, str]:
        """Columns that were left out when the table was encoded, and why."""
        return {} if self._origin is None else dict(self._origin.left_out)

    @property
    def recipe(self) -> Recipe | None:
        """How the table was read, if not in the usual way."""
        return None if self._origin is None else self._origin.recipe

    @property
    def origin(self) -> Origin | None:
        """What the table was before it was encoded, if that is known."""
        return self._origin

    @property
    def n_rows(self) -> int:
        """Number of rows, whatever their weights."""
        return len(self._weights)

    @property
    def n_columns(self) -> int:
        """Number of columns, weights not included."""
        return len(self._columns)

    @property
    def total_weight(self) -> float:
        """Sum of the row weights."""
        return float(self._weights.sum())

    @property
    def hash(self) -> str:
        """SHA-256 of what the table says: names and kinds of columns, values, weights.

        It is the same for any order of rows, columns and states, and whether or not equal rows
        are merged. States that no row has, and rows of weight zero, do not count.

        Examples
        --------
        >>> one = Dataset.from_table({"a": ["x", "y", "x"], "b": [1.5, 2.5, 1.5]})
        >>> other = one.select(["b", "a"]).merged()[0]
        >>> one.hash == other.hash, one.hash == one.take([0, 1]).hash
        (True, False)
        """
        return hash_table(self._variables, self._columns, self._weights)

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        return sum(int(np.count_nonzero(_missing(column))) for column in self._columns)

    @property
    def has_missing(self) -> bool:
        """True if at least one value is missing."""
        return any(bool(_missing(column).any()) for column in self._columns)

    @property
    def unseen_rows(self) -> NDArray[np.bool_]:
        """Rows in which `encode_like` met a value that the variables do not have, (n_rows,)."""
        return np.zeros(self.n_rows, bool) if self._unseen is None else self._unseen

    def with_unseen_rows(self, rows: NDArray[np.bool_] | None) -> Dataset:
        """Mark the rows in which a value counts as missing that the variables do not have."""
        marks = None if rows is None else np.array(rows, bool)
        return self._derive(self._variables, self._columns, self._weights, marks)

    def index(self, name: str) -> int:
        """Position of a column."""
        try:
            return self._places[name]
        except (KeyError, TypeError):
            return find_name(name, self._names)

    def column(self, name: str) -> NDArray[Any]:
        """Encoded values of a column, shape (n_rows,)."""
        return self._columns[self.index(name)]

    def variable(self, name: str) -> Variable:
        """Variable of a column."""
        return self._variables[self.index(name)]

    def select(self, names: Sequence[str]) -> Dataset:
        """Keep some columns, in the order given."""
        if isinstance(names, str):
            raise ParameterError(f"select() takes a list of names, got {names!r}")
        keep = [self.index(name) for name in names]
        columns = [self._columns[i] for i in keep]
        variables = [self._variables[i] for i in keep]
        return self._derive(variables, columns, self._weights, self._unseen)

    def take(self, rows: ArrayLike) -> Dataset:
        """Keep some rows: row numbers in the order given, or a boolean mask."""
        which = np.atleast_1d(np.asarray(rows))
        if which.size == 0:
            which = which.astype(np.intp)
        try:
            columns = [freeze(column[which]) for column in self._columns]
            unseen = None if self._unseen is None else self._unseen[which]
            return self._derive(self._variables, columns, freeze(self._weights[which]), unseen)
        except IndexError as error:
            message = f"take(): rows do not fit a table of {self.n_rows} rows: {error}"
        raise DataError(message)

    def with_weights(self, weights: ArrayLike | None) -> Dataset:
        """Replace the row weights; ``None`` makes all of them 1."""
        return self._derive(self._variables, self._columns, weights, self._unseen)

    def with_seen_states(self, but: Collection[str] = ()) -> Dataset:
        """Return the same table without the states that no row of positive weight has.

        A column of which nothing is seen keeps its states.

        Parameters
        ----------
        but
            Names of further columns that keep their states.

        Examples
        --------
        >>> data = Dataset([Variable("a", ("x", "y", "z"))], [[0, 2, 2]])
        >>> data.with_seen_states().variables[0].states
        ('x', 'z')
        """
        variables, columns = list(self._variables), list(self._columns)
        for j, variable in enumerate(variables):
            states = variable.states if variable.name not in but else None
            seen: list[int] = np.flatnonzero(self.counts(variable.name)).tolist() if states else []
            if states and 0 < len(seen) < len(states):
                codes = np.full(len(states) + 1, -1)
                codes[seen] = np.arange(len(seen))
                variables[j] = replace(variable, states=tuple(states[k] for k in seen))
                columns[j] = codes[columns[j]]
        if variables == list(self._variables):
            return self
        return self._derive(variables, columns, self._weights, self._unseen)

    def merged(self) -> tuple[Dataset, NDArray[np.intp]]:
        """Merge equal rows and add up their weights.

        Returns
        -------
        dataset
            One row for each distinct row, in order of first occurrence.
        inverse
            Shape (n_rows,): the merged row that each row went to.

        Examples
        --------
        >>> data = Dataset([Variable("a", ("no", "yes"))], [[1, 0, 1]])
        >>> merged, inverse = data.merged()
        >>> merged.decode("a").tolist(), merged.weights.tolist(), inverse.tolist()
        (['yes', 'no'], [2.0, 1.0], [0, 1, 0])
        """
        first, inverse = merge_rows(self._columns)
        if len(first) == self.n_rows:
            return self, inverse
        weights = np.bincount(inverse, weights=self._weights, minlength=len(first))
        columns = [freeze(column[first]) for column in self._columns]
        unseen = None if self._unseen is None else np.bincount(inverse, self._unseen) > 0
        return self._derive(self._variables, columns, freeze(weights), unseen), inverse

    def counts(self, name: str) -> NDArray[np.float64]:
        """Total weight of each state of a categorical column, shape (n_states,)."""
        n_states = self.variable(name).n_states
        codes = self.column(name).astype(np.intp)
        counts = np.bincount(codes + 1, weights=self._weights, minlength=n_states + 1)
        return counts[1:].astype(np.float64)

    def decode(self, name: str) -> NDArray[Any]:
        """State names, ``None`` for missing; a continuous column's own values.

        Names are texts, also of whole numbers and booleans.
        """
        states = self.variable(name).states
        if states is None:
            return self.column(name)
        table: NDArray[Any] = np.array([*states, None], dtype=object)
        decoded: NDArray[Any] = table[self.column(name)]
        return decoded

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Decode every column."""
        return {name: self.decode(name) for name in self._names}

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        categorical = sum(variable.is_categorical for variable in self._variables)
        counts = {"categorical": categorical, "continuous": self.n_columns - categorical}
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        parts = [
            f"{_count(self.n_rows, 'row')}, {_count(self.n_columns, 'column')}: {kinds}",
            "" if np.all(self._weights == 1) else f"total weight {self.total_weight:g}",
            _count(self.n_missing, "missing value") if self.has_missing else "",
        ]
        return f"Dataset({'; '.join(filter(None, parts))})"

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self._variables, self._columns, self._weights, self._origin, self._labels)
        return Dataset, values, self._unseen

    def __setstate__(self, unseen: NDArray[np.bool_]) -> None:
        self._unseen = unseen

    def _derive(
        self,
        variables: Sequence[Variable],
        columns: Sequence[ArrayLike],
        weights: ArrayLike | None,
        unseen: NDArray[np.bool_] | None,
    ) -> Dataset:
        """Make a table of the same origin and labels, with marks of its own rows."""
        data = Dataset(variables, columns, weights, self._origin, self._labels)
        data._unseen = None if unseen is None or not unseen.any() else freeze(unseen)
        return data

    def _check_lengths(self) -> None:
        n_rows = len(self._columns[0])
        if n_rows == 0:
            raise DataError("a table needs at least one row, got none")
        for name, column in zip(self._names, self._columns, strict=True):
            if len(column) != n_rows:
                raise DataError(
                    f"column {name!r} has {len(column)} rows, "
                    f"but column {self._names[0]!r} has {n_rows}"
                )

    def _reweighted(self, weights: Weights | None) -> Dataset:
        """Apply the weights of ``from_table``: a column's name or an array."""
        if weights is None:
            return self
        if not isinstance(weights, str):
            return self.with_weights(weights)
        others = [name for name in self._names if name != weights]
        values = self.column(weights)
        if self.variable(weights).is_categorical:
            raw = open_table({weights: self.decode(weights)})
            return self.select(others).with_weights(read_weights(raw, weights, DEFAULT_MISSING))
        return self.select(others).with_weights(values)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    missing: NDArray[np.bool_] = np.isnan(column) if column.dtype.kind == "f" else column < 0
    return missing


def _check_column(variable: Variable, values: ArrayLike) -> NDArray[Any]:
    """Column in its final type, read-only."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"column {variable.name!r} must have one dimension, got {array.ndim}")
    check = _check_codes if variable.is_categorical else _check_numbers
    return check(variable, array)


def _check_codes(variable: Variable, codes: NDArray[Any]) -> NDArray[Any]:
    if codes.size and codes.dtype.kind not in "iu":
        raise DataError(
            f"column {variable.name!r} is categorical and needs integer codes, got {codes.dtype}; "
            "use Dataset.from_table for tables that are not encoded"
        )
    if codes.size and (codes.min() < -1 or codes.max() >= variable.n_states):
        row = int(np.argmax((codes < -1) | (codes >= variable.n_states)))
        raise DataError(
            f"column {variable.name!r}, row {row}: code {codes[row]}, "
            f"expected -1 (missing) to {variable.n_states - 1}"
        )
    return _own(codes, smallest_code_type(variable.n_states))


def _check_numbers(variable: Variable, values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind not in "iuf":
        raise DataError(
            f"column {variable.name!r} is continuous and needs numbers, got {values.dtype}; "
            "use Dataset.from_table for tables that are not encoded"
        )
    infinite = np.isinf(values)
    if infinite.any():
        row = int(infinite.argmax())
        raise DataError(
            f"column {variable.name!r}, row {row} (counted from 0): {values[row]} is not allowed; "
            "expected finite numbers, or NaN for missing"
        )
    return _own(values, np.float64)


def _check_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    if weights is None:
        return freeze(np.ones(n_rows))
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf" or array.shape != (n_rows,):
        raise DataError(
            f"weights must be {n_rows} numbers, one per row; "
            f"got shape {array.shape} of type {array.dtype}"
        )
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"the weight of row {row} (counted from 0) is {array[row]}; "
            "expected a finite number that is not negative"
        )
    if not array.any():
        raise DataError("all weights are zero; at least one row must count")
    return _own(array, np.float64)


def _own(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Read-only contiguous array of this type; a writable array is copied."""
    if array.dtype == dtype and array.flags.c_contiguous and not array.flags.writeable:
        return array
    return freeze(np.array(array, dtype=dtype, order="C"))
