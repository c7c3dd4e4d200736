"""IncrementalForest (IL, CIL) against published figures, and how its cost grows.

Run ``python benchmarks/incremental.py [part ...] [--only NAME,...]``. The parts are ``original``,
``forests``, ``large`` and ``growth``. One thread; compilation is not counted. The published folds
are in ``comparison.py``.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from common import REFERENCE, print_table, read_folds, read_shared
from latentforest import Dataset, IncrementalForest
from latentforest.datasets.generate import generate, random_latent_tree
from latentforest.errors import LatentForestWarning

CONTINUOUS = ["iris", "wine"]  # among the sets of the measured programs
METHODS: dict[str, int | None] = {"IL": None, "CIL_1": 1, "CIL_10": 10}
PICTURE = Path(__file__).parents[1] / "docs" / "incremental-growth.svg"

only: list[str] = []


def chosen(names: list[str]) -> list[str]:
    """The data sets to run on."""
    found = [name for name in names if not only or name.split("/")[1] in only]
    return sorted(found, key=lambda name: only.index(name.split("/")[1])) if only else found


def timed(data: Dataset, **settings: Any) -> tuple[IncrementalForest, float, float]:
    """Fit, and return the learner with wall-clock and CPU seconds."""
    model = IncrementalForest(random_state=0, **settings)
    began = time.perf_counter(), time.process_time()
    model.fit(data)
    return model, time.perf_counter() - began[0], time.process_time() - began[1]


def warm_up() -> None:
    """Compile, or load, all kernels."""
    for name in ("continuous/iris", "discrete/hiv_test", "mixed/haberman"):
        timed(read_shared(f"{name}.arff"), candidate_pairs=3)


def read_averages() -> dict[str, dict[str, tuple[float, float]]]:
    """Published test log-likelihood and seconds by data set and method."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    with (REFERENCE / "published_averages.csv").open() as file:
        for row in csv.DictReader(file):
            value = row["test_log_likelihood"]
            if value and np.isfinite(float(value)):
                numbers = float(value), float(row["learn_seconds"] or "nan")
                found.setdefault(row["dataset"], {})[row["method"]] = numbers
    return found


def original() -> None:
    """The authors' program on fold 1, with its priors and its search."""
    rows = []
    with (REFERENCE / "measured_originals_fold1.csv").open() as file:
        measured = [row for row in csv.DictReader(file) if row["p_elbo"] and not row["variant"]]
    for row in measured:
        pairs = {"IL": None, "CIL1": 1, "CIL10": 10}[row["method"]]
        kind = "continuous" if row["dataset"] in CONTINUOUS else "discrete"
        name = f"{kind}/{row['dataset']}"
        if name not in chosen([name]):
            continue
        data, labels = read_shared(f"{name}.arff"), read_folds(name)
        train, test = data.take(labels != 1), data.take(labels == 1)
        line: dict[str, Any] = {
            "data": row["dataset"],
            "method": row["method"],
            "program": f"{float(row['p_elbo']):,.1f}",
            "its CPU s": float(row["cpu_s"]),
        }
        for title, settings in (
            ("its priors, its search", {"keep_priors": False, "reroot": False}),
            ("its priors", {"keep_priors": False}),
            ("priors kept", {}),
        ):
            model, _, cpu = timed(train, candidate_pairs=pairs, **settings)
            line[title] = f"{model.p_elbo_:,.1f}"
            line[f"CPU s ({title})"] = cpu
        line["test"] = f"{model.score_samples(test).sum():,.1f}"
        line["program's test"] = f"{float(row['test_ll']):,.1f}"
        rows.append(line)
    print_table("Fold 1: p-ELBO of the authors' program and of ours", rows)


def forests() -> None:
    """The forests found on whole tables."""
    for name in chosen(["continuous/iris", "continuous/wine", "mixed/haberman"]):
        print(f"\n### {name}\n\n{timed(read_shared(f'{name}.arff'))[0]}")
    for name in chosen(["mixed/spanish_living_conditions"]):
        model, wall, _ = timed(read_shared(f"{name}.arff"), candidate_pairs=10)
        print(f"\n### {name}, {wall:.1f} s\n\n{model}")


def large() -> None:
    """Fold 1 of what took the authors' program hours, or more than a day."""
    rows = []
    for name, methods in (
        ("discrete/coil_42", METHODS),
        ("discrete/news_100", METHODS),
        ("discrete/webkb_336", {"CIL_1": 1, "CIL_10": 10}),
        ("continuous/waveform", METHODS),
        ("continuous/100_plants", METHODS),
        ("continuous/geo_music", METHODS),
        ("mixed/spanish_living_conditions", METHODS),
    ):
        if name not in chosen([name]):
            continue
        data, labels = read_shared(f"{name}.arff"), read_folds(name)
        train, test = data.take(labels != 1), data.take(labels == 1)
        published = read_averages().get(name.split("/")[1], {})
        for method, pairs in methods.items():
            model, wall, cpu = timed(train, candidate_pairs=pairs)
            rows.append(
                {
                    "data": name.split("/")[1],
                    "method": method,
                    "p-ELBO": f"{model.p_elbo_:,.1f}",
                    "test": f"{model.score_samples(test).sum():,.1f}",
                    "latents": len(model.network_.latents),
                    "trees": len(model.network_.structure.roots),
                    "seconds": wall,
                    "CPU s": cpu,
                    "published s per fold": published.get(method, (np.nan, np.nan))[1],
                }
            )
            print_table("Fold 1", rows[-1:])
            sys.stdout.flush()
    print_table("Fold 1", rows)


def growth() -> None:
    """Seconds against rows, columns and the number of candidate pairs, with a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullLocator

    plt.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none"})  # same, small files
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True)
    rows = []
    base = {"rows": 2000, "columns": 30, "pairs": 10}
    for axis, (what, values) in zip(
        axes,
        (
            ("rows", [500, 2000, 8000, 32000]),
            ("columns", [10, 20, 40, 80]),
            ("pairs", [1, 10, 100, None]),
        ),
        strict=True,
    ):
        seconds = []
        for value in values:
            setting = {**base, what: value}
            network = random_latent_tree(setting["columns"], depth=2, random_state=1)
            data = generate(network, setting["rows"], random_state=1)
            _, _, cpu = timed(data, candidate_pairs=setting["pairs"])
            seconds.append(cpu)
            rows.append({**setting, "CPU seconds": cpu})
        numbers = [435 if value is None else value for value in values]
        axis.loglog(numbers, seconds, "o-")
        axis.set_xticks(numbers, [f"{number:,}" for number in numbers])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_xlabel({"pairs": "candidate pairs (435: all, IL)"}.get(what, what))
        slope = np.polyfit(np.log(numbers), np.log(seconds), 1)[0]
        axis.set_title(f"power {slope:.2f}", fontsize=9)
    axes[0].set_ylabel("CPU seconds")
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})
    print_table("Cost, binary columns from latent trees", rows)


PARTS = {
    "original": original,
    "forests": forests,
    "large": large,
    "growth": growth,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", LatentForestWarning)
    arguments = sys.argv[1:]
    if "--only" in arguments:
        place = arguments.index("--only")
        only = arguments[place + 1].split(",")
        del arguments[place : place + 2]
    warm_up()
    for part in arguments or PARTS:
        PARTS[part]()
