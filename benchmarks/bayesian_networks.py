"""Bayesian networks over columns: scores beside the true networks, pyAgrum and pgmpy.

Run ``python benchmarks/bayesian_networks.py [reach] [truth] [methods] [climbing] [permutations]
[large] [exact] [coil]``, by default all. Rows are sampled by the script ``tools/sample_network.py``
beside the data sets from the networks in pgmpy's wheel. BIC is log L - d/2 log N, states that occur
are counted. One thread.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import SHARED, median_seconds, print_table, read_shared
from latentforest import BayesianNetworkSearch, Dataset, Variable

TOOL = SHARED.parent / "tools" / "sample_network.py"
TO_REACH = {  # network, rows: BIC of an order search in plain NumPy, and seconds
    ("alarm", 1_000): (-12_053.5, None),
    ("alarm", 10_000): (-106_141.0, 1.0),
    ("insurance", 10_000): (-134_514.1, None),
    ("hailfinder", 10_000): (-499_566.0, None),
    ("win95pts", 10_000): (-92_524.3, 5.0),
    ("andes", 10_000): (-933_934.9, 15.0),
}
NETWORKS = (
    "asia",
    "child",
    "insurance",
    "alarm",
    "water",
    "mildew",
    "barley",
    "hailfinder",
    "win95pts",
    "andes",
)


def load_tool() -> Any:
    """Import the script that samples."""
    spec = importlib.util.spec_from_file_location("sample_network", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_network(name: str) -> str:
    """Path of a network in pgmpy's wheel."""
    home = Path(importlib.util.find_spec("pgmpy").origin).parent
    return str(home / "utils" / "example_models" / f"{name}.bif.gz")


def sample(name: str, n_rows: int, seed: int) -> tuple[Dataset, float, Any]:
    """Rows, the BIC of the true structure, and its parents."""
    tool = load_tool()
    network = tool.read_bif(find_network(name))
    codes = tool.sample(network, n_rows, seed)
    names, states, parents, _ = network
    variables, columns = [], []
    for each in names:
        seen, column = np.unique(codes[each], return_inverse=True)
        variables.append(Variable(each, tuple(states[each][k] for k in seen)))
        columns.append(column)
    return Dataset(variables, columns), tool.bic(codes, states, parents), parents


