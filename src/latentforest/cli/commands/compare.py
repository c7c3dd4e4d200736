"""``latentforest compare``: several models on one table."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latentforest.cli.boundary import naming_output, say
from latentforest.cli.learn_options import Jobs
from latentforest.cli.options import (
    OUTPUT,
    Force,
    Json,
    TableFormat,
)
from latentforest.cli.output import (
    RESULT_FILES,
    check_format,
    check_output,
    print_json,
    print_tables,
)
from latentforest.cli.reading import OF_A_MODEL, takes_reading
from latentforest.cli.tables import Reading, name_sources, read_like

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.model import Network
    from latentforest.scores.model_comparison import ModelComparison

PICTURES = (".svg", ".png", ".pdf")

CompareModels = Annotated[
    list[Path],
    typer.Argument(
        metavar="A B [C]...",
        help="Model files, at least two (.json, .bif, .xdsl …).",
        show_default=False,
    ),
]
CompareData = Annotated[
    list[str],
    typer.Option(
        "--data",
        metavar="DATA",
        help="Table file, best of rows that are new to the models; or the name of a built-in "
        "table. May be repeated for several files with the same columns.",
        show_default=False,
    ),
]
Fitted = Annotated[
    bool,
    typer.Option(
        "--fitted",
        help="All models were fitted to these rows: take their numbers of parameters into account. "
        "Files written by 'learn' know it themselves.",
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where to draw the models beside each other (.svg, .png, .pdf).",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
ResultOut = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where to write the tables (.csv, .tsv, .parquet, .xlsx, .tex, .md, .html, .json).",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]


@takes_reading(*OF_A_MODEL)
def compare(
    models: CompareModels,
    data: CompareData,
    fitted: Fitted = False,
    *,
    reading: Reading,
    jobs: Jobs = None,
    out: ResultOut = None,
    picture: Picture = None,
    force: Force = False,
    table_format: TableFormat = None,
    as_json: Json = False,
) -> None:
    """Compare models by the rows of a table, their structure, and their latent variables.

    Which differences matter is said in sentences. Rows should be new to the models; those that they
    were fitted to are known by the records in model files.
    """
    from latentforest.formats import load
    from latentforest.scores.compared_models import ComparedModel
    from latentforest.scores.model_comparison import compare_models

    _check_arguments(models, data)
    check_format(table_format, as_json)
    inputs = [models, data, *reading.files]
    check_output(out, RESULT_FILES, inputs=inputs, force=force)
    check_output(picture, PICTURES, "--picture", inputs=[*inputs, out], force=force)
    networks = dict(zip(_name_models(models), map(load, models), strict=True))

    def read(network: Network) -> Dataset:
        variables = [network.structure.variable(name) for name in network.observed]
        return read_like(data, reading.with_recipe(network.recipe), variables)

    judged = [ComparedModel(name, each, read(each), jobs) for name, each in networks.items()]
    result = compare_models(judged, fitted)
    if out is not None:
        with naming_output(out):
            result.to(out)
        say(f"the comparison was written to {out}")
    if picture is not None:
        _draw(result, picture)
    if as_json:
        print_json({"source": name_sources(data), **result.to_dict()})
    else:
        print_tables(result, table_format)


def _check_arguments(models: list[Path], data: list[str]) -> None:
    if len(models) < 2:
        raise typer.BadParameter(
            f"got {len(models)} model, expected at least two", param_hint="A B"
        )
    if "-" in data:
        raise typer.BadParameter(
            "standard input cannot be read once for each model; save the table to a file",
            param_hint="--data",
        )


def _name_models(paths: list[Path]) -> list[str]:
    """Names of the files, with their folders if the names alone are not different."""
    for names in ([path.name for path in paths], list(map(str, paths))):
        if len(set(names)) == len(names):
            return names
    return [f"{place} {path}" for place, path in enumerate(paths, 1)]


def _draw(result: ModelComparison, path: Path) -> None:
    """Draw the models beside each other."""
    plots = importlib.import_module("latentforest.plots")
    files = importlib.import_module("latentforest.plots.files")
    with naming_output(path):
        files.save_picture(plots.compare(result), path)
    say(f"the picture was written to {path}")
