"""``latentforest benchmark``: several learners on one table, by rows they were not fitted to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from latentforest.cli.boundary import ENDED_EARLY, naming_output, say, warn
from latentforest.cli.commands.compare import ResultOut
from latentforest.cli.learn_options import Jobs, Quiet
from latentforest.cli.learners import check_checkpoint
from latentforest.cli.options import (
    Data,
    Force,
    Json,
    Seed,
    TableFormat,
)
from latentforest.cli.output import (
    RESULT_FILES,
    check_format,
    check_output,
    print_json,
    print_tables,
)
from latentforest.cli.progress import show_progress
from latentforest.cli.reading import ALL, takes_reading
from latentforest.cli.tables import Reading, name_sources, read_data, read_folds

FOLDS = "10"

Learners = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Learners, with settings by their names in Python: latent-class:n_states=2,east:mu=4. "
        "May be repeated. 'independence' is always there. If left out: chow-liu, latent-class and "
        "bridged-islands.",
        show_default=False,
    ),
]
BenchmarkFolds = Annotated[
    str,
    typer.Option(
        metavar="FOLDS",
        help="Number of folds, whose rows are drawn at random; or the column or one-column file "
        "with each row's fold.",
    ),
]
FitLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="SECONDS", help="Of each fit.", show_default=False),
]
FitCheckpoint = Annotated[
    Path | None,
    typer.Option("--checkpoint", metavar="FILE", help="Keeps every fit in this file."),
]
FitResume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Takes the fits that are in the checkpoint from there; --learners may name others.",
    ),
]


@takes_reading(*ALL)
def benchmark(
    data: Data,
    learners: Learners = None,
    folds: BenchmarkFolds = FOLDS,
    seed: Seed = 0,
    jobs: Jobs = None,
    time_limit: FitLimit = None,
    checkpoint: FitCheckpoint = None,
    resume: FitResume = False,
    *,
    reading: Reading,
    out: ResultOut = None,
    force: Force = False,
    table_format: TableFormat = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare learners on a table, by rows that they were not fitted to.

    Every learner is fitted to the whole table, and once without each fold. Ctrl-C keeps the folds
    that are complete; the exit code is then 3.
    """
    from latentforest.benchmarking.candidates import DEFAULT, read_candidates
    from latentforest.benchmarking.run import benchmark as run

    check_format(table_format, as_json)
    inputs = [data, folds, *reading.files]
    check_checkpoint(checkpoint, resume, inputs, force)
    check_output(out, RESULT_FILES, inputs=[*inputs, checkpoint], force=force)
    named = learners or list(DEFAULT)
    read_candidates(named, seed)  # a name or setting that is not known is told at once
    with show_progress(quiet) as tell:
        tell(f"reading {name_sources(data)}")
        fold_labels, table = read_folds(folds, read_data(data, reading))
        result = run(
            table,
            named,
            folds=fold_labels,
            random_state=seed,
            time_limit=time_limit,
            n_jobs=jobs,
            progress=tell,
            checkpoint=checkpoint,
            resume=resume,
        )
    if out is not None:
        with naming_output(out):
            result.to(out)
        say(f"the benchmark was written to {out}")
    if as_json:
        print_json({"source": name_sources(data), **result.to_dict()})
    else:
        print_tables(result, table_format)
    if result.interrupted:
        hint = "" if checkpoint is None else f"; --resume goes on from {checkpoint}"
        warn(f"interrupted; these are the complete folds{hint}")
        raise typer.Exit(ENDED_EARLY)
