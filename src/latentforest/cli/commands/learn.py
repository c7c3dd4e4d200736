"""``latentforest learn``: learn a model from a table."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from latentforest.cli.boundary import ENDED_EARLY, naming_output, read_command, say, warn
from latentforest.cli.commands.report import PAGES
from latentforest.cli.learn_options import (
    CandidatePairs,
    Checkpoint,
    Constraints,
    Covariance,
    Criterion,
    Evaluation,
    Fixed,
    Folds,
    Jobs,
    Latents,
    LearnerName,
    MaxIterations,
    MaxParents,
    MaxStates,
    MaxSteps,
    Method,
    ModelOut,
    Mu,
    Nu,
    Prior,
    Quiet,
    ReportOut,
    Restarts,
    Resume,
    Runs,
    Settings,
    Smoothing,
    Start,
    Starts,
    States,
    StructureStep,
    TimeLimit,
    Tolerance,
    Winners,
)
from latentforest.cli.learners import (
    build_learner,
    check_checkpoint,
    is_own_result,
    read_arcs,
    read_criterion,
    read_evaluation,
    read_latents,
    read_prior,
    read_settings,
    read_smoothing,
    read_start,
    read_states,
)
from latentforest.cli.options import (
    Data,
    Force,
    Json,
    Seed,
    TableFormat,
    split_names,
)
from latentforest.cli.output import (
    MODEL_FILES,
    check_format,
    check_output,
    make_console,
    print_json,
    print_tables,
)
from latentforest.cli.progress import show_progress
from latentforest.cli.reading import ALL, takes_reading
from latentforest.cli.tables import Reading, name_sources, read_data, read_folds
from latentforest.formats import check_variables, save

if TYPE_CHECKING:
    from latentforest.data import Dataset
    from latentforest.learners.common.base import NetworkLearner

TIME_LIMIT = "the time limit was reached"


@dataclass(frozen=True)
class Outcome:
    """A fitted learner, what it was fitted to, and how that went."""

    source: str
    data: Dataset
    name: str
    learner: NetworkLearner
    seconds: float
    was_interrupted: bool
    saved_to: Path | None


@takes_reading(*ALL)
def learn(
    data: Data,
    learner: LearnerName = "latent-class",
    states: States = None,
    criterion: Criterion = None,
    covariance: Covariance = None,
    max_states: MaxStates = None,
    starts: Starts = None,
    max_iterations: MaxIterations = None,
    tolerance: Tolerance = None,
    smoothing: Smoothing = None,
    prior: Prior = None,
    candidate_pairs: CandidatePairs = None,
    folds: Folds = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    time_limit: TimeLimit = None,
    settings: Settings = None,
    mu: Mu = None,
    nu: Nu = None,
    evaluation: Evaluation = None,
    winners: Winners = None,
    runs: Runs = None,
    start: Start = None,
    fixed: Fixed = None,
    max_steps: MaxSteps = None,
    checkpoint: Checkpoint = None,
    resume: Resume = False,
    method: Method = None,
    restarts: Restarts = None,
    max_parents: MaxParents = None,
    constraints: Constraints = None,
    latents: Latents = None,
    structure_step: StructureStep = None,
    *,
    reading: Reading,
    out: ModelOut = None,
    report: ReportOut = None,
    force: Force = False,
    table_format: TableFormat = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a model from a table.

    Ctrl-C ends the search and keeps the best model so far; the exit code is then 3, as after the
    time limit.
    """
    check_format(table_format, as_json)
    check_quiet(quiet and table_format is None, out or report, as_json)
    inputs = [data, start, prior, constraints, folds, *reading.files]
    check_checkpoint(checkpoint, resume, inputs, force)
    check_output(
        out,
        MODEL_FILES,
        inputs=[*inputs, checkpoint],
        force=force or (resume and is_own_result(checkpoint, out)),
    )
    check_output(report, PAGES, "--report", inputs=[*inputs, checkpoint, out], force=force)
    estimator = build_learner(
        learner,
        {
            "n_states": read_states(states),
            "criterion": read_criterion(criterion),
            "covariance": covariance,
            "max_states": max_states,
            "n_starts": starts,
            "max_iterations": max_iterations,
            "tolerance": tolerance,
            "smoothing": read_smoothing(smoothing),
            "prior": read_prior(prior),
            "candidate_pairs": candidate_pairs,
            "folds": folds,
            "random_state": seed,
            "n_jobs": jobs,
            "time_limit": time_limit,
            "mu": mu,
            "nu": nu,
            "evaluation": read_evaluation(evaluation),
            "n_winners": winners,
            "n_runs": runs,
            "start": read_start(start),
            "fixed": split_names(fixed) or None,
            "max_steps": max_steps,
            "checkpoint": checkpoint,
            "resume": resume or None,
            "method": method,
            "n_restarts": restarts,
            "latents": read_latents(latents),
            "structure_step": structure_step,
            **read_arcs(constraints),
            **({} if max_parents is None else {"max_parents": max_parents}),
            **read_settings(settings or ()),
        },
    )
    _check_folds(folds, estimator)
    with show_progress(quiet) as tell:
        tell(f"reading {name_sources(data)}")
        fold_labels, table = read_folds(folds, read_data(data, reading))
        if out is not None:
            check_variables(table.variables, out)
        estimator.set_params(
            progress=tell, **({} if fold_labels is None else {"folds": fold_labels})
        )
        _warn_of_many_classes(estimator, table)
        outcome = run_learner(data, table, learner, estimator, out)
        if report is not None:
            write_report(outcome, report, tell)
    report_outcome(outcome, as_json, quiet, table_format)


