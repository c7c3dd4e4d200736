"""From tables to variables and encoded columns: kinds, states, missing values, weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.column_checks import Reader, relabel
from latentforest.data.columns.findings import Origin, explain_left_out, warn_of
from latentforest.data.columns.missing_texts import AMONG_NUMBERS, MissingTexts, texts_of
from latentforest.data.columns.raw_column import (
    Categories,
    Codes,
    Kind,
    RawColumn,
    RawTable,
    drop_missing,
    find_text,
    infer_kind,
    label_numbers,
    name_labels,
    smallest_code_type,
    to_floats,
)
from latentforest.data.columns.scales import order_states
from latentforest.data.columns.state_names import (
    DEFAULT_MISSING,
    name_numeric_text,
    name_value,
    sort_names,
)
from latentforest.data.lookup import check_unique, find_name, list_briefly
from latentforest.data.values import StateFinder
from latentforest.data.variable import Variable
from latentforest.errors import DataError, ParameterError

if TYPE_CHECKING:
    from latentforest.data.columns.recipe import Recipe

Kinds: TypeAlias = Kind | Mapping[str, Kind]
Weights: TypeAlias = str | Sequence[float] | NDArray[Any]
_KINDS = ("categorical", "continuous")


@dataclass(frozen=True, slots=True)
class Encoding:
    """What the caller wants to be different from what would be inferred."""

    kinds: Kinds | None = None
    states: Mapping[str, Sequence[object]] = field(default_factory=dict)
    missing: Collection[str] = DEFAULT_MISSING
    columns: Collection[str] | None = None
    exclude: Collection[str] = ()
    decimal: str | None = None
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    recipe: Recipe | None = None

    def check(self, names: Sequence[str]) -> None:
        """Raise an error for unknown columns and kinds."""
        if not isinstance(self.states, Mapping):
            raise ParameterError(f"states: got {self.states!r}, expected lists by column name")
        kinds = self.kinds if isinstance(self.kinds, Mapping) else {}
        by_column = self.missing.by_column if isinstance(self.missing, MissingTexts) else ()
        stated = (*kinds, *self.states, *self.labels, *by_column)
        for name in (*stated, *(self.columns or ()), *self.exclude):
            find_name(name, names)
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal: got {self.decimal!r}, expected '.' or ','")
        for kind in kinds.values() if isinstance(self.kinds, Mapping) else (self.kinds,):
            if kind is not None and kind not in _KINDS:
                raise ParameterError(f"kinds: got {kind!r}, expected 'categorical' or 'continuous'")
        for name in self.states:
            if self.kind_of(name) == "continuous":
                raise ParameterError(f"column {name!r} has states= but its kind is 'continuous'")

    def keeps(self, name: str) -> bool:
        """Whether a column is to be read."""
        return (self.columns is None or name in self.columns) and name not in self.exclude

    def kind_of(self, name: str) -> Kind | None:
        """Kind that the caller asked for."""
        if isinstance(self.kinds, Mapping):
            return self.kinds.get(name)
        return None if name in self.states else self.kinds

    def labels_of(self, name: str) -> Mapping[str, str]:
        """Labels that the caller gave for values of a column."""
        return self.labels.get(name, {})

    def is_explicit(self, name: str) -> bool:
        """Whether the caller said what a column is."""
        return self.kind_of(name) is not None or name in self.states or name in self.labels

    def needs_text(self, name: str) -> bool:
        """Whether the text of a column matters even if all of it is numbers."""
        is_categorical = name in self.states or self.kind_of(name) == "categorical"
        return is_categorical or name in self.labels or self.decimal == ","

    def settles_missing(self, name: str) -> bool:
        """Whether the caller said which values of this very column are missing."""
        return isinstance(self.missing, MissingTexts) and name in self.missing.by_column


def encode_table(
    table: RawTable, encoding: Encoding, weights: Weights | None = None
) -> tuple[list[Variable], list[NDArray[Any]], NDArray[Any] | None, Origin]:
    """Variables, columns and row weights of a table, and what it was before.

    Dates, texts that are all distinct and columns without any value are left out, unless the
    caller said what they are. One warning tells of each kind of oddity.
    """
    check_unique(table.names)
    if table.names and table.n_rows == 0:
        raise DataError("a table needs at least one row, got none")
    encoding.check(table.names)
    positions = [i for i, name in enumerate(table.names) if encoding.keeps(name)]
    if table.names and not positions:
        raise ParameterError("exclude= leaves no column")
    if isinstance(weights, str):
        place = find_name(weights, table.names)
        positions = [i for i in positions if i != place]
    row_weights = read_weights(table, weights, encoding.missing)
    reader = Reader(encoding.decimal)
    encoded = _encode_columns(table, positions, encoding, reader)
    names = tuple(table.names[i] for i in positions)
    left_out = explain_left_out(reader.findings)
    if positions and not encoded:
        raise DataError(f"no column is left: {_list_reasons(left_out)}")
    warn_of(reader.findings)
    explicit = frozenset(filter(encoding.is_explicit, names))
    ordered = frozenset({*reader.ordered, *encoding.states} & set(names))
    findings = tuple(reader.findings)
    origin = Origin(names, left_out, encoding.recipe, explicit, findings, ordered)
    variables = [encoded[i][0] for i in positions if i in encoded]
    return variables, [encoded[i][1] for i in positions if i in encoded], row_weights, origin


def _encode_columns(
    table: RawTable, positions: Sequence[int], encoding: Encoding, reader: Reader
) -> dict[int, tuple[Variable, NDArray[Any]]]:
    """Variable and values by position; columns whose decimal mark is not sure come last."""
    encoded, waiting = {}, {}
    for i in positions:
        column = table.column(i)
        reader.note_order(column, table.names[i])
        if reader.is_unsure(column):
            waiting[i] = column
            continue
        found = _understand(column, table.names[i], encoding, reader)
        if found is not None:
            encoded[i] = found
    for i, column in waiting.items():
        found = _understand(column, table.names[i], encoding, reader)
        if found is not None:
            encoded[i] = found
    return encoded


def _understand(
    column: RawColumn, name: str, encoding: Encoding, reader: Reader
) -> tuple[Variable, NDArray[Any]] | None:
    """Variable and values of a column, or nothing if it has no place in a model."""
    if name in encoding.states:
        return encode_column(column, name, encoding)
    column = relabel(
        drop_missing(column, texts_of(encoding.missing, name)), encoding.labels_of(name)
    )
    column = reader.read_numbers(column, name, encoding.kind_of(name))
    if not encoding.is_explicit(name) and reader.is_left_out(column, name):
        return None
    variable, values = encode_column(column, name, encoding)
    if not encoding.settles_missing(name):
        reader.check_values(variable, values)
    return variable, values


def _list_reasons(left_out: Mapping[str, str]) -> str:
    listed = [f"{name!r} ({reason})" for name, reason in left_out.items()]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")


def read_weights(
    table: RawTable, weights: Weights | None, missing: Collection[str]
) -> NDArray[Any] | None:
    """Row weights from a column of the table or from an array."""
    if isinstance(weights, str):
        column = table.column(find_name(weights, table.names))
        column = drop_missing(column, texts_of(missing, weights))
        column = Reader(None).read_numbers(column, weights, "continuous")
        found = find_text(column)
        if found is not None:
            row, value = found
            raise DataError(
                f"weights column {weights!r}, row {row} (counted from 0): {value!r} is not a number"
            )
        return to_floats(column, weights)
    return None if weights is None else np.asarray(weights)


def encode_column(
    column: RawColumn, name: str, encoding: Encoding
) -> tuple[Variable, NDArray[Any]]:
    """Variable and encoded values of one column."""
    states = encoding.states.get(name)
    if states is not None:
        column = relabel(column, encoding.labels_of(name))
        return _encode_with_states(column, name, states, texts_of(encoding.missing, name))
    column = drop_missing(column, texts_of(encoding.missing, name))
    kind = encoding.kind_of(name) or infer_kind(column)
    if kind == "continuous":
        return Variable(name), freeze(to_floats(column, name))
    labels = column if isinstance(column, Categories) else label_numbers(column.values)
    return _encode_states(labels, name)


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only, which lets a Dataset keep it without a copy."""
    array.flags.writeable = False
    return array


