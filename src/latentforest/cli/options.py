"""Options and arguments that several commands share."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

READING = "How the table is read"
OUTPUT = "Output"


def _reading(metavar: str, help: str) -> Any:
    """An option that says how the table is read."""
    return typer.Option(metavar=metavar, help=help, rich_help_panel=READING)


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table file (.csv, .tsv, .txt, .parquet, .arff, .data) or name of a built-in table.",
        show_default=False,
    ),
]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="Model file (.json, .bif, .bif.gz), such as 'learn' writes.",
        show_default=False,
    ),
]
Weights = Annotated[str | None, _reading("COLUMN", "Column that says how often each row counts.")]
Missing = Annotated[
    list[str] | None,
    _reading(
        "TEXTS",
        "Further texts that mean 'no value': NA,-9. One with a comma goes in double quotes. May "
        "be repeated.",
    ),
]
Decimal = Annotated[
    str | None, _reading("MARK", "The decimal mark, . or , where numbers can be read both ways.")
]
RecipeFile = Annotated[
    Path | None,
    _reading("FILE", "Recipe of the columns (.toml), such as 'inspect --write-recipe' writes."),
]
Delimiter = Annotated[
    str | None, _reading("CHAR", "Separator of a CSV file (tab for a tab), if not found out.")
]
Encoding = Annotated[str, _reading("NAME", "Encoding of a text file, such as latin-1.")]
Format = Annotated[
    str | None,
    _reading("NAME", "csv, tsv, parquet, arff or frequency, if the file's name does not tell."),
]
Seed = Annotated[
    int,
    typer.Option(metavar="N", min=0, max=2**32 - 1, help="The same seed gives the same result."),
]
TableOut = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where to write the table (.csv, .tsv, .parquet); if left out, CSV to the screen.",
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT),
]


def split_names(text: str | None) -> tuple[str, ...]:
    """Split a list of column names at commas; a name with a comma goes in double quotes."""
    if not text:
        return ()
    return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True)))


def split_lists(texts: list[str] | None) -> tuple[str, ...]:
    """Split each of several lists at commas."""
    return tuple(name for text in texts or () for name in split_names(text))
