"""What a learner tells while it works, and the display of it in a terminal."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from latentforest.announcements import announce_through
from latentforest.visible import make_label, make_visible

if TYPE_CHECKING:
    from rich.text import Text

Say = Callable[[str], None]

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
        with announce_through(progress):
            yield progress
    elif progress:
        with show_live() as say, announce_through(say):
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

    text = Text(make_label(" ".join(message.split())))
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
                sys.stderr.write(make_visible(message) + "\n")
