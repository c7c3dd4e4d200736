"""Reads ARFF files (attribute-relation file format), dense and sparse."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn, TextIO

import numpy as np
from numpy.typing import NDArray

from latentforest.data.columns.raw_column import (
    Categories,
    Numbers,
    RawColumn,
    RawTable,
    drop_missing,
    find_first,
    smallest_code_type,
)
from latentforest.data.columns.state_names import parse_number
from latentforest.data.files.text_file import fail, open_text
from latentforest.data.intern import TextColumn
from latentforest.data.lookup import list_briefly
from latentforest.errors import FileFormatError

_QUOTED = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\""""
_VALUE = re.compile(rf"""\s*(?:{_QUOTED}|([^,'"][^,]*|))\s*(,|$)""")
_ENTRY = re.compile(rf"""\s*(\d+)\s+(?:{_QUOTED}|([^,'"][^,]*))\s*(?:,|$)""")
_ATTRIBUTE = re.compile(rf"""@attribute\s+(?:{_QUOTED}|([^\s{{]+))\s*(.*)""", re.IGNORECASE)
_WEIGHT = re.compile(r"(.*),\s*\{([^{},]*)\}")
_STATE = re.compile(rf"""\s*(?:{_QUOTED}|([^\s,'"}}][^,}}]*|))\s*([,}}])""")
_AFTER_STATES = re.compile(r"\s*(?:\{([^{}]*)\})?\s*(?:%.*)?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_NUMERIC = ("numeric", "real", "integer")
_PIECE = 1_000


class _Attribute(NamedTuple):
    """A column: nominal if it has states, else text or numbers."""

    name: str
    states: tuple[str, ...] | None
    is_text: bool = False


@dataclass(slots=True)
class _Rows:
    """What is read beside the values: the line and the weight of each row."""

    lines: array[int] = field(default_factory=lambda: array("q"))
    weights: array[float] = field(default_factory=lambda: array("d"))


def read_arff(path: Path, encoding: str = "utf-8") -> tuple[RawTable, NDArray[np.float64] | None]:
    """Read a file; returns its table and its row weights, if it has any.

    Nominal attributes are categorical with their declared states, numeric ones continuous,
    string ones categorical with the states found.
    """
    with open_text(path, encoding) as text:
        lines = _skip_blanks(text)
        attributes = _read_header(path, lines)
        rows = _Rows()
        columns = [
            TextColumn(("?",), only_text=a.is_text or a.states is not None) for a in attributes
        ]
        values = _read_rows(path, lines, attributes, rows)
        while piece := list(islice(values, _PIECE)):
            for column, texts in zip(columns, zip(*piece, strict=True), strict=True):
                column.extend(texts)
    if not rows.lines:
        raise FileFormatError(f"{path} has no rows after @data")

    def finish(i: int) -> RawColumn:
        return _finish_column(path, attributes[i], columns[i].finish(), rows.lines)

    weights = np.array(rows.weights)
    names = tuple(attribute.name for attribute in attributes)
    return RawTable(names, len(rows.lines), finish), None if np.all(weights == 1) else weights


def _skip_blanks(text: TextIO) -> Iterator[tuple[int, str]]:
    """Numbered lines without blank ones and comments."""
    for number, line in enumerate(text, start=1):
        stripped = line.strip()
        if stripped and stripped[0] != "%":
            yield number, stripped


def _read_header(path: Path, lines: Iterator[tuple[int, str]]) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    for number, line in lines:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@data":
            if not attributes:
                fail(path, number, "@data comes before any @attribute")
            return attributes
        if keyword == "@attribute":
            attribute = _read_attribute(path, number, line)
            if any(attribute.name == known.name for known in attributes):
                fail(path, number, f"the attribute {attribute.name!r} is declared twice")
            attributes.append(attribute)
        elif keyword != "@relation":
            fail(path, number, f"expected @relation, @attribute or @data, got {line[:40]!r}")
    raise FileFormatError(f"{path} is not an ARFF file: it has no @data line")


def _read_attribute(path: Path, number: int, line: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    name = "" if match is None else _unquote(*match.groups()[:3])
    if match is None or not name:
        fail(path, number, f"expected '@attribute name type', got {line[:60]!r}")
    kind = match[4]
    if kind.startswith("{"):
        return _Attribute(name, _read_states(path, number, name, kind))
    word = re.split(r"[\s%\[{]", kind.lower(), maxsplit=1)[0]
    if word not in (*_NUMERIC, "string"):
        fail(
            path,
            number,
            f"attribute {name!r} has the type {kind[:40]!r}; only nominal {{…}}, numeric, real, "
            "integer and string can be read",
        )
    return _Attribute(name, None, word == "string")


def _read_states(path: Path, number: int, name: str, kind: str) -> tuple[str, ...]:
    states: list[str] = []
    position, mark = 1, ","
    while mark == ",":
        match = _STATE.match(kind, position)
        if match is None:
            if "}" in kind[position:]:
                _fail_quote(path, number, kind[position:])
            fail(path, number, f"the states of attribute {name!r} do not end with }}")
        states.append(_unquote(*match.groups()[:3]))
        position, mark = match.end(), match[4]
    if "" in states or len(set(states)) < len(states):
        fail(path, number, f"attribute {name!r} has empty or repeated states: {kind[:60]}")
    _check_after_states(path, number, name, kind[position:])
    return tuple(states)


def _check_after_states(path: Path, number: int, name: str, text: str) -> None:
    after = _AFTER_STATES.fullmatch(text)
    if after is None or (after[1] is not None and parse_number(after[1]) is None):
        fail(
            path,
            number,
            f"{text.strip()[:40]!r} follows the states of attribute {name!r}; "
            "expected nothing, a weight such as {5} or a % comment",
        )


def _fail_quote(path: Path, number: int, text: str) -> NoReturn:
    fail(path, number, f"a quote is not closed, or text follows it: {text[:40]}")


def _unquote(single: str | None, double: str | None, plain: str | None) -> str:
    """Value of a match: quoted with escapes, or plain without the space around it."""
    if plain is not None:
        return plain.strip()
    quoted = single if single is not None else double or ""
    return _ESCAPE.sub(_unescape, quoted) if "\\" in quoted else quoted


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, code)


def _split(path: Path, number: int, line: str) -> list[str]:
    """Values between commas."""
    if "'" not in line and '"' not in line:
        return [value.strip() for value in line.split(",")]
    values: list[str] = []
    position = 0
    while True:
        match = _VALUE.match(line, position)
        if match is None:
            _fail_quote(path, number, line[position:])
        values.append(_unquote(*match.groups()[:3]))
        position = match.end()
        if match[4] == "":
            return values


def _read_rows(
    path: Path, lines: Iterator[tuple[int, str]], attributes: list[_Attribute], rows: _Rows
) -> Iterator[list[str]]:
    """Texts of each row; notes its line and weight."""
    width = len(attributes)
    omitted = ["0" if a.states is None else a.states[0] for a in attributes]
    for number, line in lines:
        weight = 1.0
        if line[-1] == "}":
            line, weight = _split_weight(path, number, line)
        if line[0] == "{":
            values = _read_sparse(path, number, line, omitted)
        elif "'" in line or '"' in line:
            values = _split(path, number, line)
        else:
            values = line.split("," if "," in line else "\t")
        if len(values) != width:
            fail(path, number, f"{len(values)} values, expected {width}, one for each @attribute")
        rows.lines.append(number)
        rows.weights.append(weight)
        yield values


def _split_weight(path: Path, number: int, line: str) -> tuple[str, float]:
    """Row and its weight: ``1,2,{5}`` has the weight 5, a row without one the weight 1."""
    match = _WEIGHT.fullmatch(line)
    if match is None:
        return line, 1.0
    weight = parse_number(match[2])
    if weight is None or not 0 <= weight < np.inf:
        fail(path, number, f"the weight {match[2]!r} is not a number from 0 up")
    return match[1].rstrip(), weight


def _read_sparse(path: Path, number: int, line: str, omitted: list[str]) -> list[str]:
    """Row ``{index value, …}``: what it leaves out is 0 or the first state."""
    values = omitted.copy()
    inside = line[1:].removesuffix("}").strip()
    position = 0
    while position < len(inside):
        match = _ENTRY.match(inside, position)
        if match is None or not line.endswith("}"):
            fail(path, number, f"expected a sparse row {{index value, …}}, got {line[:60]!r}")
        if int(match[1]) >= len(values):
            fail(path, number, f"index {match[1]}, expected 0 to {len(values) - 1}")
        values[int(match[1])] = _unquote(*match.groups()[1:4])
        position = match.end()
    return values


def _finish_column(
    path: Path, attribute: _Attribute, column: RawColumn, lines: array[int]
) -> RawColumn:
    if isinstance(column, Numbers):
        return Numbers(column.values, "continuous")
    column = drop_missing(column, ("?",))
    if attribute.is_text:
        return Categories(column.labels, column.codes, kind="categorical")
    if attribute.states is None:
        known = [parse_number(str(label)) is not None for label in column.labels]
        expected = "a number or ?"
    else:
        known = [label in attribute.states for label in column.labels]
        expected = f"one of {list_briefly(attribute.states)} or ?"
    row = find_first(column.codes, [not good for good in known])
    if row is not None:
        value = column.labels[int(column.codes[row])]
        fail(path, lines[row], f"attribute {attribute.name!r} is {value!r}, expected {expected}")
    if attribute.states is None:
        return Categories(column.labels, column.codes, kind="continuous")
    return _use_declared(column, attribute.states)


def _use_declared(column: Categories, states: tuple[str, ...]) -> Categories:
    position = {state: code for code, state in enumerate(states)}
    table = [*(position[str(label)] for label in column.labels), -1]
    codes = np.array(table, dtype=smallest_code_type(len(states)))[column.codes]
    return Categories(states, codes, declared=True, kind="categorical")