def _encode_states(column: Categories, name: str) -> tuple[Variable, Codes]:
    if column.declared:
        names = [name_value(label) for label in column.labels]
        states = list(dict.fromkeys(names))
    else:
        names = name_labels(column.labels)
        states = order_states(set(names))
    if not states:
        raise DataError(
            f"column {name!r} holds no value at all, so its states are unknown; drop it, or pass "
            f"states={{{name!r}: [...]}} or kinds={{{name!r}: 'continuous'}}"
        )
    index = {state: code for code, state in enumerate(states)}
    codes = recode(column.codes, [index[label] for label in names], len(states))
    return Variable(name, tuple(states)), codes


def recode(codes: Codes, new_codes: Sequence[int], n_states: int) -> Codes:
    """Replace each code by its new code; missing stays missing. The result is read-only."""
    table = np.array([*new_codes, -1], dtype=smallest_code_type(n_states))
    return freeze(table[codes])


def _encode_with_states(
    column: RawColumn, name: str, states: Sequence[object], missing: Collection[str]
) -> tuple[Variable, Codes]:
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise ParameterError(f"states of column {name!r} must be a list of names, got {states!r}")
    variable = Variable(name, tuple(name_value(state) for state in states))
    codes, unknown = encode_known(column, variable, missing)
    if unknown:
        raise DataError(
            f"column {name!r} holds {list_briefly(unknown)}, "
            f"but its states are {list_briefly(variable.states or ())}"
        )
    return variable, codes


def list_markers(variable: Variable, missing: Collection[str]) -> list[str]:
    """Texts that mean "no value" in the column of a variable, whose states never do."""
    states = variable.states or ()
    if states and all(name_numeric_text(state) is not None for state in states):
        missing = (*missing, *AMONG_NUMBERS)
    return [text for text in missing if text not in states]


def encode_known(
    column: RawColumn, variable: Variable, missing: Collection[str]
) -> tuple[Codes, list[str]]:
    """Codes in a variable's own states, and the names found that are none of them.

    A name that is a state never counts as a missing marker. Values find their states by the rule
    of `StateFinder`.
    """
    states = variable.states or ()
    column = drop_missing(column, list_markers(variable, missing))
    labels = column if isinstance(column, Categories) else label_numbers(column.values)
    finder = StateFinder(states)
    matches = [finder.find(label) for label in labels.labels]
    found = [-1 if code is None else code for code in matches]
    codes = recode(labels.codes, found, len(states))
    if -1 not in found:
        return codes, []
    seen = set(np.unique(labels.codes).tolist()) if labels.declared else range(len(found))
    unknown = [k for k, code in enumerate(found) if code < 0 and k in seen]
    return codes, sort_names({name_value(labels.labels[k]) for k in unknown})
