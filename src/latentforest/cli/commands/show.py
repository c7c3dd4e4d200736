"""``latentforest show``: print a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from latentforest.cli.options import OUTPUT, Json, Model, TableFormat
from latentforest.cli.output import (
    check_format,
    make_console,
    open_output,
    print_json,
    print_tables,
)

if TYPE_CHECKING:
    from rich.console import Console

    from latentforest.data.results.table import Table
    from latentforest.model import Network

HINT = "'latentforest show --tables' prints all."


def show(
    model: Model,
    tables: Annotated[
        bool,
        typer.Option("--tables", help="Print all probabilities.", rich_help_panel=OUTPUT),
    ] = False,
    dot: Annotated[
        bool,
        typer.Option("--dot", help="Print the graph for Graphviz.", rich_help_panel=OUTPUT),
    ] = False,
    table_format: TableFormat = None,
    as_json: Json = False,
) -> None:
    """Print a model: its tree, the sizes of its classes, what they mean.

    With --format, the profiles of its latent variables, or its edges if there are none.
    """
    if dot + as_json + tables + (table_format is not None) > 1:
        raise typer.BadParameter("choose one of --tables, --dot, --format and --json")
    check_format(table_format)
    from latentforest.formats import load

    network = load(model)
    if dot:
        open_output().write(network.to_dot())
    elif table_format is not None:
        print_tables(tabulate_network(network), table_format)
    elif as_json:
        print_json({"file": model, **describe_network(network)})
    else:
        print_model(make_console(), network, all_tables=tables)


def tabulate_network(network: Network) -> Table:
    """The profiles of the latent variables; without any, how strong the edges are."""
    return network.profiles() if network.latents else network.edge_information()


def describe_network(network: Network) -> dict[str, Any]:
    """A network for JSON."""
    from latentforest.model.files.document import to_document

    return {
        "n_variables": len(network.names),
        "n_parameters": network.dimension,
        "latents": [
            {
                "name": name,
                "states": network.structure.states(name),
                "sizes": network.marginal(name),
                "children": network.structure.children(name),
            }
            for name in network.latents
        ],
        "model": to_document(network),
    }


def print_model(console: Console, network: Network, all_tables: bool = False) -> None:
    """Print the tree and what its latent variables mean."""
    from latentforest.model.showing.printing import print_latents

    console.print(str(network), soft_wrap=True)
    console.print(
        f"{len(network.names)} variables, {len(network.latents)} of them latent; "
        f"{network.dimension:,} free parameters",
        style="dim",
    )
    print_latents(console, network, brief=not all_tables, hint=HINT)
    if all_tables:
        _print_roots(console, network)


def _print_roots(console: Console, network: Network) -> None:
    """Print the probabilities of what depends on no latent variable."""
    latents = set(network.latents)
    for name in network.names:
        if name in latents or latents & set(network.structure.parents(name)):
            continue
        if name in network.structure.continuous:
            mixture = network.mixture(name)
            deviation = mixture.variance**0.5
            text = f"{name}   mean: {mixture.mean:.6g}  sd: {deviation:.6g}"
            console.print(text, soft_wrap=True)
            continue
        states = network.structure.states(name)
        pairs = zip(states, network.marginal(name), strict=True)
        listed = "  ".join(f"{state}: {value:.3f}" for state, value in pairs)
        console.print(f"{name}   {listed}", soft_wrap=True)