def fit(data: Dataset, **settings: Any) -> tuple[BayesianNetworkSearch, float]:
    """A fitted learner and its processor time."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = BayesianNetworkSearch(random_state=0, **settings).fit(data)
    return learner, time.process_time() - began


def measure_reach() -> None:
    """The table of values to reach; seeds of the search 0 to 4."""
    rows = []
    for (name, n_rows), (wanted, limit) in TO_REACH.items():
        data, true, _ = sample(name, n_rows, 0)
        found = []
        for seed in range(5):
            began = time.process_time()
            learner = BayesianNetworkSearch(random_state=seed).fit(data)
            found.append((learner.score_, time.process_time() - began))
        scores = [score for score, _ in found]
        rows.append(
            {
                "network, rows": f"{name} {n_rows:,}",
                "true": f"{true:,.1f}",
                "to reach": f"{wanted:,.1f}",
                "worst of five seeds": f"{min(scores):,.1f}",
                "best": f"{max(scores):,.1f}",
                "CPU s, worst": max(spent for _, spent in found),
                "limit": limit or "",
            }
        )
    print_table("Values to reach", rows)


def measure_truth(seeds: range = range(3)) -> None:
    """Scores beside those of the true networks."""
    rows = []
    for name in NETWORKS:
        for n_rows in (1_000, 10_000):
            for seed in seeds:
                data, true, parents = sample(name, n_rows, seed)
                learner, spent = fit(data)
                rows.append(
                    {
                        "network": name,
                        "rows": n_rows,
                        "seed": seed,
                        "true": f"{true:,.1f}",
                        "found": f"{learner.score_:,.1f}",
                        "above": f"{learner.score_ - true:,.1f}",
                        "SHD": compare(learner, data, parents),
                        "CPU s": spent,
                    }
                )
                print(rows[-1], file=sys.stderr)
    print_table("Beside the true networks", rows)


def compare(learner: BayesianNetworkSearch, data: Dataset, parents: dict[str, list[str]]) -> int:
    """Structural Hamming distance of the classes: pairs with another kind of edge."""
    from latentforest import Structure

    true = Structure(data.variables, {k: tuple(v) for k, v in parents.items()}).cpdag()
    kinds = []
    for found in (true, learner.cpdag_):
        kind = {frozenset(arc): arc for arc in found.directed}
        kind |= {frozenset(edge): "undirected" for edge in found.undirected}
        kinds.append(kind)
    pairs = set(kinds[0]) | set(kinds[1])
    return sum(kinds[0].get(pair) != kinds[1].get(pair) for pair in pairs)


def measure_methods() -> None:
    """All methods side by side."""
    rows = []
    for name, n_rows in (("child", 1_000), ("insurance", 10_000), ("alarm", 10_000)):
        data, _, _ = sample(name, n_rows, 0)
        cases = [
            ("Chow-Liu (start)", {"method": "hill-climbing", "start": "chow-liu", "n_restarts": 0}),
            ("hill climbing", {"method": "hill-climbing", "n_restarts": 0}),
            ("hill climbing, 10 restarts", {"method": "hill-climbing"}),
            ("tabu", {"method": "tabu", "n_restarts": 0}),
            ("tabu, 10 restarts", {"method": "tabu"}),
            ("annealing", {"method": "annealing", "n_restarts": 0}),
            ("order, no restart", {"n_restarts": 0}),
            ("order", {}),
        ]
        for title, settings in cases:
            learner, spent = fit(data, **settings)
            rows.append(
                {
                    "data": f"{name} {n_rows:,}",
                    "method": title,
                    "BIC": f"{learner.score_:,.1f}",
                    "CPU s": spent,
                    "sets counted": learner.history_["n_counted"][-1],
                }
            )
    print_table("Methods", rows)


def climb_with_pyagrum(path: str) -> Callable[[], Any]:
    """Greedy hill climbing with BIC, then parameters; reading the file is not counted."""
    import pyagrum

    learner = pyagrum.BNLearner(path)
    learner.setNumberOfThreads(1)
    learner.useScoreBIC()
    learner.useGreedyHillClimbing()
    learner.useNoPrior()
    counter = pyagrum.BNLearner(path)
    counter.setNumberOfThreads(1)
    counter.useSmoothingPrior(1e-6)  # without a prior it refuses configurations that do not occur

    def climb() -> dict[str, list[str]]:
        dag = learner.learnDAG()
        counter.learnParameters(dag)
        name = learner.nameFromId
        return {name(i): [name(j) for j in dag.parents(i)] for i in dag.nodes()}

    return climb


def measure_climbing() -> None:
    """Hill climbing in one run: ours, pyAgrum's and pgmpy's."""
    rows = []
    for name, n_repeats in (("alarm", 5), ("win95pts", 5), ("andes", 3)):
        data, _, _ = sample(name, 10_000, 0)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "rows.csv"))
            write_csv(data, path)
            theirs = median_seconds(climb_with_pyagrum(path), n_repeats)
            peer = climb_with_pyagrum(path)()
        settings = {"method": "hill-climbing", "n_restarts": 0}
        ours = median_seconds(lambda: fit(data, **settings), n_repeats)  # noqa: B023
        learner, _ = fit(data, **settings)
        row = {
            "network": name,
            "ours, s": ours,
            "BIC": f"{learner.score_:,.1f}",
            "pyAgrum, s": theirs,
            "times": theirs / ours,
            "pyAgrum's BIC": f"{score_parents(data, peer):,.1f}",
        }
        row["pgmpy, s"] = climb_with_pgmpy(data) if name == "alarm" else ""
        rows.append(row)
    print_table("Hill climbing", rows)


def score_parents(data: Dataset, parents: dict[str, list[str]]) -> float:
    """BIC of a structure."""
    from latentforest.inference.counts import CountingTable
    from latentforest.search.dags.family_scores import FamilyScores

    scores = FamilyScores(CountingTable(data.with_seen_states()), "bic")
    places = {name: i for i, name in enumerate(data.names)}
    return sum(
        scores.score(places[name], sum(1 << places[p] for p in above))
        for name, above in parents.items()
    )


def climb_with_pgmpy(data: Dataset) -> float:
    """Seconds of pgmpy's hill climbing."""
    import pandas as pd
    from pgmpy.estimators import HillClimbSearch

    frame = pd.DataFrame({k: pd.Categorical(v) for k, v in data.to_columns().items()})
    began = time.perf_counter()
    HillClimbSearch(frame).estimate(scoring_method="bic-d", show_progress=False)
    return time.perf_counter() - began


def write_csv(data: Dataset, path: str) -> None:
    """Write labels."""
    columns = data.to_columns()
    with Path(path).open("w") as file:
        file.write(",".join(columns) + "\n")
        for row in zip(*columns.values(), strict=True):
            file.write(",".join(map(str, row)) + "\n")


