"""Options and arguments that several commands share."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

READING = "How the table is read"
OUTPUT = "Output"


def _reading(metavar: str, help: str) -> Any:
    """An option that says how the table is read."""
    return typer.Option(metavar=metavar, help=help, rich_help_panel=READING)


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="Table files with the same columns (.csv, .tsv, .parquet, .feather, .xlsx, .ods, "
        ".sav, .dta, .xpt, .sas7bdat, .arff, .data, .npz, .mtx; also .gz, .zst), - for standard "
        "input, or the name of a built-in table.",
        show_default=False,
    ),
]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="Model file, such as 'learn' writes (.json), or of another program (.bif, .xdsl …).",
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
Order = Annotated[
    list[str] | None,
    _reading(
        "COLUMN=a,b,c",
        "All values of a column in their order. May be repeated. A value with a comma goes in "
        "double quotes.",
    ),
]
Delimiter = Annotated[
    str | None, _reading("CHAR", "Separator of a CSV file (tab for a tab), if not found out.")
]
Encoding = Annotated[str, _reading("NAME", "Encoding of a text file, such as latin-1.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="NAME",
        help="csv, tsv, parquet, arrow (or feather), excel, spss, stata, sas, sparse, arff or "
        "frequency, if the file's name does not tell.",
        rich_help_panel=READING,
    ),
]
Sheet = Annotated[
    str | None, _reading("NAME", "Sheet of a workbook: its name, or its number from 1.")
]
ValueLabels = Annotated[
    bool,
    typer.Option(
        "--labels/--no-labels",
        help="Whether value labels of SPSS, Stata and SAS files name the states.",
        rich_help_panel=READING,
    ),
]
Catalog = Annotated[
    Path | None, _reading("FILE", "SAS catalog (.sas7bcat) with the labels of a .sas7bdat file.")
]
Vocabulary = Annotated[
    Path | None, _reading("FILE", "Names of a sparse matrix's columns, one in each line.")
]
Seed = Annotated[
    int,
    typer.Option(metavar="N", min=0, max=2**32 - 1, help="The same seed gives the same result."),
]
TableOut = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where to write the table (.csv, .tsv, .parquet, .xlsx); if left out, CSV to the "
        "screen.",
        show_default=False,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace a file that is there already.", rich_help_panel=OUTPUT),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT),
]


TableFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Print the tables as csv, tsv, latex, markdown, html or json.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]


def read_order(assignments: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read ``--order COLUMN=a,b,c``; a column with an equals sign goes in double quotes."""
    order: dict[str, tuple[str, ...]] = {}
    for text in assignments:
        quoted = re.fullmatch(r'"((?:[^"]|"")+)"=(.*)', text, re.DOTALL)
        name, _, values = text.partition("=")
        if quoted:
            name, values = quoted[1].replace('""', '"'), quoted[2]
        states = split_names(values)
        if not name.strip() or not states or len(set(states)) < len(states):
            raise typer.BadParameter(
                f"got {text!r}, expected a column and its values, all different, such as "
                "size=small,medium,large",
                param_hint="--order",
            )
        order[name.strip()] = states
    return order


def split_names(text: str | None) -> tuple[str, ...]:
    """Split a list of column names at commas; a name with a comma goes in double quotes."""
    if not text:
        return ()
    return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True)))


def split_lists(texts: list[str] | None) -> tuple[str, ...]:
    """Split each of several lists at commas."""
    return tuple(name for text in texts or () for name in split_names(text))
