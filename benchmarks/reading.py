"""Reading CSV files: the time of ``latentforest.read`` beside that of ``pandas.read_csv``.

Run ``python benchmarks/reading.py [name ...]``, by default all files. Each file is made in a
temporary folder and removed again. Each reader is called once in a process of its own before it
counts, so that imports and the cache of the disk are not measured; then the two take turns.
Printed are medians of three in seconds.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import print_table

N_RUNS = 3
_PROGRAM = """
import sys, time
read = __import__(sys.argv[1], fromlist=["x"])
read = getattr(read, sys.argv[2])
read(sys.argv[4])
began = time.perf_counter()
read(sys.argv[3])
print(time.perf_counter() - began)
"""
_READERS = {"latentforest": ("latentforest", "read"), "pandas": ("pandas", "read_csv")}
#: Rows, columns, kind of cells.
FILES = {
    "text 200,000 x 50": (200_000, 50, "text"),
    "text 1,000,000 x 30": (1_000_000, 30, "text"),
    "text 1,000,000 x 50": (1_000_000, 50, "text"),
    "codes 1,000,000 x 50": (1_000_000, 50, "codes"),
    "floats 200,000 x 50": (200_000, 50, "floats"),
    "mixed 1,000,000 x 50": (1_000_000, 50, "mixed"),
}


def write_file(path: Path, n_rows: int, n_columns: int, kind: str) -> None:
    """Write a table: answers as text, codes 1 to 5, numbers, or a third of each."""
    generator = np.random.default_rng(0)
    kinds = tuple(_DRAW) if kind == "mixed" else (kind,)
    with path.open("w") as file:
        file.write(",".join(f"q{j}" for j in range(n_columns)) + "\n")
        for begin in range(0, n_rows, 10_000):
            n = min(10_000, n_rows - begin)
            columns = [_DRAW[kinds[j % len(kinds)]](generator, n) for j in range(n_columns)]
            file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _draw_answers(generator: np.random.Generator, n: int) -> list[str]:
    answers = ["strongly disagree", "disagree", "neither", "agree", "strongly agree", ""]
    return [answers[k] for k in generator.integers(0, len(answers), n)]


def _draw_codes(generator: np.random.Generator, n: int) -> list[str]:
    return [str(k) for k in generator.integers(1, 6, n)]


def _draw_floats(generator: np.random.Generator, n: int) -> list[str]:
    return [f"{x:.6g}" for x in generator.normal(size=n)]


_DRAW = {"text": _draw_answers, "codes": _draw_codes, "floats": _draw_floats}


def measure(reader: str, path: Path, small: Path) -> float:
    """Seconds that a reader takes in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", _PROGRAM, *_READERS[reader], path, small]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(name: str, folder: Path) -> dict[str, object]:
    """A row of the table: the file, medians of both readers, their quotient."""
    path, small = folder / "table.csv", folder / "small.csv"
    write_file(path, *FILES[name])
    write_file(small, 20_000, 50, "mixed")
    times: dict[str, list[float]] = {reader: [] for reader in _READERS}
    for _ in range(N_RUNS):
        for reader, seconds in times.items():
            seconds.append(measure(reader, path, small))
    size = path.stat().st_size / 1e6
    path.unlink()
    ours, theirs = (statistics.median(times[reader]) for reader in _READERS)
    return {
        "file": name,
        "MB": f"{size:.0f}",
        "latentforest": f"{ours:.2f}",
        "pandas.read_csv": f"{theirs:.2f}",
        "quotient": f"{ours / theirs:.2f}",
    }


def main() -> None:
    """Measure the files that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=", ".join(FILES))
    names = parser.parse_args().names or list(FILES)
    with tempfile.TemporaryDirectory() as folder:
        rows = [compare(name, Path(folder)) for name in names]
    print_table("Seconds to read a CSV file", rows)


if __name__ == "__main__":
    main()