def measure_permutations() -> None:
    """Different equivalence classes over 20 orders of columns and rows."""
    rows = []
    for name, n_rows in (
        ("asia", 1_000),
        ("child", 1_000),
        ("insurance", 1_000),
        ("alarm", 10_000),
    ):
        data, _, _ = sample(name, n_rows, 0)
        for method in ("order", "hill-climbing", "tabu"):
            classes, scores = set(), set()
            for seed in range(20):
                rng = np.random.default_rng(seed)
                names = [data.names[j] for j in rng.permutation(data.n_columns)]
                moved = data.select(names).take(rng.permutation(data.n_rows))
                learner, _ = fit(moved, method=method, n_restarts=3, n_jobs=1 + seed % 2)
                classes.add((learner.cpdag_.directed, learner.cpdag_.undirected))
                scores.add(learner.score_)
            rows.append(
                {
                    "data": f"{name} {n_rows:,}",
                    "method": method,
                    "classes": len(classes),
                    "scores": len(scores),
                }
            )
    print_table("Twenty orders of columns and rows", rows)


def draw_sparse(n_columns: int, n_rows: int, seed: int = 0) -> Dataset:
    """Columns with up to three parents among the twenty before."""
    rng = np.random.default_rng(seed)
    columns: list[np.ndarray] = []
    sizes = rng.integers(2, 4, n_columns)
    for j, card in enumerate(sizes):
        near = np.arange(max(0, j - 20), j)
        parents = rng.choice(near, min(len(near), rng.integers(0, 4)), replace=False)
        place, n_places = np.zeros(n_rows, int), 1
        for parent in parents:
            place, n_places = place * sizes[parent] + columns[parent], n_places * sizes[parent]
        sums = rng.dirichlet(np.full(card, 0.5), n_places).cumsum(axis=1)
        columns.append((rng.random(n_rows)[:, None] > sums[place][:, :-1]).sum(axis=1))
    variables = [Variable(f"x{j}", tuple(map(str, range(card)))) for j, card in enumerate(sizes)]
    return Dataset(variables, columns)


def measure_large() -> None:
    """Many rows, many columns."""
    import resource

    rows = []
    for n_columns, n_rows, n_restarts in ((50, 1_000_000, 10), (1_000, 5_000, 2)):
        data = draw_sparse(n_columns, n_rows)
        for method in ("hill-climbing", "order"):
            learner, spent = fit(
                data, method=method, n_restarts=n_restarts if method == "order" else 0
            )
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
            rows.append(
                {
                    "columns": n_columns,
                    "rows": n_rows,
                    "method": method,
                    "BIC": f"{learner.score_:,.1f}",
                    "CPU s": spent,
                    "peak MiB so far": peak,
                }
            )
            print(rows[-1], file=sys.stderr)
    print_table("Large tables", rows)


def measure_exact() -> None:
    """Exact search on twenty variables."""
    data, _, _ = sample("child", 5_000, 0)
    rows = []
    for criterion in ("bic", "bdeu"):
        exact, spent = fit(data, method="exact", criterion=criterion)
        heuristic, quick = fit(data, criterion=criterion)
        rows.append(
            {
                "data": "child 5,000",
                "criterion": criterion,
                "optimum": f"{exact.score_:,.2f}",
                "is optimal": exact.is_optimal_,
                "CPU s": spent,
                "order search": f"{heuristic.score_:,.2f}",
                "its CPU s": quick,
            }
        )
    print_table("Exact search", rows)


def measure_coil() -> None:
    """COIL-42: networks without hidden variables beside trees with them, and on held-out rows."""
    from latentforest import EAST, ChowLiu, cross_validate

    data = read_shared("discrete/coil_42.arff")
    rows = []
    for title, learner in (
        ("Chow-Liu", ChowLiu(prior=1)),
        ("Bayesian network", BayesianNetworkSearch(random_state=0, prior=1)),
        ("EAST", EAST(random_state=0, prior=1)),
    ):
        plain = type(learner)(**{**learner.get_params(), "prior": 0.0}).fit(data)
        folds = np.random.default_rng(0).permutation(data.n_rows) % 3
        held_out = cross_validate(learner, data, folds=folds).mean_per_row
        rows.append({"learner": title, "BIC": f"{plain.bic_:,.1f}", "held out, per row": held_out})
    print_table("COIL-42, all rows; three shuffled folds, pseudo-count 1", rows)


PARTS = {
    "reach": measure_reach,
    "truth": measure_truth,
    "methods": measure_methods,
    "climbing": measure_climbing,
    "permutations": measure_permutations,
    "large": measure_large,
    "exact": measure_exact,
    "coil": measure_coil,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()
