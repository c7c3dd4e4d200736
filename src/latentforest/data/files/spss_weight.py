"""Finds the variable that an SPSS system file is weighted by, which pyreadstat does not tell."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

_HEADER = 176
_LAYOUT_AT, _WEIGHT_AT = 64, 76
_VARIABLE = 2


def find_weight(path: Path, names: Sequence[str]) -> str | None:
    """Name of the weight variable; ``None`` if the file has none, or it cannot be told which.

    The header has the position of the variable among the eight-byte elements of a row. Records
    of variables follow, each with a name of at most eight bytes.
    """
    with path.open("rb") as file:
        header = file.read(_HEADER)
        if len(header) < _HEADER or header[:4] not in (b"$FL2", b"$FL3"):
            return None
        order = "<" if header[_LAYOUT_AT : _LAYOUT_AT + 4] in (b"\2\0\0\0", b"\3\0\0\0") else ">"
        position = struct.unpack(f"{order}i", header[_WEIGHT_AT : _WEIGHT_AT + 4])[0]
        if position <= 0:
            return None
        try:
            short = _read_name(file, order, position)
        except struct.error:  # the records are not as expected
            return None
    exact = [name for name in names if name.upper() == short]
    close = exact or [name for name in names if name.upper()[:8] == short]
    return close[0] if len(close) == 1 else None


def _read_name(file: BinaryIO, order: str, position: int) -> str | None:
    """Short name of the variable whose record is at a position, counted from 1."""
    for _ in range(position):
        kind, _, has_label, n_missing, _, _ = struct.unpack(f"{order}6i", file.read(24))
        if kind != _VARIABLE:
            return None
        name = file.read(8)
        if has_label == 1:
            (length,) = struct.unpack(f"{order}i", file.read(4))
            file.seek(-(-length // 4) * 4, 1)
        file.seek(8 * abs(n_missing), 1)
    return name.decode("latin-1").rstrip().upper()
