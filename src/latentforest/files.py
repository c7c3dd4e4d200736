"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


def write_atomically(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write a whole file, or leave what was there before.

    Parameters
    ----------
    path
        File to make or replace.
    data
        Text (written as UTF-8, line ends as they are) or bytes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_atomically(path, "one line")
    >>> path.read_text()
    'one line'
    """
    with open_atomically(path, binary=isinstance(data, bytes)) as file:
        file.write(data)


@contextlib.contextmanager
def open_atomically(path: str | os.PathLike[str], *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a new file that takes its place only when the block ends without an error.

    The text goes to a temporary file in the same folder, which then replaces the target. A
    replaced file keeps its permissions. A target that is not a regular file, such as
    ``/dev/stdout``, is written directly.
    """
    target = find_target(path)
    if target.exists() and not target.is_file():
        with _open(target, binary) as file:
            yield file
        return
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
    try:
        with _open(temporary, binary) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def find_target(path: str | os.PathLike[str]) -> Path:
    """Follow links to the file that would be written; refuse folders, and folders not there."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {target.parent} does not exist")
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    return target


def _open(path: Path, binary: bool) -> IO[Any]:
    if binary:
        return path.open("wb")
    # Halves of characters, which no encoding has, are written as visible escapes.
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="")
