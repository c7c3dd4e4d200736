"""What the library tells unasked: that it compiles, which takes a while.

Messages go to whoever shows progress, otherwise to the logger ``latentforest`` as warnings.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOGGER = logging.getLogger("latentforest")
_DISPLAYS: list[Callable[[str], None]] = []  # the one opened last shows the messages


def announce(message: str) -> None:
    """Tell the user."""
    if _DISPLAYS:
        _DISPLAYS[-1](message)
    else:
        _LOGGER.warning(message)


@contextmanager
def announce_through(display: Callable[[str], None]) -> Iterator[None]:
    """Let a function show what is announced meanwhile."""
    _DISPLAYS.append(display)
    try:
        yield
    finally:
        _DISPLAYS.remove(display)
