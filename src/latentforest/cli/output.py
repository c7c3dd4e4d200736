"""What goes to standard output and to files: JSON, CSV, and checks before the work begins."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from latentforest.cli.boundary import naming_output
from latentforest.formats import FORMATS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

MODEL_FILES = tuple(FORMATS)
TABLE_FILES = (".csv", ".tsv", ".parquet", ".pq")
_PIECE = 10_000


def check_output(path: Path | None, suffixes: tuple[str, ...], option: str = "--out") -> None:
    """Raise an error now if a file could not be written later."""
    if path is None:
        return
    if not path.name.lower().endswith(suffixes):
        raise typer.BadParameter(
            f"{path}: the name must end in {' or '.join(suffixes)}", param_hint=option
        )
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(f"cannot write {path}: {error.strerror} in {folder.resolve()}") from None


def make_console() -> Console:
    """Console on standard output that prints text as it is."""
    from latentforest.cli.console import PipedConsole

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return PipedConsole(highlight=False, markup=False, emoji=False)


def make_table(*headers: str) -> RichTable:
    """Table with a line under the headers; all columns but the first are aligned right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for position, header in enumerate(headers):
        table.add_column(header, justify="right" if position else "left", no_wrap=position > 0)
    return table


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object; what is not a finite number becomes null."""
    sys.stdout.write(json.dumps(to_plain(value), indent=2, allow_nan=False) + "\n")


def to_plain(value: Any) -> Any:
    """Turn arrays, tables and numbers of any kind into what JSON knows."""
    from latentforest.data.table import Table
    from latentforest.model import Network
    from latentforest.model.document import to_document

    if isinstance(value, Network):
        return to_document(value)
    if isinstance(value, Table):
        value = list(value.rows())
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def write_columns(columns: Mapping[str, Any], path: Path | None) -> None:
    """Write arrays of equal length to a file, or as CSV to standard output."""
    if path is not None:
        from latentforest.data import write_table

        with naming_output(path):
            write_table(columns, path)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    n_rows = len(next(iter(columns.values())))
    for start in range(0, n_rows, _PIECE):
        piece = [_to_fields(values[start : start + _PIECE]) for values in columns.values()]
        writer.writerows(zip(*piece, strict=True))


def _to_fields(values: Any) -> list[Any]:
    """Values for the csv module, which writes ``None`` as an empty field."""
    return [None if value != value else value for value in values.tolist()]
