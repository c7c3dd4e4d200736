"""UAI, the files of the competitions in inference: numbers only, neither names nor states."""

from __future__ import annotations

import os
import re

import numpy as np

from latentforest.files import write_atomically
from latentforest.formats.bytes_file import read_bytes
from latentforest.formats.content import ModelContent
from latentforest.formats.families import FamilyReader, read_numbers
from latentforest.formats.tokens import shorten
from latentforest.model.network import Network


def read(path: str | os.PathLike[str]) -> ModelContent:
    """Read a UAI file; variables are called x0, x1 …, and their states 0, 1 …"""
    text = read_bytes(path).decode("utf-8", "replace")
    return ModelContent(read_text(text, os.fspath(path)))


def read_text(text: str, source: str = "text") -> Network:
    """Read a network from the text of a UAI file.

    Examples
    --------
    >>> read_text("BAYES 2  2 2  2  1 0  2 0 1  2 0.5 0.5  4 0.9 0.1 0 1").cpd("x1").tolist()
    [[0.9, 0.1], [0.0, 1.0]]
    """
    words = _Words(re.sub(r"#[^\n]*", " ", text), source)
    kind = words.take()
    if kind != "BAYES":
        words.reader.fail(f"expected 'BAYES' at the beginning, found {shorten(kind)}")
    names = [f"x{i}" for i in range(words.take_number("variables"))]
    for name in names:
        n_states = words.take_number(f"states of {name}")
        words.reader.add_variable(name, [str(k) for k in range(n_states)], False)
    scopes = [words.take_scope(names) for _ in range(words.take_number("tables"))]
    for *parents, name in scopes:
        count = words.take_number(f"numbers in the table of {name}")
        numbers = read_numbers(words.reader, name, " ".join(words.take() for _ in range(count)))
        words.reader.add_family(name, parents, numbers)
    return words.reader.build()


class _Words:
    """Goes through the words of a file."""

    def __init__(self, text: str, source: str) -> None:
        self.reader = FamilyReader(source)
        self._words = iter(text.split())
        self._n_left = len(text.split())

    def take(self) -> str:
        word = next(self._words, None)
        if word is None:
            self.reader.fail("the file ends too early")
        self._n_left -= 1
        return word

    def take_number(self, what: str) -> int:
        word = self.take()
        if not re.fullmatch("[0-9]{1,9}", word):
            self.reader.fail(f"expected the number of {what}, found {shorten(word)}")
        # There is at least one number for each variable, state, table and so on.
        if int(word) > self._n_left:
            self.reader.fail(f"{word} {what}, but only {self._n_left} words follow")
        return int(word)

    def take_scope(self, names: list[str]) -> list[str]:
        """Return the parents of a variable, then the variable."""
        places = [self.take_number("a variable") for _ in range(self.take_number("variables"))]
        if not places or max(places) >= len(names):
            self.reader.fail(
                f"a table of the variables {places}, expected numbers below {len(names)}"
            )
        return [names[place] for place in places]


def write(content: ModelContent, path: str | os.PathLike[str]) -> None:
    """Write a UAI file, which appears only when it is complete."""
    write_atomically(path, write_text(content.network))


def write_text(network: Network) -> str:
    """Return the text of a UAI file, with every number to the last bit."""
    structure = network.structure
    number = {name: str(i) for i, name in enumerate(structure.names)}
    states = [str(structure.variable(name).n_states) for name in structure.names]
    lines = ["BAYES", str(len(number)), " ".join(states), str(len(number))]
    for name in structure.names:
        scope = [number[each] for each in (*structure.parents(name), name)]
        lines.append(" ".join([str(len(scope)), *scope]))
    for name in structure.names:
        table = structure.table_view(network.parameters, name)
        rows = table.reshape(-1, table.shape[-1]).tolist()
        lines += ["", str(table.size), *(" ".join(map(_write_number, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _write_number(value: float) -> str:
    """Write all digits without an exponent, which some readers do not know."""
    return np.format_float_positional(value, trim="-")
