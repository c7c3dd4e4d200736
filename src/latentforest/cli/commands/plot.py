"""``latentforest plot``: a picture of a model in a file."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latentforest.cli.boundary import naming_output, say
from latentforest.cli.options import (
    OUTPUT,
    Force,
    Model,
)
from latentforest.cli.output import check_output
from latentforest.cli.reading import OF_A_MODEL, takes_reading
from latentforest.cli.tables import Reading, read_like

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.model import Network

PICTURE_FILES = (".svg", ".png", ".pdf")


class Kind(StrEnum):
    """What is drawn."""

    tree = "tree"
    profile = "profile"
    elbow = "elbow"
    residuals = "residuals"
    history = "history"
    posterior = "posterior"
    alluvial = "alluvial"
    compare = "compare"


WITH_TABLE = (Kind.residuals, Kind.alluvial, Kind.compare)  # and these need one
MAY_TAKE_TABLE = (*WITH_TABLE, Kind.profile, Kind.posterior)
OPTIONS = {
    "--latent": (Kind.profile, Kind.alluvial),
    "--other": (Kind.alluvial, Kind.compare),
    "--set": (Kind.posterior,),
    "--criterion": (Kind.elbow,),
}


@takes_reading(*OF_A_MODEL)
def plot(
    kind: Annotated[Kind, typer.Argument(metavar="KIND", help=f"One of {', '.join(Kind)}.")],
    model: Model,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA...",
            help="Table files, or the name of a built-in table. residuals, alluvial and compare "
            "need one; posterior then shows how clear its rows are, profile counts them.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help=f"Where to write the picture ({', '.join(PICTURE_FILES)}).",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = ...,  # type: ignore[assignment]
    latent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Latent variable of a profile; twice, the two of an alluvial picture.",
            show_default=False,
        ),
    ] = None,
    other: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="MODEL",
            help="Another model file: one for alluvial, any number for compare.",
            show_default=False,
        ),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A value that is known, for posterior. May be repeated. A name or value with a "
            "comma or an equals sign goes in double quotes.",
            show_default=False,
        ),
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Criterion of an elbow: bic, aic, icl …"),
    ] = None,
    force: Force = False,
    *,
    reading: Reading,
) -> None:
    """Draw a model, or what it says of a table.

    tree: the network. profile: what the states of a latent variable mean. elbow: a criterion by the
    number of classes. history: the search. residuals: pairs of columns that the model does not
    explain. posterior: how clear rows are, or what follows from values (--set). alluvial: the rows
    in the states of two latent variables, or of two models (--other). compare: models on a table.
    """
    given = {"--latent": latent, "--other": other, "--set": known, "--criterion": criterion}
    _check_options(kind, given, data)
    inputs = [model, *(other or ()), data or [], *reading.files]
    check_output(out, PICTURE_FILES, inputs=inputs, force=force)
    from latentforest.formats import load

    network = load(model)
    reading = reading.with_recipe(network.recipe)
    table = _read_table(network, data, reading)
    asked = _Asked(
        model, network, table, latent or (), other or (), read_known(known or ()), criterion
    )
    _write(_DRAW[kind], asked, out)
    say(f"picture written to {out}")


@dataclass(frozen=True)
class _Asked:
    """What the picture is made of."""

    path: Path
    network: Network
    table: Dataset | None
    latents: Sequence[str]
    others: Sequence[Path]
    known: dict[str, str]
    criterion: str | None


def _check_options(kind: Kind, given: dict[str, Any], data: list[str] | None) -> None:
    """Refuse what does not go with a kind of picture before anything is read."""
    for option, value in given.items():
        if value and kind not in OPTIONS[option]:
            kinds = " and ".join(OPTIONS[option])
            raise typer.BadParameter(f"it is for {kinds}, not for {kind}", param_hint=option)
    if data and kind not in MAY_TAKE_TABLE:
        raise typer.BadParameter(f"{kind} takes no table, got {data[0]!r}", param_hint="DATA")
    if not data and kind in WITH_TABLE:
        raise typer.BadParameter(f"{kind} needs a table", param_hint="DATA")
    if kind is Kind.profile and len(given["--latent"] or ()) > 1:
        raise typer.BadParameter("a profile is of one latent variable", param_hint="--latent")
    if kind is Kind.alluvial and len(given["--latent"] or ()) == 1:
        raise typer.BadParameter("alluvial takes two, or none", param_hint="--latent")
    if kind is Kind.alluvial and len(given["--other"] or ()) > 1:
        raise typer.BadParameter("alluvial takes one other model", param_hint="--other")
    if kind is Kind.posterior and data and given["--set"]:
        raise typer.BadParameter("choose between a table and values", param_hint="--set")


def _read_table(network: Network, data: list[str] | None, reading: Reading) -> Dataset | None:
    if not data:
        return None
    return read_like(data, reading, [network.structure.variable(n) for n in network.observed])


def read_known(texts: Sequence[str]) -> dict[str, str]:
    """Read ``--set NAME=VALUE``; what holds an equals sign goes in double quotes."""
    known: dict[str, str] = {}
    for text in texts:
        parts = next(csv.reader([text], delimiter="=", skipinitialspace=True), [])
        if len(parts) != 2 or not all(parts):
            raise typer.BadParameter(f"got {text!r}, expected NAME=VALUE", param_hint="--set")
        known[parts[0]] = parts[1]
    return known


def _write(draw: Callable[[_Asked], Any], asked: _Asked, out: Path) -> None:
    """Draw without a screen, and write the file at once."""
    from latentforest.plots.canvas import load_matplotlib
    from latentforest.plots.files import save_picture

    load_matplotlib().use("agg")
    ax = draw(asked)
    try:
        with naming_output(out):
            save_picture(ax, out)
    finally:
        load_matplotlib("matplotlib.pyplot").close(ax.figure)


def _draw_plain(name: str) -> Callable[[_Asked], Any]:
    """A picture that takes the model only."""

    def draw(asked: _Asked) -> Any:
        from latentforest import plots

        return getattr(plots, name)(asked.network)

    return draw


def _draw_profile(asked: _Asked) -> Any:
    from latentforest import plots

    latent = asked.latents[0] if asked.latents else None
    return plots.profile(asked.network, latent, asked.table)


def _draw_elbow(asked: _Asked) -> Any:
    from latentforest import plots

    return plots.elbow(asked.network, criterion=asked.criterion or "bic")


def _draw_residuals(asked: _Asked) -> Any:
    from latentforest import plots

    return plots.residuals(asked.network, asked.table)


def _draw_posterior(asked: _Asked) -> Any:
    from latentforest import plots

    if asked.table is not None:
        return plots.posterior(asked.network, asked.table)
    return plots.posterior(asked.network, evidence=_read_numbers(asked))


def _read_numbers(asked: _Asked) -> dict[str, Any]:
    """Values of continuous variables are numbers."""
    known: dict[str, Any] = dict(asked.known)
    for name in known.keys() & set(asked.network.structure.continuous):
        try:
            known[name] = float(known[name])
        except ValueError:
            raise typer.BadParameter(
                f"{name} is continuous, got {known[name]!r}, expected a number", param_hint="--set"
            ) from None
    return known


def _draw_alluvial(asked: _Asked) -> Any:
    from latentforest import plots

    other = asked.others[0] if asked.others else None
    return plots.alluvial(asked.network, asked.table, other, latents=asked.latents or None)


def _draw_compare(asked: _Asked) -> Any:
    from latentforest import plots
    from latentforest.formats import load

    models = {asked.path.name: asked.network}
    for path in asked.others:
        models[path.name if path.name not in models else str(path)] = load(path)
    return plots.compare(models, asked.table)


_DRAW: dict[Kind, Callable[[_Asked], Any]] = {
    Kind.tree: _draw_plain("tree"),
    Kind.profile: _draw_profile,
    Kind.elbow: _draw_elbow,
    Kind.residuals: _draw_residuals,
    Kind.history: _draw_plain("history"),
    Kind.posterior: _draw_posterior,
    Kind.alluvial: _draw_alluvial,
    Kind.compare: _draw_compare,
}
