"""What a learner tells while it works, and the display of it in a terminal."""

from __future__ import annotations

import html
import importlib
import multiprocessing
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from latentforest.announcements import announce_through
from latentforest.visible import make_label, make_visible

if TYPE_CHECKING:
    from rich.text import Text

Say = Callable[[str], None]
Progress = bool | Say | None

SECONDS_BETWEEN_LINES = 10.0  # for plain lines of one kind
SECONDS_BETWEEN_UPDATES = 0.2  # of the line below a cell
LONGEST_LINE = 300  # characters below a cell
PATIENCE = 0.5  # seconds that work may take without a word
SPINNER_WIDTH = 2  # of the sign before the live line, with its space
_PART = re.compile(r"([\d,]*\d) of ([\d,]*\d)")
_OPEN: list[None] = []  # learners at work; those within others do not show a line of their own


def stay_silent(message: str) -> None:
    """Say nothing."""


@contextmanager
def open_progress(progress: Progress) -> Iterator[Say]:
    """Give a function that shows a line of progress.

    Parameters
    ----------
    progress
        None: shown in interactive use, a terminal or a notebook, if the work takes more than a
        moment. False: nothing is shown. True: a live line on standard error (plain lines when that
        is not a terminal), in a notebook a bar. A function: called with each message.
    """
    show = show_notebook if is_notebook() else show_late if progress is None else show_live
    if progress is None:
        progress = not _OPEN and is_interactive()
    _OPEN.append(None)
    try:
        if callable(progress):
            with announce_through(progress):
                yield progress
        elif progress:
            with show() as say, announce_through(say):
                yield say
        else:
            yield stay_silent
    finally:
        _OPEN.pop()


def is_interactive() -> bool:
    """Whether a person looks: at a notebook, or at a terminal; not in workers, not in tests."""
    if multiprocessing.current_process().name != "MainProcess":
        return False
    if "PYTEST_CURRENT_TEST" in os.environ:
        return False
    return is_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def is_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def show_late() -> Iterator[Say]:
    """Give a function that shows a live line in a terminal once the work takes a while."""
    line = LateLine()
    try:
        yield line.show
    finally:
        line.close()


class LateLine:
    """A live line that appears after a moment, so that quick work shows nothing at all."""

    def __init__(self, seconds: float = PATIENCE) -> None:
        self._message, self._live, self._lock = "starting", ExitStack(), threading.Lock()
        self._say: Say | None = None
        self._is_closed = False
        self._timer = threading.Timer(seconds, self._open)
        self._timer.daemon = True
        self._timer.start()

    def show(self, message: str) -> None:
        """Show a message, now or when the line appears."""
        with self._lock:
            self._message = message
            if self._say is not None:
                self._say(message)

    def close(self) -> None:
        """Take the line away."""
        self._timer.cancel()
        with self._lock:
            self._is_closed = True
            self._live.close()

    def _open(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._say = self._live.enter_context(show_live())
                self._say(self._message)


@contextmanager
def show_notebook() -> Iterator[Say]:
    """Give a function that shows a bar with a line below the cell; both go in the end.

    It needs IPython only, where the live displays of rich need ipywidgets.
    """
    display = importlib.import_module("IPython.display").display
    began = last = time.monotonic()
    handle: Any = None

    def say(message: str) -> None:
        nonlocal handle, last
        now = time.monotonic()
        if handle is None and now - began >= PATIENCE:
            handle = display(write_bar(message, now - began), raw=True, display_id=True)
        elif handle is not None and now - last >= SECONDS_BETWEEN_UPDATES:
            handle.update(write_bar(message, now - began), raw=True)
            last = now

    try:
        yield say
    finally:
        if handle is not None:
            handle.update({"text/plain": "", "text/html": ""}, raw=True)


def write_bar(message: str, seconds: float) -> dict[str, str]:
    """Write a message for a notebook: a bar that is as full as it says, or one that only moves.

    Examples
    --------
    >>> write_bar("run 3 of 10", 12.0)["text/html"]
    '<progress value="3" max="10"></progress> run 3 of 10 · 12 s'
    """
    found = _PART.search(message)
    part = found and [int(each.replace(",", "")) for each in found.groups()]
    is_known = bool(part and 0 <= part[0] <= part[1] and part[1])
    filled = f' value="{part[0]}" max="{part[1]}"' if part and is_known else ""
    text = make_label(" ".join(message.split()))[:LONGEST_LINE]
    page = f"<progress{filled}></progress> {html.escape(text)} · {seconds:.0f} s"
    return {"text/plain": text, "text/html": page}


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
