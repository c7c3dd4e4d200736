"""Reading large tables, and columns whose patterns never repeat.

Run with ``make bench`` or ``python benchmarks/tables.py``, for a part of it with one of the words
``parquet``, ``csv`` and ``patterns``.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from common import median_seconds, print_table, seconds
from latentforest import Dataset, Variable, read
from latentforest.estimation.starts import random_starts
from latentforest.inference.forest import Forest, PatternedData
from latentforest.inference.patterns import Grouping
from latentforest.learners.latent_class import make_structure


def reading() -> None:
    """Read and encode 1,000,000 rows of 50 categorical columns from Parquet."""
    import pyarrow
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    rows = []
    for kind in ("integers", "texts"):
        columns = {}
        for j in range(50):
            codes = rng.integers(0, 4, 1_000_000, dtype=np.int8)
            labels = np.array(["never", "seldom", "often", "always"])
            columns[f"x{j}"] = codes if kind == "integers" else labels[codes]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.parquet"
            pyarrow.parquet.write_table(pyarrow.table(columns), path)
            rows.append({"values": kind, "seconds": median_seconds(lambda p=path: read(p), 3)})
    print_table("Parquet, 1,000,000 rows x 50 columns, read and encoded", rows)


def text_files() -> None:
    """Read and encode CSV files, beside ``pandas.read_csv`` in turns."""
    import pandas

    rows = []
    for n_rows, n_columns, kind in (
        (200_000, 50, "texts"),
        (200_000, 30, "numbers"),
        (1_000_000, 30, "texts"),
        (1_000_000, 50, "texts"),
        (1_000_000, 30, "numbers"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            write_random(path, n_rows, n_columns, kind)
            times = [
                (seconds(partial(read, path)), seconds(partial(pandas.read_csv, path)))
                for _ in range(5)
            ]
        ours, theirs = (float(np.median(column)) for column in zip(*times, strict=True))
        rows.append(
            {
                "rows": n_rows,
                "columns": n_columns,
                "values": kind,
                "read s": ours,
                "pandas.read_csv s": theirs,
                "ratio": float(np.median([left / right for left, right in times])),
                "peak memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    print_table("CSV, read and encoded (peak memory is that of the process so far)", rows)


def write_random(path: Path, n_rows: int, n_columns: int, kind: str) -> None:
    """Write a CSV file of one of five texts, or of a number with six digits, in each cell."""
    import pyarrow
    from pyarrow import csv

    rng = np.random.default_rng(0)
    labels = pyarrow.array(["never", "seldom", "often", "always", "strongly disagree"])
    columns = {}
    for j in range(n_columns):
        if kind == "texts":
            columns[f"x{j}"] = labels.take(pyarrow.array(rng.integers(0, 5, n_rows)))
        else:
            columns[f"x{j}"] = pyarrow.array(np.round(rng.normal(size=n_rows), 6))
    options = csv.WriteOptions(quoting_style="needed")
    csv.write_csv(pyarrow.table(columns), path, options)


def patterns_that_never_repeat() -> None:
    """One E-step with and without grouping of children, on columns of many states."""
    rng = np.random.default_rng(0)
    rows = []
    for n_columns, n_states in ((20, 50), (12, 300), (40, 10)):
        states = tuple(map(str, range(n_states)))
        variables = [Variable(f"x{j}", states) for j in range(n_columns)]
        table = Dataset(variables, list(rng.integers(0, n_states, (n_columns, 50_000))))
        structure = make_structure(variables, 4)
        theta = random_starts(structure, table, 1, 0)[0]
        grouped, plain = PatternedData(table), PatternedData(table)
        plain.group = lambda masks: Grouping(masks, ())  # type: ignore[method-assign]
        forests = [Forest(structure, data) for data in (grouped, plain)]
        counts = np.empty(structure.n_values)
        actions = [partial(forest.expected_counts, theta, counts) for forest in forests]
        ratios = []
        for _ in range(7):
            times = [seconds(action) for action in actions]
            ratios.append(times[1] / times[0])
        rows.append(
            {
                "columns": n_columns,
                "states": n_states,
                "distinct rows": grouped.n_rows,
                "per row / with patterns": float(np.median(ratios)),
            }
        )
    print_table("50,000 random rows: time per row over time with patterns", rows)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ("parquet", "csv", "patterns")
    if "parquet" in wanted:
        reading()
    if "csv" in wanted:
        text_files()
    if "patterns" in wanted:
        patterns_that_never_repeat()
