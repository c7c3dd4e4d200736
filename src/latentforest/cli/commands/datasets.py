"""``latentforest datasets``: the built-in tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latentforest.cli.boundary import say
from latentforest.cli.options import Force, Json, TableFormat
from latentforest.cli.output import (
    TABLE_FILES,
    check_format,
    check_output,
    make_console,
    print_json,
    print_tables,
    write_columns,
)

if TYPE_CHECKING:
    from rich.console import Console

    from latentforest.data.results.table import Table

WEIGHT = "weight"


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Table to describe or write.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the table, with a column 'weight' (.csv, .tsv, .parquet, .xlsx).",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    table_format: TableFormat = None,
    as_json: Json = False,
) -> None:
    """List the built-in tables, or describe or write one."""
    from latentforest import datasets as tables

    check_format(table_format, as_json)
    if out is not None and name is None:
        raise typer.BadParameter("say which table to write", param_hint="NAME")
    check_output(out, TABLE_FILES, force=force)
    described = [_describe(each) for each in ([name] if name else tables.names())]
    if out is not None and name is not None:
        data = tables.load(name)
        write_columns({**data.to_columns(), WEIGHT: data.weights}, out)
        say(f"{data.n_rows} rows written to {out}; read it with --weights {WEIGHT}")
    if as_json:
        print_json(described[0] if name else {"datasets": described})
    elif table_format is not None:
        print_tables(_tabulate(described, name), table_format)
    elif name and out is None:
        _print_one(make_console(), described[0])
    elif out is None:
        _print_all(make_console(), described)


def _describe(name: str) -> dict[str, Any]:
    from latentforest import datasets as tables

    about, data = tables.describe(name), tables.load(name)
    return {
        "name": about.name,
        "title": about.title,
        "observations": about.n_observations,
        "distinct_rows": data.n_rows,
        "columns": [
            {"name": variable.name, "states": variable.states, "meaning": meaning}
            for variable, meaning in zip(data.variables, about.variables.values(), strict=True)
        ],
        "source": about.source,
    }


def _tabulate(described: list[dict[str, Any]], name: str | None) -> Table:
    """The columns of one table, or all tables."""
    from latentforest.data.results.table import Table

    if name:
        return Table.from_rows(described[0]["columns"])
    rows = [facts | {"columns": len(facts["columns"])} for facts in described]
    return Table.from_rows(rows)


def _print_all(console: Console, described: list[dict[str, Any]]) -> None:
    from latentforest.model.showing.printing import make_table

    table = make_table("name", "observations", "distinct", "columns", "what it is, and its source")
    table.columns[-1].justify, table.columns[-1].no_wrap = "left", False
    for facts in described:
        numbers = (facts["observations"], facts["distinct_rows"], len(facts["columns"]))
        text = f"{facts['title']}\n{facts['source']}\n"
        table.add_row(facts["name"], *(f"{number:,}" for number in numbers), text)
    console.print(table)


def _print_one(console: Console, facts: dict[str, Any]) -> None:
    console.print(f"{facts['name']}: {facts['title']}", style="bold")
    console.print(
        f"{facts['observations']:,} observations, {facts['distinct_rows']} distinct rows\n"
    )
    for column in facts["columns"]:
        console.print(f"  {column['name']}  {column['meaning']} ({', '.join(column['states'])})")
    console.print(f"\n{facts['source']}")
