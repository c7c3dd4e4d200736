"""Signals wait until the compiler can be left."""

import signal
import subprocess
import sys
import threading

import pytest

from latentforest.kernels.undisturbed import Undisturbed

# Ctrl-C falls into the generator of numba that cannot be resumed after it.
STRIKE = """
import signal, sys
import latentforest.kernels.bits
from numba.core.registry import cpu_target

cpu_target.target_context.refresh()

def strike(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "stream_list":
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

try:
    sys.setprofile(strike)
    getattr(cpu_target, sys.argv[1]).refresh()
except KeyboardInterrupt:
    print("interrupted")
cpu_target.target_context.refresh()
print("alive")
"""


@pytest.fixture
def heard():
    """Numbers of signals, in the order in which they were handled."""
    numbers = []
    usual = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in usual:
        signal.signal(number, lambda number, frame: numbers.append(number))
    yield numbers
    for number, handler in usual.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("context", ["typing_context", "target_context"])
def test_numba_survives_an_interruption_while_it_takes_in_registrations(context):
    done = subprocess.run(
        [sys.executable, "-c", STRIKE, context], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["interrupted", "alive"], done.stderr


def test_signals_wait_for_the_end_of_the_block(heard):
    with Undisturbed():
        signal.raise_signal(signal.SIGTERM)
        assert heard == []
    assert heard == [signal.SIGTERM]


def test_blocks_nest(heard):
    with Undisturbed():
        with Undisturbed():
            signal.raise_signal(signal.SIGINT)
        assert heard == []
    assert heard == [signal.SIGINT]


def test_handlers_are_put_back(heard):
    before = signal.getsignal(signal.SIGINT)
    with Undisturbed():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_is_ignored_stays_ignored(heard):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with Undisturbed():
        signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


def test_other_threads_change_nothing(heard):
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with Undisturbed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
