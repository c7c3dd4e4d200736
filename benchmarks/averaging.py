"""Averages over structures: time and precision, and predictions beside the single best model's.

Run ``python benchmarks/averaging.py [trees] [exact] [best] [chains] [alarm] [east]``, by default
all. ``alarm`` and ``chains`` draw rows from the network in pgmpy's package with
``tools/sample_network.py`` of the folder beside the data sets. Times are processor
time of one thread, compilation not counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import SHARED, print_table, read_shared
from latentforest import EAST, Dataset, Network, Predictor, Structure, Variable
from latentforest.data.results.table import Table
from latentforest.errors import LatentForestWarning
from latentforest.inference.counts import CountingTable, list_bits
from latentforest.inference.structures.network_sums import add_up_networks
from latentforest.inference.structures.tree_sums import add_up_trees
from latentforest.learners.common.base import Learned, NetworkLearner, Work
from latentforest.learners.model_average import ModelAverage
from latentforest.scores.validation import split_weights
from latentforest.search.averaging.best import best_networks
from latentforest.search.averaging.networks import ChainSettings, average_networks
from latentforest.search.dags.constraints import read_constraints
from latentforest.search.dags.family_scores import FamilyScores
from latentforest.search.dags.hill_climbing import climb

N_SEEDS = 10
N_TEST = 5_000
N_FOLDS = 3


class Climbing(NetworkLearner):
    """Hill climbing over networks of the columns by BIC, from a random network with few arcs."""

    n_jobs, time_limit, progress = None, None, False

    def __init__(self, n_arcs: int = 0, random_state: Any = None) -> None:
        self._keep(locals())

    def _learn(self, work: Work) -> Learned:
        table = CountingTable(work.table)
        constraints, scores = read_constraints(table.names), FamilyScores(table, "bic")
        parents = climb(scores, constraints, self._draw(table.n_columns, work.seed))
        names = {
            name: tuple(table.names[j] for j in list_bits(mask))
            for name, mask in zip(table.names, parents, strict=True)
        }
        structure = Structure(work.table.variables, names)
        network = Network(structure, np.concatenate([_uniform(structure, n) for n in names]))
        score = sum(map(scores.score, range(table.n_columns), parents))
        return Learned(network, 0.0, Table({}), {"score": score})

    def _draw(self, n: int, seed: int) -> list[int]:
        rng, parents = np.random.default_rng(seed), [0] * n
        order = rng.permutation(n)
        for _ in range(self.n_arcs):
            first, second = np.sort(rng.choice(n, 2, replace=False))
            if parents[order[second]].bit_count() < 2:
                parents[order[second]] |= 1 << int(order[first])
        return parents


def _uniform(structure: Structure, name: str) -> np.ndarray:
    shape = structure.shape(name)
    return np.full(int(np.prod(shape)), 1 / shape[-1])


def run_timed(function: Callable[..., Any], *args: Any, **settings: Any) -> tuple[Any, float]:
    """Return what a function returns, and the processor time it took."""
    began = time.process_time()
    found = function(*args, **settings)
    return found, time.process_time() - began


def read_alarm() -> Any:
    """Return a function that draws rows of alarm: their number, a seed."""
    import pgmpy

    path = SHARED.parent / "tools" / "sample_network.py"
    spec = importlib.util.spec_from_file_location("sample_network", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    home = Path(pgmpy.__file__).parent / "utils" / "example_models"
    network = tool.read_bif(str(home / "alarm.bif.gz"))
    variables = [Variable(name, tuple(network[1][name])) for name in network[0]]

    def draw(n_rows: int, seed: int) -> Dataset:
        rows = tool.sample(network, n_rows, seed)
        return Dataset(variables, [rows[variable.name] for variable in variables])

    return draw


def measure_trees() -> None:
    """Time of the sum over all spanning trees with the probabilities of all edges."""
    rows = []
    for n in (20, 50, 100, 200):
        for scale in (1.0, 1000.0):
            weights = np.random.default_rng(0).normal(size=(n, n)) * scale
            weights += weights.T
            found = add_up_trees(weights)
            times = [run_timed(add_up_trees, weights)[1] for _ in range(9)]
            order = np.random.default_rng(1).permutation(n)
            again = add_up_trees(weights[np.ix_(order, order)]).probabilities
            rows.append(
                {
                    "columns": n,
                    "logarithms of weights": f"0 ± {scale * 2**0.5:.0f}",
                    "milliseconds": 1e3 * statistics.median(times),
                    "sum of probabilities less n - 1": found.probabilities.sum() / 2 - (n - 1),
                    "other order of columns": abs(
                        again - found.probabilities[np.ix_(order, order)]
                    ).max(),
                }
            )
    print_table("All spanning trees", rows)


def measure_exact() -> None:
    """Time of exact averages over all networks, given the scores of all families."""
    rows = []
    for n in (10, 12, 14, 16, 18, 20):
        sizes = np.array([members.bit_count() for members in range(1 << n)])
        scores = np.random.default_rng(0).normal(size=(n, 1 << n)) * 3 - 3 * sizes
        row: dict[str, Any] = {"columns": n}
        for prior in ("networks", "orders"):
            add_up_networks(scores[:3, :8], prior)
            found, spent = run_timed(add_up_networks, scores, prior)
            row[f"seconds, uniform over {prior}"] = spent
            row[f"error, {prior}"] = found.error
        rows.append(row)
    print_table("All networks over the columns", rows)


def measure_best() -> None:
    """Time of the ten best networks."""
    draw, rows = read_alarm(), []
    data = draw(1_000, 0)
    best_networks(data.select(data.names[:4]), 2)
    for n in (8, 12, 16):
        table = data.select(data.names[:n])
        _, spent = run_timed(best_networks, table, 10)
        rows.append({"columns of alarm": n, "seconds": spent})
    print_table("The ten best networks", rows)


def measure_chains() -> None:
    """Chains on alarm, and on its first columns beside the exact average."""
    draw, rows = read_alarm(), []
    for n_rows in (100, 500, 5_000):
        for n_columns in (14, 37):
            data = draw(n_rows, 0)
            data = data.select(data.names[:n_columns])
            exact = average_networks(data, max_parents=4).arcs if n_columns < 16 else None
            for prior in ("networks", "orders"):
                average, spent = run_timed(
                    average_networks,
                    data,
                    prior=prior,
                    exact_columns=0,
                    chains=ChainSettings(n_steps=1_000_000),
                )
                rows.append(
                    {
                        "rows": n_rows,
                        "columns": n_columns,
                        "uniform over": prior,
                        "seconds": spent,
                        "accepted": average.chains.acceptance,
                        "R-hat": average.r_hat,
                        "most between chains": average.error,
                        "off exact, uniform over networks": ""
                        if exact is None
                        else abs(average.arcs - exact).max(),
                    }
                )
    print_table("Four chains of 1,000,000 steps, columns of alarm", rows)


def compare(model: ModelAverage, test: Dataset, best: Network) -> dict[str, float]:
    """Mean log-likelihood of held-out rows under the average and under the best model."""
    alone = Predictor(best).score_samples(test)
    return {
        "best": float(alone.mean()),
        "average": model.score(test),
        "models": float(len(model.models_)),
    }


def measure_alarm() -> None:
    """Held-out rows of alarm: averages of hill climbing beside its best model of 20 restarts."""
    draw, rows = read_alarm(), []
    for n_rows in (100, 500):
        found: dict[tuple[str, int], list[dict[str, float]]] = {
            ("score", 20): [],
            ("bootstrap", 10): [],
            ("bootstrap", 30): [],
        }
        for seed in range(N_SEEDS):
            train, test = draw(n_rows, seed), draw(N_TEST, seed + 1000)
            best = None
            for (weights, n_models), results in found.items():
                learner = Climbing(40 if weights == "score" else 0)
                model = ModelAverage(learner, n_models, weights, random_state=seed).fit(train)
                best = best or model.network_
                results.append(compare(model, test, best))
            print(n_rows, seed, *(results[-1] for results in found.values()), flush=True)
        for (weights, n_models), results in found.items():
            row = {"training rows": n_rows, "weights": weights, "runs": n_models}
            rows.append(row | _summarize(results))
    print_table(f"alarm, {N_TEST:,} held-out rows, seeds 0 to {N_SEEDS - 1}", rows)


def measure_east() -> None:
    """Shuffled folds of two tables: averages of EAST beside its best model."""
    rows = []
    for name in ("vote", "spect_heart"):
        data = read_shared(f"discrete/{name}.arff")
        found: dict[str, list[dict[str, float]]] = {"score": [], "bootstrap": []}
        for seed in range(N_SEEDS):
            parts: dict[str, list[dict[str, float]]] = {"score": [], "bootstrap": []}
            for held_out in split_weights(data, N_FOLDS, seed)[1]:
                train, test = data.take(held_out == 0), data.take(held_out > 0)
                runs = ModelAverage(EAST(), 5, random_state=seed).fit(train)
                bagged = ModelAverage(EAST(), 10, "bootstrap", random_state=seed).fit(train)
                for weights, model in (("score", runs), ("bootstrap", bagged)):
                    parts[weights].append(compare(model, test, runs.network_))
            for weights, results in parts.items():
                means = {key: float(np.mean([p[key] for p in results])) for key in results[0]}
                found[weights].append(means)
            print(name, seed, *(results[-1] for results in found.values()), flush=True)
        for weights, results in found.items():
            row = {"table": name, "weights": weights, "runs": 5 if weights == "score" else 10}
            rows.append(row | _summarize(results))
    print_table(f"EAST, {N_FOLDS} shuffled folds, seeds 0 to {N_SEEDS - 1}", rows)


def _summarize(found: list[dict[str, float]]) -> dict[str, Any]:
    gains = np.array([each["average"] - each["best"] for each in found])
    return {
        "distinct models": float(np.mean([each["models"] for each in found])),
        "best model": f"{np.mean([each['best'] for each in found]):.3f}",
        "average": f"{np.mean([each['average'] for each in found]):.3f}",
        "mean gain": f"{gains.mean():.3f}",
        "least gain": f"{gains.min():.3f}",
        "seeds won": f"{int((gains > 1e-9).sum())} of {len(gains)}",
    }


PARTS = {
    "trees": measure_trees,
    "exact": measure_exact,
    "best": measure_best,
    "chains": measure_chains,
    "alarm": measure_alarm,
    "east": measure_east,
}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    warnings.simplefilter("ignore", LatentForestWarning)
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
