"""What goes to standard output and to files: JSON, CSV, and checks before the work begins."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import typer

from latentforest.cli.boundary import naming_output
from latentforest.files import find_target
from latentforest.formats import FORMATS, PICTURES
from latentforest.visible import make_visible

if TYPE_CHECKING:
    from rich.console import Console

MODEL_FILES = tuple(FORMATS)
GRAPH_FILES = tuple(PICTURES)
TABLE_FILES = (".csv", ".tsv", ".parquet", ".pq", ".xlsx")
RESULT_FILES = (".csv", ".tsv", ".parquet", ".xlsx", ".tex", ".md", ".html", ".json")
TABLE_FORMATS = ("csv", "tsv", "latex", "markdown", "html", "json")
_PIECE = 10_000


def check_output(
    path: Path | None,
    suffixes: tuple[str, ...],
    option: str = "--out",
    *,
    inputs: Iterable[object] = (),
    force: bool = False,
) -> None:
    """Raise an error now if a file could not be written later, or should not be.

    Parameters
    ----------
    path
        The file; a device or pipe is fine too.
    suffixes
        How its name may end; none: as it likes.
    option
        What the file was given by.
    inputs
        What the command reads, or writes otherwise: paths, and anything that is no path of a file.
    force
        Whether a file that is there already may be replaced; never one of ``inputs``.
    """
    if path is None:
        return
    if suffixes and not path.name.lower().endswith(suffixes):
        raise typer.BadParameter(
            f"{path}: the name must end in {' or '.join(suffixes)}", param_hint=option
        )
    _check_inputs(path, inputs, option)
    _check_place(path)
    if path.is_file() and not force:
        raise typer.BadParameter(f"{path} is there already; --force replaces it", param_hint=option)


def _check_inputs(path: Path, inputs: Iterable[object], option: str) -> None:
    """Refuse a file that the command reads, by whatever name."""
    for given in inputs:
        if isinstance(given, list | tuple):
            _check_inputs(path, given, option)
        elif isinstance(given, str | Path) and _is_same(path, Path(given)):
            raise typer.BadParameter(
                f"{path} is the same file as {given}, which this command uses; choose another name",
                param_hint=option,
            )


def _is_same(path: Path, other: Path) -> bool:
    """Whether two names are of one file, also by links, whether or not it is there already."""
    try:
        if path.exists() and other.exists():
            return path.is_file() and path.samefile(other)
        return os.path.realpath(path) == os.path.realpath(other)
    except (OSError, ValueError):  # text that can be no path
        return False


def _check_place(path: Path) -> None:
    """Refuse a file whose folder is not there or cannot be written."""
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    if path.exists() and not path.is_file():  # a device or pipe
        return
    folder = find_target(path).parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(f"cannot write {path}: {error.strerror} in {folder}") from None


def make_console() -> Console:
    """Console on standard output that prints text as it is."""
    from latentforest.cli.console import PipedConsole

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return PipedConsole(highlight=False, markup=False, emoji=False)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object; what is not a finite number becomes null."""
    sys.stdout.write(json.dumps(to_plain(value), indent=2, allow_nan=False) + "\n")


def to_plain(value: Any) -> Any:
    """Turn networks, arrays, tables and numbers of any kind into what JSON knows."""
    from latentforest.data.results.table import Table
    from latentforest.data.results.table import to_plain as simplify
    from latentforest.model import Network
    from latentforest.model.files.document import to_document

    if isinstance(value, Network):
        return to_document(value)
    if isinstance(value, Table):
        value = list(value.rows())
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    return simplify(value)


class WritableTables(Protocol):
    """A table of results, or several."""

    def to(self, target: str, /) -> str | None:
        """Write to a file or as text."""


def check_format(name: str | None, as_json: bool = False) -> None:
    """Refuse a ``--format`` that is not known before the work begins."""
    if name is None:
        return
    if as_json:
        raise typer.BadParameter("choose one of --format and --json", param_hint="--format")
    if name.lower() not in TABLE_FORMATS:
        raise typer.BadParameter(
            f"got {name!r}, expected one of {', '.join(TABLE_FORMATS)}; how DATA is read is said "
            "by --input-format",
            param_hint="--format",
        )


def print_tables(tables: WritableTables, format: str | None) -> None:
    """Print results in a format, or as plain text for a person."""
    if format is None:
        make_console().print(str(tables), soft_wrap=True)
        return
    text = tables.to(format.lower()) or ""
    open_output().write(text if text.endswith("\n") else text + "\n")


def write_columns(columns: Mapping[str, Any], path: Path | None) -> None:
    """Write arrays of equal length to a file, or as CSV to standard output."""
    if path is not None:
        from latentforest.data import write_table

        with naming_output(path):
            write_table(columns, path)
        return
    writer = csv.writer(open_output(), lineterminator="\n")
    writer.writerow(columns)
    n_rows = len(next(iter(columns.values())))
    for start in range(0, n_rows, _PIECE):
        piece = [_to_fields(values[start : start + _PIECE]) for values in columns.values()]
        writer.writerows(zip(*piece, strict=True))


class _Screen:
    """A terminal, which gets no control characters of the data to obey."""

    def write(self, text: str) -> None:
        sys.stdout.write(make_visible(text))


def open_output() -> IO[str] | _Screen:
    """Standard output for data, as it is in files; a terminal shows control characters."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    return _Screen() if sys.stdout.isatty() else sys.stdout


def _to_fields(values: Any) -> list[Any]:
    """Values for the csv module, which writes ``None`` as an empty field."""
    return [None if value != value else value for value in values.tolist()]
