"""GS (``IndependentClusterings``) on the published folds, beside the published figures.

    python benchmarks/independent_clusterings.py [data set ...]

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


def read_published(name: str) -> dict[str, float]:
    """Published averages of the method over the folds; missing for mixed tables."""
    kind, data = name.split("/")
    with (REFERENCE / "published_averages.csv").open() as file:
        for row in csv.DictReader(file):
            if (row["kind"], row["dataset"], row["method"]) == (kind, data, "GS"):
                return {
                    key: float(row[key])
                    for key in ("test_log_likelihood", "learn_seconds", "train_bic")
                }
    return {}


def run(name: str, covariance: str) -> tuple[float, float, float]:
    """Mean test log-likelihood, training BIC and seconds over the folds."""
    data, folds = read_shared(f"{name}.arff"), read_folds(name)
    found = []
    for fold in np.unique(folds):
        train, test = data.take(folds != fold), data.take(folds == fold)
        began = time.perf_counter()
        model = IndependentClusterings(covariance, smoothing=0.1, random_state=0).fit(train)
        seconds = time.perf_counter() - began
        found.append((float(model.score_samples(test).sum()), model.bic_, seconds))
    means = np.mean(found, axis=0)
    return float(means[0]), float(means[1]), float(means[2])


def main() -> None:
    """Run the data sets named on the command line, or all small and medium ones."""
    warnings.simplefilter("ignore")
    rows = []
    IndependentClusterings("best", random_state=0).fit(read_shared("continuous/iris.arff"))
    for name in sys.argv[1:] or (*SMALL, *MIXED, *MEDIUM):
        if not (SHARED / f"{name}.arff").exists():
            continue
        published = read_published(name)
        row = {
            "data": name,
            "published test": published.get("test_log_likelihood", "-"),
            "published BIC": published.get("train_bic", "-"),
            "published s": published.get("learn_seconds", "-"),
        }
        for covariance in ("diagonal", "best"):
            test, score, seconds = run(name, covariance)
            row |= {
                f"{covariance} test": test,
                f"{covariance} BIC": score,
                f"{covariance} s": seconds,
            }
            print(name, covariance, test, score, seconds, file=sys.stderr, flush=True)
        rows.append(row)
    print_table("GS, means over the published folds", rows)


if __name__ == "__main__":
    main()
