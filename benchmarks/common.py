"""What the benchmarks share: where the data is, medians of repeats, Markdown tables."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from latentforest import Dataset, read

SHARED = Path(os.environ.get("LATENTFOREST_DATA", Path(__file__).parents[2] / "shared" / "data"))
REFERENCE = SHARED.parent / "reference"  # figures to reproduce and to beat


def read_folds(name: str) -> np.ndarray:
    """Read the number of the published fold of each row."""
    path = SHARED / f"{name}.folds.csv"
    return np.loadtxt(path, delimiter=",", skiprows=1, dtype=int, usecols=-1)


def read_shared(name: str) -> Dataset:
    """Read a data set of the folder beside the repository (or of LATENTFOREST_DATA)."""
    path = SHARED / name
    if not path.exists():
        raise SystemExit(f"{path} is not there; set LATENTFOREST_DATA to the folder of data sets")
    return read(path)


def median_seconds(action: Callable[[], Any], n_repeats: int = 5) -> float:
    """Median time of an action over some repeats."""
    return statistics.median(seconds(action) for _ in range(n_repeats))


def seconds(action: Callable[[], Any]) -> float:
    """Time of one run of an action."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def to_array(dataset: Dataset) -> np.ndarray:
    """Codes of a table as floats, NaN for missing."""
    return np.stack([np.where(c < 0, np.nan, c) for c in dataset.columns], axis=1)


def print_table(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print a Markdown table."""
    names = list(rows[0])
    print(f"\n### {title}\n")
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(_format(row[name]) for name in names) + " |")


def _format(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"
