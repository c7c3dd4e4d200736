"""Opening files of tables: compression, encoding, and errors that name the file."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO, cast

from latentforest.errors import FileFormatError, ParameterError

#: Ends of names that say that a file is compressed; its first bytes decide.
COMPRESSED = (".gz", ".zst", ".zip")

_GZIP, _ZSTD, _ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_UTF_8 = ("utf-8", "utf8")
_MARKS = (  # the longer ones first: that of UTF-16 begins that of UTF-32
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@contextlib.contextmanager
def open_text(path: Path, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open a text file, compressed or not.

    Byte order marks are skipped; those of UTF-16 and UTF-32 take the place of UTF-8.
    """
    _check_encoding(encoding)
    try:
        with open_binary(path) as binary:
            codec = _find_codec(path, binary, encoding)
            with io.TextIOWrapper(binary, codec, newline="") as text:
                yield text
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise FileFormatError(
            f"{path} is not {encoding} text: byte 0x{byte:02x} cannot be read; "
            "save it as UTF-8, or pass its encoding= (such as 'latin-1' or 'cp1252', which older "
            "programs and Excel write)"
        ) from None
    except UnicodeError as error:
        raise FileFormatError(f"{path} is not {encoding} text: {error}") from None


@contextlib.contextmanager
def open_utf8(path: Path, encoding: str = "utf-8") -> Iterator[BinaryIO]:
    """Open a text file as a stream of UTF-8 bytes without a byte order mark."""
    if encoding.lower().replace("_", "-") not in _UTF_8:
        with open_text(path, encoding) as text:
            yield cast(BinaryIO, _Transcoded(text))
        return
    with open_binary(path) as binary:
        codec = _find_codec(path, binary, encoding)
        if codec == "utf-8-sig":
            if peek(binary, 3) == codecs.BOM_UTF8:
                binary.read(3)
            yield binary
        else:
            with io.TextIOWrapper(binary, codec, newline="") as text:
                yield cast(BinaryIO, _Transcoded(text))


@contextlib.contextmanager
def open_binary(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file; one that is compressed by gzip, zstd or zip gives what is in it."""
    with path.open("rb") as file:
        start = peek(file, 4)
        if start.startswith(_GZIP):
            with _naming_damage(path, "gzip"), gzip.open(file) as inner:
                yield cast(io.BufferedReader, inner)
        elif start == _ZSTD:
            with _naming_damage(path, "zstd"):
                yield io.BufferedReader(_ZstdStream(file), 1 << 20)
        elif start == _ZIP:
            with _naming_damage(path, "zip"), zipfile.ZipFile(file) as archive:
                yield io.BufferedReader(_as_raw(archive.open(find_member(path, archive))), 1 << 20)
        else:
            yield file


def peek(binary: Any, n_bytes: int) -> bytes:
    """First bytes of a stream that stay in it."""
    return bytes(binary.peek(n_bytes)[:n_bytes])


def is_compressed(path: Path) -> bool:
    """Whether the first bytes are those of gzip or zstd."""
    with path.open("rb") as file:
        start = peek(file, 4)
    return start.startswith(_GZIP) or start == _ZSTD


def find_member(path: Path, archive: zipfile.ZipFile) -> str:
    """Name of the one file in a zip archive."""
    names = [name for name in archive.namelist() if not name.endswith("/")]
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if len(names) == 1:
        return names[0]
    if any(name.startswith(("xl/", "content.xml")) for name in names):
        raise FileFormatError(f"{path} is a workbook, not a text file; pass format='excel'")
    raise FileFormatError(f"{path} is a zip archive of {len(names)} files, expected one table")


def name_inside(path: Path) -> Path:
    """Name that tells the format: without the end for compression, or that of a zip's member."""
    if path.suffix.lower() == ".zip" and path.is_file():
        with _naming_damage(path, "zip"), zipfile.ZipFile(path) as archive:
            return Path(find_member(path, archive))
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


def fail(path: Path, line: int, problem: str) -> NoReturn:
    """Raise the error for a line of a file (counted from 1)."""
    raise FileFormatError(f"{path}, line {line}: {problem}")


class _ZstdStream(io.RawIOBase):
    """Decompressed bytes of a zstd file."""

    def __init__(self, file: BinaryIO) -> None:
        import pyarrow as pa

        self._stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Transcoded:
    """Reads text as UTF-8 bytes."""

    closed = False

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._rest = b""

    def read(self, n_bytes: int) -> bytes:
        """Give at most so many bytes; none at the end."""
        while len(self._rest) < n_bytes:
            more = self._text.read(n_bytes)
            if not more:
                break
            self._rest += more.encode()
        piece, self._rest = self._rest[:n_bytes], self._rest[n_bytes:]
        return piece

    def close(self) -> None:
        """Do nothing: whoever opened the text closes it."""


def _as_raw(stream: Any) -> io.RawIOBase:
    return cast(io.RawIOBase, stream)


def _find_codec(path: Path, binary: Any, encoding: str) -> str:
    if encoding.lower().replace("_", "-") not in _UTF_8:
        return encoding
    start = peek(binary, 4096)
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return codec
    if start.count(0) * 4 > len(start):  # half of what is UTF-16 in western languages
        raise FileFormatError(
            f"{path} holds zero bytes, so it is not UTF-8 text; if it is UTF-16 without a byte "
            "order mark, pass its encoding= ('utf-16-le' or 'utf-16-be')"
        )
    return "utf-8-sig"


@contextlib.contextmanager
def _naming_damage(path: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise FileFormatError(f"{path} is a damaged {kind} file: {error}") from None
    except OSError as error:
        if kind != "zstd" or error.errno is not None:
            raise
        raise FileFormatError(f"{path} is a damaged {kind} file: {error}") from None
    except RuntimeError as error:  # a password is needed
        if kind != "zip":
            raise
        raise FileFormatError(f"{path}: {error}") from None


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
