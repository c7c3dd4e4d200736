"""Networks over columns: counting, exact search, and hill climbing beside pyAgrum's if present.

Run ``python benchmarks/dags.py [counts] [exact] [climbing]``, by default all. Times are processor
time of one thread, compilation not counted. Exact searches run in processes of their own, so that
peak memory is their own; it includes some 160 MB of the interpreter and its libraries.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import print_table, read_shared
from latentforest import Dataset, Variable
from latentforest.inference.counts import CountingTable
from latentforest.search.dags.best import best_network

N_ROWS = 5_000


def seconds(action: Callable[[], Any], n_repeats: int = 1) -> float:
    """Median processor time of an action over some repeats."""
    times = []
    for _ in range(n_repeats):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return statistics.median(times)


def peak_memory() -> float:
    """Most memory that this process has had, in MiB; that of its parent is left out."""
    return int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]) / 2**10


def draw_table(n_columns: int, n_rows: int, cards: tuple[int, ...], seed: int = 0) -> Dataset:
    """Columns with up to three parents among the earlier ones and random tables."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    sizes = rng.choice(cards, n_columns)
    for j, card in enumerate(sizes):
        parents = rng.choice(j, min(j, rng.integers(0, 4)), replace=False) if j else []
        place, n_places = np.zeros(n_rows, int), 1
        for parent in parents:
            place, n_places = place * sizes[parent] + columns[parent], n_places * sizes[parent]
        sums = rng.dirichlet(np.full(card, 0.5), n_places).cumsum(axis=1)
        columns.append((rng.random(n_rows)[:, None] > sums[place][:, :-1]).sum(axis=1))
    variables = [Variable(f"x{j}", tuple(map(str, range(card)))) for j, card in enumerate(sizes)]
    return Dataset(variables, columns)


def measure_counts() -> None:
    """Time of counting a set of columns together with each of all others."""
    rows = []
    for n_rows in (10_000, 1_000_000):
        whole = draw_table(50, n_rows, (2, 3))
        broken = whole.with_weights(np.random.default_rng(0).random(n_rows))
        for weights, data in (("whole", whole), ("broken", broken)):
            table = CountingTable(data)
            for size in (1, 3, 6):
                columns, added = (1 << size) - 1, list(range(size, 50))
                table.count_additions(columns, added)
                spent = seconds(lambda: table.count_additions(columns, added), 5)  # noqa: B023
                rows.append(
                    {
                        "rows": n_rows,
                        "weights": weights,
                        "columns of the set": size,
                        "sets per second": len(added) / spent,
                        "ns for each row and set": spent / len(added) / n_rows * 1e9,
                    }
                )
    print_table("Counts of a set with each further column", rows)


def run_exact(n_columns: int, cards: tuple[int, ...]) -> dict[str, Any]:
    """Search one table; called in a process of its own."""
    best_network(draw_table(4, 100, cards))  # compiles
    best_network(draw_table(4, 100, cards), exact_columns=0)
    data, found = draw_table(n_columns, N_ROWS, cards), []
    spent = seconds(lambda: found.append(best_network(data, exact_columns=n_columns)))
    peak = peak_memory()
    climbed = best_network(data, exact_columns=0)
    return {
        "columns": n_columns,
        "states": "2" if len(cards) == 1 else f"{cards[0]} to {cards[-1]}",
        "seconds": spent,
        "peak MiB": peak,
        "optimal": found[0].is_optimal,
        "BIC": found[0].bic,
        "hill climbing": climbed.bic,
    }


def measure_exact() -> None:
    """Time and memory of exact search."""
    rows = []
    for n_columns in (12, 16, 20):
        for cards in ((2,), (2, 3, 4)):
            command = [sys.executable, __file__, "--one", str(n_columns), *map(str, cards)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
    print_table(f"Exact search, {N_ROWS:,} rows", rows)


def climb_with_pyagrum(data: Dataset) -> Callable[[], Any] | None:
    """Greedy hill climbing of pyAgrum on the same table, if it is installed."""
    try:
        import pandas as pd
        import pyagrum
    except ImportError:
        return None
    frame = pd.DataFrame({name: data.decode(name) for name in data.names})
    learner = pyagrum.BNLearner(frame)
    learner.setNumberOfThreads(1)
    learner.useScoreBIC()
    learner.useGreedyHillClimbing()
    return lambda: [tuple(map(learner.nameFromId, arc)) for arc in learner.learnDAG().arcs()]


def score_arcs(data: Dataset, arcs: list[tuple[str, str]]) -> float:
    """BIC of the network that has just these arcs."""
    others = [(a, b) for a in data.names for b in data.names if a != b and (a, b) not in set(arcs)]
    return best_network(data, required=arcs, forbidden=others, exact_columns=0).bic


def measure_climbing() -> None:
    """Time and score of hill climbing on alarm and on tables drawn from what it found there."""
    alarm = read_shared("discrete/alarm.arff")
    network = best_network(alarm).network
    tables = {"alarm": alarm, "drawn from its network": network.sample(10_000, 0)}
    tables |= {"200 columns drawn at random": draw_table(200, 10_000, (2, 3, 4))}
    rows = []
    for name, data in tables.items():
        row = {"table": name, "rows": data.n_rows, "columns": data.n_columns}
        row["seconds"] = seconds(lambda: best_network(data, exact_columns=0), 5)  # noqa: B023
        row["BIC"] = best_network(data, exact_columns=0).bic
        peer = climb_with_pyagrum(data)
        row["pyAgrum"] = seconds(peer, 3) if peer else "not installed"
        row["its BIC"] = score_arcs(data, peer()) if peer else ""
        rows.append(row)
    print_table("Hill climbing", rows)


PARTS = {"counts": measure_counts, "exact": measure_exact, "climbing": measure_climbing}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--one", nargs="+", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_exact(options.one[0], tuple(options.one[1:]))))
        return
    for part in options.parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
