"""EAST against the figures of its authors: COIL, the published folds, large tables, Table 1.

Run ``python benchmarks/east.py [part ...]``; the parts are ``coil``, ``folds``, ``predictive``,
``profile``, ``table1`` and ``large`` (the last takes the longest). Without arguments all but
``large`` run. Times are wall-clock with two threads, compilation not counted.
"""

from __future__ import annotations

import csv
import itertools
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from common import REFERENCE, print_table, read_folds, read_shared
from latentforest import EAST, Dataset, Network, Variable, empirical_kl, log_score, tree_distance
from latentforest.datasets.generate import generate, random_latent_tree

N_JOBS = 2
KINDS = ["NI", "NI", "NR", "ND", "SI and SD"]  # of tasks of the kernels
SMALL = ["hiv_test", "house_building", "hayes_roth", "balance_scale"]
LARGER = ["vote", "spect_heart", "car_evaluation", "alarm", "coil_42"]
STARTS = {"latent class": None, "bridged islands": "bridged-islands"}
# BIC and seconds of the original on fold 1 where our reference has only the published figures.
PUBLISHED_FOLD_1 = {"alarm": (-9640.93, 4705.26), "coil_42": (-45733.10, 26028.10)}


def warm_up() -> None:
    """Compile, or load, all kernels."""
    network = random_latent_tree(8, depth=2, random_state=0)
    data = generate(network, 200, random_state=0)
    for evaluation in ("rl", "dc"):
        EAST(evaluation=evaluation, random_state=0, n_jobs=N_JOBS).fit(data)


def timed(data: Dataset, **settings: Any) -> tuple[EAST, float]:
    """Fit EAST and return it with its wall-clock time."""
    began = time.perf_counter()
    model = EAST(n_jobs=N_JOBS, **settings).fit(data)
    return model, time.perf_counter() - began


def coil() -> None:
    """COIL-42, all rows: BIC and time for some settings, five seeds each."""
    data, rows = read_shared("discrete/coil_42.arff"), []
    settings = [
        ("latent class", 8, 20, 4),
        ("bridged islands", 8, 20, 4),
        ("latent class", 16, 40, 4),
        ("bridged islands", 16, 40, 4),
        ("bridged islands", 16, 40, 8),
    ]
    for start, mu, nu, n_winners in settings:
        here = []
        for seed in range(5):
            given = {"mu": mu, "nu": nu, "n_winners": n_winners, "start": STARTS[start]}
            model, seconds = timed(data, random_state=seed, **given)
            here.append(
                {
                    "start": start,
                    "(μ, ν)": f"({mu}, {nu})",
                    "winners": n_winners,
                    "seed": seed,
                    "BIC": model.bic_,
                    "seconds": seconds,
                    "latents": len(model.network_.latents),
                    "parameters": model.n_parameters_,
                    "steps": len(model.history_),
                }
            )
        bic, clock = (statistics.median(row[key] for row in here) for key in ("BIC", "seconds"))
        print(
            f"\n{start}, ({mu}, {nu}): median BIC {bic:,.1f}, median time {clock:.1f} s", flush=True
        )
        rows += here
    print_table("COIL-42, 5,822 rows", rows)


def read_originals() -> dict[str, tuple[float, float]]:
    """Training BIC and CPU seconds of the original program on fold 1."""
    found = dict(PUBLISHED_FOLD_1)
    with (REFERENCE / "measured_originals_fold1.csv").open() as file:
        for row in csv.DictReader(file):
            if row["method"] == "EAST" and row["train_bic"]:
                found[row["dataset"]] = float(row["train_bic"]), float(row["cpu_s"])
    return found


def folds() -> None:
    """Fold 1 of the published folds: training BIC and time against the original program."""
    rows, originals = [], read_originals()
    for name, start in itertools.product((*SMALL, *LARGER), STARTS):
        data, labels = read_shared(f"discrete/{name}.arff"), read_folds(f"discrete/{name}")
        train = data.take(np.flatnonzero(labels != 1))
        n_repeats = 1 if name in LARGER[3:] else 5
        results = [timed(train, random_state=0, start=STARTS[start]) for _ in range(n_repeats)]
        seconds = statistics.median(seconds for _, seconds in results)
        bic, original = originals[name]
        rows.append(
            {
                "data": name,
                "start": start,
                "BIC": f"{results[0][0].bic_:,.2f}",
                "original's": f"{bic:,.2f}",
                "seconds": seconds,
                "original's seconds": original,
                "times faster": original / seconds,
            }
        )
    print_table("Fold 1, EAST(8, 20), seed 0", rows)


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
    for name in (*SMALL, *LARGER):
        data, labels = read_shared(f"discrete/{name}.arff"), read_folds(f"discrete/{name}")
        scores = []
        for fold in range(1, 11):
            train, test = (data.take(np.flatnonzero(labels != fold)), data.take(labels == fold))
            model, _ = timed(train, random_state=0, smoothing="cv")
            scores.append(log_score(model.network_, test))
        rows.append(
            {
                "data": name,
                "ours": float(np.mean(scores)),
                "published EAST": published[name, "EAST"],
                "published BI": published[name, "BI"],
            }
        )
        print_table("Test log-likelihood per fold, smoothing by cross-validation", rows[-1:])
    print_table("Test log-likelihood per fold, smoothing by cross-validation", rows)


