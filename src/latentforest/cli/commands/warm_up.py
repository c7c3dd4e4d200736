"""``latentforest warm-up``: compile all kernels ahead."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from latentforest.cli.learn_options import Quiet
from latentforest.cli.options import Json
from latentforest.cli.output import print_json
from latentforest.cli.progress import show_progress


def warm_up(
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes; if left out, one for each core."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compile all kernels now, so that no later fit has to wait for it."""
    from latentforest.learners.common import warm_up as library

    began = time.monotonic()
    with show_progress(quiet) as tell:
        reports = library.warm_up(jobs, tell)
    seconds = time.monotonic() - began
    n_compiled = sum(report.n_compiled for report in reports)
    if as_json:
        print_json(
            {
                "compiled": n_compiled,
                "seconds": round(seconds, 3),
                "jobs": [vars(report) for report in reports],
            }
        )
    elif not quiet:
        done = f"{n_compiled:,} functions compiled" if n_compiled else "all was compiled already"
        typer.echo(f"{done} ({seconds:.0f} s)")
