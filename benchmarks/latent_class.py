"""EM on latent class models: against StepMix, on a million rows, and what a first use costs.

Run with ``make bench`` or ``python benchmarks/latent_class.py [case …]``.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from common import median_seconds, print_table, read_shared, seconds, to_array
from latentforest import Dataset, Independence, datasets
from latentforest.datasets.generate import with_missing
from latentforest.estimation.em import EMSettings, FitResult, fit
from latentforest.estimation.starts import random_starts
from latentforest.inference.forest import Forest, PatternedData
from latentforest.learners.latent_class import make_structure

N_CLASSES = 4


def against_stepmix() -> None:
    """Time per iteration and final log-likelihood from the same start, one thread."""
    coil = read_shared("discrete/coil_42.arff")
    rows = [
        compare_with_stepmix("COIL-42", coil, "categorical"),
        compare_with_stepmix(
            "COIL-42, 10% missing", with_missing(coil, 0.1, random_state=0), "categorical_nan"
        ),
    ]
    print_table(f"EM with {N_CLASSES} classes, one thread, against StepMix 3.0.0", rows)


def compare_with_stepmix(name: str, dataset: Dataset, measurement: str) -> dict[str, object]:
    table = to_array(dataset)
    table = table if np.isnan(table).any() else table.astype(int)
    structure = make_structure(dataset.variables, N_CLASSES)
    forest = Forest(structure, PatternedData(dataset))
    start = stepmix_parameters(run_stepmix(table, measurement, 1), structure)
    n_theirs = 20
    plain = EMSettings(100, 0.0, accelerate=False)
    n_ours = fit(forest, start, settings=plain).monitor.n_iterations
    ratios, ours, theirs = [], [], []
    for _ in range(5):
        ours.append(median_seconds(lambda: fit(forest, start, settings=plain)) / n_ours)
        long = seconds(lambda: run_stepmix(table, measurement, n_theirs + 1))
        short = seconds(lambda: run_stepmix(table, measurement, 1))
        theirs.append((long - short) / n_theirs)
        ratios.append(theirs[-1] / ours[-1])
    n_same = 10  # StepMix clips probabilities at 1e-15; later that can part the ways
    same = EMSettings(n_same, 0.0, accelerate=False)
    final = fit(forest, start, settings=same).log_likelihood
    reached = run_stepmix(table, measurement, n_same + 1)
    gap = abs(final - reached.score(table) * dataset.n_rows)
    return {
        "table": name,
        "distinct rows": forest.data.n_rows,
        "latentforest ms": 1e3 * float(np.median(ours)),
        "StepMix ms": 1e3 * float(np.median(theirs)),
        "times faster": float(np.median(ratios)),
        "lowest of 5": float(np.min(ratios)),
        "log-likelihood after 10": f"{final:,.6f}",
        "difference": f"{gap:.1e}",
    }


def run_stepmix(table: np.ndarray, measurement: str, n_iterations: int):
    from stepmix import StepMix

    model = StepMix(
        n_components=N_CLASSES,
        measurement=measurement,
        n_init=1,
        max_iter=n_iterations,
        abs_tol=0,
        rel_tol=0,
        verbose=0,
        progress_bar=0,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table)


def stepmix_parameters(model, structure) -> np.ndarray:
    """Lay StepMix's tables out as ours."""
    parameters = model.get_parameters()
    theta = np.empty(structure.n_values)
    structure.table_view(theta, "class")[...] = parameters["weights"]
    tables = np.asarray(parameters["measurement"]["pis"])
    n_outcomes = tables.shape[1] // len(structure.observed)
    for j, name in enumerate(structure.observed):
        n_states = structure.shape(name)[-1]
        table = tables[:, j * n_outcomes : j * n_outcomes + n_states]
        structure.table_view(theta, name)[...] = table / table.sum(axis=1, keepdims=True)
    return theta


