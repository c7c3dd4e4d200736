"""All learners that take continuous or mixed tables, side by side with the published columns.

``python benchmarks/comparison.py run [--kind shuffled] [--sets A,B] [--methods IL,GS] [--folds 3]``
fits on all but one fold of each data set and writes the log-likelihood of that fold to
``benchmarks/results/comparison.csv``; what is there already is not run again.
``python benchmarks/comparison.py tables`` prints means over the folds as Markdown.

One thread, seed 0; CPU seconds, compilation not counted, choosing the smoothing included.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from common import REFERENCE, print_table, read_folds, read_shared
from latentforest import GaussianEAST, IncrementalForest, IndependentClusterings, LatentClass
from latentforest.errors import LatentForestWarning

SETS = {
    "continuous": [
        *("iris", "buddymove", "alcohol", "wine", "yeast", "nba", "wdbc"),
        *("100_plants", "geo_music", "waveform"),
    ],
    "mixed": [
        *("haberman", "user_knowledge", "ecoli", "parkinsons", "autos", "thyroid"),
        "spanish_living_conditions",
    ],
    "discrete": [
        *("hiv_test", "house_building", "hayes_roth", "balance_scale", "car_evaluation"),
        *("vote", "spect_heart", "alarm", "coil_42", "news_100", "webkb_336"),
    ],
}
KIND_OF = {name: kind for kind, names in SETS.items() for name in names}
LEARNERS: dict[str, Callable[[], Any]] = {
    "IL": lambda: IncrementalForest(random_state=0),
    "CIL_1": lambda: IncrementalForest(candidate_pairs=1, random_state=0),
    "CIL_10": lambda: IncrementalForest(candidate_pairs=10, random_state=0),
    "GEAST": lambda: GaussianEAST(smoothing="cv", random_state=0),
    "GS": lambda: IndependentClusterings(prior=1, random_state=0),
    "GS screened": lambda: IndependentClusterings(candidate_pairs=10, prior=1, random_state=0),
    "LCM": lambda: LatentClass(prior=1, random_state=0),
    "LCM full": lambda: LatentClass(prior=1, covariance="full", random_state=0),
    "IL as published": lambda: IncrementalForest(reroot=False, random_state=0),
    "IL evidence": lambda: IncrementalForest(prior_strength="evidence", random_state=0),
    "IL as published by evidence": lambda: IncrementalForest(
        reroot=False, prior_strength="evidence", random_state=0
    ),
    "CIL_10 as published by evidence": lambda: IncrementalForest(
        candidate_pairs=10, reroot=False, prior_strength="evidence", random_state=0
    ),
}
MAIN = ("IL", "CIL_1", "CIL_10", "GEAST", "GS", "GS screened", "LCM", "LCM full")
VARIANTS = [name for name in LEARNERS if name.split()[0] in ("IL", "CIL_10") and " " in name]
NEEDS_CONTINUOUS = ("GEAST", "LCM full")
NAMES_OF_LCM = ("LCM", "Gaussian_LCM", "variational_LCM")  # in the published tables
RESULTS = Path(__file__).parent / "results" / "comparison.csv"
FIELDS = ["folds", "dataset", "method", "fold", "test", "cpu_seconds", "latents"]


def read_results() -> list[dict[str, str]]:
    """All results so far."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def write_result(row: dict[str, Any]) -> None:
    """Add a result to the file."""
    RESULTS.parent.mkdir(exist_ok=True)
    is_new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def run(kind: str, sets: list[str], methods: list[str], n_folds: int) -> None:
    """Run what is not in the file yet."""
    done = {tuple(row[key] for key in FIELDS[:4]) for row in read_results()}
    for name in ("iris", "haberman", "hiv_test"):  # to compile
        for method in applicable(name, methods):
            LEARNERS[method]().fit(read_shared(f"{KIND_OF[name]}/{name}.arff"))
    for name in sets:
        place = f"{KIND_OF[name]}/{name}"
        data, labels = read_shared(f"{place}.arff"), read_folds(place)
        if kind == "shuffled":  # the same sizes, rows dealt out at random
            labels = np.random.default_rng(0).permutation(labels)
        for method in applicable(name, methods):
            for fold in sorted(set(labels.tolist()))[:n_folds]:
                if (kind, name, method, str(fold)) in done:
                    continue
                train, test = data.take(labels != fold), data.take(labels == fold)
                began = time.process_time()
                model = LEARNERS[method]().fit(train)
                row: dict[str, Any] = {"folds": kind, "dataset": name, "method": method}
                row["fold"] = fold
                row["cpu_seconds"] = f"{time.process_time() - began:.3f}"
                row["test"] = f"{float(model.score_samples(test) @ test.weights):.4f}"
                row["latents"] = len(model.network_.latents)
                write_result(row)


