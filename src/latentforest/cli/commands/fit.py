"""``latentforest fit``: estimate the parameters of a structure that the user states."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from latentforest.cli.commands.learn import check_quiet, report_outcome, run_learner
from latentforest.cli.learn_options import (
    Jobs,
    MaxIterations,
    ModelOut,
    Prior,
    Quiet,
    Smoothing,
    Starts,
    TimeLimit,
    Tolerance,
)
from latentforest.cli.learners import read_prior, read_smoothing
from latentforest.cli.options import (
    Data,
    Force,
    Json,
    Seed,
    TableFormat,
)
from latentforest.cli.output import MODEL_FILES, check_format, check_output
from latentforest.cli.progress import show_progress
from latentforest.cli.reading import ALL, takes_reading
from latentforest.cli.tables import Reading, name_sources, read_data
from latentforest.formats import check_variables

StructureText = Annotated[
    str,
    typer.Argument(
        metavar="STRUCTURE",
        help="Such as 'X[2] -> A, B, C; A, C -> D', where X is a hidden variable of two states; a "
        "file of such text; or a model file (.json, .bif). Names with other characters than "
        "letters, digits, _ and . go in quotes.",
        show_default=False,
    ),
]


@takes_reading(*ALL)
def fit(
    data: Data,
    structure: StructureText,
    starts: Starts = None,
    max_iterations: MaxIterations = None,
    tolerance: Tolerance = None,
    smoothing: Smoothing = None,
    prior: Prior = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    time_limit: TimeLimit = None,
    *,
    reading: Reading,
    out: ModelOut = None,
    force: Force = False,
    table_format: TableFormat = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the parameters of a structure that you state."""
    check_format(table_format, as_json)
    check_quiet(quiet and table_format is None, out, as_json)
    settings: dict[str, Any] = {
        "n_starts": starts,
        "max_iterations": max_iterations,
        "tolerance": tolerance,
        "smoothing": read_smoothing(smoothing),
        "prior": read_prior(prior),
        "n_jobs": jobs,
        "time_limit": time_limit,
    }
    check_output(out, MODEL_FILES, inputs=[data, structure, *reading.files], force=force)
    from latentforest import ConfirmatoryModel

    with show_progress(quiet) as tell:
        tell(f"reading {name_sources(data)}")
        given = {name: value for name, value in settings.items() if value is not None}
        learner = ConfirmatoryModel(structure, random_state=seed, progress=tell, **given)
        table = read_data(data, reading)
        if out is not None:
            check_variables(learner.find_columns(table), out)
        outcome = run_learner(data, table, "fit", learner, out)
    report_outcome(outcome, as_json, quiet, table_format)
