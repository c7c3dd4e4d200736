"""XMLBIF, the interchange format of Bayesian networks in XML (version 0.3).

Latent variables and places are properties, which other programs skip.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from latentforest.files import write_atomically
from latentforest.formats.content import ModelContent
from latentforest.formats.families import FamilyReader, read_numbers
from latentforest.formats.identifiers import from_xml_text, to_xml_text
from latentforest.formats.xml_file import escape, parse_xml
from latentforest.model.network import Network

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_POSITION = re.compile(r"position\s*=\s*\(\s*([-\d.eE+]+)\s*,\s*([-\d.eE+]+)\s*\)")
_LATENT = re.compile(r"latent\s*=\s*true", re.IGNORECASE)


def read(path: str | os.PathLike[str]) -> ModelContent:
    """Read an XMLBIF file."""
    return read_element(parse_xml(path), os.fspath(path))


def read_element(root: Element, source: str) -> ModelContent:
    """Read a network from the root of a file."""
    reader = FamilyReader(source)
    if root.tag.upper() != "BIF":
        reader.fail(f"expected <BIF> as the outermost element, found <{root.tag}>")
    positions: dict[str, tuple[float, float]] = {}
    for element in _find(root, "VARIABLE"):
        _read_variable(reader, element, positions)
    for element in [*_find(root, "DEFINITION"), *_find(root, "PROBABILITY")]:
        _read_definition(reader, element)
    return ModelContent(reader.build(), positions)


def _find(root: Element, tag: str) -> list[Element]:
    return [element for element in root.iter() if element.tag.upper() == tag]


def _texts(element: Element, tag: str) -> list[str]:
    return [from_xml_text((each.text or "").strip()) for each in element if each.tag.upper() == tag]


def _read_variable(
    reader: FamilyReader, element: Element, positions: dict[str, tuple[float, float]]
) -> None:
    names = _texts(element, "NAME")
    if len(names) != 1:
        reader.fail(f"expected one <NAME> in each <VARIABLE>, found {len(names)}")
    kind = {key.upper(): value for key, value in element.attrib.items()}.get("TYPE", "nature")
    if kind.lower() not in ("nature", "discrete"):
        reader.fail(f"variable {names[0]!r}: expected the type 'nature', found {kind!r}")
    properties = _texts(element, "PROPERTY")
    is_latent = any(_LATENT.fullmatch(each) for each in properties)
    reader.add_variable(
        names[0], [*_texts(element, "OUTCOME"), *_texts(element, "VALUE")], is_latent
    )
    for found in filter(None, map(_POSITION.fullmatch, properties)):
        positions[names[0]] = (float(found.group(1)), float(found.group(2)))


def _read_definition(reader: FamilyReader, element: Element) -> None:
    names, tables = _texts(element, "FOR"), _texts(element, "TABLE")
    if len(names) != 1 or len(tables) != 1:
        reader.fail(
            f"expected one <FOR> and one <TABLE> in each <DEFINITION>, found {len(names)} and "
            f"{len(tables)}" + (f" (for {names[0]!r})" if names else "")
        )
    table = next(each for each in element if each.tag.upper() == "TABLE")
    text = " ".join(table.itertext())  # comments may stand between the numbers
    reader.add_family(names[0], _texts(element, "GIVEN"), read_numbers(reader, names[0], text))


def write(content: ModelContent, path: str | os.PathLike[str]) -> None:
    """Write an XMLBIF file, which appears only when it is complete."""
    write_atomically(path, write_text(content))


def write_text(content: ModelContent) -> str:
    """Return the text of an XMLBIF file, with every number to the last bit.

    Examples
    --------
    >>> from latentforest import Variable
    >>> coin = Network.from_tables([Variable.hidden("coin", 2)], {}, {"coin": [0.25, 0.75]})
    >>> "<PROPERTY>latent = true</PROPERTY>" in write_text(ModelContent(coin))
    True
    """
    network = content.network
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n']
    parts.append("<NAME>network</NAME>\n")
    parts += [_write_variable(content, name) for name in network.names]
    parts += [_write_definition(network, name) for name in network.names]
    return "".join([*parts, "</NETWORK>\n</BIF>\n"])


def _tag(tag: str, text: str) -> str:
    return f"  <{tag}>{escape(to_xml_text(text))}</{tag}>\n"


def _write_variable(content: ModelContent, name: str) -> str:
    variable = content.network.structure.variable(name)
    lines = [_tag("NAME", name), *(_tag("OUTCOME", state) for state in variable.states or ())]
    if variable.latent:
        lines.append(_tag("PROPERTY", "latent = true"))
    if name in content.positions:
        x, y = content.positions[name]
        lines.append(_tag("PROPERTY", f"position = ({x:g}, {y:g})"))
    return f'<VARIABLE TYPE="nature">\n{"".join(lines)}</VARIABLE>\n'


def _write_definition(network: Network, name: str) -> str:
    given = "".join(_tag("GIVEN", parent) for parent in network.structure.parents(name))
    table = network.structure.table_view(network.parameters, name)
    rows = table.reshape(-1, table.shape[-1]).tolist()
    numbers = "\n    ".join(" ".join(map(repr, row)) for row in rows)
    return (
        f"<DEFINITION>\n{_tag('FOR', name)}{given}"
        f"  <TABLE>\n    {numbers}\n  </TABLE>\n</DEFINITION>\n"
    )
