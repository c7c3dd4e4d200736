"""Growth with the number of columns: Chow-Liu, bridged islands and HLTA on generated trees.

Run ``python benchmarks/scale.py [number of columns ...]``, by default 1000, 3000 and 10000, with
10,000 rows each. Every fit runs in a process of its own, so that peak memory is its own; times
are wall-clock with two threads, compilation not counted. ``--learners a,b`` runs some of them.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from typing import Any

from sklearn.metrics import adjusted_rand_score

import latentforest
from common import print_table
from latentforest import Dataset, Network
from latentforest.datasets.generate import generate, random_latent_tree

N_ROWS = 10_000
N_JOBS = 2
LEARNERS = {
    "Chow-Liu": ("ChowLiu", {}),
    "bridged islands": ("BridgedIslands", {"random_state": 0}),
    "HLTA": ("HierarchicalLatentTree", {"random_state": 0}),
}


def make_truth(n_columns: int) -> Network:
    """Three layers of latent variables, about ten columns below each of the lowest."""
    width = round(math.sqrt(n_columns / 10))
    return random_latent_tree(n_columns, depth=3, width=width, strength=0.8, random_state=1)


def find_groups(network: Network, data: Dataset) -> list[str]:
    """Return the parent of each column."""
    return [(network.structure.parents(name) or (name,))[0] for name in data.names]


def run(name: str, n_columns: int) -> dict[str, Any]:
    """Fit one learner; called in a process of its own."""
    class_name, settings = LEARNERS[name]
    learner = getattr(latentforest, class_name)
    small = generate(make_truth(90), 500, random_state=0)
    learner(n_jobs=N_JOBS, **settings).fit(small)  # compiles
    truth = make_truth(n_columns)
    data = generate(truth, N_ROWS, random_state=2)
    began = time.perf_counter()
    model = learner(n_jobs=N_JOBS, **settings).fit(data)
    seconds = time.perf_counter() - began
    latents = set(model.network_.latents)
    score = math.nan
    if latents:
        score = adjusted_rand_score(find_groups(truth, data), find_groups(model.network_, data))
    return {
        "learner": name,
        "columns": n_columns,
        "seconds": seconds,
        "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "latents": len(latents),
        "ARI of groups": score,
        "log-likelihood per row": model.log_likelihood_ / N_ROWS,
        "of the truth": truth_log_likelihood(truth, data),
    }


def truth_log_likelihood(truth: Network, data: Dataset) -> float:
    """Mean log-likelihood of the rows under the network that they were drawn from."""
    return latentforest.log_score(truth, data) / data.n_rows


def run_apart(name: str, n_columns: int) -> dict[str, Any]:
    """Run a fit in another process."""
    command = [sys.executable, __file__, "--one", name, str(n_columns)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise SystemExit(f"{name} failed on {n_columns} columns")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def find_exponent(rows: list[dict[str, Any]]) -> float:
    """Growth rate between the smallest and the largest table: seconds ~ columns^exponent."""
    first, last = rows[0], rows[-1]
    growth = math.log(last["seconds"] / first["seconds"])
    return growth / math.log(last["columns"] / first["columns"])


def main() -> None:
    """Run all fits and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("columns", nargs="*", type=int, default=[1000, 3000, 10_000])
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--one", default=None, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(run(arguments.one, arguments.columns[0])))
        return
    for name in arguments.learners.split(","):
        if not hasattr(latentforest, LEARNERS[name][0]):
            print(f"\n{name}: not part of this version")
            continue
        rows = []
        for n_columns in arguments.columns:
            rows.append(run_apart(name, n_columns))
            print(rows[-1], file=sys.stderr, flush=True)
        print_table(f"{name}, {N_ROWS:,} rows", rows)
        if len(rows) > 1:
            print(f"\nseconds grow with the power {find_exponent(rows):.2f} of the columns")


if __name__ == "__main__":
    main()
