"""XDSL, the files of GeNIe and SMILE.

Names are identifiers there: others are escaped (`identifiers`), and stand as they are in the
drawing's part of the file. Latent variables have a property, which GeNIe shows.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from latentforest.files import write_atomically
from latentforest.formats.content import ModelContent, Positions
from latentforest.formats.families import FamilyReader, read_numbers
from latentforest.formats.identifiers import from_identifier, to_identifier
from latentforest.formats.xml_file import escape, parse_xml, quoteattr
from latentforest.model.network import Network

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_KINDS = {"cpt": "probabilities", "deterministic": "resultingstates"}
WRITER = "latentforest"
_WIDTH, _HEIGHT = 100.0, 50.0


def read(path: str | os.PathLike[str]) -> ModelContent:
    """Read an XDSL file."""
    return read_element(parse_xml(path), os.fspath(path))


def read_element(root: Element, source: str) -> ModelContent:
    """Read a network from the root of a file."""
    reader = FamilyReader(source)
    nodes, genie = root.find("nodes"), root.find("extensions/genie")
    if root.tag != "smile" or nodes is None:
        reader.fail(f"expected <smile> with <nodes>, found <{root.tag}>")
    writer = "" if genie is None else genie.get("app", "")
    file = _GenieNodes(reader, writer)
    for node in nodes:
        file.read_variable(node)
    for node in nodes:
        file.read_table(node)
    return ModelContent(reader.build(), {} if genie is None else file.read_positions(genie))


class _GenieNodes:
    """Reads the nodes of a file as the program meant them that wrote it."""

    def __init__(self, reader: FamilyReader, writer: str) -> None:
        self._reader = reader
        self._read_name = from_identifier if writer == WRITER else str
        # pyAgrum lists the states of parents the other way round than GeNIe.
        self._is_reversed = writer.startswith("aGrUM")

    def _name(self, node: Element) -> str:
        return self._read_name(node.get("id", ""))

    def read_variable(self, node: Element) -> None:
        name = self._name(node)
        if node.tag not in _KINDS:
            self._reader.fail(
                f"node {name!r} is of the kind {node.tag!r}, expected one of {sorted(_KINDS)}"
            )
        is_latent = any(
            each.get("id") == "latent" and (each.text or "").strip() == "true"
            for each in node.findall("property")
        )
        states = [self._name(state) for state in node.findall("state")]
        self._reader.add_variable(name, states, is_latent)

    def read_table(self, node: Element) -> None:
        name, text = self._name(node), node.findtext(_KINDS[node.tag])
        if text is None:
            self._reader.fail(f"node {name!r}: expected <{_KINDS[node.tag]}>, found none")
        parents = [self._read_name(each) for each in (node.findtext("parents") or "").split()]
        is_table = node.tag == "cpt"
        numbers = read_numbers(self._reader, name, text) if is_table else self._spread(name, text)
        self._reader.add_family(name, parents[::-1] if self._is_reversed else parents, numbers)

    def _spread(self, name: str, text: str) -> list[float]:
        """Turn the states that follow from the parents' into probabilities of zero and one."""
        states = list(self._reader.variables[name].states or ())
        numbers: list[float] = []
        for word in map(self._read_name, text.split()):
            if word not in states:
                self._reader.fail(f"table of {name!r}: expected one of its states, found {word!r}")
            numbers += [float(state == word) for state in states]
        return numbers

    def read_positions(self, genie: Element) -> dict[str, tuple[float, float]]:
        """Return the upper left corners of the nodes."""
        positions = {}
        for node in genie.iter("node"):
            try:
                left, top, *_ = map(float, (node.findtext("position") or "").split())
            except ValueError:
                continue
            if math.isfinite(left) and math.isfinite(top):
                positions[self._name(node)] = (left, top)
        return positions


def write(content: ModelContent, path: str | os.PathLike[str]) -> None:
    """Write an XDSL file, which appears only when it is complete."""
    write_atomically(path, write_text(content))


def write_text(content: ModelContent) -> str:
    """Return the text of an XDSL file, with every number to the last bit."""
    network = content.network
    nodes = "".join(_write_node(network, name) for name in network.structure.order)
    places = content.placed()
    drawing = "".join(_write_place(content, places, name) for name in network.structure.order)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<smile version="1.0" id="network">\n'
        f"  <nodes>\n{nodes}  </nodes>\n  <extensions>\n"
        f'    <genie version="1.0" app="{WRITER}" name="network">\n{drawing}'
        "    </genie>\n  </extensions>\n</smile>\n"
    )


def _write_node(network: Network, name: str) -> str:
    structure = network.structure
    lines = [f"      <state id={_id(state)} />\n" for state in structure.states(name)]
    if parents := structure.parents(name):
        lines.append(f"      <parents>{' '.join(map(to_identifier, parents))}</parents>\n")
    numbers = structure.table_view(network.parameters, name).ravel().tolist()
    lines.append(f"      <probabilities>{' '.join(map(repr, numbers))}</probabilities>\n")
    if structure.variable(name).latent:
        lines.append('      <property id="latent">true</property>\n')
    return f"    <cpt id={_id(name)}>\n{''.join(lines)}    </cpt>\n"


def _id(name: str) -> str:
    return str(quoteattr(to_identifier(name)))


def _write_place(content: ModelContent, places: Positions, name: str) -> str:
    left, top = places[name]
    corners = f"{left:g} {top:g} {left + _WIDTH:g} {top + _HEIGHT:g}"
    colour = "cfe2f5" if content.network.structure.variable(name).latent else "e5e9ed"
    # GeNIe shows this name, as far as XML can hold it.
    shown = "".join(sign if sign.isprintable() else " " for sign in name)
    return (
        f"      <node id={_id(name)}>\n        <name>{escape(shown)}</name>\n"
        f'        <interior color="{colour}" />\n        <outline color="1b5e9e" />\n'
        '        <font color="17202b" name="Arial" size="8" />\n'
        f"        <position>{corners}</position>\n      </node>\n"
    )
