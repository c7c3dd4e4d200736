"""What is compiled at first use: seconds of processor time by function, with an empty cache.

Run ``python benchmarks/compilation.py [part ...]``; the parts are ``lcm`` (a latent class model)
and ``search`` (EAST), by default one after the other. Seconds of a function are its own, without
those of what is first compiled for it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from typing import Any

os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()

from numba.core import event

from common import print_table
from latentforest import EAST, LatentClass
from latentforest.datasets import load

LEAST = 0.1  # seconds of a function that gets a line


class Listener(event.Listener):  # type: ignore[misc]
    """Sums the processor time of each function's compilation, without what is inside it."""

    def __init__(self) -> None:
        self.began = list[float]()
        self.inside = [0.0]
        self.seconds, self.numbers = Counter[str](), Counter[str]()

    def on_start(self, given: Any) -> None:
        self.began.append(time.process_time())
        self.inside.append(0.0)

    def on_end(self, given: Any) -> None:
        name = given.data["dispatcher"].py_func.__qualname__
        spent, inside = time.process_time() - self.began.pop(), self.inside.pop()
        self.seconds[name] += spent - inside  # type: ignore[assignment]
        self.numbers[name] += 1
        self.inside[-1] += spent


def fit_class() -> None:
    """Fit a latent class model to a small table."""
    LatentClass(2, random_state=0).fit(load("coleman-panel"))


def search() -> None:
    """Search a small tree."""
    EAST(random_state=0).fit(load("hiv-tests"))


PARTS = {"lcm": fit_class, "search": search}


def measure(part: str) -> None:
    """Run one part and print what was compiled for it."""
    listener, began, clock = Listener(), time.process_time(), time.perf_counter()
    with event.install_listener("numba:compile", listener):
        PARTS[part]()
    spent, clock = time.process_time() - began, time.perf_counter() - clock
    rows = [
        {"function": name, "times": listener.numbers[name], "seconds": round(seconds, 2)}
        for name, seconds in listener.seconds.most_common()
        if seconds >= LEAST
    ]
    total = sum(listener.seconds.values())
    print_table(
        f"{part}: {spent:.1f} s of processor time, {clock:.1f} s by the clock; "
        f"{sum(listener.numbers.values())} functions compiled in {total:.1f} s",
        rows,
    )


if __name__ == "__main__":
    for part in sys.argv[1:] or ["lcm", "search"]:
        measure(part)
