"""Ctrl-C and SIGTERM on the command line: both interrupt, and an interruption is not lost."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from typing import Any

_MOMENT = 0.05  # seconds until a lost interruption is repeated


class Interruption(KeyboardInterrupt):
    """What both signals raise.

    It is not a plain ``KeyboardInterrupt``: once such a one has passed through ``exec``, as in
    imports and compilers, Python kills itself by SIGINT at the end, although it was caught. And
    if code of others drops it, which C code does silently, it comes again.
    """

    is_settled = False

    def __del__(self) -> None:
        """Come again if it got no further than to code of others."""
        last = self.__traceback__  # begins where the exception was caught
        if last is None or self.is_settled or sys.is_finalizing():
            return
        name = str(last.tb_frame.f_globals.get("__name__"))
        if name != "__main__" and name.split(".")[0] != "latentforest":
            _repeat()


def listen() -> None:
    """Let both signals raise an ``Interruption``; a second SIGTERM ends the process at once.

    A signal that is ignored, as SIGINT in background jobs, stays ignored. Interruptions that fall
    where Python can only drop exceptions, such as the ends of objects, come again, too.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    _listen_for_termination()
    usual = sys.unraisablehook

    def show(lost: Any) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            usual(lost)
            return
        if isinstance(lost.exc_value, Interruption):
            lost.exc_value.is_settled = True
        _repeat()

    sys.unraisablehook = show


def _interrupt(number: int, _: object) -> None:
    if number == signal.SIGTERM:
        signal.signal(number, signal.SIG_DFL)
    raise Interruption


def _listen_for_termination() -> None:
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)


def _repeat() -> None:
    _listen_for_termination()
    again = threading.Timer(_MOMENT, _interrupt_main_thread)
    again.daemon = True
    again.start()


def _interrupt_main_thread() -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    else:
        _thread.interrupt_main(signal.SIGTERM)
