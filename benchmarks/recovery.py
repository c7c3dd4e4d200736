"""How much of a known tree the learners find, against the number of rows.

``python benchmarks/recovery.py`` prints a table and draws docs/recovery.svg. Arguments are names of
learners, by default all of ``LEARNERS`` that the package has; ``--repeats N`` sets the number of
trees of each shape. Times are wall-clock with one thread, compilation not counted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import latentforest
from common import print_table
from latentforest import Network, Variable, tree_distance
from latentforest.datasets.generate import generate, random_latent_tree

LEARNERS = [
    "RecursiveGrouping",
    "ChowLiuRecursiveGrouping",
    "BridgedIslands",
    "BinaryForest",
    "EAST",
]
SIZES = (500, 1_500, 5_000, 15_000, 50_000)
SHAPES = ("star of stars", "chain", "binary tree")
N_REPEATS = 10
STRENGTH = 0.75
PICTURE = Path(__file__).parents[1] / "docs" / "recovery.svg"
COLOURS = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#000000")
MARKERS = "os^Dv"


def make_tree(shape: str, seed: int) -> Network:
    """Draw a tree with two states everywhere: 16 leaves, or 12 for a chain."""
    if shape == "star of stars":
        return random_latent_tree(16, depth=2, width=4, strength=STRENGTH, random_state=seed)
    if shape == "binary tree":
        return random_latent_tree(16, depth=4, width=2, strength=STRENGTH, random_state=seed)
    return make_chain(10, seed)


def make_chain(n: int, seed: int) -> Network:
    """Draw a hidden Markov model: a leaf below each latent variable, two at either end."""
    rng = np.random.default_rng(seed)
    latents = [f"Y{i}" for i in range(1, n + 1)]
    parents = dict(zip(latents[1:], latents[:-1], strict=True))
    parents |= {f"X{i}": latents[min(max(i, 1), n) - 1] for i in range(n + 2)}
    variables = [Variable.hidden(name, 2) for name in latents]
    variables += [Variable(f"X{i}", ("0", "1")) for i in range(n + 2)]
    tables: dict[str, Any] = {}
    for variable in variables:
        base = rng.dirichlet([2.0, 2.0])
        is_root = variable.name not in parents
        tables[variable.name] = base if is_root else STRENGTH * np.eye(2) + (1 - STRENGTH) * base
    return Network.from_tables(variables, parents, tables)


def measure(names: Sequence[str], n_repeats: int) -> list[dict[str, Any]]:
    """Fit all learners to the same tables."""
    rows = []
    for shape in SHAPES:
        for n_rows in SIZES:
            truths = [make_tree(shape, seed) for seed in range(n_repeats)]
            tables = [generate(t, n_rows, random_state=s) for s, t in enumerate(truths)]
            for name in names:
                distances, seconds = [], []
                for seed, (truth, table) in enumerate(zip(truths, tables, strict=True)):
                    began = time.perf_counter()
                    model = getattr(latentforest, name)(random_state=seed).fit(table)
                    seconds.append(time.perf_counter() - began)
                    distances.append(tree_distance(model.network_, truth, normalized=True))
                rows.append(
                    {
                        "shape": shape,
                        "rows": n_rows,
                        "learner": name,
                        "distance": statistics.mean(distances),
                        "exact": sum(distance == 0 for distance in distances),
                        "seconds": statistics.median(seconds),
                    }
                )
                print(rows[-1], flush=True)
    return rows


def print_results(rows: list[dict[str, Any]], names: Sequence[str], n_repeats: int) -> None:
    """One table for the distances, one for the times."""
    for title, key in (
        (f"Mean normalized tree distance over {n_repeats} trees (exact trees)", "distance"),
        ("Median seconds", "seconds"),
    ):
        table = []
        for shape in SHAPES:
            for n_rows in SIZES:
                here = {r["learner"]: r for r in rows if (r["shape"], r["rows"]) == (shape, n_rows)}
                cells = {
                    name: f"{here[name]['distance']:.2f} ({here[name]['exact']})"
                    if key == "distance"
                    else f"{here[name]['seconds']:.2g}"
                    for name in names
                }
                table.append({"shape": shape, "rows": f"{n_rows:,}", **cells})
        print_table(title, table)


def draw(rows: list[dict[str, Any]], names: Sequence[str]) -> None:
    """Draw distance against rows, one panel for each shape."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "recovery", "svg.fonttype": "none"})  # same, small files
    figure, axes = plt.subplots(1, len(SHAPES), figsize=(10, 3.4), sharey=True)
    for axis, shape in zip(axes, SHAPES, strict=True):
        for name in names:
            style = LEARNERS.index(name)
            here = [row for row in rows if row["shape"] == shape and row["learner"] == name]
            axis.plot(
                [row["rows"] for row in here],
                [row["distance"] for row in here],
                color=COLOURS[style],
                marker=MARKERS[style],
                markersize=5,
                label=name,
            )
        axis.set(xscale="log", xlabel="rows", title=shape, ylim=(-0.03, 1.0))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("normalized tree distance")
    axes[-1].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})
    print(f"\n{PICTURE}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("learners", nargs="*", metavar="LEARNER", help=", ".join(LEARNERS))
    parser.add_argument("--repeats", type=int, default=N_REPEATS)
    given = parser.parse_args()
    chosen = given.learners or [name for name in LEARNERS if hasattr(latentforest, name)]
    warm_up = generate(make_tree("star of stars", 0), 200, random_state=0)
    for learner in chosen:
        getattr(latentforest, learner)(random_state=0).fit(warm_up)
    results = measure(chosen, given.repeats)
    print_results(results, chosen, given.repeats)
    draw(results, chosen)
