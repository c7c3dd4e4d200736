"""NET, the files of Hugin.

Names of nodes are identifiers there: others are escaped (`identifiers`), and are the labels as they
stand. Latent variables have an attribute, which other programs skip.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from latentforest.errors import FileFormatError
from latentforest.files import write_atomically
from latentforest.formats.bytes_file import read_bytes
from latentforest.formats.content import ModelContent, Positions
from latentforest.formats.families import FamilyReader, read_numbers
from latentforest.formats.identifiers import from_identifier, to_identifier
from latentforest.formats.tokens import shorten
from latentforest.model.network import Network

WRITER = "latentforest"
_QUOTED = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(rf"%[^\n]*|{_QUOTED}|[{{}}();=|]|[^\s{{}}();=|\"%]+|\"", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class _Word(NamedTuple):
    """A token and the line on which it begins."""

    text: str
    line: int


class _Block(NamedTuple):
    """``kind head { name = value; … }``."""

    kind: str
    head: list[_Word]
    attributes: dict[str, list[_Word]]
    line: int


def read(path: str | os.PathLike[str]) -> ModelContent:
    """Read a NET file."""
    return read_text(_read_file(Path(path)), os.fspath(path))


def _read_file(path: Path) -> str:
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:  # older programs wrote the letters of western Europe so
        return data.decode("latin-1")


def read_text(text: str, source: str = "text") -> ModelContent:
    """Read a network from the text of a NET file.

    Examples
    --------
    >>> content = read_text('''
    ... net { }
    ... node rain { states = ("no" "yes"); }
    ... node wet { states = ("no" "yes"); }
    ... potential (rain) { data = (0.75 0.25); }
    ... potential (wet | rain) { data = ((0.9 0.1)(0.0 1.0)); }
    ... ''')
    >>> content.network.cpd("wet").tolist()
    [[0.9, 0.1], [0.0, 1.0]]
    """
    blocks = list(_Parser(text, source).blocks())
    file = _HuginNodes(FamilyReader(source), _find_writer(blocks))
    for block in blocks:
        if block.kind in ("node", "discrete node"):
            file.read_node(block)
    for block in blocks:
        if block.kind == "potential":
            file.read_potential(block)
    return ModelContent(file.reader.build(), file.positions)


def _find_writer(blocks: list[_Block]) -> str:
    nets = (block.attributes.get("software", []) for block in blocks if block.kind == "net")
    return next((_unquote(words[0].text) for words in nets if words), "")


class _Parser:
    """Splits a text into blocks."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._words = self._split(text)
        self._place = 0

    def _split(self, text: str) -> list[_Word]:
        words, line, end = [], 1, 0
        for found in _TOKEN.finditer(text):
            line += text.count("\n", end, found.start())
            end = found.start()
            if found.group() == '"':
                self._fail("this quote is never closed", line)
            if found.group()[0] != "%":
                words.append(_Word(found.group(), line))
        return words

    def blocks(self) -> Iterator[_Block]:
        """Yield the blocks in their order."""
        while self._place < len(self._words):
            start = self._words[self._place]
            kind = self._take_until("(", "{", keeps=True)
            name = " ".join(word.text for word in kind)
            if name.split(" ")[0] in ("class", "function", "utility", "decision", "continuous"):
                what = name if len(kind) < 3 else " ".join(name.split(" ")[:2])
                self._fail(
                    f"{what!r} blocks are not read: expected a network of discrete nodes",
                    start.line,
                )
            head: list[_Word] = []
            if name == "potential":
                self._expect("(")
                head = self._take_until(")")
            elif kind[:1] and kind[0].text in ("node", "discrete"):
                head, kind = kind[-1:], kind[:-1]
                name = " ".join(word.text for word in kind)
            if name not in ("net", "node", "discrete node", "potential"):
                self._fail(
                    f"expected 'net', 'node' or 'potential', found {shorten(name)}", start.line
                )
            self._expect("{")
            yield _Block(name, head, self._read_attributes(), start.line)

    def _read_attributes(self) -> dict[str, list[_Word]]:
        attributes = {}
        while self._peek() != "}":
            name = self._next().text
            self._expect("=")
            attributes[name] = self._take_until(";")
        self._expect("}")
        return attributes

    def _take_until(self, *ends: str, keeps: bool = False) -> list[_Word]:
        """Return the words before a sign; go past the sign, too, unless it is to be kept."""
        found = []
        while self._peek() not in ends:
            found.append(self._next())
        if not keeps:
            self._next()
        return found

    def _expect(self, wanted: str) -> None:
        word = self._next()
        if word.text != wanted:
            self._fail(f"expected {wanted!r}, found {shorten(word.text)}", word.line)

    def _peek(self) -> str:
        return (
            self._words[self._place].text if self._place < len(self._words) else self._next().text
        )

    def _next(self) -> _Word:
        if self._place >= len(self._words):
            self._fail("the file ends too early", self._words[-1].line if self._words else 1)
        self._place += 1
        return self._words[self._place - 1]

    def _fail(self, problem: str, line: int) -> NoReturn:
        raise FileFormatError(f"{self._source}, line {line}: {problem}")


