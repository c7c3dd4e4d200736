"""GS (``IndependentClusterings``) on the published folds, beside the published figures.

    python benchmarks/independent_clusterings.py 10 [data set ...]

Prints for each data set the mean predictive log-likelihood of a fold, the mean BIC of the training
rows and the seconds of a fold, with independent columns in each class ("diagonal") and with joint
Gaussians where BIC is higher ("best").
"""

from __future__ import annotations

import csv
import sys
import time
import warnings

import numpy as np

from common import REFERENCE, SHARED, print_table, read_folds, read_shared
from latentforest import IndependentClusterings

SMALL = ("continuous/iris", "continuous/wine", "continuous/alcohol", "continuous/buddymove")
MEDIUM = ("continuous/yeast", "continuous/nba", "continuous/wdbc")
MIXED = ("mixed/haberman", "mixed/user_knowledge", "mixed/thyroid", "mixed/ecoli")


def read_published(name: str, n_folds: int) -> dict[str, float]:
    """Published means of the method over the first folds; missing for mixed tables."""
    keys, (kind, data) = ("test_log_likelihood", "learn_seconds", "train_bic"), name.split("/")
    with (REFERENCE / "published_folds.csv").open() as file:
        rows = [
            [float(row[key]) for key in keys]
            for row in csv.DictReader(file)
            if (row["kind"], row["dataset"], row["method"]) == (kind, data, "GS")
            and int(row["fold"]) <= n_folds
        ]
    return dict(zip(keys, np.mean(rows, axis=0).tolist(), strict=True)) if rows else {}


def run(name: str, covariance: str, n_folds: int) -> tuple[float, float, float]:
    """Mean test log-likelihood, training BIC and seconds over the first folds."""
    data, folds = read_shared(f"{name}.arff"), read_folds(name)
    found = []
    for fold in range(1, n_folds + 1):
        train, test = data.take(folds != fold), data.take(folds == fold)
        began = time.perf_counter()
        model = IndependentClusterings(covariance, smoothing=0.1, random_state=0).fit(train)
        seconds = time.perf_counter() - began
        found.append((float(model.score_samples(test).sum()), model.bic_, seconds))
    means = np.mean(found, axis=0)
    return float(means[0]), float(means[1]), float(means[2])


def main() -> None:
    """Run the data sets named on the command line, or all small and medium ones.

    Before the names comes the number of folds, the first of which are run.
    """
    warnings.simplefilter("ignore")
    rows = []
    IndependentClusterings("best", random_state=0).fit(read_shared("continuous/iris.arff"))
    n_folds, names = int(sys.argv[1]), sys.argv[2:] or (*SMALL, *MIXED, *MEDIUM)
    for name in names:
        if not (SHARED / f"{name}.arff").exists():
            continue
        published = read_published(name, n_folds)
        row = {
            "data": name,
            "folds": n_folds,
            "published test": published.get("test_log_likelihood", "-"),
            "published BIC": published.get("train_bic", "-"),
            "published s": published.get("learn_seconds", "-"),
        }
        for covariance in ("diagonal", "best"):
            test, score, seconds = run(name, covariance, n_folds)
            row |= {
                f"{covariance} test": test,
                f"{covariance} BIC": score,
                f"{covariance} s": seconds,
            }
            print(name, covariance, test, score, seconds, file=sys.stderr, flush=True)
        rows.append(row)
    print_table("GS, means over published folds", rows)


if __name__ == "__main__":
    main()
