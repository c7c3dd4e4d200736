"""From tables to variables and encoded columns: kinds, states, missing values, weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latentforest.data.lookup import check_unique, find_name, list_briefly
from latentforest.data.raw_column import (
    Codes,
    Kind,
    Labels,
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
from latentforest.data.scales import order_states
from latentforest.data.state_names import (
    DEFAULT_MISSING,
    name_value,
    sort_names,
)
from latentforest.data.values import StateFinder
from latentforest.data.variable import Variable
from latentforest.errors import DataError, ParameterError

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

    def check(self, names: Sequence[str]) -> None:
        """Raise an error for unknown columns and kinds."""
        if not isinstance(self.states, Mapping):
            raise ParameterError(f"states: got {self.states!r}, expected lists by column name")
        kinds = self.kinds if isinstance(self.kinds, Mapping) else {}
        for name in (*kinds, *self.states, *(self.columns or ()), *self.exclude):
            find_name(name, names)
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


def check_missing(texts: Collection[str]) -> tuple[str, ...]:
    """Texts that mean "no value"; anything but a collection of texts is an error."""
    usable = isinstance(texts, Iterable) and not isinstance(texts, str | bytes)
    listed = tuple(texts) if usable else ()
    if not usable or not all(isinstance(text, str) for text in listed):
        raise ParameterError(
            f"missing: got {texts!r}, expected a collection of texts such as ['NA', '-9']"
        )
    return listed


def encode_table(
    table: RawTable, encoding: Encoding, weights: Weights | None = None
) -> tuple[list[Variable], list[NDArray[Any]], NDArray[Any] | None]:
    """Variables, columns and row weights of a table."""
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
    variables, columns = [], []
    for i in positions:
        variable, column = encode_column(table.column(i), table.names[i], encoding)
        variables.append(variable)
        columns.append(column)
    return variables, columns, read_weights(table, weights, encoding.missing)


def read_weights(
    table: RawTable, weights: Weights | None, missing: Collection[str]
) -> NDArray[Any] | None:
    """Row weights from a column of the table or from an array."""
    if isinstance(weights, str):
        column = drop_missing(table.column(find_name(weights, table.names)), missing)
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
        return _encode_with_states(column, name, states, encoding.missing)
    column = drop_missing(column, encoding.missing)
    kind = encoding.kind_of(name) or infer_kind(column)
    if kind == "continuous":
        return Variable(name), freeze(to_floats(column, name))
    labels = column if isinstance(column, Labels) else label_numbers(column.values)
    return _encode_states(labels, name)


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only, which lets a Dataset keep it without a copy."""
    array.flags.writeable = False
    return array


def _encode_states(column: Labels, name: str) -> tuple[Variable, Codes]:
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


def encode_known(
    column: RawColumn, variable: Variable, missing: Collection[str]
) -> tuple[Codes, list[str]]:
    """Codes in a variable's own states, and the names found that are none of them.

    A name that is a state never counts as a missing marker. Values find their states by the rule
    of `StateFinder`.
    """
    states = variable.states or ()
    column = drop_missing(column, [text for text in missing if text not in states])
    labels = column if isinstance(column, Labels) else label_numbers(column.values)
    finder = StateFinder(states)
    matches = [finder.find(label) for label in labels.labels]
    found = [-1 if code is None else code for code in matches]
    codes = recode(labels.codes, found, len(states))
    if -1 not in found:
        return codes, []
    seen = set(np.unique(labels.codes).tolist()) if labels.declared else range(len(found))
    unknown = [k for k, code in enumerate(found) if code < 0 and k in seen]
    return codes, sort_names({name_value(labels.labels[k]) for k in unknown})
