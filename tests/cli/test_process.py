"""The command as a process of its own: start-up, pipes, signals, displays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import latentforest as lf
from latentforest.cli.progress import show_progress
from latentforest.data import write_table
from latentforest.datasets.generate import generate, random_latent_class
from latentforest.learners.common.progress import PlainLines

COMMAND = [sys.executable, "-m", "latentforest"]


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from latentforest.cli.main import app;"
        "assert 'learn' in CliRunner().invoke(app, ['--help']).output;"
        "print([m for m in ('numpy', 'numba', 'sklearn', 'scipy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_version():
    result = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, f"latentforest {lf.__version__}\n")


def test_broken_pipe_is_quiet(model):
    process = subprocess.Popen(
        [*COMMAND, "sample", str(model), "200000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert errors == b""
    assert process.wait() == 141


@pytest.mark.skipif(os.name == "nt", reason="needs pipes without a reader")
@pytest.mark.parametrize("arguments", [["datasets"], ["--help"], ["--version"]])
def test_output_for_a_reader_that_went_away(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run([*COMMAND, *arguments], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["datasets", "--help"], ["datasets", "--json"]])
def test_output_that_cannot_be_written(arguments):
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE)
    message = b"error: cannot write to standard output: No space left on device\n"
    assert (result.returncode, result.stderr) == (1, message)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_output():
    command = ["sh", "-c", '"$@" >&-', "sh", *COMMAND, "datasets"]
    result = subprocess.run(command, stderr=subprocess.PIPE)
    assert (result.returncode, result.stderr) == (1, b"error: standard output is closed\n")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_termination_keep_the_best_model(tmp_path, number):
    data, out = tmp_path / "rows.csv", tmp_path / "model.json"
    network = random_latent_class(20, 4, strength=0.1, random_state=0)  # EM is slow on this
    write_table(generate(network, 10_000, random_state=0).to_columns(), data)
    endless = ["--starts", "1", "--tolerance", "0", "--set", "accelerate=false"]
    endless += ["--max-iterations", "10000000", "--states", "8"]
    arguments = [*COMMAND, "learn", data, "--out", out, "--json", *endless]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "iteration" in line:
            break
    time.sleep(0.3)  # well inside an iteration
    process.send_signal(number)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 3, errors
    assert "warning: interrupted; this is the best model so far" in errors
    assert json.loads(output)["interrupted"] is True
    assert len(lf.load(out).names) == 21


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_an_interruption_that_python_drops_comes_again():
    code = (
        "import time; from latentforest.cli.signals import listen\n"
        "class Odd:\n    def __del__(self): raise KeyboardInterrupt\n"
        "listen()\n"
        "try:\n    Odd(); time.sleep(60)\nexcept KeyboardInterrupt: print('again')"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("again\n", "")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_that_other_code_drops_comes_again_once(number):
    code = (
        "import signal, time; from latentforest.cli.signals import listen; listen()\n"
        f"drop = 'import signal\\ntry: signal.raise_signal({int(number)})\\nexcept: pass'\n"
        "exec(drop, {'__name__': 'other'})\n"
        "try: time.sleep(60)\nexcept KeyboardInterrupt: print('again')\n"
        "time.sleep(0.3)  # a second one would end it with a traceback"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.stdout, result.stderr, result.returncode) == ("again\n", "", 0)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_of_text_that_is_run_leaves_the_exit_code(number, tmp_path):
    code = (
        "import signal; from latentforest.cli.signals import listen; listen()\n"
        f"try: exec('signal.raise_signal({int(number)})')\n"
        "except KeyboardInterrupt: raise SystemExit(3) from None"
    )
    (tmp_path / "caught.py").write_text(code)
    command = [sys.executable, "-m", "caught"]  # a plain KeyboardInterrupt would end this by SIGINT
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (3, "")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_very_end_changes_nothing(number):
    code = (
        "import os, sys; from latentforest.__main__ import run\n"
        "class Last:\n"
        f"    def __del__(self, kill=os.kill, me=os.getpid()): kill(me, {int(number)})\n"
        "last = Last()  # its end comes when Python has given up its handlers of signals\n"
        "sys.argv = ['latentforest', '--version']; run()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_plain_lines_skip_repeated_kinds(capsys):
    lines = PlainLines()
    for message in ("2 classes: iteration 1", "2 classes: iteration 20", "3 classes: iteration 2"):
        lines.show(message)
    assert capsys.readouterr().err == "2 classes: iteration 1\n3 classes: iteration 2\n"


def test_live_line_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with show_progress(quiet=False) as tell:
        tell("2 classes: [iteration] 1")
    assert "2 classes: [iteration] 1" in capsys.readouterr().err
