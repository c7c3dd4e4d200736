"""Learners of continuous tables against published figures, on the published and on shuffled folds.

Run ``python benchmarks/continuous.py [published|shuffled] [set ...]``. Test log-likelihoods and
seconds are means over ten folds, as in the published tables. Parameters of the models that predict
are smoothed: GEAST's with the number of pseudo-observations that predicts blocks of training rows
best (``smoothing="cv"``), those of the latent class models with one for each Gaussian. Seconds are
CPU seconds of all threads, compilation not counted, choosing the smoothing included; the longest
fold in wall-clock seconds is given too.
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
from latentforest import Dataset
from latentforest.errors import LatentForestWarning

N_JOBS = 2
SETS = ["iris", "alcohol", "buddymove", "wine", "nba", "wdbc", "yeast"]
WIDE = ["waveform", "geo_music", "100_plants"]  # GEAST is not in the published table of these
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "GEAST": ("GaussianEAST", {"smoothing": "cv"}),
    "LCM": ("LatentClass", {"smoothing": 1}),
    "LCM, full": ("LatentClass", {"smoothing": 1, "covariance": "full"}),
    "GS": ("IndependentClusterings", {"smoothing": 1}),
}
PUBLISHED = {"GEAST": "GEAST", "LCM": "Gaussian_LCM", "GS": "GS"}


def make(name: str, seed: int) -> Any:
    """A learner, or nothing if this version does not have it."""
    home, settings = LEARNERS[name]
    if not hasattr(latentforest, home):
        return None
    return getattr(latentforest, home)(n_jobs=N_JOBS, random_state=seed, **settings)


def read_published() -> dict[tuple[str, str], dict[str, float]]:
    """Published means over the folds by data set and method."""
    with (REFERENCE / "published_averages.csv").open() as file:
        return {
            (row["dataset"], row["method"]): {
                key: float(row[key]) if row[key] else np.nan
                for key in ("test_log_likelihood", "learn_seconds", "train_bic")
            }
            for row in csv.DictReader(file)
        }


def shuffle(labels: np.ndarray) -> np.ndarray:
    """Deal the rows out to the same folds at random."""
    return np.random.default_rng(0).permutation(labels)


def run(name: str, data: Dataset, labels: np.ndarray) -> list[dict[str, float]]:
    """Fit a learner without each fold in turn; one row of results for each."""
    rows = []
    for fold in sorted(set(labels.tolist())):
        train = data.take(np.flatnonzero(labels != fold))
        test = data.take(np.flatnonzero(labels == fold))
        model = make(name, fold)
        began = time.process_time()
        taken = seconds(lambda: model.fit(train))  # noqa: B023 - called at once
        rows.append(
            {
                "test": float(model.score_samples(test) @ test.weights),
                "cpu": time.process_time() - began,
                "seconds": taken,
                "bic": float(np.max(model.history_["bic"])),
                "latents": float(len(model.network_.latents)),
            }
        )
    return rows


def compare(sets: list[str], is_shuffled: bool) -> None:
    """All learners on some data sets beside the published figures."""
    published = read_published()
    for data_set in sets:
        data = read_shared(f"continuous/{data_set}.arff")
        labels = read_folds(f"continuous/{data_set}")
        labels = shuffle(labels) if is_shuffled else labels
        rows = []
        for name in LEARNERS:
            if make(name, 0) is None:
                continue
            found = run(name, data, labels)
            mean = {key: float(np.mean([row[key] for row in found])) for key in found[0]}
            theirs = published.get((data_set, PUBLISHED.get(name, "")), {})
            rows.append(
                {
                    "learner": name,
                    "test log-likelihood": f"{mean['test']:,.2f}",
                    "published": f"{theirs.get('test_log_likelihood', np.nan):,.2f}",
                    "CPU seconds": f"{mean['cpu']:.2f}",
                    "longest": f"{max(row['seconds'] for row in found):.1f}",
                    "published seconds": f"{theirs.get('learn_seconds', np.nan):,.0f}",
                    "training BIC": f"{mean['bic']:,.1f}",
                    "published BIC": f"{theirs.get('train_bic', np.nan):,.1f}",
                    "latents": f"{mean['latents']:.1f}",
                }
            )
        kind = "shuffled" if is_shuffled else "published"
        print_table(f"{data_set}, {kind} folds", rows)
        sys.stdout.flush()


def warm_up() -> None:
    """Compile, or load, all kernels."""
    data = read_shared("continuous/iris.arff")
    for name in LEARNERS:
        learner = make(name, 0)
        if learner is not None:
            learner.fit(data)


def main(arguments: list[str]) -> None:
    """Run what was asked for."""
    warnings.simplefilter("ignore", LatentForestWarning)
    kinds = [each for each in arguments if each in ("published", "shuffled")] or ["published"]
    sets = [each for each in arguments if each not in ("published", "shuffled")] or SETS
    unknown = set(sets) - {*SETS, *WIDE}
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; known are {', '.join((*SETS, *WIDE))}")
    warm_up()
    for kind in kinds:
        compare(sets, kind == "shuffled")


if __name__ == "__main__":
    main(sys.argv[1:])
