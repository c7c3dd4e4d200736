"""Progress is shown where somebody looks, once, and never for quick work."""

import sys
import time
from types import SimpleNamespace

import pytest

from latentforest.learners.common import progress
from latentforest.learners.common.progress import LateLine, open_progress, stay_silent


class Terminal:
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(progress, "os", SimpleNamespace(environ={}))
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=Terminal(), modules=sys.modules))


def test_nobody_looks_at_tests():
    with open_progress(None) as say:
        assert say is stay_silent


def test_a_terminal_is_looked_at(terminal, monkeypatch):
    assert progress.is_interactive()
    with open_progress(None) as say:
        assert say is not stay_silent
        with open_progress(None) as inner:  # a learner within a learner
            assert inner is stay_silent
    progress.sys.stderr = None
    assert not progress.is_interactive()


def test_within_silent_work_all_is_silent(terminal):
    with open_progress(False), open_progress(None) as inner:
        assert inner is stay_silent


def test_workers_are_silent(terminal, monkeypatch):
    monkeypatch.setattr(
        progress.multiprocessing, "current_process", lambda: SimpleNamespace(name="Loky-1")
    )
    assert not progress.is_interactive()


def test_quick_work_shows_nothing(capfd):
    line = LateLine(seconds=60)
    line.show("a")
    line.close()
    assert capfd.readouterr() == ("", "")


def test_slow_work_shows_the_last_message(capfd):
    line = LateLine(seconds=0.0)
    line.show("now")
    for _ in range(500):
        if line._say is not None:
            break
        time.sleep(0.01)
    line.show("then: 1")
    line.close()
    assert capfd.readouterr().err.splitlines()[-1] in ("now", "then: 1")


def test_notebooks_have_a_line_of_their_own(monkeypatch):
    shown = []

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

    shell = SimpleNamespace(kernel=True)
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_UPDATES", 0.0)
    monkeypatch.setattr(progress, "os", SimpleNamespace(environ={}))
    with open_progress(None) as say:
        say("one")
        say("two")
    assert shown == ["one", "two", ""]
