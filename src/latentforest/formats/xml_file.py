"""Reading and writing XML files: no entities, bounded size and depth."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from latentforest.errors import FileFormatError
from latentforest.formats.bytes_file import check_size

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_DEPTH = 64
LATENT = "latent"

__all__ = ["escape", "parse_xml", "quoteattr"]


def parse_xml(path: str | os.PathLike[str]) -> Element:
    """Return the root of an XML file.

    Document types are allowed, because XMLBIF files have one, but entities are not.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser, ParseError

    check_size(path)
    parser: Any = DefusedXMLParser(target=_make_builder(os.fspath(path)))
    try:
        with Path(path).open("rb") as file:
            while piece := file.read(1 << 16):
                parser.feed(piece)
        root: Element = parser.close()
    except ParseError as error:
        raise FileFormatError(f"{path} is not an XML file: {error}") from None
    except DefusedXmlException as error:
        raise FileFormatError(f"{path} declares entities, which are not read: {error}") from None
    except (UnicodeError, LookupError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path} is not an XML file: {error}") from None
    return root


def _make_builder(source: str) -> Any:
    """Return a builder of elements that refuses deep nesting."""
    from xml.etree.ElementTree import TreeBuilder

    class Builder(TreeBuilder):
        depth = 0

        def start(self, tag: str, attributes: Any) -> Any:
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise FileFormatError(f"{source}: elements are nested more than {MAX_DEPTH} deep")
            return super().start(tag, attributes)

        def end(self, tag: str) -> Any:
            self.depth -= 1
            return super().end(tag)

    return Builder()
