"""``latentforest sample``: draw rows from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from latentforest.cli.boundary import say
from latentforest.cli.options import Force, Model, Seed, TableOut
from latentforest.cli.output import TABLE_FILES, check_output, write_columns


def sample(
    model: Model,
    n_rows: Annotated[
        int, typer.Argument(metavar="N", min=1, help="Number of rows.", show_default=False)
    ],
    out: TableOut = None,
    force: Force = False,
    seed: Seed = 0,
    latents: Annotated[
        bool, typer.Option("--latents", help="Also give the latent variables' states.")
    ] = False,
) -> None:
    """Draw rows from a model."""
    from latentforest.formats import load

    check_output(out, TABLE_FILES, inputs=[model], force=force)
    table = load(model).sample(n_rows, random_state=seed, latents=latents)
    write_columns(table.to_columns(), out)
    if out is not None:
        say(f"{n_rows:,} rows written to {out}")