def check_quiet(quiet: bool, out: Path | None, as_json: bool) -> None:
    """Refuse to work for nothing."""
    if quiet and out is None and not as_json:
        raise typer.BadParameter("nothing would be left of the result; add --out or --json")


def _check_folds(folds: str | None, learner: NetworkLearner) -> None:
    if folds is not None and learner.get_params().get("criterion") != "cv":
        raise typer.BadParameter("folds are used only with --criterion cv", param_hint="--folds")


def _warn_of_many_classes(learner: NetworkLearner, data: Dataset) -> None:
    """Say if there are fewer observations than classes."""
    states = learner.get_params().get("n_states")
    numbers = [states] if isinstance(states, int) else states
    if not isinstance(numbers, list | tuple) or max(numbers) <= data.total_weight:
        return
    warn(
        f"--states asks for up to {max(numbers):,} classes, more than the "
        f"{data.total_weight:,.10g} observations can tell apart"
    )


def run_learner(
    sources: Sequence[str], data: Dataset, name: str, learner: NetworkLearner, out: Path | None
) -> Outcome:
    """Fit, and save the model at once."""
    began = time.monotonic()
    learner.fit(data)
    _note_origin(learner, sources)
    was_interrupted = learner.interrupted_
    if out is not None:
        try:
            _save(learner, out)
        except KeyboardInterrupt:  # the model is there already: a second one ends it
            _save(learner, out)
            was_interrupted = True
    seconds = time.monotonic() - began
    return Outcome(name_sources(sources), data, name, learner, seconds, was_interrupted, out)


def _save(learner: NetworkLearner, out: Path) -> None:
    try:
        with naming_output(out):
            save(learner.network_, out)
    except OSError as error:
        raise OSError(f"{error}; {_save_elsewhere(learner, out)}") from error
    _note_result(getattr(learner, "checkpoint", None), out)


def _save_elsewhere(learner: NetworkLearner, out: Path) -> str:
    """Save a model that may have taken hours in a temporary folder, and say so."""
    try:
        rescued = Path(tempfile.mkdtemp(prefix="latentforest-")) / out.name
        save(learner.network_, rescued)
    except OSError as error:
        return f"nor could it be saved in a temporary folder: {error.strerror}"
    return f"the model was saved to {rescued} instead"


def _note_origin(learner: NetworkLearner, sources: Sequence[str]) -> None:
    """Add to the record of a model where its table came from, and the command that made it."""
    network = learner.network_
    assert network.record is not None  # fit made it
    names = name_sources([Path(each).name for each in sources])
    learner.network_ = network.with_record(
        replace(network.record, source=names, command=read_command())
    )


def write_report(outcome: Outcome, path: Path, tell: Callable[[str], None]) -> None:
    """Write the page of a model; models fitted for comparison go into the model file, too."""
    from latentforest.cli.commands.report import make_report, write_files
    from latentforest.report.sections.comparisons import compare_with

    learner, network = outcome.learner, outcome.learner.network_
    assert network.record is not None  # fit made it
    if not outcome.was_interrupted:
        found = compare_with(network, outcome.data, say=tell)
        learner.network_ = network.with_record(replace(network.record, comparisons=found))
        if outcome.saved_to is not None:
            with naming_output(outcome.saved_to):
                save(learner.network_, outcome.saved_to)
            _note_result(getattr(learner, "checkpoint", None), outcome.saved_to)
    tell("writing the report")
    write_files(make_report(learner.network_, outcome.data), path)


def _note_result(checkpoint: Any, out: Path) -> None:
    """Let a later --resume know the file again, which it may then replace."""
    if checkpoint is not None and out.is_file():
        from latentforest.search.trees.journal import note_result

        with suppress(OSError):  # it will want --force
            note_result(Path(checkpoint), out)


def report_outcome(
    outcome: Outcome, as_json: bool, quiet: bool, table_format: str | None = None
) -> None:
    """Print the result, and what may be wrong with it; an early end has its own exit code."""
    is_early = _warn_of_early_end(outcome)
    try:
        _print_outcome(outcome, as_json, quiet, table_format)
    except KeyboardInterrupt:
        if outcome.saved_to is None:
            raise
        say(f"interrupted; the model is in {outcome.saved_to}")
        is_early = True
    if is_early:
        raise typer.Exit(ENDED_EARLY)


def _print_outcome(outcome: Outcome, as_json: bool, quiet: bool, table_format: str | None) -> None:
    from latentforest.cli import summary

    if as_json:
        print_json(summary.describe_outcome(outcome))
    elif table_format is not None:
        print_tables(summary.tabulate_outcome(outcome), table_format)
    elif not quiet:
        summary.print_outcome(make_console(), outcome)
        if outcome.saved_to is None:
            say("The model was not saved; --out model.json keeps it.")


def _warn_of_early_end(outcome: Outcome) -> bool:
    """Say why the result may be worse than it could be; tell whether it came early."""
    monitor: Any = getattr(outcome.learner, "monitor_", None)
    stopped: str | None = getattr(outcome.learner, "stopped_", None)
    limit = outcome.learner.time_limit
    if outcome.was_interrupted:
        stopped = "interrupted"
    elif stopped is None and limit is not None and outcome.seconds >= limit:
        stopped = TIME_LIMIT
    if stopped is not None:
        checkpoint = getattr(outcome.learner, "checkpoint", None)
        hint = "" if checkpoint is None else f"; --resume goes on from {checkpoint}"
        warn(f"{stopped}; this is the best model so far{hint}")
    elif monitor is not None and not monitor.converged:
        warn(f"EM did not converge: {monitor.reason}; --max-iterations raises the limit")
    return stopped in ("interrupted", TIME_LIMIT)
