"""Options and arguments that several commands share."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

READING = "How the table is read"
OUTPUT = "Output"

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
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that says how often each row counts.",
        rich_help_panel=READING,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="Further text that means 'no value', such as -9. May be repeated.",
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Separator of a CSV file (tab for a tab), if not found out.",
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Encoding of a text file, such as latin-1.", rich_help_panel=READING
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="csv, tsv, parquet, arff or frequency, if the file's name does not tell.",
        rich_help_panel=READING,
    ),
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
