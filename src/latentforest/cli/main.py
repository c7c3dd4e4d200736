"""The command ``latentforest``: its subcommands and global options.

Nothing heavy is imported here; a command loads what it needs when it runs.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from latentforest.cli.boundary import (
    BROKEN_PIPE,
    FAILED,
    INTERRUPTED,
    GuardedGroup,
    discard_output,
    report,
    say,
)
from latentforest.cli.commands.benchmark import benchmark
from latentforest.cli.commands.compare import compare
from latentforest.cli.commands.convert import convert
from latentforest.cli.commands.datasets import datasets
from latentforest.cli.commands.fit import fit
from latentforest.cli.commands.inspect import inspect
from latentforest.cli.commands.learn import learn
from latentforest.cli.commands.plot import plot
from latentforest.cli.commands.predict import predict
from latentforest.cli.commands.report import report as report_model
from latentforest.cli.commands.sample import sample
from latentforest.cli.commands.score import score
from latentforest.cli.commands.show import show
from latentforest.cli.commands.warm_up import warm_up
from latentforest.version import __version__

HELP = """Discovers the hidden structure under a table of data.

Exit codes: 0 done; 1 an error; 2 wrong usage; 3 ended early (time limit, Ctrl-C, SIGTERM) with
the best model so far; 130 interrupted without a result.
"""
app = typer.Typer(
    name="latentforest",
    cls=GuardedGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    inspect,
    learn,
    fit,
    show,
    report_model,
    score,
    compare,
    benchmark,
    predict,
    sample,
    plot,
    convert,
    datasets,
    warm_up,
)


def join_lines(text: str) -> str:
    """Join the lines of each paragraph: the terminal's width breaks them, not the source's."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n")).strip()


for command in COMMANDS:
    app.command(help=join_lines(command.__doc__ or ""))(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"latentforest {__version__}")
        raise typer.Exit


@app.callback(help=join_lines(HELP))
def _set_up(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the full traceback of an error.")
    ] = False,
) -> None:
    """Take the options that all commands have."""


def main() -> None:
    """Run the command line."""
    if sys.stdout is None:
        say("error: standard output is closed")
        raise SystemExit(FAILED)
    try:
        app(prog_name="latentforest")
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer's code for it is 1
            raise SystemExit(BROKEN_PIPE) from None
        raise
    except OSError as error:  # the help page could not be written
        report(error)
        discard_output()
        raise SystemExit(FAILED) from None
