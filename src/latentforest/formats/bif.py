"""BIF, the interchange format of Bayesian networks, also compressed (``.bif.gz``).

A network of categorical variables. Latent ones have the property ``latent = true``, which other
programs ignore.
"""

from __future__ import annotations

import gzip
import os
from itertools import product
from pathlib import Path

from latentforest.data.variable import Variable
from latentforest.errors import FileFormatError
from latentforest.files import write_atomically
from latentforest.formats.bif_blocks import BifBlocks
from latentforest.formats.bif_tables import build_network
from latentforest.formats.bytes_file import read_bytes
from latentforest.formats.content import ModelContent, Positions
from latentforest.formats.tokens import TokenReader, quote
from latentforest.model.network import Network


def read(path: str | os.PathLike[str]) -> ModelContent:
    """Read a BIF file; names that end in ``.gz`` are compressed."""
    blocks = _read_blocks(_read_file(Path(path)), os.fspath(path))
    return ModelContent(build_network(blocks), blocks.positions)


def write(content: ModelContent, path: str | os.PathLike[str]) -> None:
    """Write a BIF file, which appears only when it is complete."""
    text = write_text(content.network, content.positions)
    if os.fspath(path).lower().endswith(".gz"):
        write_atomically(path, gzip.compress(text.encode(), mtime=0))
    else:
        write_atomically(path, text)


def _read_file(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise FileFormatError(f"{path}, line {line}: byte 0x{byte:02x} is not UTF-8 text") from None


def read_text(text: str, source: str = "text") -> Network:
    """Read a network from the text of a BIF file.

    Parameters
    ----------
    text
        The whole text.
    source
        Where it comes from, for error messages.

    Examples
    --------
    >>> network = read_text('''
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable "wet grass" { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.75, 0.25; }
    ... probability ( "wet grass" | rain ) { (no) 0.9, 0.1; (yes) 0.0, 1.0; }
    ... ''')
    >>> network.query("rain", {"wet grass": "no"}).tolist()
    [1.0, 0.0]
    """
    return build_network(_read_blocks(text, source))


def _read_blocks(text: str, source: str) -> BifBlocks:
    blocks = BifBlocks(TokenReader(text, source))
    blocks.read()
    return blocks


def write_text(network: Network, positions: Positions | None = None) -> str:
    """Return the text of a BIF file, with every number to the last bit.

    Examples
    --------
    >>> coin = Network.from_tables([Variable.hidden("coin", 2)], {}, {"coin": [0.25, 0.75]})
    >>> read_text(write_text(coin)) == coin
    True
    """
    parts = ["network unknown {\n}\n"]
    places = positions or {}
    parts += [_write_variable(each, places.get(each.name)) for each in network.variables]
    parts += [_write_family(network, name) for name in network.names]
    return "".join(parts)


def _write_variable(variable: Variable, place: tuple[float, float] | None) -> str:
    states = ", ".join(map(quote, variable.states or ()))
    properties = "  property latent = true;\n" if variable.latent else ""
    if place is not None:
        properties += f"  property position = ({place[0]:g}, {place[1]:g});\n"
    return (
        f"variable {quote(variable.name)} {{\n"
        f"  type discrete [ {variable.n_states} ] {{ {states} }};\n{properties}}}\n"
    )


def _write_family(network: Network, name: str) -> str:
    structure, table = network.structure, network.table_view(name)
    rows = [", ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist()]
    parents = structure.parents(name)
    if not parents:
        return f"probability ( {quote(name)} ) {{\n  table {rows[0]};\n}}\n"
    states = product(*([quote(state) for state in structure.states(each)] for each in parents))
    lines = (f"  ({', '.join(each)}) {row};\n" for each, row in zip(states, rows, strict=True))
    head = f"{quote(name)} | {', '.join(map(quote, parents))}"
    return f"probability ( {head} ) {{\n{''.join(lines)}}}\n"
