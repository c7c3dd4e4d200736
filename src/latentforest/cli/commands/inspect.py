"""``latentforest inspect``: what is understood of each column of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latentforest.cli.boundary import naming_output, say, translate
from latentforest.cli.options import (
    OUTPUT,
    Data,
    Force,
    Json,
    TableFormat,
)
from latentforest.cli.output import (
    check_format,
    check_output,
    make_console,
    print_json,
    print_tables,
)
from latentforest.cli.reading import ALL, takes_reading
from latentforest.cli.tables import Reading, name_sources, read_data

if TYPE_CHECKING:
    from latentforest.data.columns.inspection import Inspection


@takes_reading(*ALL)
def inspect(
    data: Data,
    *,
    reading: Reading,
    write_recipe: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write what was understood, as a recipe to edit (.toml).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    force: Force = False,
    table_format: TableFormat = None,
    as_json: Json = False,
) -> None:
    """Say what is understood of each column, what looks odd, and which options change it."""
    import warnings

    from latentforest.data.columns.inspection import inspect as look
    from latentforest.errors import LatentForestWarning

    check_format(table_format, as_json)
    inputs = [data, *reading.files]
    check_output(write_recipe, (".toml",), "--write-recipe", inputs=inputs, force=force)
    with warnings.catch_warnings():  # the findings say the same
        warnings.simplefilter("ignore", LatentForestWarning)
        table = read_data(data, reading)
    found, source = look(table), name_sources(data)
    if write_recipe is not None:
        with naming_output(write_recipe):
            found.write_recipe(write_recipe)
    if as_json:
        advice = [translate(sentence) for sentence in found.advice]
        print_json({"source": source, **found.to_dict(), "advice": advice, "recipe": write_recipe})
        return
    if table_format is not None:
        print_tables(found.table, table_format)
    else:
        _print(source, found)
    if write_recipe is not None:
        say(f"the recipe was written to {write_recipe}; --recipe {write_recipe} uses it")


def _print(source: str, found: Inspection) -> None:
    from latentforest.model.showing.printing import make_table

    console = make_console()
    console.print(f"{source}: {found.data.n_rows:,} rows", style="bold", soft_wrap=True)
    table = make_table("column", "kind", "states", "missing", "values", "notes")
    for column in table.columns:
        column.justify, column.no_wrap = "left", False
    for row in found.table.rows():
        table.add_row(*("" if cell is None else str(cell) for cell in row.values()))
    table.columns[0].overflow = "fold"  # names are there to be copied
    console.print(table)
    for sentence in found.advice:
        console.print(f"- {translate(sentence)}", soft_wrap=True)
