"""Seconds that learners take on tables that anybody can load: docs/which-learner.md.

One thread, processor time; run ``latentforest warm-up`` before, or the first fits compile.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import statsmodels.api as sm
from sklearn import datasets as tables

import latentforest as lf
from common import print_table

LIMIT = 120  # seconds
ANY, CATEGORICAL, CONTINUOUS = "any", "categorical", "continuous"
LEARNERS: dict[str, tuple[type, dict[str, Any], str]] = {
    "LatentClass(3)": (lf.LatentClass, {"n_states": 3}, ANY),
    "LatentClass((1, 8))": (lf.LatentClass, {"n_states": (1, 8)}, ANY),
    "ChowLiu": (lf.ChowLiu, {}, ANY),
    "BinaryForest": (lf.BinaryForest, {}, ANY),
    "RecursiveGrouping": (lf.RecursiveGrouping, {}, ANY),
    "IncrementalForest(candidate_pairs=10)": (lf.IncrementalForest, {"candidate_pairs": 10}, ANY),
    "BridgedIslands": (lf.BridgedIslands, {}, ANY),
    "HierarchicalLatentTree": (lf.HierarchicalLatentTree, {}, ANY),
    "BayesianNetworkSearch": (lf.BayesianNetworkSearch, {}, ANY),
    'EAST(start="bridged-islands")': (lf.EAST, {"start": "bridged-islands"}, CATEGORICAL),
    "EAST": (lf.EAST, {}, CATEGORICAL),
    "GaussianEAST": (lf.GaussianEAST, {}, CONTINUOUS),
    "IndependentClusterings": (lf.IndependentClusterings, {}, CONTINUOUS),
    "GeneralizedLatentClass": (lf.GeneralizedLatentClass, {}, CATEGORICAL),
}


def load_tables() -> dict[str, lf.Dataset]:
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


def measure(learner: type, settings: dict[str, Any], table: lf.Dataset) -> str:
    """Fit, and write the seconds of the processor."""
    begin = time.process_time()
    fitted = learner(n_jobs=1, random_state=0, time_limit=LIMIT, **settings).fit(table)
    seconds = time.process_time() - begin
    return f"over {LIMIT}" if getattr(fitted, "interrupted_", False) else f"{seconds:.2g}"


def main() -> None:
    warnings.simplefilter("ignore")
    loaded = load_tables()
    sizes = {name: f"{table.n_rows} x {table.n_columns}" for name, table in loaded.items()}
    rows = [{"learner": "rows x columns"} | sizes]
    for name, (learner, settings, kind) in LEARNERS.items():
        row = {"learner": f"`{name}`"}
        for title, table in loaded.items():
            its_kind = CATEGORICAL if table.variables[0].is_categorical else CONTINUOUS
            row[title] = measure(learner, settings, table) if kind in (ANY, its_kind) else ""
        rows.append(row)
    print_table("Seconds of the processor", rows)


if __name__ == "__main__":
    main()
