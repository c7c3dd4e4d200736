"""The bytes of a model file, unless there are too many."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from latentforest.errors import FileFormatError

MAX_BYTES = 1 << 30


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file whole, uncompressed if its name ends in ``.gz``."""
    check_size(path)
    if not os.fspath(path).lower().endswith(".gz"):
        return Path(path).read_bytes()
    try:
        with gzip.open(path, "rb") as file:
            data: bytes = file.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path} is a damaged gzip file: {error}") from None
    if len(data) > MAX_BYTES:
        raise FileFormatError(
            f"{path} has more than {MAX_BYTES:,} bytes when it is uncompressed, expected at most "
            "so many"
        )
    return data


def check_size(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is larger than any model."""
    size = Path(path).stat().st_size
    if size > MAX_BYTES:
        raise FileFormatError(f"{path} has {size:,} bytes, expected at most {MAX_BYTES:,}")
