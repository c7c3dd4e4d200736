"""Reads frequency-count tables: variables with their states, then patterns with their counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from latentforest.data.dataset import Dataset
from latentforest.data.files.text_file import fail, open_text
from latentforest.data.variable import Variable
from latentforest.errors import DataError, FileFormatError

_MISSING = ("?", "-1")


def read_frequencies(path: Path, encoding: str = "utf-8") -> Dataset:
    """Read a file of lines ``NAME: state state …`` and ``number number … count``.

    The numbers are those of the states, from 0; ``?`` or -1 is missing. A ``Name:`` line
    and comments after ``//`` are skipped. The counts become the row weights.
    """
    variables: list[Variable] = []
    records: list[list[float]] = []
    with open_text(path, encoding) as text:
        for number, line in enumerate(text, start=1):
            content = line.split("//")[0].strip()
            name, colon, states = content.partition(":")
            if colon and not records:
                if name.strip().lower() != "name":
                    variables.append(_read_variable(path, number, name.strip(), states))
            elif content:
                records.append(_read_record(path, number, content.split(), variables))
    if not variables or not records:
        what = "rows of counts" if variables else "lines such as 'A: no yes' that name variables"
        raise FileFormatError(f"{path} is not a frequency table: it has no {what}")
    table = np.array(records)
    columns = [table[:, i].astype(np.int32) for i in range(len(variables))]
    return Dataset(variables, columns, table[:, -1])


def _read_variable(path: Path, number: int, name: str, states: str) -> Variable:
    try:
        return Variable(name, tuple(states.split()))
    except DataError as error:
        fail(path, number, str(error))


def _read_record(
    path: Path, number: int, words: list[str], variables: list[Variable]
) -> list[float]:
    if len(words) != len(variables) + 1:
        fail(
            path,
            number,
            f"{len(words)} values, expected {len(variables) + 1}: "
            f"a state number for each of {len(variables)} variables and a count",
        )
    codes = [
        _read_code(path, number, word, variable)
        for word, variable in zip(words, variables, strict=False)
    ]
    return [*codes, _read_count(path, number, words[-1])]


def _read_code(path: Path, number: int, word: str, variable: Variable) -> int:
    if word in _MISSING:
        return -1
    if not word.isdecimal() or int(word) >= variable.n_states:
        fail(
            path,
            number,
            f"{word!r} for variable {variable.name!r}, "
            f"expected a state number from 0 to {variable.n_states - 1}, or ? for missing",
        )
    return int(word)


def _read_count(path: Path, number: int, word: str) -> float:
    try:
        count = float(word)
    except ValueError:
        count = -1.0
    if not 0 <= count < np.inf:
        fail(path, number, f"the count {word!r} is not a number from 0 up")
    return count
