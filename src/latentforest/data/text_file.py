"""Opening text files of tables: encoding, compression, and errors that name the file."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, TextIO

from latentforest.errors import FileFormatError, ParameterError


@contextlib.contextmanager
def open_text(path: Path, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open a text file, compressed if its name ends in ``.gz``; a byte order mark is skipped."""
    _check_encoding(encoding)
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as binary, io.TextIOWrapper(binary, codec, newline="") as text:
            yield text
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise FileFormatError(
            f"{path} is not {encoding} text: byte 0x{byte:02x} cannot be read; "
            "save it as UTF-8, or pass its encoding= (such as 'latin-1')"
        ) from None
    except UnicodeError as error:
        raise FileFormatError(f"{path} is not {encoding} text: {error}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path} is a damaged gzip file: {error}") from None


def _check_encoding(encoding: str) -> None:
    """Raise an error for the name of no text encoding, such as ``"utf8x"`` or ``"base64"``."""
    try:
        known = codecs.lookup(encoding)._is_text_encoding
    except (LookupError, TypeError, ValueError):
        known = False
    if not known:
        raise ParameterError(
            f"encoding: got {encoding!r}, expected a text encoding such as 'utf-8' or 'latin-1'"
        )


def fail(path: Path, line: int, problem: str) -> NoReturn:
    """Raise the error for a line of a file (counted from 1)."""
    raise FileFormatError(f"{path}, line {line}: {problem}")
