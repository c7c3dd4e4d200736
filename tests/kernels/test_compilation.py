"""The wait for the compiler is announced, once for each subject, and only if there is one."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from latentforest.announcements import announce, announce_through
from latentforest.kernels.compilation import CompilationListener

USE = """
import numpy as np
from latentforest.kernels.bits import count_common
bits = np.array([[1, 3]], np.uint64)
counts = np.zeros((1, 1))
count_common(bits, bits, counts)
print(counts[0, 0])
"""
LINE = "compiling the kernels for message passing and EM: up to 15 seconds, once after installation"


def run_with_cache(folder, code):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3.0\n"
    return done.stderr


def make_event(module):
    return SimpleNamespace(
        data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))}
    )


@pytest.fixture
def messages():
    told = []
    with announce_through(told.append):
        yield told


def test_the_first_use_is_announced_and_later_ones_are_silent(tmp_path):
    first, second = run_with_cache(tmp_path, USE), run_with_cache(tmp_path, USE)
    assert first.startswith(LINE)
    assert first.count("\n") == 1
    assert second == ""


def test_logging_silences_it(tmp_path):
    quiet = "import logging; logging.getLogger('latentforest').setLevel('ERROR')\n"
    assert run_with_cache(tmp_path, quiet + USE) == ""


def test_each_subject_is_announced_once(messages):
    listener = CompilationListener()
    for module in ("forest.em", "forest.propagation", "bits", "regions.tasks", "regions.arms"):
        listener.on_start(make_event(f"latentforest.kernels.{module}"))
    assert [message.split(":")[0] for message in messages] == [
        "compiling the kernels for message passing and EM",
        "compiling the kernels for searches for trees",
    ]


def test_code_of_others_is_not_announced(messages):
    CompilationListener().on_start(make_event("numba.np.arraymath"))
    assert messages == []


def test_the_last_display_shows_what_is_announced(messages):
    inner = []
    with announce_through(inner.append):
        announce("one")
    announce("two")
    assert (inner, messages) == (["one"], ["two"])


def test_without_a_display_the_logger_warns_once(caplog, monkeypatch):
    monkeypatch.setattr("latentforest.announcements._has_warned", False)
    caplog.set_level("INFO", logger="latentforest")
    announce("a wait")
    announce("another")
    assert [(record.levelname, record.name) for record in caplog.records] == [
        ("WARNING", "latentforest"),
        ("INFO", "latentforest"),
    ]
