"""``latentforest convert``: a model file in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from latentforest.cli.boundary import naming_output, say
from latentforest.cli.options import Force, Model
from latentforest.cli.output import GRAPH_FILES, MODEL_FILES, check_output


def convert(
    model: Model,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help=f"File to write: {', '.join(MODEL_FILES)}; or, for the graph without parameters: "
            f"{', '.join(GRAPH_FILES)}.",
            show_default=False,
        ),
    ],
    force: Force = False,
) -> None:
    """Write a model in the format that the end of a name says.

    What the other format cannot hold is said.
    """
    from latentforest.formats import read_content, write_content

    check_output(out, (*MODEL_FILES, *GRAPH_FILES), "OUT", inputs=[model], force=force)
    content = read_content(model)
    with naming_output(out):
        write_content(content, out)
    say(f"{len(content.network.names):,} variables written to {out}")
