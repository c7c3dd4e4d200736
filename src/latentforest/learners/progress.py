"""What a learner tells while it works, and the display of it in a terminal."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

Say = Callable[[str], None]

COMPILING = "compiling the kernels (once after installation, less than a minute)"
SECONDS_BETWEEN_LINES = 10.0  # for plain lines of one kind
SPINNER_WIDTH = 2  # of the sign before the live line, with its space


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
        with show_live() as say, _announce_compilation(say):
            yield say
    else:
        yield stay_silent


@contextmanager
def show_live() -> Iterator[Say]:
    """Give a function that shows a live line on standard error; plain lines if that is a file."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        yield PlainLines().show
        return
    with console.status("starting") as status:
        yield lambda message: status.update(_cut(message, console.width - SPINNER_WIDTH))


def _cut(message: str, width: int) -> Text:
    """Make one line of a message, whatever names of variables are in it."""
    from rich.text import Text

    text = Text(" ".join(message.split()))
    text.truncate(width, overflow="ellipsis")
    return text


class PlainLines:
    """Writes messages as lines; of one kind, one line now and then.

    Messages are of one kind if they differ only in numbers, and in what follows the first comma.
    """

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def show(self, message: str) -> None:
        """Write a message unless a similar one was written a moment ago."""
        subject, colon, rest = message.partition(":")
        kind = subject + colon + re.sub(r"[\d.,]+", "", rest.partition(", ")[0])
        now = time.monotonic()
        if now - self._last.get(kind, -SECONDS_BETWEEN_LINES) >= SECONDS_BETWEEN_LINES:
            self._last[kind] = now
            if sys.stderr is not None:
                sys.stderr.write(message + "\n")


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
