"""What a learner tells while it works, and the display of it in a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Say = Callable[[str], None]

COMPILING = "compiling the kernels (once after installation, about 15 s)"


def stay_silent(message: str) -> None:
    """Say nothing."""


@contextmanager
def open_progress(progress: bool | Say) -> Iterator[Say]:
    """Give a function that shows a line of progress.

    Parameters
    ----------
    progress
        False: nothing is shown. True: a live line on standard error (plain lines when that is not
        a terminal). A function: called with each message.
    """
    if callable(progress):
        with _announce_compilation(progress):
            yield progress
    elif progress:
        with _live_line() as say, _announce_compilation(say):
            yield say
    else:
        yield stay_silent


def _write_line(message: str) -> None:
    sys.stderr.write(message + "\n")


@contextmanager
def _live_line() -> Iterator[Say]:
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _write_line
        return
    with console.status("starting") as status:
        yield status.update


@contextmanager
def _announce_compilation(say: Say) -> Iterator[None]:
    """Say so when numba starts to compile; loading compiled code from the disk is silent."""
    from numba.core import event

    def on_start(_: Any) -> None:
        if threading.current_thread() is threading.main_thread() and not told:
            told.append(True)
            say(COMPILING)

    told: list[bool] = []

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            on_start(event)

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield
