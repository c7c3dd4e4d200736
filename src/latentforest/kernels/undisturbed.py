"""Keeps Ctrl-C and SIGTERM out of moments that would leave the compiler broken.

Whenever a kernel is compiled or loaded, numba first takes in what was registered since the last
time, through generators that it keeps. An interruption inside one of them ends it for good: from
then on every kernel fails with "generator raised StopIteration".
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import Any

from numba.core.registry import cpu_target

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Undisturbed:
    """Puts off signals that Python code handles until a block has ended.

    Python handles signals in its main thread; in others there is nothing to put off.
    """

    def __init__(self) -> None:
        self._usual: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: dict[int, FrameType | None] = {}
        self._is_over = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        try:
            self._replace_handlers()
        except BaseException:  # an interruption meanwhile: nothing is put off any more
            self._is_over = True
            raise

    def __exit__(self, *_: object) -> None:
        self._is_over = True  # first: one that comes between these lines is not put off any more
        for number, usual in self._usual.items():
            signal.signal(number, usual)
        for number, frame in self._came.items():
            self._usual[number](number, frame)

    def _replace_handlers(self) -> None:
        for number in _SIGNALS:
            usual = signal.getsignal(number)
            if callable(usual):
                self._usual[number] = usual
                signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._is_over:
            self._usual[number](number, frame)
        else:
            self._came[number] = frame


def guard_compiler() -> None:
    """Let nothing interrupt numba while it takes in registrations: some milliseconds."""
    for context in (cpu_target.typing_context, cpu_target.target_context):
        context.refresh = _put_off(context.refresh)


def _put_off(function: Callable[[], None]) -> Callable[[], None]:
    @wraps(function)
    def run() -> None:
        with Undisturbed():
            function()

    return run
