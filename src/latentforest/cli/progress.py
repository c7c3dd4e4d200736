"""What a person sees while a command works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def show_progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that shows what is going on: a live line, or plain lines if piped."""
    from latentforest.learners.common.progress import show_live, stay_silent

    if quiet:
        yield stay_silent
        return
    with show_live() as say:
        yield say
