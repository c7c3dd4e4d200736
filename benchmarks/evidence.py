"""Marginal likelihoods of latent class models: Chickering and Heckerman's set-up (1997).

64 binary items, 4 classes, 400 rows, all parameters drawn uniformly. How many classes does each
criterion choose, annealed importance sampling being the yardstick? Run with ``make bench`` or
``python benchmarks/evidence.py``; numbers after it are the seeds (default 0 to 4).
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

from common import print_table
from latentforest import Dataset, LatentClass, Network, Variable, marginal_likelihood

N_ITEMS, N_CLASSES, N_ROWS, MOST = 64, 4, 400, 7
APPROXIMATIONS = ("cs", "laplace", "elbo", "elbo+")


def draw_table(seed: int) -> Dataset:
    """Draw a model, every parameter uniformly, and a table of it."""
    random = np.random.default_rng(seed)
    items = [Variable(f"x{j}", ("no", "yes")) for j in range(N_ITEMS)]
    tables = {"class": random.dirichlet(np.ones(N_CLASSES))}
    for item in items:
        share = random.random(N_CLASSES)
        tables[item.name] = np.stack([1 - share, share], axis=1)
    parts = [Variable.hidden("class", N_CLASSES), *items]
    truth = Network.from_tables(parts, {item.name: "class" for item in items}, tables)
    print(f"seed {seed}: classes of {np.sort(tables['class'])[::-1].round(3)}", file=sys.stderr)
    return truth.sample(N_ROWS, random_state=seed)


def judge(table: Dataset, n_states: int, seconds: dict[str, float]) -> dict[str, float]:
    """All criteria of one number of classes."""
    model = LatentClass(n_states, random_state=0).fit(table)
    row = {"bic": model.bic_}
    for method in (*APPROXIMATIONS, "ais"):
        began = time.perf_counter()
        found = marginal_likelihood(model.network_, table, method)
        seconds[method] = seconds.get(method, 0.0) + time.perf_counter() - began
        row[method] = found.value
        if method == "ais":
            row["error"] = found.standard_error
    return row


def chickering_heckerman(seeds: list[int]) -> None:
    """Choose the number of classes, with every criterion."""
    choices, distances = [], []
    for seed in seeds:
        table, seconds = draw_table(seed), dict[str, float]()
        rows = [judge(table, k, seconds) for k in range(1, MOST + 1)]
        best = {name: 1 + int(np.argmax([row[name] for row in rows])) for name in rows[0]}
        best.pop("error")
        choices.append({"seed": seed, **best})
        print_table(
            f"Seed {seed}, log marginal likelihood by number of classes",
            [{"classes": k, **row} for k, row in enumerate(rows, 1)],
        )
        top = rows[best["ais"] - 1]
        distances.append(
            {
                "seed": seed,
                "classes": best["ais"],
                "ais": top["ais"],
                "standard error": top["error"],
                **{name: top[name] - top["ais"] for name in ("bic", *APPROXIMATIONS)},
            }
        )
        distances[-1]["seconds of ais"] = seconds["ais"]
        distances[-1]["seconds of laplace"] = seconds["laplace"]
    print_table("Number of classes chosen", choices)
    print_table("Differences from annealing at its number of classes", distances)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    chickering_heckerman([int(seed) for seed in sys.argv[1:]] or list(range(5)))
