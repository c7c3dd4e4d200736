"""Threads that run kernels side by side; results come in the order of the items."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from typing import TypeVar

import numpy as np

from latentforest.errors import ParameterError

THREAD_NAME = "latentforest"

Item = TypeVar("Item")
Result = TypeVar("Result")


@lru_cache(maxsize=1)
def _executor(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix=THREAD_NAME)


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_executor.cache_clear)


def map_threads(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int
) -> Iterable[Result]:
    """Apply a function to each item, in order, with up to ``n_jobs`` threads."""
    is_worker = threading.current_thread().name.startswith(THREAD_NAME)
    if n_jobs == 1 or len(items) < 2 or is_worker:  # a worker must not wait for workers
        return map(function, items)
    return _collect(_executor(n_jobs), function, items)


def _collect(
    executor: ThreadPoolExecutor, function: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[Result]:
    """Yield results in order; if anything goes wrong, wait until nobody works any more."""
    futures = [executor.submit(function, item) for item in items]
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:
            future.cancel()
        wait(futures)


def count_threads(n_jobs: int | None) -> int:
    """Turn a scikit-learn style ``n_jobs`` into a number of threads."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if n_jobs is None:
        return 1
    if n_jobs == 0 or not isinstance(n_jobs, int | np.integer):
        raise ParameterError(f"n_jobs must be a non-zero whole number or None, got {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, (available or 1) + 1 + int(n_jobs))
