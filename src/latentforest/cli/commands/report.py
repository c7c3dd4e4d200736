"""``latentforest report``: a page that shows a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latentforest.cli.boundary import naming_output, say
from latentforest.cli.learn_options import Quiet
from latentforest.cli.options import (
    OUTPUT,
    Force,
    Json,
    Model,
)
from latentforest.cli.output import check_output, print_json
from latentforest.cli.progress import show_progress
from latentforest.cli.reading import OF_A_MODEL, takes_reading
from latentforest.cli.tables import Reading, name_sources, read_like

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.model import Network
    from latentforest.report.document import Report

PAGES = (".html", ".htm")

OptionalData = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DATA...",
        help="The table that the model was learned from, or another one with the same columns; "
        "without it the page shows the model alone.",
        show_default=False,
    ),
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Where to write the page (.html).",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
ContentOut = Annotated[
    Path | None,
    typer.Option(
        "--json-out",
        metavar="FILE",
        help="Where to write what the page says as plain data (.json).",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Names = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Names of variables and states (.json), such as the page saves.",
        show_default=False,
    ),
]
Title = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Title of the page.", show_default=False)
]
Noun = Annotated[
    str, typer.Option(metavar="TEXT", help="What the rows are, in the plural: customers.")
]
Compare = Annotated[
    bool,
    typer.Option(
        "--compare",
        help="Fit other models to the table and compare them with this one, for up to 30 seconds. "
        "They are in the page only; 'learn --report' keeps them in the model file.",
    ),
]
Identifier = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column of the table that names the rows.",
        show_default=False,
    ),
]


@takes_reading(*OF_A_MODEL)
def report(
    model: Model,
    data: OptionalData = None,
    out: Page = None,
    content_out: ContentOut = None,
    names: Names = None,
    title: Title = None,
    noun: Noun = "rows",
    compare: Compare = False,
    id: Identifier = None,
    *,
    reading: Reading,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a page that shows a model: in words, as a picture, with everything behind it.

    The page is one file that needs no network. With the table it also shows how well the model
    fits, how sure the states of the rows are, and the rows.
    """
    _check_use(out, content_out, data, compare, id)
    inputs = [model, data or [], names, *reading.files]
    check_output(out, PAGES, inputs=[*inputs, content_out], force=force)
    check_output(content_out, (".json",), "--json-out", inputs=[*inputs, out], force=force)
    from latentforest.formats import load

    network = load(model)
    reading = reading.with_recipe(network.recipe)
    with show_progress(quiet or as_json) as tell:
        table = read_table(network, data or [], reading)
        made = make_report(
            network,
            table,
            source=name_files(data),
            title=title,
            noun=noun,
            labels=names,
            compare=compare,
            ids=read_ids(id, data or [], reading),
            progress=tell,
        )
        write_files(made, out, content_out)
    _tell(made, model, data, out, content_out, as_json, quiet)


def _check_use(
    out: Path | None,
    content_out: Path | None,
    data: Sequence[str] | None,
    compare: bool,
    id: str | None,
) -> None:
    if out is None and content_out is None:
        raise typer.BadParameter("nothing would be written; add --out report.html")
    if not data and (compare or id is not None):
        option = "--compare" if compare else "--id"
        raise typer.BadParameter("this needs the table; add it after the model", param_hint=option)


def read_table(network: Network, data: Sequence[str], reading: Reading) -> Dataset | None:
    """Read the columns of a network, if there is a table."""
    if not data:
        return None
    return read_like(data, reading, [network.structure.variable(n) for n in network.observed])


def read_ids(column: str | None, data: Sequence[str], reading: Reading) -> list[Any] | None:
    """Read the column that names the rows, or the one that the recipe says."""
    if not data:
        return None
    from latentforest.cli.identity import read_kept

    kept = read_kept(data, reading, None if column is None else [column], None)
    return None if not kept else list(next(iter(kept.values())))


def name_files(data: Sequence[str] | None) -> str | None:
    """Names of the files without their folders."""
    return name_sources([Path(each).name for each in data]) if data else None


def make_report(network: Network, table: Dataset | None, **options: Any) -> Report:
    """Make a report of a table that was read from files."""
    from latentforest.report.content import make_content
    from latentforest.report.document import Report

    return Report(make_content(network, table, **options))


def write_files(made: Report, out: Path | None, content_out: Path | None = None) -> None:
    """Write the page and its data."""
    for path in (out, content_out):
        if path is not None:
            with naming_output(path):
                made.save(path)


def _tell(
    made: Report,
    model: Path,
    data: Sequence[str] | None,
    out: Path | None,
    content_out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    found = made.content["words"]["warnings"]
    if as_json:
        print_json(
            {
                "file": model,
                "source": name_sources(data) if data else None,
                "report": out,
                "content": content_out,
                "title": made.content["title"],
                "warnings": [each["id"] for each in found],
            }
        )
    elif not quiet:
        written = " and ".join(str(path) for path in (out, content_out) if path is not None)
        n = len(found)
        say(f"The report was written to {written}; it has {n} warning{'' if n == 1 else 's'}.")
