"""After the warm-up nothing is left to compile; processes share the jobs out."""

import json
import subprocess
import sys
from multiprocessing import Pipe

import pytest

from latentforest.learners.common.warm_up import JobReport, _find_next, _receive
from latentforest.learners.common.warm_up_jobs import (
    FIRST,
    FIRST_SEARCH,
    JOBS,
    WarmUpJob,
    make_table,
)
from latentforest.learners.registry import LEARNERS

AFTERWARDS = """
import importlib, json, pkgutil, warnings
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
import latentforest as lf
from latentforest.learners.registry import LEARNERS
from latentforest.learners.common.warm_up import run_job
from latentforest.learners.common.warm_up_jobs import JOBS, make_groups, make_table

for job in JOBS:
    run_job(job)
names = [found.name for found in pkgutil.walk_packages(lf.__path__, "latentforest.")]
modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def list_kernels(inside):
    return {
        f"{value.py_func.__module__}.{value.py_func.__name__}": len(value.overloads)
        for module in modules
        if module.__name__.startswith("latentforest.kernels.") == inside
        for value in vars(module).values()
        if isinstance(value, Dispatcher) and not isinstance(value._cache, NullCache)
    }


kernels, before = list_kernels(False), list_kernels(True)
warnings.simplefilter("ignore")
for entry in LEARNERS:
    for shape in ((5, 0), (0, 5), (4, 3)):
        for missing in (False, True):
            if missing and (entry.gaps == "none" or entry.gaps == "categorical" and shape[1]):
                continue
            table = make_table(*shape, missing, n_rows=150)
            learner = entry.load()(**entry.quick)
            if "random_state" in learner.get_params():
                learner.set_params(random_state=1)
            learner.fit(table).score(table)
for table in (make_groups(0, 1), make_groups(2, 1), lf.datasets.load("hiv-tests")):
    lf.EAST(random_state=1).fit(table)
compiled = [name for name, n in list_kernels(True).items() if n != before[name]]
print(json.dumps({"kernels": kernels, "compiled": compiled}))
"""


@pytest.fixture(scope="module")
def afterwards():
    """Kernels that are called from Python, with what the jobs compiled; and what was missed."""
    done = subprocess.run([sys.executable, "-c", AFTERWARDS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # jobs are silent
    return json.loads(done.stdout)


def test_every_kernel_that_is_called_from_python_is_compiled(afterwards):
    kernels = afterwards["kernels"]
    assert "latentforest.kernels.forest.climb.climb_forest" in kernels
    assert [name for name, n_signatures in kernels.items() if n_signatures == 0] == []


def test_fits_compile_nothing_afterwards(afterwards):
    assert afterwards["compiled"] == []


def test_every_learner_has_a_job():
    assert {entry.name for entry in LEARNERS} < {job.name for job in JOBS}


def test_jobs_wait_for_one_that_compiles_what_they_need():
    done = []
    while left := [job for job in JOBS if job.name not in {report.job for report in done}]:
        job = _find_next(left, done)
        assert job is not None
        assert job.after is None or job.after in {report.job for report in done}
        done.append(JobReport(job.name, 0, 0.0))
    waiting = [WarmUpJob("b", print, "a"), WarmUpJob("c", print, FIRST)]
    assert _find_next(waiting, []) is None
    assert _find_next(waiting, [JobReport(FIRST, 0, 0.0)]) is waiting[1]
    assert {job.after for job in JOBS} == {None, FIRST, FIRST_SEARCH}


def test_tables_have_the_columns_that_were_asked_for():
    table = make_table(3, 2, missing=True, n_rows=60)
    assert [variable.is_categorical for variable in table.variables] == [True] * 3 + [False] * 2
    assert all((column < 0).any() or (column != column).any() for column in table.columns)


def test_what_goes_wrong_in_a_process_is_raised():
    ours, theirs = Pipe()
    theirs.send(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        _receive(ours, "EAST")
    theirs.close()
    with pytest.raises(RuntimeError, match="a process ended while it compiled for EAST"):
        _receive(ours, "EAST")
