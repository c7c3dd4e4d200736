"""The greedy learners against published figures: COIL, the published folds, starts of EAST.

Run ``python benchmarks/greedy.py [part ...]``; the parts are ``information``, ``coil``, ``folds``,
``predictive`` and ``starts``. A learner that this version does not have is left out. Times are
wall-clock with two threads, compilation not counted.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from typing import Any

import numpy as np

import latentforest
from common import REFERENCE, print_table, read_folds, read_shared, seconds
from latentforest import EAST, Dataset, Variable, log_score
from latentforest.datasets.generate import generate, random_latent_tree
from latentforest.errors import DataWarning
from latentforest.inference.association.information import mutual_information

N_JOBS = 2
SMALL = ["hiv_test", "house_building", "hayes_roth", "balance_scale", "car_evaluation"]
LARGER = ["vote", "spect_heart", "alarm", "coil_42", "webkb_336", "news_100"]
LEARNERS = {"BIN": "BinaryForest", "BI": "BridgedIslands", "Chow-Liu": "ChowLiu"}
PUBLISHED = {"BIN": "binA", "BI": "BI"}  # their names in the published tables
MEASURED = {"BIN": "BINA", "BI": "BI"}  # and among the programs that were run again
MORE_EFFORT = {"BI": {"max_island": 10, "mu": 8, "nu": 20}}  # a second column
WIDE = ("webkb_336", "news_100")  # too wide to choose the smoothing by cross-validation


def find_learners(*names: str) -> dict[str, Any]:
    """The classes of learners that are there."""
    wanted = {name: LEARNERS[name] for name in names}
    return {
        name: getattr(latentforest, home)
        for name, home in wanted.items()
        if hasattr(latentforest, home)
    }


def timed(learner: Any, data: Dataset, **settings: Any) -> tuple[Any, float]:
    """Fit a learner and return it with its wall-clock time."""
    model = learner(n_jobs=N_JOBS, random_state=settings.pop("random_state", 0), **settings)
    return model, seconds(lambda: model.fit(data))


def warm_up() -> None:
    """Compile, or load, all kernels."""
    data = generate(random_latent_tree(8, depth=2, random_state=0), 200, random_state=0)
    for learner in find_learners(*LEARNERS).values():
        timed(learner, data)
    timed(EAST, data)


def information() -> None:
    """Mutual information of all pairs of generated binary columns."""
    rows, rng = [], np.random.default_rng(0)
    for n_columns, kind in ((1000, ""), (3000, ""), (10000, ""), (10000, "5% missing")):
        columns = [(rng.random(20000) < 0.3).astype(np.int8) for _ in range(n_columns)]
        if kind:
            columns = [np.where(rng.random(20000) < 0.05, -1, codes) for codes in columns]
        data = Dataset([Variable(f"x{j}", ("0", "1")) for j in range(n_columns)], columns)
        mutual_information(data.select(data.names[:600]))
        began = time.perf_counter(), time.process_time()
        mutual_information(data, N_JOBS)
        rows.append(
            {
                "columns": n_columns,
                "rows": data.n_rows,
                "": kind,
                "seconds": time.perf_counter() - began[0],
                "CPU seconds": time.process_time() - began[1],
            }
        )
    print_table("Mutual information of all pairs of binary columns", rows)


def coil() -> None:
    """COIL-42, all rows: BIN with all linkages."""
    data, rows = read_shared("discrete/coil_42.arff"), []
    learner = find_learners("BIN")["BIN"]
    for linkage in ("greedy", "average", "complete", "single"):
        for seed in range(3):
            model, duration = timed(learner, data, linkage=linkage, random_state=seed)
            rows.append(
                {
                    "linkage": linkage,
                    "seed": seed,
                    "BIC": f"{model.bic_:,.1f}",
                    "seconds": duration,
                    "latents": len(model.network_.latents),
                    "trees": len(model.network_.structure.roots),
                }
            )
    print_table("COIL-42, 5,822 rows, BIN", rows)


def read_originals() -> dict[tuple[str, str], tuple[float, float]]:
    """Training BIC and seconds on fold 1: published ones, then those of programs run again."""
    found = {}
    with (REFERENCE / "published_folds.csv").open() as file:
        for row in csv.DictReader(file):
            if row["fold"] == "1" and row["train_bic"]:
                key = row["dataset"], row["method"]
                found[key] = float(row["train_bic"]), float(row["learn_seconds"])
    with (REFERENCE / "measured_originals_fold1.csv").open() as file:
        for row in csv.DictReader(file):
            if row["train_bic"] and not row["variant"]:
                name = next((k for k, v in MEASURED.items() if v == row["method"]), None)
                if name is not None:
                    key = row["dataset"], PUBLISHED[name]
                    found[key] = float(row["train_bic"]), float(row["cpu_s"])
    return found


def folds() -> None:
    """Fold 1 of the published folds: training BIC and time against the original programs."""
    originals = read_originals()
    for name, learner in find_learners("BIN", "BI").items():
        rows = []
        for data_name in (*SMALL, *LARGER):
            data, labels = read_shared(f"discrete/{data_name}.arff"), _labels(data_name)
            model, duration = timed(learner, data.take(np.flatnonzero(labels != 1)))
            bic, original = originals.get((data_name, PUBLISHED[name]), (np.nan, np.nan))
            rows.append(
                {
                    "data": data_name,
                    "BIC": f"{model.bic_:,.1f}",
                    "original's": f"{bic:,.1f}",
                    "seconds": duration,
                    "original's seconds": original,
                    "times faster": original / duration,
                }
            )
        print_table(f"Fold 1, {name}, seed 0", rows)


def _labels(name: str) -> np.ndarray:
    return read_folds(f"discrete/{name}")


def read_published() -> dict[tuple[str, str], float]:
    """Published averages of test log-likelihoods over the folds."""
    with (REFERENCE / "published_averages.csv").open() as file:
        return {
            (row["dataset"], row["method"]): float(row["test_log_likelihood"])
            for row in csv.DictReader(file)
        }


def predictive() -> None:
    """Average test log-likelihood over the ten published folds."""
    rows, published = [], read_published()
    for data_name in (*SMALL, *LARGER):
        data, labels = read_shared(f"discrete/{data_name}.arff"), _labels(data_name)
        smoothing = 1.0 if data_name in WIDE else "cv"
        row: dict[str, Any] = {"data": data_name, "smoothing": smoothing}
        for name, learner in find_learners(*LEARNERS).items():
            chosen = 1.0 if name == "Chow-Liu" else smoothing
            row[name] = validate(learner, data, labels, prior=chosen)
            if name in MORE_EFFORT:
                effort = MORE_EFFORT[name]
                row[f"{name}, effort"] = validate(learner, data, labels, prior=chosen, **effort)
            if name in PUBLISHED:
                row[f"published {name}"] = f"{published[data_name, PUBLISHED[name]]:,.2f}"
        rows.append(row)
        print_table("Test log-likelihood per fold", rows[-1:])
    print_table("Test log-likelihood per fold", rows)


def validate(learner: Any, data: Dataset, labels: np.ndarray, **settings: Any) -> str:
    """Average test log-likelihood of the folds."""
    scores = []
    for fold in range(1, 11):
        model, _ = timed(learner, data.take(np.flatnonzero(labels != fold)), **settings)
        scores.append(log_score(model.network_, data.take(labels == fold)))
    return f"{np.mean(scores):,.2f}"


def starts() -> None:
    """EAST(8, 20) on COIL-42 from each start."""
    data, rows = read_shared("discrete/coil_42.arff"), []
    names = {"BIN": "bin", "BI": "bridged-islands", "Chow-Liu": "chow-liu"}
    begins: dict[str, Any] = {"latent class": None}
    begins |= {name: names[name] for name in find_learners(*LEARNERS)}
    begins["BIN, average"] = find_learners("BIN")["BIN"](linkage="average", random_state=0)
    for name, start in begins.items():
        for seed in range(3):
            began = time.process_time()
            model, duration = timed(EAST, data, start=start, random_state=seed)
            spent = time.process_time() - began
            rows.append(
                {
                    "start": name,
                    "seed": seed,
                    "BIC": f"{model.bic_:,.1f}",
                    "BIC of the start": f"{model.history_['bic'][0]:,.1f}",
                    "seconds": duration,
                    "CPU seconds": spent,
                    "steps": len(model.history_),
                    "latents": len(model.network_.latents),
                }
            )
        print_table("COIL-42, EAST(8, 20)", rows[-3:])
    print_table("COIL-42, EAST(8, 20)", rows)


PARTS = {
    "information": information,
    "coil": coil,
    "folds": folds,
    "predictive": predictive,
    "starts": starts,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", DataWarning)
    warm_up()
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