def profile() -> None:
    """Where the processor time of EAST on COIL-42 goes, one thread."""
    import latentforest.estimation.em as em
    import latentforest.estimation.local_fits as local_fits
    import latentforest.inference.messages as messages
    import latentforest.inference.patterns as patterns
    import latentforest.inference.plan as plan

    spent: dict[str, float] = defaultdict(float)

    def watch(module: Any, name: str, label: Callable[..., str]) -> None:
        function = getattr(module, name)

        def watched(*args: Any) -> Any:
            began = time.process_time()
            result = function(*args)
            spent[label(*args)] += time.process_time() - began
            return result

        setattr(module, name, watched)

    for name in ("fill_tables", "pass_messages", "measure_trees"):
        watch(messages, name, lambda *_: "messages")
    watch(local_fits, "run_tasks", lambda *args: f"candidates: {KINDS[args[2].common.kind]}")
    watch(local_fits.mediator_starts, "start_mediators", lambda *_: "candidates: NI")
    watch(em, "climb_forest", lambda *_: "full EM")
    watch(patterns, "join", lambda *_: "patterns")
    watch(patterns, "count_joint", lambda *_: "patterns")
    watch(plan, "lay_out_forest", lambda *_: "patterns")
    data = read_shared("discrete/coil_42.arff")
    EAST(max_steps=2, random_state=0).fit(data)  # loads what a small table does not need
    for mu, nu in ((8, 20), (16, 40)):
        spent.clear()
        began = time.process_time()
        model = EAST(mu=mu, nu=nu, random_state=0).fit(data)
        total = time.process_time() - began
        spent["outside compiled code"] = total - sum(spent.values())
        rows = [
            {"part": part, "seconds": seconds, "share": f"{100 * seconds / total:.1f}%"}
            for part, seconds in sorted(spent.items(), key=lambda item: -item[1])
        ]
        title = f"COIL-42, EAST({mu}, {nu}), one thread: {total:.1f} s, {len(model.history_)} steps"
        print_table(title, rows)


def make_model_of_18() -> Network:
    """A latent tree with 18 observed variables of three states and five latent ones."""
    rng = np.random.default_rng(18)
    latents = {"H1": 3, "H2": 2, "H3": 3, "H4": 2, "H5": 3, "H6": 2}
    parents = {"H2": "H1", "H3": "H1", "H4": "H2", "H5": "H3", "H6": "H3"}
    groups = {"H1": 2, "H2": 3, "H3": 2, "H4": 4, "H5": 4, "H6": 3}
    variables = [Variable.hidden(name, card) for name, card in latents.items()]
    number = 0
    for latent, size in groups.items():
        for _ in range(size):
            number += 1
            variables.append(Variable(f"X{number}", ("0", "1", "2")))
            parents[f"X{number}"] = latent
    tables = {}
    for variable in variables:
        n_rows = latents[parents[variable.name]] if variable.name in parents else 1
        table = rng.dirichlet(np.full(variable.n_states, 0.6), size=n_rows)
        tables[variable.name] = table if variable.name in parents else np.full(3, 1 / 3)
    return Network.from_tables(variables, parents, tables)


def table1() -> None:
    """Table 1 of the paper on generated data: RL, DC and RL0, ten runs each, mean (sd)."""
    truth = make_model_of_18()
    test = generate(truth, 5000, random_state=99)
    paper = {"n_winners": 1, "n_reserves": 0, "any_mediator": False}
    variants: dict[str, dict[str, Any]] = {
        "EAST-RL (1, 20)": {"mu": 1, "nu": 20, **paper},
        "EAST-RL (8, 20)": {"mu": 8, "nu": 20, **paper},
        "EAST-RL (8, 40)": {"mu": 8, "nu": 40, **paper},
        "EAST-DC": {"evaluation": "dc", **paper},
        "EAST-RL0 (8, 40)": {"mu": 8, "nu": 40, "cost_effectiveness": False, **paper},
        "EAST as it comes (8, 20)": {},
    }
    for n_rows in (1000, 5000, 10000):
        data, rows = generate(truth, n_rows, random_state=n_rows), []
        for name, settings in variants.items():
            runs = [timed(data, random_state=seed, **settings) for seed in range(10)]
            distances = [empirical_kl(truth, model.network_, test) for model, _ in runs]
            trees = [tree_distance(truth, model.network_) for model, _ in runs]
            rows.append(
                {
                    "learner": name,
                    "emp-KL": _mean(distances, 4),
                    "BIC": _mean([model.bic_ for model, _ in runs], 1),
                    "seconds": _mean([seconds for _, seconds in runs], 2),
                    "distance of trees": _mean(trees, 1),
                }
            )
        print_table(f"18 variables, {n_rows:,} rows, ten runs: mean (sd)", rows)


def _mean(values: list[float], digits: int) -> str:
    return f"{statistics.mean(values):,.{digits}f} ({statistics.stdev(values):.2g})"


def large() -> None:
    """Tables that the original program could not finish in a day."""
    rows = []
    for name in ("webkb_336", "news_100"):
        data = read_shared(f"discrete/{name}.arff")
        model, seconds = timed(data, random_state=0)
        rows.append(
            {
                "data": name,
                "rows": data.n_rows,
                "columns": data.n_columns,
                "BIC": model.bic_,
                "seconds": seconds,
                "latents": len(model.network_.latents),
                "steps": len(model.history_),
            }
        )
        print_table("Large tables, EAST(8, 20), seed 0", rows)


PARTS = {
    "coil": coil,
    "folds": folds,
    "predictive": predictive,
    "profile": profile,
    "table1": table1,
    "large": large,
}

if __name__ == "__main__":
    warm_up()
    for part in sys.argv[1:] or [name for name in PARTS if name != "large"]:
        PARTS[part]()
