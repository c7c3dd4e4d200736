"""Rows that were not in the table: impossible ones, and what smoothing gains over independence.

    python benchmarks/new_rows.py DATA... [--seeds 3] [--learners EAST] [--generated] [--builtin]

DATA are files or folders of ARFF or CSV files. 70% of the rows are learned from, 30% are scored.
Gains are in nats a row over `Independence` with its defaults.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import latentforest as lf
from latentforest.learners.registry import LEARNERS
from new_row_tables import generate, load_builtin, read_tables

SLOW = ("DoubleHillClimbing", "GeneralizedLatentClass", "IncrementalForest", "StructuralEM")


def main() -> None:
    """Print a line for each table, learner and seed, then the worst and the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--learners", default="")
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--builtin", action="store_true", help="of scikit-learn and statsmodels")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a fit")
    given = parser.parse_args()
    names = given.learners.split(",") if given.learners else list_learners()
    rows = []
    tables = [*read_tables(given.data), *(generate() if given.generated else ())]
    for table, data in [*tables, *(load_builtin() if given.builtin else ())]:
        for seed in range(given.seeds):
            rows += [row for name in names if (row := judge(table, data, name, seed, given.limit))]
    summarize(rows)


def list_learners() -> list[str]:
    """All learners but the slow ones."""
    return [entry.name for entry in LEARNERS if entry.name not in SLOW]


def judge(
    table: str, data: lf.Dataset, name: str, seed: int, limit: float
) -> dict[str, Any] | None:
    """Fit once, and score the other rows with each smoothing."""
    order = np.random.default_rng(seed).permutation(data.n_rows)
    cut = int(0.7 * data.n_rows)
    train, test = data.take(order[:cut]), data.take(order[cut:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = getattr(lf, name)
        settings = {"random_state": seed, "time_limit": limit}
        try:
            began = time.perf_counter()
            auto = learner(**settings).fit(train)
            seconds = time.perf_counter() - began
            flat = learner(smoothing=0.1, **settings).fit(train).score(test)
        except (lf.errors.LatentForestError, TypeError) as error:
            print(f"{table}, {name}: {error}"[:100])
            return None
        base = lf.Independence().fit(train).score(test)
        impossible = sum("impossible" in note for note in auto.row_notes(test))
    row = {
        "table": table,
        "learner": name,
        "seed": seed,
        "impossible": impossible,
        "flat": flat - base,
        "auto": auto.score(test) - base,
        "seconds": seconds,
    }
    print("  ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()))
    return row


def summarize(rows: list[dict[str, Any]]) -> None:
    """Print a line for each learner."""
    print("learner | fits | with impossible rows | flat 0.1, median | auto, median | worst auto")
    for name in dict.fromkeys(row["learner"] for row in rows):
        own = [row for row in rows if row["learner"] == name]
        auto, flat = (np.array([row[key] for row in own]) for key in ("auto", "flat"))
        odd = sum(row["impossible"] > 0 for row in own)
        worst = own[int(np.argmin(auto))]
        print(
            f"{name} | {len(own)} | {odd} | {np.median(flat):.3f} | {np.median(auto):.3f} | "
            f"{auto.min():.3f} ({worst['table']})"
        )


if __name__ == "__main__":
    main()
