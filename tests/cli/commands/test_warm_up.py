"""``latentforest warm-up``: what it runs, says and leaves behind."""

import json
import os
import signal
import subprocess
import sys

import pytest

from latentforest.learners.common import warm_up as library
from latentforest.learners.common.warm_up import JobReport
from latentforest.learners.common.warm_up_jobs import JOBS

COMMAND = [sys.executable, "-m", "latentforest", "warm-up"]


@pytest.mark.parametrize(
    ("n_compiled", "text"), [(7, "14 functions compiled"), (0, "all was compiled already")]
)
def test_the_result_is_told(run, monkeypatch, n_compiled, text):
    reports = [JobReport(name, n_compiled, 1.0) for name in "ab"]
    monkeypatch.setattr(library, "warm_up", lambda jobs, tell: reports)
    assert run("warm-up").stdout.startswith(text)
    assert run("warm-up", "--quiet").stdout == ""


def test_the_command_runs_all_jobs():
    done = subprocess.run([*COMMAND, "--json", "--jobs", "2"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {job["job"] for job in result["jobs"]} == {job.name for job in JOBS}
    assert result["compiled"] == sum(job["n_compiled"] for job in result["jobs"])
    assert f"{len(JOBS) - 1} of {len(JOBS)} done" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_ends_all_processes():
    process = subprocess.Popen(
        [*COMMAND, "--jobs", "2"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    assert "0 of" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    errors = process.communicate(timeout=60)[1]  # to its end, so that no process holds it open
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "interrupted; there is no result"
    assert "Traceback" not in errors
