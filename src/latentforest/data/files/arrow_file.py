"""Reads Arrow files (Feather, IPC files and streams) and pandas' way of keeping indexes in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from latentforest.data.columns.raw_column import RawTable
from latentforest.data.frames import open_frame
from latentforest.data.lookup import list_briefly
from latentforest.errors import FileFormatError

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_FILE = b"ARROW1"


def read_arrow(path: Path) -> RawTable:
    """Read a file; dictionary columns declare their states. Unnamed pandas indexes are skipped."""
    import pyarrow as pa

    try:
        table = _load(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FileFormatError(f"{path} is not an Arrow file: {error}") from None
    return open_arrow(path, table)


def open_arrow(source: object, table: Any) -> RawTable:
    """View an Arrow table; its names must be unique."""
    names = drop_indexes(source, table.schema.names)
    opened = open_frame(table.select(names))
    if opened is None:
        raise FileFormatError(f"{source} cannot be read as a table")
    return opened


def drop_indexes(source: object, names: list[str]) -> list[str]:
    """Names without those of unnamed pandas indexes; a repeated one is an error."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise FileFormatError(
            f"{source}: column names must be unique; repeated: {list_briefly(repeated)}"
        )
    return [name for name in names if not _PANDAS_INDEX.fullmatch(name)]


def _load(path: Path) -> Any:
    import pyarrow as pa

    with path.open("rb") as file:
        start = file.read(6)
    with pa.memory_map(str(path)) as source:
        open_ipc = pa.ipc.open_file if start == _FILE else pa.ipc.open_stream
        return open_ipc(source).read_all()