def million_rows() -> None:
    """One EM iteration on 1,000,000 rows of 50 binary columns, five classes."""
    rows = []
    for n_threads in (1, 2):
        output = subprocess.run(
            [sys.executable, __file__, "million-rows-here", str(n_threads)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        n_bytes, before, peak, prepared, iteration, ratio = map(float, output.split())
        rows.append(
            {
                "threads": n_threads,
                "encoded table MB": n_bytes / 1e6,
                "preparing s": prepared,
                "iteration s": iteration,
                "peak memory over the table MB": (peak - before) / 1e6,
                "all memory / table": (peak - before + n_bytes) / n_bytes,
                "times faster than one thread": ratio,
            }
        )
    print_table("1,000,000 rows x 50 binary columns, 5 classes", rows)


def million_rows_here() -> None:
    """The work of ``million_rows`` in a process of its own, so that its memory can be told."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 5, 1_000_000)
    profile = rng.random((5, 50))
    columns = {}
    for j in range(50):
        columns[f"x{j}"] = (rng.random(len(classes)) < profile[classes, j]).astype(np.int8)
    del classes
    dataset = Dataset.from_table(columns)
    del columns
    n_bytes = sum(column.nbytes for column in dataset.columns)
    small = dataset.take(np.arange(1000))
    work_on(small, 1)
    before = resident_bytes()
    peak_bytes(reset=True)
    prepared, iteration, ratio = work_on(dataset, int(sys.argv[2]))
    print(n_bytes, before, peak_bytes(), prepared, iteration, ratio)


def work_on(dataset: Dataset, n_threads: int) -> tuple[float, float, float]:
    """Seconds to prepare and to iterate, and how much faster than one thread in turn."""
    structure = make_structure(dataset.variables, 5)
    forests: list[Forest] = []
    prepared = seconds(
        lambda: forests.append(Forest(structure, PatternedData(dataset, n_jobs=n_threads)))
    )
    rng = np.random.default_rng(1)
    theta = np.empty(structure.n_values)
    for name in structure.names:
        table = structure.table_view(theta, name)
        table[...] = rng.dirichlet(np.ones(table.shape[-1]), table.shape[:-1])
    counts = np.empty(structure.n_values)
    times, ratios = [], []
    for _ in range(9):
        forests[0].data.n_jobs = 1
        alone = seconds(lambda: forests[0].expected_counts(theta, counts))
        forests[0].data.n_jobs = n_threads
        times.append(seconds(lambda: forests[0].expected_counts(theta, counts)))
        ratios.append(alone / times[-1])
    return prepared, float(np.median(times)), float(np.median(ratios))


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_bytes(reset: bool = False) -> int:
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def first_use() -> None:
    """What the first call after an installation costs, and the next processes."""
    code = (
        "import time; t = time.perf_counter(); import latentforest.learners, latentforest as lf; "
        "i = time.perf_counter() - t; t = time.perf_counter(); "
        "lf.LatentClass(2, random_state=0).fit(lf.datasets.load('hiv-tests')); "
        "print(i, time.perf_counter() - t)"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        for name in ("first process (compiles)", "second process", "third process"):
            output = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True
            ).stdout
            imported, fitted = map(float, output.split())
            rows.append({"": name, "import s": imported, "first fit s": fitted})
    print_table("First use", rows)
    command = [sys.executable, "-m", "latentforest", "--help"]
    action = lambda: subprocess.run(command, capture_output=True, check=True)  # noqa: E731
    print(f"\n`latentforest --help`: {median_seconds(action, 7):.2f} s")


def fit_each(forest: Forest, starts: np.ndarray, settings: EMSettings) -> list[FitResult]:
    return [fit(forest, start, settings=settings) for start in starts]


def acceleration() -> None:
    """Iterations and time of one start to convergence, with and without acceleration."""
    rows = []
    tables = {name: datasets.load(name) for name in ("coleman-panel", "hiv-tests")}
    tables |= {name: read_shared(f"discrete/{name}.arff") for name in ("vote", "alarm", "coil_42")}
    for (name, table), n_classes in itertools.product(tables.items(), (3, 6)):
        structure = make_structure(table.variables, n_classes)
        forest = Forest(structure, PatternedData(table))
        row: dict[str, object] = {"table": name, "classes": n_classes}
        reached = []
        for label, is_on in (("plain", False), ("accelerated", True)):
            settings = EMSettings(20_000, 1e-9, is_on)
            starts = random_starts(structure, table, 8, 0)
            action = partial(fit_each, forest, starts, settings)
            results = action()
            row[f"{label}: iterations"] = sum(r.monitor.n_iterations for r in results) // 8
            row[f"{label}: ms"] = 1e3 * median_seconds(action, 3) / 8
            reached.append(np.mean([result.log_likelihood for result in results]))
        row["mean gain of log-likelihood"] = float(reached[1] - reached[0])
        rows.append(row)
    print_table("EM to a gain of 1e-9 per row, mean of 8 starts", rows)


def known_results() -> None:
    """Figures that must come out."""
    coil = read_shared("discrete/coil_42.arff")
    print(f"\nIndependence on COIL-42: BIC {Independence().fit(coil).bic_:,.2f} (-79,703.89)")


CASES: dict[str, Callable[[], None]] = {
    "known-results": known_results,
    "stepmix": against_stepmix,
    "acceleration": acceleration,
    "million-rows": million_rows,
    "million-rows-here": million_rows_here,
    "first-use": first_use,
}

if __name__ == "__main__":
    chosen = sys.argv[1:2] or [
        "known-results",
        "stepmix",
        "acceleration",
        "million-rows",
        "first-use",
    ]
    for case in chosen:
        CASES[case]()
