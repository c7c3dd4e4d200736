"""Seconds that each learner takes on tables that anybody can load, for docs/which-learner.md.

One thread, processor time, after a first run that compiles what is needed. Nothing is printed for
a learner that does not take a table, and "more" for one that had not ended after the limit.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import statsmodels.api as sm
from sklearn import datasets as tables

import latentforest as lf

LIMIT = 120  # seconds
LEARNERS: dict[str, Any] = {
    "`LatentClass(3)`": lf.LatentClass(3, n_jobs=1, random_state=0),
    "`LatentClass((1, 8))`": lf.LatentClass((1, 8), n_jobs=1, random_state=0),
    "`ChowLiu`": lf.ChowLiu(n_jobs=1),
    "`BinaryForest`": lf.BinaryForest(n_jobs=1, random_state=0),
    "`RecursiveGrouping`": lf.RecursiveGrouping(n_jobs=1, random_state=0),
    "`IncrementalForest(candidate_pairs=10)`": lf.IncrementalForest(
        candidate_pairs=10, n_jobs=1, random_state=0
    ),
    "`BridgedIslands`": lf.BridgedIslands(n_jobs=1, random_state=0),
    "`HierarchicalLatentTree`": lf.HierarchicalLatentTree(n_jobs=1, random_state=0),
    "`BayesianNetworkSearch`": lf.BayesianNetworkSearch(n_jobs=1, random_state=0),
    '`EAST(start="bridged-islands")`': lf.EAST(start="bridged-islands", n_jobs=1, random_state=0),
    "`EAST`": lf.EAST(n_jobs=1, random_state=0),
    "`GaussianEAST`": lf.GaussianEAST(n_jobs=1, random_state=0),
    "`IndependentClusterings`": lf.IndependentClusterings(n_jobs=1, random_state=0),
    "`GeneralizedLatentClass`": lf.GeneralizedLatentClass(n_jobs=1, random_state=0),
}
CONTINUOUS_ONLY = ("`GaussianEAST`", "`IndependentClusterings`")
CATEGORICAL_ONLY = ("`GeneralizedLatentClass`", '`EAST(start="bridged-islands")`', "`EAST`")


def load_tables() -> dict[str, Any]:
    """Return the tables by name."""
    digits = tables.load_digits(as_frame=True).data
    survey = sm.datasets.anes96.load_pandas().data[["TVnews", "selfLR", "ClinLR", "DoleLR", "PID"]]
    tree = lf.datasets.random_latent_tree(300, random_state=0)
    return {
        "ANES 1996": lf.Dataset.from_table(survey.astype(int)),
        "wine": lf.Dataset.from_table(tables.load_wine(as_frame=True).data),
        "breast cancer": lf.Dataset.from_table(tables.load_breast_cancer(as_frame=True).data),
        "digits": lf.Dataset.from_table((digits.loc[:, digits.nunique() > 2] > 7).astype(int)),
        "generated": lf.datasets.generate(tree, 2000, random_state=0),
    }


def measure(learner: Any, table: lf.Dataset) -> str:
    """Fit, and write the seconds of the processor."""
    begin = time.process_time()
    learner.set_params(time_limit=LIMIT).fit(table)
    seconds = time.process_time() - begin
    return f"over {LIMIT}" if getattr(learner, "interrupted_", False) else f"{seconds:.2g}"


def main() -> None:
    warnings.simplefilter("ignore")
    loaded = load_tables()
    print("| learner |", " | ".join(loaded), "|")
    print("|---|" + "---|" * len(loaded))
    print("| rows x columns |", " | ".join(f"{t.n_rows} x {t.n_columns}" for t in loaded.values()), "|")
    for name, learner in LEARNERS.items():
        cells = []
        for table in loaded.values():
            kinds = {variable.is_categorical for variable in table.variables}
            left_out = (True in kinds and name in CONTINUOUS_ONLY) or (
                False in kinds and name in CATEGORICAL_ONLY
            )
            cells.append("" if left_out else measure(learner, table))
        print(f"| {name} |", " | ".join(cells), "|")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