def applicable(name: str, methods: list[str]) -> Iterator[str]:
    """The methods that a data set is run with."""
    for method in methods:
        if KIND_OF[name] != "discrete" or method not in NEEDS_CONTINUOUS:
            yield method


def read_published() -> dict[tuple[str, str, str], dict[str, float]]:
    """Published figures of each data set, method and fold."""
    found = {}
    with (REFERENCE / "published_folds.csv").open() as file:
        for row in csv.DictReader(file):
            method = "LCM" if row["method"] in NAMES_OF_LCM else row["method"]
            numbers = {key: _number(row[key]) for key in ("test_log_likelihood", "learn_seconds")}
            found[row["dataset"], method, row["fold"]] = numbers
    return found


def _number(text: str) -> float:
    return float(text) if text else float("nan")


def tables() -> None:
    """Print means over the folds: for each data set a line, for each method ours and theirs."""
    theirs = read_published()
    by_set: dict[tuple[str, str], dict[str, list[dict[str, str]]]] = defaultdict(dict)
    for row in read_results():
        by_set[row["folds"], row["dataset"]].setdefault(row["method"], []).append(row)
    for kind in ("published", "shuffled"):
        for columns in (list(MAIN[:3]), list(MAIN[3:]), VARIANTS):
            lines = []
            for name in KIND_OF:
                found = by_set.get((kind, name), {})
                line = {"data": name, **{m: _compare(found.get(m), theirs, kind) for m in columns}}
                if any(line[method] != "–" for method in columns):
                    if kind == "published" and "IL" in columns:
                        line["best other published"] = _best(theirs, name)
                    lines.append(line)
            if lines:
                print_table(f"{kind} folds: {', '.join(columns)}", lines)
    _print_seconds(by_set, theirs)


def _compare(
    rows: list[dict[str, str]] | None,
    theirs: dict[tuple[str, str, str], dict[str, float]],
    kind: str,
) -> str:
    """Our mean; in brackets the published one over the same folds."""
    if not rows:
        return "–"
    ours = np.array([float(row["test"]) for row in rows])
    text = f"{ours.mean():,.1f}"
    if kind == "published":
        published = [
            theirs.get((row["dataset"], row["method"].split()[0], row["fold"]), {}).get(
                "test_log_likelihood", np.nan
            )
            for row in rows
        ]
        if np.isfinite(published).all():
            sign = "" if ours.mean() >= np.mean(published) else " **below**"
            text += f" ({np.mean(published):,.1f}){sign}"
    elif len(rows) > 1:
        text += f" ± {ours.std():,.1f}"
    n_folds = "1 fold" if len(rows) == 1 else f"{len(rows)} folds"
    return text if len(rows) == 10 else f"{text}, {n_folds}"


def _best(theirs: dict[tuple[str, str, str], dict[str, float]], name: str) -> str:
    """The best published mean among methods beside IL and CIL."""
    values: dict[str, list[float]] = defaultdict(list)
    for (data, method, _), numbers in theirs.items():
        if data == name and method not in ("IL", "CIL_1", "CIL_10"):
            values[method].append(numbers["test_log_likelihood"])
    means = {m: float(np.mean(found)) for m, found in values.items() if np.isfinite(found).all()}
    if not means:
        return ""
    best = max(means, key=lambda method: means[method])
    return f"{best} {means[best]:,.1f}"


def _print_seconds(
    by_set: dict[tuple[str, str], dict[str, list[dict[str, str]]]],
    theirs: dict[tuple[str, str, str], dict[str, float]],
) -> None:
    """CPU seconds of a fold, published ones in brackets, and numbers of latent variables."""
    lines = []
    for name in KIND_OF:
        found = by_set.get(("published", name), {})
        line = {"data": name}
        for method in MAIN:
            rows = found.get(method, [])
            if not rows:
                line[method] = "–"
                continue
            mean = np.mean([float(row["cpu_seconds"]) for row in rows])
            latents = np.mean([float(row["latents"]) for row in rows])
            seconds = [
                theirs.get((name, method, row["fold"]), {}).get("learn_seconds", np.nan)
                for row in rows
            ]
            published = f" ({np.nanmean(seconds):,.3g})" if np.isfinite(seconds).any() else ""
            line[method] = f"{mean:,.3g}{published}; {latents:.1f}"
        if found:
            lines.append(line)
    if lines:
        print_table("CPU seconds of a fold (published seconds); latent variables", lines)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["run", "tables"])
    parser.add_argument("--kind", choices=["published", "shuffled"], default="published")
    parser.add_argument("--sets", default=",".join(KIND_OF))
    parser.add_argument("--methods", default="IL,CIL_1,CIL_10,GEAST,GS,LCM")
    parser.add_argument("--folds", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore", LatentForestWarning)
    if given.part == "tables":
        tables()
    else:
        run(given.kind, given.sets.split(","), given.methods.split(","), given.folds)


if __name__ == "__main__":
    main()
