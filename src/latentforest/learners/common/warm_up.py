"""Compiles all kernels ahead: small fits of every kind, shared out to several processes.

Fits rather than a list of functions: whatever a learner needs is compiled, with the types that it
has there. A new learner is in the registry, and so it is here.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, cast

from latentforest.announcements import announce_through
from latentforest.learners.common.warm_up_jobs import JOBS, WarmUpJob

Tell = Callable[[str], None]


@dataclass(frozen=True)
class JobReport:
    """What a job compiled, and how long it took."""

    job: str
    n_compiled: int
    seconds: float


def warm_up(n_processes: int | None = None, tell: Tell = lambda _: None) -> list[JobReport]:
    """Compile every kernel that is not on the disk yet.

    Parameters
    ----------
    n_processes
        By default one for each core.
    tell
        Called with lines of progress.

    Returns
    -------
    list of JobReport
        One for each job, in the order in which they ended.
    """
    from latentforest.inference.threads import count_threads

    left, done = list(JOBS), list[JobReport]()
    n_processes = min(n_processes or count_threads(-1), len(left))
    with _open_workers(n_processes) as workers:
        idle, busy = list(workers), dict[Connection, str]()
        while left or busy:
            while idle and (job := _find_next(left, done)):
                left.remove(job)
                busy[idle[-1]] = job.name
                idle.pop().send(job.name)
            tell(f"{len(done)} of {len(JOBS)} done, now {' and '.join(busy.values())}")
            for worker in cast(list[Connection], wait(list(busy))):
                done.append(_receive(worker, busy.pop(worker)))
                idle.append(worker)
    return done


def run_job(job: WarmUpJob) -> JobReport:
    """Run a job in this process, silently, and count what it compiles."""
    from numba.core import event

    began = time.monotonic()
    with (
        announce_through(lambda _: None),
        warnings.catch_warnings(),
        event.install_recorder("numba:compile") as recorder,
    ):
        warnings.simplefilter("ignore")
        job.run()
    n_compiled = sum(each.is_start and _is_ours(each) for _, each in recorder.buffer)
    return JobReport(job.name, n_compiled, round(time.monotonic() - began, 3))


def _is_ours(event: Any) -> bool:
    return bool(event.data["dispatcher"].py_func.__module__.startswith("latentforest."))


def _find_next(left: list[WarmUpJob], done: list[JobReport]) -> WarmUpJob | None:
    """Find a job that need not wait for another, which compiles what it needs too."""
    names = {report.job for report in done}
    return next((job for job in left if job.after is None or job.after in names), None)


def _receive(worker: Connection, job: str) -> JobReport:
    try:
        answer: JobReport | Exception = worker.recv()
    except EOFError:
        raise RuntimeError(f"a process ended while it compiled for {job}") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


@contextmanager
def _open_workers(n_processes: int) -> Iterator[list[Connection]]:
    """Start processes that run the jobs whose names they get; they end in any case."""
    context = multiprocessing.get_context("spawn")
    workers, processes = list[Connection](), list[SpawnProcess]()
    try:
        with _ignoring_interrupts():  # Ctrl-C ends this process, which ends the others
            for _ in range(n_processes):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs,), daemon=True)
                process.start()
                theirs.close()
                workers.append(ours)
                processes.append(process)
        yield workers
    finally:
        for worker, process in zip(workers, processes, strict=True):
            worker.close()
            process.terminate()
            process.join()


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C; processes that are started meanwhile ignore it as long as they live."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(parent: Connection) -> None:
    """Run jobs until there are no more."""
    jobs = {job.name: job for job in JOBS}
    while True:
        try:
            name = parent.recv()
        except EOFError:
            return
        try:
            parent.send(run_job(jobs[name]))
        except Exception as error:
            parent.send(error)
