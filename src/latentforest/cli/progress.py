"""What a person sees while a learner works, and what happens on Ctrl-C."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from latentforest.cli.boundary import say

SECONDS_BETWEEN_LINES = 10.0  # for lines that differ only in a number


@contextmanager
def show_progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that shows what is going on: a live line, or plain lines if piped."""
    if quiet:
        yield lambda message: None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        yield PlainLines().show
        return
    with console.status("starting") as status:
        yield lambda message: status.update(Text(message))


class PlainLines:
    """Writes messages as lines; of those that differ only in a number, one now and then."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def show(self, message: str) -> None:
        """Write a message unless a similar one was written a moment ago."""
        subject, colon, rest = message.partition(":")
        kind = subject + colon + re.sub(r"[\d.,]+", "", rest)
        now = time.monotonic()
        if now - self._last.get(kind, -SECONDS_BETWEEN_LINES) >= SECONDS_BETWEEN_LINES:
            self._last[kind] = now
            say(message)
