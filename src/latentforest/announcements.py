"""What the library tells unasked: that it compiles, which takes a while.

Messages go to whoever shows progress. Otherwise the logger ``latentforest`` has them: the first as
a warning, which Python shows unless told otherwise, the others as information.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOGGER = logging.getLogger("latentforest")
_DISPLAYS: list[Callable[[str], None]] = []  # the one opened last shows the messages
_has_warned = False  # by the logger; once is enough


def announce(message: str) -> None:
    """Tell the user."""
    global _has_warned
    if _DISPLAYS:
        _DISPLAYS[-1](message)
        return
    _LOGGER.log(logging.INFO if _has_warned else logging.WARNING, message)
    _has_warned = True


@contextmanager
def announce_through(display: Callable[[str], None]) -> Iterator[None]:
    """Let a function show what is announced meanwhile."""
    _DISPLAYS.append(display)
    try:
        yield
    finally:
        _DISPLAYS.remove(display)