class _HuginNodes:
    """Reads blocks as the program meant them that wrote the file."""

    def __init__(self, reader: FamilyReader, writer: str) -> None:
        self.reader = reader
        self.positions: dict[str, tuple[float, float]] = {}
        self._read_name = from_identifier if writer == WRITER else str

    def read_node(self, block: _Block) -> None:
        name = self._read_name(_unquote(block.head[0].text)) if block.head else ""
        states = [
            _unquote(word.text)
            for word in block.attributes.get("states", [])
            if word.text not in "()"
        ]
        latent = [_unquote(word.text) for word in block.attributes.get("latent", [])]
        self.reader.add_variable(name, states, latent == ["true"])
        place = [
            word.text for word in block.attributes.get("position", []) if word.text not in "()"
        ]
        if len(place) == 2:
            x, y = read_numbers(self.reader, name, " ".join(place))
            self.positions[name] = (x, -y)  # upward in this format

    def read_potential(self, block: _Block) -> None:
        words = [word.text for word in block.head]
        bar = words.index("|") if "|" in words else len(words)
        child, parents = words[:bar], words[bar + 1 :]
        if len(child) != 1:
            self.reader.fail(
                f"line {block.line}: expected one variable before its parents, found {len(child)}"
            )
        name = self._read_name(child[0])
        if "data" not in block.attributes:
            self.reader.fail(f"line {block.line}: the potential of {name!r} has no data")
        data = " ".join(word.text for word in block.attributes["data"] if word.text not in "()")
        numbers = read_numbers(self.reader, name, data)
        self.reader.add_family(name, [self._read_name(each) for each in parents], numbers)


def _unquote(text: str) -> str:
    if text[:1] != '"':
        return text
    return re.sub(
        r"\\(.)",
        lambda found: _ESCAPES.get(found.group(1), found.group(1)),
        text[1:-1],
        flags=re.DOTALL,
    )


def _quote(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def write(content: ModelContent, path: str | os.PathLike[str]) -> None:
    """Write a NET file, which appears only when it is complete."""
    write_atomically(path, write_text(content))


def write_text(content: ModelContent) -> str:
    """Return the text of a NET file, with every number to the last bit."""
    network, places = content.network, content.placed()
    parts = [f"net\n{{\n    software = {_quote(WRITER)};\n    node_size = (100 50);\n}}\n"]
    parts += [_write_node(network, places, name) for name in network.names]
    parts += [_write_potential(network, name) for name in network.names]
    return "".join(parts)


def _write_node(network: Network, places: Positions, name: str) -> str:
    states = " ".join(map(_quote, network.structure.states(name)))
    x, y = places[name]
    latent = '    latent = "true";\n' if network.structure.variable(name).latent else ""
    return (
        f"node {to_identifier(name)}\n{{\n    label = {_quote(name)};\n"
        f"    position = ({x:g} {0.0 - y:g});\n    states = ({states});\n{latent}}}\n"
    )


def _write_potential(network: Network, name: str) -> str:
    structure = network.structure
    head = " ".join(
        [
            to_identifier(name),
            *"|"[: len(structure.parents(name))],
            *map(to_identifier, structure.parents(name)),
        ]
    )
    data = _nest(structure.table_view(network.parameters, name).tolist())
    return f"potential ({head})\n{{\n    data = {data};\n}}\n"


def _nest(table: object) -> str:
    if isinstance(table, list):
        return f"({' '.join(map(_nest, table))})"
    return repr(table)
