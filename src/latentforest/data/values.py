"""A value is a value: the one rule by which values find the states of a column.

A value is compared with the states as text, then as a number, then as a truth value. Only a
`Code` is the number of a state.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.state_names import (
    Exact,
    is_bool,
    is_null,
    name_value,
    read_exactly,
)
from latentforest.errors import ParameterError
from latentforest.visible import make_encodable

_TRUTHS = {"true": True, "false": False}
_MANY = 10


@dataclass(frozen=True, slots=True)
class Code:
    """The number of a state, counted from 0, where a value is expected.

    Parameters
    ----------
    number
        Position of the state in ``Variable.states``.

    Examples
    --------
    >>> from latentforest import Network, Variable
    >>> item = Variable("item", ("1", "2", "3"))
    >>> network = Network.from_tables([item], {}, {"item": [0.5, 0.3, 0.2]})
    >>> network.log_probability({"item": 1}) == network.log_probability({"item": Code(0)})
    True
    """

    number: int

    def __post_init__(self) -> None:
        try:
            number = -1 if is_bool(self.number) else operator.index(self.number)
        except TypeError:
            number = -1
        if number < 0:
            raise ParameterError(f"Code: got {self.number!r}, expected a whole number from 0")
        object.__setattr__(self, "number", number)


class StateFinder:
    """Finds the states that values stand for.

    Parameters
    ----------
    states
        Names of the states of a column, in the order of their codes.

    Examples
    --------
    >>> answers = StateFinder(("1", "2", "NA"))
    >>> [answers.find(value) for value in (1, "2", 2.0, "2.0", "NA", 3, True, Code(2))]
    [0, 1, 1, 1, 2, None, None, 2]
    >>> [StateFinder(("False", "True")).find(value) for value in (1, "0", "TRUE", False)]
    [1, 0, 1, 0]
    """

    def __init__(self, states: Sequence[str]) -> None:
        self.states = tuple(states)
        self._by_name = {state: code for code, state in enumerate(self.states)}
        for code, state in enumerate(self.states):  # as files write halves of characters
            self._by_name.setdefault(make_encodable(state), code)

    def find(self, value: object) -> int | None:
        """Code of the state that a value stands for; ``None`` if it stands for none.

        As text first, then as an equal number, then, in a column whose two states are true and
        false or 1 and 0, as a truth value.
        """
        if isinstance(value, Code):
            return value.number if value.number < len(self.states) else None
        if is_null(value):
            return None
        code = self._by_name.get(name_value(value))
        if code is not None:
            return code
        number = read_exactly(value)
        if number is not None and number in self._by_number:
            return self._by_number[number]
        truth = _read_truth(value, number)
        return None if truth is None else self._by_truth.get(truth)

    def explain(self, value: object) -> str:
        """Say that there is no such state, and which there are."""
        if isinstance(value, Code):
            return (
                f"no state with the code {value.number}, expected a code from 0 to "
                f"{len(self.states) - 1}: the states are {list_states(self.states)}"
            )
        message = f"no state {value!r}, expected one of {list_states(self.states)}"
        number = None if isinstance(value, str) else read_exactly(value)
        if isinstance(number, int) and 0 <= number < len(self.states):
            message += f"; the state with the code {number} is Code({number})"
        return message

    @cached_property
    def _by_number(self) -> Mapping[Exact, int]:
        """Codes of the states that are numbers; equal numbers stand for no state."""
        found: dict[Exact, int] = {}
        repeated = set()
        for code, state in enumerate(self.states):
            number = read_exactly(state)
            if number is not None and found.setdefault(number, code) != code:
                repeated.add(number)
        return {number: code for number, code in found.items() if number not in repeated}

    @cached_property
    def _by_truth(self) -> Mapping[bool, int]:
        """Codes of true and false, if these are the two states."""
        truths = {_read_truth(state, read_exactly(state)): k for k, state in enumerate(self.states)}
        if len(self.states) != 2 or set(truths) != {True, False}:
            return {}
        return {bool(truth): code for truth, code in truths.items()}


def _read_truth(value: object, number: Exact | None) -> bool | None:
    """Truth value as Python, pandas, R and JSON write it, or of 1 and 0."""
    if is_bool(value):
        return bool(value)
    if isinstance(value, str):
        found = _TRUTHS.get(value.strip().lower())
        if found is not None:
            return found
    return bool(number) if number in (0, 1) else None


def as_array(rows: Sequence[Any]) -> NDArray[Any]:
    """Rows of numbers as an array, of objects where floats are too coarse for whole numbers."""
    array = np.asarray(rows)
    if array.dtype.kind == "f" and array.size and np.nanmax(np.abs(array), initial=0.0) > 2**53:
        return np.array(rows, dtype=object)
    return array


def list_states(states: Sequence[str], limit: int = _MANY) -> str:
    """Some states in quotes."""
    shown = ", ".join(map(repr, states[:limit]))
    return shown if len(states) <= limit else f"{shown}, …"


def restore_values(states: Sequence[str]) -> NDArray[Any]:
    """The states as values: whole numbers and truth values if all are such, else texts.

    Examples
    --------
    >>> restore_values(("1", "2")), restore_values(("False", "True")), restore_values(("01", "x"))
    (array([1, 2]), array([False,  True]), array(['01', 'x'], dtype=object))
    """
    truths = [_TRUTHS.get(state.lower()) for state in states]
    if None not in truths and len(set(truths)) == len(truths):
        return np.array(truths, dtype=np.bool_)
    whole = [read_exactly(state) for state in states]
    if all(isinstance(x, int) and str(x) == s for x, s in zip(whole, states, strict=True)):
        fits = all(-(2**63) <= int(number) < 2**63 for number in whole if number is not None)
        return np.array(whole, dtype=np.int64 if fits else object)
    return np.array(states, dtype=object)
