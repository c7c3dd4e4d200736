"""Where errors, warnings and interruptions become short messages and exit codes.

0: done. 1: an error that the message explains. 2: wrong usage. 3: ended early, by the time limit,
Ctrl-C or SIGTERM; the best model so far was written, or printed. 130: interrupted without a
result. 141: the reader of the output went away.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import typer
from typer.core import TyperGroup

from latentforest.errors import LatentForestError, LatentForestWarning
from latentforest.visible import make_visible

FAILED = 1
ENDED_EARLY = 3
INTERRUPTED = 130
BROKEN_PIPE = 141

_TYPED: ContextVar[tuple[str, ...] | None] = ContextVar("typed", default=None)
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))

_MISSING = (
    r"pass --missing '\1', or missing for this column in a --recipe; if not, missing = [] there"
)
# The library's advice names arguments of Python functions; here they have other names.
_TRANSLATIONS = (
    (r"(drop it), or pass states=.*? or kinds=.*", r"\1 with --exclude"),
    (r"kinds=\{(['\"])(.*?)\1: '(\w+)'\}", r"--\3 '\2'"),
    (r"pass missing=\{.*?: \['(.*?)'\]\}; if not, missing=(\{.*?\})", _MISSING),
    (r"pass missing=\{.*?: \['(.*?)'\]\}", r"pass --missing '\1'"),
    (r"pass decimal='(.)' or decimal='(.)'", r"pass --decimal '\1' or --decimal '\2'"),
    (r"pass weights=", "pass --weights "),
    (r"exclude=\[(.*?)\]", r"--exclude \1"),
    (r"leave (?:it|them) out or read (?:it|them) with", "use --exclude, or"),
    (r"\blist it in missing=", "list it with --missing"),
    (r"\bpass its encoding=", "pass its --encoding"),
    (r"\bpass format='(\w+)'", r"pass --input-format \1"),
    (r"\bpass format=", "pass --input-format"),
    (r"\bpass sheet=", "pass --sheet"),
    (r"\bsheet(?=: got)", "--sheet"),
    (r"\bpass weights='(.*?)'", r"pass --weights '\1'"),
    (r"\bgo in missing=", "go in --missing"),
    (r"\bcatalog= is", "--catalog is"),
    (r"\bvocabulary(?=: expected)", "--vocabulary"),
    (r"; pass counts='values' to keep them", ""),
    (r"\bformat(?=: got)", "--input-format"),
    (r"\bexclude=", "--exclude"),
    (r"\bprior=", "--prior"),
    (r"\bhas states= but", "has --order but"),
    (r"\border=", "--order "),
    (r"\btime_limit must", "--time-limit must"),
    (r"\bmax_iterations must", "--max-iterations must"),
    (r"\blearners(?=: )", "--learners"),
    (r"\bn_jobs must", "--jobs must"),
    (r"\bn_winners must", "--winners must"),
    (r"\bn_runs must", "--runs must"),
    (r"\bmax_(states|steps) must", r"--max-\1 must"),
    (r"\bfixed names", "--fixed names"),
    (r"\(other=\)", "(--other)"),
    (r"such as LatentClass\(n_states=\(1, 6\)\)", "as 'learn --states 1:6' does"),
    (r"\b(tolerance|smoothing|prior|folds|delimiter|mu|nu)(?= must|:)", r"--\1"),
)


class GuardedGroup(TyperGroup):
    """Runs a command; whatever goes wrong in it ends with a message and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what was typed, for records of how models were made."""
        _TYPED.set(tuple(args))
        return list(super().parse_args(ctx, args))

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        debug = bool(ctx.params.get("debug"))
        with _plain_warnings(debug):
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()
            except BrokenPipeError:
                discard_output()
                raise typer.Exit(BROKEN_PIPE) from None
            except KeyboardInterrupt as error:
                if debug:
                    _print_traceback(error)
                say("interrupted; there is no result")
                raise typer.Exit(INTERRUPTED) from None
            except Exception as error:
                # Only typer's own exceptions, such as those for wrong usage, have an exit code.
                if hasattr(error, "exit_code"):
                    _show_controls(error)
                    raise
                report(error, debug)
                _flush_or_discard()
                raise typer.Exit(FAILED) from None
        return result


def read_command() -> str | None:
    """Return the command line that is being run, as it can be typed again."""
    typed = _TYPED.get()
    return None if typed is None else shlex.join(["latentforest", *typed])


def _show_controls(error: Any) -> None:
    """Make the message of wrong usage safe to print."""
    if isinstance(getattr(error, "message", None), str):
        error.message = make_visible(error.message)


def say(message: str, head: str = "") -> None:
    """Write a line to standard error, after a head that may be styled."""
    typer.echo(head + make_visible(message), err=True)


def warn(message: str) -> None:
    """Write a warning to standard error."""
    say(message, f"{typer.style('warning:', fg='yellow')} ")


def translate(message: str) -> str:
    """Name the options of the command line where a message names arguments of functions."""
    for pattern, replacement in _TRANSLATIONS:
        message = re.sub(pattern, replacement, message)
    return message


@contextlib.contextmanager
def naming_output(path: object) -> Iterator[None]:
    """Make the system's errors say which file could not be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(f"cannot write {path}: {error.strerror}") from error


def report(error: Exception, debug: bool = False) -> None:
    """Write an error to standard error, in a line or as a traceback."""
    if debug:
        _print_traceback(error)
    else:
        say(_explain(error), f"{typer.style('error:', fg='red')} ")


def _print_traceback(error: BaseException) -> None:
    say("".join(traceback.format_exception(error)).rstrip())


def _explain(error: Exception) -> str:
    if isinstance(error, LatentForestError):
        return translate(str(error))
    if isinstance(error, OSError):
        if error.filename is None and error.errno in _FULL:  # files are named in any case
            return f"cannot write to standard output: {error.strerror}"
        if error.filename is None or error.strerror is None:
            return str(error)
        return f"cannot open {error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    return (
        f"this should not have happened: {type(error).__name__}: {error}\n"
        "Please report it with what 'latentforest --debug …' shows."
    )


@contextlib.contextmanager
def _plain_warnings(debug: bool) -> Iterator[None]:
    """Show the library's warnings as one line each; those of other packages only for debugging."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        warn(translate(str(message)))

    with warnings.catch_warnings():
        if not debug:
            warnings.simplefilter("ignore")
        warnings.simplefilter("always", LatentForestWarning)
        warnings.showwarning = show
        yield


def _flush_or_discard() -> None:
    """Write what is left of the output, if it can be written."""
    try:
        sys.stdout.flush()
    except OSError:
        discard_output()


def discard_output() -> None:
    """Keep the interpreter from complaining about output that it cannot flush at the end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
